from __future__ import annotations

import pytest

from stowplan.solver.chain import SHARES, Chain, Progress, Tally, share_missing
from stowplan.solver.cycle import solve
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.program.linear import Program
from stowplan.solver.program.search import DETERMINISTIC_PER_SECOND
from stowplan.solver.settings import Settings
from tests.build import machine, run, snapshot
from tests.solver.cycles import solved


def _chain(**settings: float) -> Chain:
    return Chain(Settings.model_validate(settings), Interrupt())


def _program(variables: int, *rules: str) -> Program:
    """A program of so many variables, with a row of each of these rules."""
    program = Program()
    columns = [program.variable(1) for _ in range(variables)]
    for rule in rules:
        program.post(rule, [columns[0] + columns[1] <= 1])
    return program


def test_the_time_limit_is_divided_between_the_stages() -> None:
    alone = [SHARES[name] for name in ("place", "at_risk", "points", "holes", "canonical")]
    assert sum(alone) == pytest.approx(1)
    limits = _chain(time_limit_s=100, gap=0.5).limits("at_risk", 0.25)
    assert limits.deterministic == pytest.approx(0.1 * 100 * DETERMINISTIC_PER_SECOND)
    assert (limits.gap, limits.workers, limits.seed) == (0.25, 1, 1)


def test_what_a_stage_has_spent_is_taken_off_its_share() -> None:
    chain = _chain(time_limit_s=100)
    whole = chain.limits("place", 0).deterministic
    assert chain.limits("place", 0, spent=2).deterministic == pytest.approx(whole - 2)
    assert 0 < chain.limits("place", 0, spent=1000).deterministic < 0.01


def test_the_largest_program_is_told_and_of_those_the_last() -> None:
    chain = _chain()
    for program in (
        _program(3, "room", "room", "cpu"),
        _program(2, "quota"),
        _program(3, "cpu"),
    ):
        chain.measure(program)
    assert (chain.variables, +chain.sizes) == (3, {"cpu": 1})


def test_products_are_counted_under_points() -> None:
    chain, program = _chain(), _program(2, "room")
    program.product(program.variable(2), program.variable(2))
    chain.measure(program)
    assert (chain.variables, +chain.sizes) == (5, {"room": 1, "points": 1})


def test_a_chain_without_time_is_over_by_the_wall() -> None:
    chain = _chain(time_limit_s=0)
    assert chain.is_over()
    assert chain.cut == "wall_time"
    assert not _chain(time_limit_s=1000).is_over()


def test_a_chain_that_is_asked_to_stop_is_over_and_says_so() -> None:
    chain = _chain(time_limit_s=1000)
    chain.interrupt.ask()
    assert chain.is_over()
    assert chain.cut == "interrupted"


@pytest.mark.parametrize(
    ("objective", "bound", "missing"), [(0, 0, 0), (90, 100, 0.1), (100, 90, 0.1), (-5, 5, 2)]
)
def test_what_is_missing_is_a_share_of_the_larger(
    objective: int, bound: int, missing: float
) -> None:
    assert share_missing(objective, bound) == pytest.approx(missing)


def test_a_stage_is_optimal_if_all_its_searches_were() -> None:
    assert Tally("place", 8, 8).stage().status == "OPTIMAL"
    assert Tally("place", 8, 9, proven=False).stage().status == "FEASIBLE"
    assert Tally("canonical", 8, 0, searched=False).stage().status == "GREEDY"


def test_a_watcher_is_told_of_every_search() -> None:
    told: list[Progress] = []
    sizes = (2, 4, 4, 5, 2, 3)
    runs = [run(f"r{index}", gpus) for index, gpus in enumerate(sizes)]
    solved(snapshot([machine("m", 10), machine("n", 10)], runs), watcher=told.append)
    assert told[0].stage == "place, priority 0"
    assert (told[0].starting, told[0].gap) == (6, 0)


def test_a_watcher_is_told_of_what_is_done_beside_the_stages_with_the_last_figures() -> None:
    told: list[Progress] = []
    runs = [run(f"r{index}", gpus) for index, gpus in enumerate((2, 4, 4, 5, 2, 3))]
    solve(snapshot([machine("m", 10), machine("n", 10)], runs), watcher=told.append)
    assert told[0] == Progress("building")
    assert told[-2:] == [Progress("explaining", 6, 0), Progress("checking", 6, 0)]
