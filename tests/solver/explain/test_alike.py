"""What is said of many hosts stays short, and true."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from stowplan.model.decision import Decision, HostRow, Rejected
from stowplan.model.reasons import Code, Reason
from stowplan.solver.cycle import solve
from stowplan.solver.explain.alike import MOST_ROWS, Said, rows
from tests.build import Document, machine, run, snapshot
from tests.solver.cycles import placed, told, waits

MANY = MOST_ROWS + 10


def _short(need: float, free: float, whole: float) -> Reason:
    text = f"needs {need:g} cores, {free:g} of {whole:g} free"
    return Reason.of(Code.INSUFFICIENT_CPU, text, need=need, free=free, whole=whole)


def test_what_is_free_of_machines_of_several_sizes_is_said_plainly() -> None:
    full = [_short(99, 0, whole) for whole in range(4, 4 + MANY)]
    empty = [_short(99, whole, whole) for whole in range(4, 4 + MANY)]
    [of_full], [of_empty] = rows(_said(*full)), rows(_said(*empty))
    assert of_full.reasons[0].message == f"needs 99 cores, 0 free, of 4 to {3 + MANY} there"
    sizes = f"4 to {3 + MANY}"
    assert of_empty.reasons[0].message == f"needs 99 cores, {sizes} free, of {sizes} there"


def _said(*reasons: Reason) -> list[Said]:
    """One host for each reason."""
    return [Said(np.array([place]), 0, ((each,),)) for place, each in enumerate(reasons)]


def test_few_rows_are_told_one_by_one() -> None:
    found = rows(_said(_short(8, 1, 64), _short(8, 2, 64), _short(8, 1, 64)))
    assert [row.hosts.tolist() for row in found] == [[0, 2], [1]]


def test_many_rows_that_differ_in_figures_are_one_with_their_span() -> None:
    [row] = rows(_said(*(_short(99, free + 0.5, 1000) for free in range(MANY))))
    assert row.hosts.tolist() == list(range(MANY))
    assert told(row.reasons[0]) == (
        Code.INSUFFICIENT_CPU,
        f"needs 99 cores, 0.5 to {MANY - 0.5:g} of 1000 free",
        {"need": 99, "free": MANY - 0.5, "least_free": 0.5, "whole": 1000},
    )


def test_rows_that_differ_in_words_stay_apart() -> None:
    short = [_short(99, free, 1000) for free in range(MANY)]
    closed = Reason.of(Code.MACHINE_CORDONED, "cordoned (until 5)")
    later = Reason.of(Code.MACHINE_CORDONED, "cordoned (until 6)")
    found = rows(_said(closed, *short, later))
    assert [len(row.hosts) for row in found] == [1, MANY, 1]
    assert found[0].reasons == (closed,)


def test_rows_where_other_things_help_stay_apart() -> None:
    fits = [_short(8, 0, 9 + number) for number in range(MANY)]
    never = [_short(8, 0, 7), _short(8, 0, 6)]
    assert [len(row.hosts) for row in rows(_said(*fits, *never))] == [MANY, 2]


def test_of_many_hosts_with_other_labels_only_the_lack_is_told() -> None:
    def missing(has: int) -> Reason:
        text = f"without the label rack=a (has rack=r{has}), pool=b"
        return Reason.of(Code.LABEL_MISSING, text, missing=("rack=a", "pool=b"))

    [row] = rows(_said(*map(missing, range(MANY))))
    assert row.reasons[0].message == "without the label rack=a, pool=b"


def _busy(number: int) -> Document:
    return machine(f"m{number:03}", 1, cpu_cores=100, used={"cpu_cores": number + 1})


def _by_host(table: tuple[HostRow, ...] | tuple[Rejected, ...]) -> dict[str, Reason]:
    return {host: row.reasons[0] for row in table for host in row.hosts}


@pytest.fixture(scope="module")
def decision() -> Decision:
    """More machines than rows, each with other cores in use."""
    asked = [run("waits", cpu_cores=100), run("runs", 1, cpu_cores=1)]
    return solve(snapshot([_busy(number) for number in range(MANY)], asked))


def test_a_waiting_run_says_the_span_of_what_is_free(decision: Decision) -> None:
    outcome = waits(decision, "waits")
    [row] = outcome.hosts
    assert len(row.hosts) == outcome.hosts_checked == MANY
    assert row.reasons[0].message == f"needs 100 cores, {100 - MANY} to 98 of 100 free"
    # What the closest lacks is told exactly: beside the run that starts there, 98 are free.
    assert outcome.closest == "m000"
    assert "the closest, m000: needs 100 cores, 98 of 100 free" in outcome.reason.message


def test_a_placed_run_says_the_span_of_what_others_would_earn(decision: Decision) -> None:
    outcome = placed(decision, "runs")
    said = _by_host(outcome.rejected)
    assert len(said) == MANY - 1
    assert {reason.code for reason in said.values()} == {Code.OUTRANKED}
    [row] = outcome.rejected
    low, high, here = map(float, re.findall(r"\d+\.?\d*", row.reasons[0].message)[:3])
    numbers: dict[str, Any] = dict(row.reasons[0].numbers)
    assert (numbers["least_value"], numbers["value"]) == (low, high)
    assert low < high <= here == numbers["reference"] == outcome.scores.points
