from __future__ import annotations

from typing import Any

from stowplan.model.snapshot import Snapshot
from tests.build import broken, decided, run, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work
from tests.model.audit.standing import port, stands

MACHINES = [
    stands("fast", port(gbps=100), port(gbps=400)),
    stands("slow", port(gbps=100)),
    stands("down", port(gbps=400, state="down")),
    stands("mixed", port(gbps=100), port("roce", 400)),
    stands("none"),
]


def asked(gbps: float, gpus: int = 8, **more: Any) -> Snapshot:
    network = {"min_gbps": gbps, **more}
    return snapshot(MACHINES, [run("x", gpus, network=network, topology={})])


def lawful(s: Snapshot) -> set[str]:
    """On which machines nothing is broken; on the others only the speed, or the link, is."""
    broken_on = {
        each["name"]: broken(s, decided(s, {"x": [(each["name"], 8)]})) for each in MACHINES
    }
    assert set().union(*broken_on.values()) <= {"min_gbps", "interconnect"}
    return {name for name, rules in broken_on.items() if not rules}


def test_a_worker_needs_a_port_that_is_up_and_as_fast() -> None:
    assert lawful(asked(400)) == {"fast", "mixed"}
    assert lawful(asked(100)) == {"fast", "slow", "mixed"}
    assert lawful(asked(100.5)) == {"fast", "mixed"}
    assert lawful(asked(401)) == set()


def test_only_ports_of_the_kind_asked_for_count() -> None:
    assert lawful(asked(400, interconnect="infiniband")) == {"fast"}
    assert lawful(asked(400, interconnect="rdma")) == {"fast", "mixed"}


def test_a_speed_of_nothing_asks_for_nothing() -> None:
    assert lawful(asked(0)) == {each["name"] for each in MACHINES}


def test_every_machine_of_a_run_needs_one() -> None:
    s = asked(200, 16)
    assert broken(s, decided(s, {"x": [("fast", 8), ("mixed", 8)]})) == set()
    assert broken(s, decided(s, {"x": [("fast", 8), ("slow", 8)]})) == {"min_gbps"}


def test_nothing_is_known_of_the_ports_of_what_is_bought() -> None:
    s = market([offering()], [work("x", 8, network={"min_gbps": 100})])
    told = priced(s, {"x": [("a100#1", 8)]}, "3.60", values={"x": by_rate("3.60")})
    assert broken(s, told) == {"min_gbps"}


def test_ports_of_different_kinds_join_no_machines() -> None:
    machines = [
        stands("a", port(gbps=400), port("roce", gbps=100), fabric="f"),
        stands("b", port(gbps=100), port("roce", gbps=400), fabric="f"),
    ]
    for gbps, rules in ((200, {"interconnect"}), (100, set[str]())):
        network = {"min_gbps": gbps, "interconnect": "rdma"}
        s = snapshot(machines, [run("x", 16, network=network, topology={})])
        assert broken(s, decided(s, {"x": [("a", 8), ("b", 8)]})) == rules
