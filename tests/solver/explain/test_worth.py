from __future__ import annotations

import numpy as np
from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.explain.worth import Figures, Worth
from tests.solver.cycles import situation_of
from tests.strategies import examples, snapshots


@examples(60)
@given(snapshots())
def test_what_workers_earn_is_what_the_points_of_the_hosts_say(snapshot: Snapshot) -> None:
    s = situation_of(snapshot)
    places = np.arange(len(s.hosts))
    for each in s.classes:
        worth = Worth(Figures(s), each.ask)
        for risk in (0, 2):
            own, gain = worth.of_one_more(places, np.full_like(places, risk))
            for host, earned, more in zip(s.hosts, own.tolist(), gain.tolist(), strict=True):
                now = s.plan.loads[host.name]
                then = now.plus(each.ask, host, risk)
                assert earned == points.of_worker(each.ask, host, then, risk)
                assert more == points.of_host(host, then) - points.of_host(host, now)


@examples(60)
@given(snapshots())
def test_what_a_worker_there_earns_is_lost_without_it(snapshot: Snapshot) -> None:
    s = situation_of(snapshot)
    for start in s.plan.starts:
        worth = Worth(Figures(s), start.each.ask)
        for seat in start.seats:
            place = np.array([s.place_of[seat.host.name]])
            own, lost = worth.of_one_there(place, np.array([seat.at_risk]))
            load = s.plan.loads[seat.host.name]
            without = load.plus(start.each.ask, seat.host, seat.at_risk, times=-1)
            assert own[0] == points.of_worker(start.each.ask, seat.host, load, seat.at_risk)
            assert lost[0] == points.of_host(seat.host, load) - points.of_host(seat.host, without)
