from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.account import account_of
from stowplan.solver.cycle import RULES, solve
from stowplan.solver.program.search import PARAMETERS, VERSION
from stowplan.solver.settings import Settings
from tests.build import card, machine, run, snapshot
from tests.solver.cycles import choices_of, solved
from tests.strategies import examples, snapshots


@examples(60)
@given(snapshots())
def test_constraints_are_the_sum_over_rules(snapshot: Snapshot) -> None:
    model = account_of(solved(snapshot).chain, Settings.of(snapshot)).model
    program = choices_of(snapshot).program
    assert sum(model.by_rule.values()) == model.constraints
    assert model.constraints >= len(program.rows)
    assert model.variables >= len(program.upper)
    assert set(model.by_rule) <= {rule.name for rule in RULES} | {"levels", "points"}
    assert all(model.by_rule.values())


def test_rows_are_counted_under_the_rule_that_made_them() -> None:
    # Two hosts where 2 x 2 GPUs don't fit (room), one row for the workers of the class, and one
    # product on each host for the GPUs packed there.
    s = snapshot([machine("m", 3), machine("n", 3)], [run(name, 2) for name in "ab"])
    assert dict(solve(s).solver.model.by_rule) == {"machines": 1, "points": 2}
    s = snapshot([machine("m", 3)], [run("a", 2), run("b", 1), run("c", 1)])
    assert dict(solve(s).solver.model.by_rule) == {"machines": 2, "points": 1, "room": 1}


def test_shared_limits_are_counted_where_they_can_bind() -> None:
    quota = {"workspaces": [{"name": "default", "gpu_quota": 2}], "queue": "strict"}
    array = run("a", 1, array={"size": 3, "max_parallel": 2})
    s = snapshot([machine("m", 8)], [array, run("b", 1)], policy=quota)
    by_rule = choices_of(s).program.rules
    assert {rule: by_rule.count(rule) for rule in ("quota", "array_limit", "queue")} == {
        "quota": 1,
        "array_limit": 1,
        "queue": 1,
    }


def test_the_account_says_how_it_was_solved() -> None:
    settings = Settings(time_limit_s=7, gap=0.25, seed=3)
    account = solve(snapshot([machine("m", 2)], [run("a", 1)]), settings).solver
    assert (account.status, account.seed, account.version) == ("OPTIMAL", 3, VERSION)
    assert account.limit_hit is None
    assert account.parameters == {
        **PARAMETERS,
        "num_workers": 1,
        "random_seed": 3,
        "time_limit_s": 7,
        "gap": 0.25,
    }


def test_the_log_has_a_part_for_each_search() -> None:
    cards = [card(), card(health="at_risk"), card()]
    runs = [run("a", 2), run("b", 2), run("c", 1, priority=1)]
    log = solve(snapshot([machine("m", cards), machine("n", 2)], runs)).solver.log
    titles = [line for line in log.splitlines() if line.startswith("#### ")]
    assert titles
    assert len(set(titles)) == len(titles)


def test_a_cycle_with_nothing_to_decide_is_optimal_and_empty() -> None:
    account = solve(snapshot([], [])).solver
    assert (account.status, account.model.variables, account.log) == ("OPTIMAL", 0, "")
    assert {stage.objective for stage in account.stages} == {0}
