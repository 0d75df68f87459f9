"""Lies about a placed run, told one by one, and what the engine truly says."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.decision import Decision, PlacedRun
from stowplan.model.reasons import Code, Reason
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve
from tests.build import card, machine, run, snapshot
from tests.oracle import lies

FLEET = snapshot(
    [machine("best", 1), machine("next", 2), machine("third", 4), machine("off", 1, state="down")],
    [run("r", 1)],
)


def placed(decision: Decision) -> PlacedRun:
    (outcome,) = decision.outcomes
    assert isinstance(outcome, PlacedRun)
    return outcome


def told(**fields: Any) -> list[str]:
    """The lies where this is said of the run instead of the truth."""
    decision = solve(FLEET)
    outcome = placed(decision).model_copy(update=fields)
    return lies(FLEET, decision.model_copy(update={"outcomes": (outcome,)}))


def test_the_truth_is_no_lie() -> None:
    assert told() == []


@pytest.mark.parametrize(
    "fallbacks",
    [(), ("next",), ("third", "next"), ("next", "next"), ("next", "off"), ("best", "next")],
)
def test_fallbacks_that_dont_fit_or_are_out_of_order_are_a_lie(fallbacks: tuple[str, ...]) -> None:
    assert any("fallbacks" in lie for lie in told(fallbacks=fallbacks))


def test_a_host_left_out_or_listed_twice_is_a_lie() -> None:
    rows = placed(solve(FLEET)).rejected
    for wrong in (rows[1:], (*rows, rows[0])):
        assert any("lists the hosts" in lie for lie in told(rejected=wrong))


def test_a_host_that_would_do_is_outranked_by_its_own_figures() -> None:
    rows = placed(solve(FLEET)).rejected
    (row,) = (each for each in rows if "next" in each.hosts)
    numbers = row.reasons[0].numbers
    full = Reason.of(Code.INSUFFICIENT_GPUS, "x", need=1, free=0, whole=2)
    more = Reason.of(Code.OUTRANKED, "x", **{**numbers, "value": 1.0})
    for reason in (full, more):
        others = tuple(each for each in rows if each is not row)
        wrong = (*others, row.model_copy(update={"reasons": (reason,)}))
        assert any("of next" in lie for lie in told(rejected=wrong))


ALIKE = snapshot(
    [machine("full", 1, state="down"), *(machine(name, 2) for name in ("best", "next", "third"))],
    [run("r", 2), run("s", 2)],
)


def told_of_second(**fields: Any) -> list[str]:
    """The lies where this is said of the second of two runs alike instead of the truth."""
    decision = solve(ALIKE)
    outcomes = [
        each.model_copy(update=fields) if each.run == "s" else each for each in decision.outcomes
    ]
    return lies(ALIKE, decision.model_copy(update={"outcomes": tuple(outcomes)}))


def test_of_runs_alike_the_second_says_only_what_the_first_can_not() -> None:
    first, second = (each for each in solve(ALIKE).outcomes if isinstance(each, PlacedRun))
    assert (first.same_as, second.same_as) == (None, "r")
    assert [row.hosts for row in second.rejected] == [(first.workers[0].host,)]
    assert told_of_second() == []


def test_a_table_that_is_not_the_first_ones_is_a_lie() -> None:
    for other in ("s", "nobody", None):
        assert told_of_second(same_as=other)
    assert any("lists the hosts" in lie for lie in told_of_second(rejected=()))


def test_scores_are_of_the_hosts_it_is_on() -> None:
    scores = placed(solve(FLEET)).scores
    for name in ("fit", "health", "points"):
        wrong = scores.model_copy(update={name: getattr(scores, name) / 2})
        assert any(f"for {name}" in lie for lie in told(scores=wrong))


def gang_of_two(machines: int) -> Snapshot:
    """One machine free, the next ones half used, each a little more than the one before."""
    used = [0, *range(50, 49 + machines)]
    hosts = [
        machine(f"m{index:02}", cpu_cores=100, used={"cpu_cores": cores})
        for index, cores in enumerate(used)
    ]
    return snapshot(hosts, [run("gang", cpu_cores=1, machines=2)])


@pytest.mark.parametrize("machines", [3, 6, 13])
def test_the_best_other_sets_of_a_gang_are_its_fallbacks(machines: int) -> None:
    fleet = gang_of_two(machines)
    assert lies(fleet, solve(fleet)) == []


def test_other_ways_for_workers_that_share_are_in_the_order_of_their_points() -> None:
    hosts = [
        machine("m", cpu_cores=3, memory_bytes=0),
        machine("n", cpu_cores=8, memory_bytes=0, used={"cpu_cores": 2}),
    ]
    # Of two workers, each earns 25 x 1/3 on m and 25 x 4/8 on n; one alone earns less on n.
    asked = run("r", cpu_cores=1, node_selection={"count": 2, "mode": "any"})
    fleet = snapshot(hosts, [asked])
    assert lies(fleet, solve(fleet)) == []


def test_a_host_that_leaves_more_of_its_domain_says_how_much() -> None:
    cards = {name: [card(nvlink_clique=name)] * gpus for name, gpus in (("small", 1), ("large", 4))}
    fleet = snapshot([machine(name, there) for name, there in cards.items()], [run("r", 1)])
    decision = solve(fleet)
    assert lies(fleet, decision) == []
    (row,) = placed(decision).rejected
    assert dict(row.reasons[0].numbers) == {"stage": "room", "value": 3, "reference": 0}
    for numbers in ({"value": 2}, {"reference": 1}, {"stage": "points"}):
        reason = Reason.of(
            Code.OUTRANKED, row.reasons[0].message, **{**row.reasons[0].numbers, **numbers}
        )
        wrong = (row.model_copy(update={"reasons": (reason,)}),)
        outcome = placed(decision).model_copy(update={"rejected": wrong})
        assert any(
            "of large" in lie
            for lie in lies(fleet, decision.model_copy(update={"outcomes": (outcome,)}))
        )
