from __future__ import annotations

from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask
from stowplan.solver.rooms import Rooms
from stowplan.solver.situation import Situation
from tests.solver.cycles import situation_of
from tests.strategies import examples, snapshots


def _rooms(s: Situation) -> list[Rooms]:
    return [s.rooms_left, s.rooms_at_start, s.rooms_empty]


def _asks(s: Situation) -> list[Ask]:
    return [each.ask for each in s.classes]


@examples(60)
@given(snapshots())
def test_slots_are_those_of_the_hosts_one_by_one(snapshot: Snapshot) -> None:
    s = situation_of(snapshot)
    for rooms in _rooms(s):
        for ask in _asks(s):
            slots = [s.eligibility.slots(ask, host, rooms.free[host.name]) for host in s.hosts]
            assert rooms.slots(ask).tolist() == slots
            assert rooms.fits(ask) == _fits_one_by_one(s, rooms, ask)


def _fits_one_by_one(s: Situation, rooms: Rooms, ask: Ask) -> bool:
    return s.eligibility.fits(ask, lambda host: rooms.free[host.name])
