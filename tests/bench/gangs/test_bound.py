"""No decision places more than the bound says, and it is no larger than it must be."""

from __future__ import annotations

import pytest

from tests.bench.gangs.bound import bounds
from tests.bench.gangs.instance import gangs
from tests.bench.gangs.ladder import ladder
from tests.bench.gangs.runs import weight_by_tier
from tests.bench.gangs.test_ladder import gang, stood
from tests.build import card, machine, run, snapshot


def gpus_at_most(machines: list[dict[str, object]], *runs: dict[str, object]) -> list[float]:
    """Return the bound, in GPUs of runs that are new, for runs of one priority."""
    return [most / 8 for most in bounds(snapshot(machines, runs), [0])]


def test_a_machine_with_seven_free_takes_one_run_of_four() -> None:
    runs = [run(f"r{number}", 4) for number in range(4)]
    assert gpus_at_most([machine("a", 7), machine("b", 7)], *runs) == [8]


def test_workers_of_one_gang_are_on_as_many_machines() -> None:
    assert gpus_at_most([machine("a", 8)], gang("g", 8, machines=2)) == [0]
    assert gpus_at_most([machine("a", 8), machine("b", 4)], gang("g", 8, machines=2)) == [8]


def test_a_gang_takes_whichever_cut_leaves_most() -> None:
    machines = [machine("a", 4), machine("b", 2), machine("c", 2)]
    assert gpus_at_most(machines, gang("g", 4), run("r", 4)) == [8]


def test_rules_bind_but_for_being_near() -> None:
    far = [stood("a", 4, rack="r"), stood("b", 4, rack="s")]
    within = {"topology": {"keep_within": "rack"}}
    assert gpus_at_most(far, gang("g", 8, machines=2, **within)) == [8]
    bare = [stood("a", 4, rack="r"), stood("b", 4)]
    assert gpus_at_most(bare, gang("g", 8, machines=2, **within)) == [0]
    sick = [machine("a", [card(), card(health="at_risk")])]
    assert gpus_at_most(sick, run("r", {"count": 2, "healthy_only": True})) == [0]


def test_a_priority_is_bounded_by_what_those_above_keep() -> None:
    about = snapshot([machine("a", 4)], [run("high", 3, priority=1), run("low", 2)])
    assert bounds(about, [24, 0]) == (24, 8)
    assert bounds(about, [0, 16]) == (24, 16)


@pytest.mark.parametrize("seed", range(1, 7))
def test_the_ladder_never_places_more(seed: int) -> None:
    small = gangs(seed, machines=60, racks=6, fabrics=3, singles=100, many=8, sizes={16: 2, 24: 1})
    reached = weight_by_tier(small, ladder(small))
    most = bounds(small, reached)
    assert all(0 < weight <= bound for weight, bound in zip(reached, most, strict=True))
