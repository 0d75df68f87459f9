from __future__ import annotations

from hypothesis import given

from stowplan.model.room import Room
from stowplan.model.snapshot import Snapshot
from stowplan.solver.decode import Seat
from stowplan.solver.situation import given_back
from tests.build import after, machine, run, running, snapshot
from tests.solver.cycles import class_of, host_of, situation_of
from tests.strategies import examples, snapshots


def test_what_starts_is_not_free_any_more() -> None:
    held = running("r", ("m", 1), cpu_cores=4, memory_bytes=10)
    asked = run("a", 2, cpu_cores=1, per_gpu={"cpu_cores": 2, "memory_bytes": 100})
    s = situation_of(snapshot([machine("m", 4, memory_bytes=1000), machine("n")], [held, asked]))
    left = s.room_left(host_of(s, "m"))
    assert left == Room(64_000 - 4_000 - 5_000, 1000 - 10 - 200, frozenset({"m/3"}))
    assert s.room_left(host_of(s, "n")) == host_of(s, "n").start


def test_an_array_counts_the_room_that_its_own_elements_take() -> None:
    array = run("a", 1, array={"size": 9, "max_parallel": 2})
    s = situation_of(snapshot([machine("m", 4)], [array, run("b", 1)]))
    beside = s.rooms_beside_own(class_of(s, "a"))
    assert len(beside.free["m"].devices) == 2
    assert s.rooms_beside_own(class_of(s, "b")).free["m"] == host_of(s, "m").start


def test_gpus_are_counted_by_workspace() -> None:
    runs = [run("a", 2), run("b", 1, array={"size": 3}), run("c", 1, workspace="v"), run("d")]
    s = situation_of(snapshot([machine("m", 8)], runs))
    assert (s.gpus_placed("default"), s.gpus_placed("v"), s.gpus_placed("w")) == (5, 1, 0)


def test_of_a_class_the_oldest_have_started() -> None:
    runs = [run(name, 2, submitted_at=after(-age)) for name, age in (("a", 1), ("b", 3), ("c", 2))]
    s = situation_of(snapshot([machine("m", 5)], runs))
    assert [s.has_started(name) for name in "abc"] == [False, True, True]
    assert s.started == {"b": 2}


def test_an_array_has_started_with_its_first_element() -> None:
    s = situation_of(snapshot([machine("m", 1)], [run("a", 1, array={"size": 3})]))
    assert s.has_started("a")


@examples(60)
@given(snapshots())
def test_what_is_left_is_what_was_free_less_all_that_starts(snapshot: Snapshot) -> None:
    s = situation_of(snapshot)
    for host in s.hosts:
        there = s.on_host[host.name]
        room = s.room_left(host)
        asks = [start.each.ask for start, _ in there]
        assert room.millicores == host.start.millicores - sum(ask.millicores for ask in asks)
        assert room.memory_bytes == host.start.memory_bytes - sum(ask.memory_bytes for ask in asks)
        given_out = {id for _, seat in there for id in seat.devices}
        assert room.devices == host.start.devices - given_out
        for start, seat in there:
            room = given_back(room, start.each.ask, seat)
        assert room == host.start


def test_giving_back_undoes_taking() -> None:
    s = situation_of(snapshot([machine("m", 2)], [run("a", 1, cpu_cores=3, memory_bytes=5)]))
    host, ask = host_of(s, "m"), class_of(s, "a").ask
    seat = Seat(host, ("m/1",), 0, "m")
    taken = host.start.less(ask.millicores, ask.memory_bytes, frozenset(seat.devices))
    assert taken == Room(61_000, host.start.memory_bytes - 5, frozenset({"m/0"}))
    assert given_back(taken, ask, seat) == host.start
