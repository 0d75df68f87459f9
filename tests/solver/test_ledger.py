from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.choices import Choices
from stowplan.solver.layout import Layout
from stowplan.solver.ledger import Ledger
from stowplan.solver.program.linear import Sum
from tests.build import Document, machine, run, snapshot
from tests.solver.cycles import choices_of
from tests.strategies import examples, snapshots


def _allowed(choices: Choices, started: list[list[int]]) -> bool:
    """Whether what starts keeps every row that has to do with nothing else."""
    values: dict[int, int] = {}
    for each, counts in zip(choices.classes, started, strict=True):
        for cohort, count in enumerate(counts):
            values.update(dict.fromkeys(choices.starting(each, cohort).terms, count))
    rows = [row for row in choices.program.rows if row.terms.keys() <= values.keys()]
    full = [values.get(column, 0) for column in range(len(choices.program.upper))]
    return all(row.low <= Sum(row.terms).at(full) <= row.high for row in rows)


@examples(150)
@given(snapshots(), st.data())
def test_as_many_more_may_start_as_the_rows_over_starts_allow(
    snapshot: Snapshot, data: st.DataObject
) -> None:
    choices = choices_of(snapshot)
    layout = Layout(choices.grid)
    ledger = Ledger(choices, layout)
    cohorts = [
        (index, cohort, some.count)
        for index, each in enumerate(choices.classes)
        for cohort, some in enumerate(each.cohorts)
        if choices.starting(each, cohort)
    ]
    for index, cohort, count in data.draw(st.permutations(cohorts)):
        more = ledger.more(index, cohort, count)
        for often in range(count + 1):
            layout.started[index][cohort] = often
            assert _allowed(choices, layout.started) == (often <= more)
        layout.started[index][cohort] = taken = data.draw(st.integers(0, more))
        ledger.start(index, cohort, taken)
        assert ledger.holds()
        assert Ledger(choices, layout).more(index, cohort, count) == min(
            count, ledger.more(index, cohort, count)
        )


@examples(60)
@given(snapshots(), st.data())
def test_it_holds_if_no_row_over_starts_is_broken(snapshot: Snapshot, data: st.DataObject) -> None:
    choices = choices_of(snapshot)
    layout = Layout(choices.grid)
    for index, each in enumerate(choices.classes):
        layout.start(
            index,
            [
                data.draw(st.integers(0, some.count)) if choices.starting(each, cohort) else 0
                for cohort, some in enumerate(each.cohorts)
            ],
        )
    assert Ledger(choices, layout).holds() == _allowed(choices, layout.started)


def _ledger(*runs: Document, **policy: object) -> Ledger:
    choices = choices_of(snapshot([machine("m", 8)], runs, policy=policy))
    return Ledger(choices, Layout(choices.grid))


def test_a_quota_allows_as_many_as_its_gpus_are_for() -> None:
    ledger = _ledger(
        *(run(name, 2, workspace="v") for name in "abcd"),
        workspaces=[{"name": "v", "gpu_quota": 5}],
    )
    assert (ledger.more(0, 0, 4), ledger.more(0, 0, 1)) == (2, 1)
    ledger.start(0, 0, 2)
    assert ledger.more(0, 0, 4) == 0


def test_in_line_nobody_may_start_before_the_one_ahead_has() -> None:
    ledger = _ledger(run("a", 1), run("b", 2), queue="strict")
    assert (ledger.more(0, 0, 1), ledger.more(1, 0, 1)) == (1, 0)
    ledger.start(0, 0, 1)
    assert ledger.more(1, 0, 1) == 1


def test_a_row_that_is_broken_is_noticed() -> None:
    ledger = _ledger(run("a", 1), run("b", 2), queue="strict")
    assert ledger.holds()
    ledger.start(1, 0, 1)
    assert not ledger.holds()
    ledger.start(0, 0, 1)
    assert ledger.holds()


def test_what_cannot_start_may_not() -> None:
    assert _ledger(run("a", 9)).more(0, 0, 1) == 0
