from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.decode import decoded
from stowplan.solver.handout import at_risk_taken
from stowplan.solver.layout import Layout
from stowplan.solver.points import Load
from tests.build import after, card, machine, run, running, snapshot
from tests.solver.cycles import gpus_of, grid_of, places, solved, started_in, workers_in
from tests.strategies import examples, snapshots


@st.composite
def _shares(draw: st.DrawFn) -> tuple[int, int, list[int]]:
    """Runs, workers of each, and how many of all these are on each host: at most one of a run."""
    runs, hosts = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    workers = draw(st.integers(1, hosts))
    left, shares = runs * workers, []
    for after_it in reversed(range(hosts)):
        least, most = max(0, left - after_it * runs), min(runs, left)
        shares.append(draw(st.integers(least, most)))
        left -= shares[-1]
    return runs, workers, shares


@examples(80)
@given(_shares())
def test_workers_that_never_share_are_dealt_to_different_hosts(
    shares: tuple[int, int, list[int]],
) -> None:
    runs, workers, on_host = shares
    machines = [machine(f"m{index}") for index in range(len(on_host))]
    alike = [run(f"r{index}", machines=workers) for index in range(runs)]
    layout = Layout(grid_of(snapshot(machines, alike)))
    layout.start(0, [runs])
    for host, count in enumerate(on_host):
        layout.set(0, host, count)
    plan = decoded(layout)
    dealt = [[seat.host.name for seat in start.seats] for start in plan.starts]
    assert [len(hosts) for hosts in dealt] == [workers] * runs
    assert all(len(set(hosts)) == workers for hosts in dealt)
    total = Counter(name for hosts in dealt for name in hosts)
    assert [total[f"m{index}"] for index in range(len(on_host))] == on_host


def test_the_oldest_runs_of_a_class_start() -> None:
    waits = {"a": 0, "b": -7200, "c": -7300, "d": -1}
    runs = [run(name, 1, submitted_at=after(seconds)) for name, seconds in waits.items()]
    assert set(places(snapshot([machine("m", 2)], runs))) == {"b", "c"}


def test_the_lowest_elements_of_an_array_start_in_their_order() -> None:
    array = {"size": 6, "finished": [1]}
    held = running("a", ("m", ["m/0"], 2), array=array)
    plan = decoded(solved(snapshot([machine("m", 4)], [held])).layout)
    assert [(start.run, start.element) for start in plan.starts] == [("a", 0), ("a", 3), ("a", 4)]


def test_ids_go_healthy_first_then_unknown_then_at_risk_each_by_index() -> None:
    health = ["at_risk", "unknown", "healthy", "faulted", "healthy", "at_risk", "unknown"]
    cards = [card(health=each) for each in health]
    for count, ids in (
        (1, ("m/2",)),
        (3, ("m/2", "m/4", "m/1")),
        (6, ("m/2", "m/4", "m/1", "m/6", "m/0", "m/5")),
    ):
        assert gpus_of(snapshot([machine("m", cards)], [run("a", count)]), "a") == [ids]


def test_ids_follow_the_index_that_is_told() -> None:
    cards = [card(id="x", index=2), card(id="y", index=0), card(id="z", index=1)]
    assert gpus_of(snapshot([machine("m", cards)], [run("a", 2)]), "a") == [("y", "z")]


def test_a_held_gpu_is_skipped() -> None:
    s = snapshot([machine("m", 3)], [running("r", ("m", ["m/0"])), run("a", 1)])
    assert gpus_of(s, "a") == [("m/1",)]


def test_a_host_where_nothing_starts_carries_no_load() -> None:
    plan = decoded(solved(snapshot([machine("m", 1), machine("n")], [run("a", 1)])).layout)
    assert plan.loads["n"] == Load()
    assert (plan.loads["m"].workers, plan.loads["m"].gpus) == (1, 1)


@examples(80)
@given(snapshots())
def test_what_is_decoded_is_what_was_counted(snapshot: Snapshot) -> None:
    layout = solved(snapshot).layout
    plan = decoded(layout)
    started = Counter(start.each.first for start in plan.starts)
    on_host: dict[str, Counter[str]] = {}
    for start in plan.starts:
        for seat in start.seats:
            on_host.setdefault(seat.host.name, Counter())[start.each.first] += 1
    given_out = [
        (seat.host.name, id) for start in plan.starts for seat in start.seats for id in seat.devices
    ]
    at_risk = sum(seat.at_risk for start in plan.starts for seat in start.seats)
    assert started == +Counter(started_in(layout))
    assert on_host == workers_in(layout)
    assert len(set(given_out)) == len(given_out)
    assert at_risk == at_risk_taken(layout)
    assert all(
        len(seat.devices) == start.each.ask.gpus for start in plan.starts for seat in start.seats
    )
