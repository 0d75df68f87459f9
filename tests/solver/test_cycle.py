from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import Violation
from stowplan.model.decision import Decision
from stowplan.model.errors import InternalError
from stowplan.solver import cycle
from stowplan.solver.cycle import RULES, solve
from stowplan.solver.settings import Settings
from tests.build import after, card, machine, run, running, snapshot
from tests.solver.cycles import places


def _timeless(decision: Decision) -> dict[str, Any]:
    """All that a decision says but for wall times and the log."""
    told = decision.model_dump(mode="json")
    told["solver"].pop("log")
    for stage in told["solver"]["stages"]:
        stage.pop("wall_s")
    return told


def test_solving_twice_decides_and_says_the_same() -> None:
    machines = [machine(name, 4, cpu_cores=9) for name in "mnop"]
    machines.append(machine("q", [card(health="at_risk"), card(), card(model="NVIDIA L4")]))
    runs = [run(f"r{n:02}", 1 + n % 4, cpu_cores=n % 5, priority=n % 2) for n in range(14)]
    runs += [run("cores", cpu_cores=2, node_selection={"count": 3}), run("b", 1, machines=3)]
    runs += [run("many", 1, array={"size": 5, "max_parallel": 2}), running("x", ("m", 1))]
    s = snapshot(machines, runs)
    assert _timeless(solve(s)) == _timeless(solve(s))


def test_another_order_of_the_lists_decides_and_says_the_same() -> None:
    machines = [machine(name, 3) for name in "mno"]
    runs = [run(name, 2, submitted_at=after(-n)) for n, name in enumerate("abcd")]
    assert _timeless(solve(snapshot(machines, runs))) == _timeless(
        solve(snapshot(machines[::-1], runs[::-1]))
    )


def test_a_decision_that_its_audit_refuses_is_our_own_mistake(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    violations = tuple(Violation("cpu", f"r{n}", "m", "too many cores") for n in range(7))
    monkeypatch.setattr(cycle, "audit", lambda snapshot, decision: violations)
    with pytest.raises(InternalError) as caught:
        solve(snapshot([machine("m")], [run("a")]))
    assert "the decision breaks its own rules, and nothing is placed" in str(caught.value)
    assert str(caught.value).count("too many cores") == 5


def test_a_rule_that_is_left_out_is_caught_by_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    without = tuple(rule for rule in RULES if rule.name != "accepting")
    monkeypatch.setattr(cycle, "RULES", without)
    with pytest.raises(InternalError, match="accepting: a on m: the machine is cordoned"):
        solve(snapshot([machine("m", state="cordoned")], [run("a")]))


def test_a_row_that_is_left_out_is_caught_by_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    without = tuple(rule._replace(post=None) if rule.name == "cpu" else rule for rule in RULES)
    monkeypatch.setattr(cycle, "RULES", without)
    s = snapshot([machine("m", cpu_cores=8)], [run("a", cpu_cores=5), run("b", cpu_cores=4)])
    with pytest.raises(InternalError, match="a, b ask for 9 cores, 8 are free"):
        solve(s)


def test_every_rule_has_a_name_of_its_own_and_does_something() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)
    for rule in RULES:
        of_hosts = rule.why_not or rule.bars or rule.allows
        assert of_hosts or rule.why_uncut or rule.only_tightest or rule.post, rule.name


def test_the_filters_come_in_the_order_that_decides() -> None:
    names = [rule.name for rule in RULES if rule.why_not]
    groups = [
        {"state", "freshness", "pressure"},
        {"accepting", "reserved_for"},
        {"capabilities"},
        {"names", "match_labels", "pools"},
        {"interconnect", "min_gbps"},
        {"spread"},
        {"cpu", "memory"},
        {"models", "vendor", "min_memory_gb", "pinned_ids", "denied", "healthy_only", "room"},
        {"max_accelerators"},
        {"keep_within"},
        {"drives"},
        {"reservation"},
        {"machines"},
    ]
    for group in groups:
        assert set(names[: len(group)]) == group
        del names[: len(group)]
    assert names == []


@pytest.mark.parametrize("settings", [None, Settings()])
def test_a_snapshot_without_runs_or_machines_is_decided(settings: Settings | None) -> None:
    assert solve(snapshot([], []), settings).outcomes == ()
    assert solve(snapshot([machine("m")], []), settings).outcomes == ()
    decision = solve(snapshot([], [run("a")]), settings)
    assert [outcome.outcome for outcome in decision.outcomes] == ["waiting"]


def test_the_profile_of_the_call_is_that_of_runs_that_name_none() -> None:
    s = snapshot([machine("m")], [run("a"), run("b", placement={"profile": "cost"})])
    profiles = {
        outcome.run: outcome.profile
        for outcome in solve(s, Settings(profile="speed")).outcomes
        if outcome.outcome == "placed"
    }
    assert profiles == {"a": "speed", "b": "cost"}


def test_a_snapshot_is_not_changed_by_solving_it() -> None:
    s = snapshot([machine("m", 2)], [run("a", 1), run("b", 2)])
    before = s.model_dump_json()
    assert places(s)
    assert s.model_dump_json() == before


def test_several_workers_give_the_same_answer_each_time() -> None:
    runs = [run(f"r{n:02}", 1 + n % 4, cpu_cores=3 + 5 * n % 11, priority=n % 2) for n in range(40)]
    machines = [machine(f"m{n}", 8, cpu_cores=40 + 7 * n) for n in range(6)]
    s = snapshot(machines, runs)
    settings = Settings.of(s, time_limit_s=3).model_copy(update={"workers": 4})
    first, second = solve(s, settings), solve(s, settings)
    assert first.outcomes == second.outcomes
