from __future__ import annotations

from hypothesis import given, note

from stowplan.model.decision import PlacedRun, WaitingRun
from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve
from tests.build import machine, resolved, run, snapshot, waiting
from tests.oracle import fits_beside
from tests.solver.cycles import headline, placed, starts, told, waits
from tests.strategies import examples, snapshots


def _rivals(s: Snapshot, run: str) -> tuple[str, ...]:
    reason = headline(s, run)
    assert reason.code == Code.OUTCOMPETED
    runs = reason.numbers["runs"]
    assert isinstance(runs, tuple)
    return runs


def test_the_run_that_took_the_room_is_named() -> None:
    runs = [run("a", 4, priority=1), run("b", 1, priority=1), run("c", 3)]
    s = snapshot([machine("m", 4), machine("n", 1)], runs)
    assert starts(s) == {"a", "b"}
    assert _rivals(s, "c") == ("a",)


def test_the_host_is_named_that_the_fewest_must_leave() -> None:
    high = [run(f"high{n}", 2, priority=1, node_selection={"names": ["m"]}) for n in range(2)]
    high.append(run("one", 3, priority=1, node_selection={"names": ["n"]}))
    s = snapshot([machine("m", 4), machine("n", 4)], [*high, run("a", 4)])
    assert _rivals(s, "a") == ("one",)


def test_a_long_list_is_cut_short_in_words_and_whole_in_numbers() -> None:
    high = [run(f"high{n}", 1, priority=1) for n in range(5)]
    s = snapshot([machine("m", 5)], [*high, run("a", 5)])
    reason = headline(s, "a")
    assert reason.message == "fits alone; the room went to high0, high1, high2 and 2 more"
    assert reason.numbers == {"runs": tuple(f"high{n}" for n in range(5))}


def test_a_run_of_several_workers_names_those_on_all_the_hosts_it_needs() -> None:
    on_m, on_n = ({"node_selection": {"names": [name]}} for name in "mn")
    high = [
        run("on-m", cpu_cores=64, priority=1, **on_m),
        run("on-n", cpu_cores=64, priority=1, **on_n),
    ]
    s = snapshot([machine("m"), machine("n")], [*high, run("a", cpu_cores=1, machines=2)])
    assert set(_rivals(s, "a")) == {"on-m", "on-n"}


def test_an_array_is_no_rival_of_its_own() -> None:
    array = run("a", 2, array={"size": 3})
    s = snapshot([machine("m", 4)], [array, run("b", 1, priority=1)])
    outcome = placed(s, "a")
    assert outcome.array is not None
    assert (outcome.array.placed, outcome.array.waiting) == (1, 2)
    assert told(outcome.reason).numbers == {"runs": ("b",)}


def test_an_array_that_filled_the_machine_itself_is_short_of_room() -> None:
    outcome = placed(snapshot([machine("m", 4)], [run("a", 2, array={"size": 3})]), "a")
    assert told(outcome.reason).code == Code.INSUFFICIENT_GPUS


@examples(100)
@given(snapshots())
def test_without_the_rivals_that_are_named_the_run_fits_beside_the_rest(
    snapshot: Snapshot,
) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    decision = solve(snapshot)
    for outcome in decision.outcomes:
        if isinstance(outcome, WaitingRun) and outcome.reason.code == Code.OUTCOMPETED:
            rivals = outcome.reason.numbers["runs"]
            assert isinstance(rivals, tuple)
            winners = {each.run for each in decision.outcomes if isinstance(each, PlacedRun)}
            assert set(rivals) <= winners
            assert not fits_beside(snapshot, decision, outcome.run)
            rest = [
                waiting(snapshot, each.run) if each.run in rivals else each
                for each in decision.outcomes
            ]
            assert fits_beside(snapshot, resolved(snapshot, rest), outcome.run)


def test_a_run_starts_once_its_rivals_are_gone() -> None:
    runs = [run("a", 4, priority=1), run("b", 1, priority=1), run("c", 3)]
    machines = [machine("m", 4), machine("n", 1)]
    rivals = waits(snapshot(machines, runs), "c").reason.numbers["runs"]
    assert isinstance(rivals, tuple)
    assert "c" in starts(snapshot(machines, [each for each in runs if each["name"] not in rivals]))
