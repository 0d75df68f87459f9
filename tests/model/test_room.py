from __future__ import annotations

from hypothesis import given

from stowplan.model.holds import holding
from stowplan.model.room import Room, empty_room, free_room, room_after
from stowplan.model.snapshot import Snapshot
from tests.build import decided, machine, run, running, snapshot
from tests.strategies import snapshots


def test_what_is_free_is_the_whole_less_others_less_runs() -> None:
    whole = snapshot(
        [
            machine("m", 3, cpu_cores=8, memory_bytes=100, used={"cpu_cores": 1.5}),
            machine("n", 1, cpu_cores=4, memory_bytes=50, used={"memory_bytes": 20}),
        ],
        [
            running(
                "r",
                ("m", 2),
                ("gone", ["x"]),
                cpu_cores=0.25,
                per_gpu={"cpu_cores": 2, "memory_bytes": 30},
            ),
            running("stopped", ("n", 1), state="stopped"),
        ],
    )
    assert free_room(whole) == {
        "m": Room(8000 - 1500 - 250 - 4000, 100 - 60, frozenset({"m/2"})),
        "n": Room(4000, 30, frozenset({"n/0"})),
    }


def test_a_machine_that_holds_too_much_has_less_than_nothing() -> None:
    whole = snapshot(
        [machine("m", cpu_cores=2, memory_bytes=10)],
        [running("r", ("m", 0), cpu_cores=3, memory_bytes=11)],
    )
    assert free_room(whole)["m"] == Room(-1000, -1, frozenset())


def test_what_is_left_is_what_the_placed_workers_leave() -> None:
    whole = snapshot(
        [machine("m", 3, cpu_cores=8, memory_bytes=100), machine("n", 1)],
        [
            running("holds", ("m", 1), cpu_cores=1),
            run("starts", 2, cpu_cores=2, per_gpu={"cpu_cores": 1, "memory_bytes": 30}),
            run("waits", 1),
        ],
    )
    rooms = room_after(whole, decided(whole, {"starts": [("m", ["m/1", "m/2"])]}))
    assert rooms["m"] == Room(8000 - 1000 - 2000 - 2000, 100 - 60, frozenset())
    assert rooms["n"] == free_room(whole)["n"]
    assert room_after(whole, decided(whole)) == free_room(whole)


@given(snapshots())
def test_gpus_are_free_or_held_and_never_both(whole: Snapshot) -> None:
    rooms = free_room(whole)
    held: dict[str, set[str]] = {name: set() for name in rooms}
    for _, worker in holding(whole):
        held.setdefault(worker.host, set()).update(worker.devices)
    for one in whole.fleet.machines:
        there = empty_room(one).devices
        assert rooms[one.name].devices == there - held[one.name]
