from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import Decision, Stage
from stowplan.model.snapshot import Snapshot
from tests.build import Place, after, broken, card, decided, machine, run, running, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work
from tests.model.audit.standing import port, stands, two_racks

PAIR = [("a", 8), ("b", 8)]


def stage(name: str, objective: float, bound: float | None = None, **fields: Any) -> Stage:
    """Return a stage that is proven, or has a bound of its own."""
    figures = {"objective": objective, "bound": objective if bound is None else bound}
    proof = {"status": "OPTIMAL" if bound is None else "FEASIBLE"}
    rest = {"gap": 0.0, "wall_s": 0.0, "deterministic": 0.0}
    return Stage(**{"name": name, **figures, **proof, **rest, **fields})


def telling(decision: Decision, *stages: Stage) -> Decision:
    """Return the decision with just these stages."""
    account = decision.solver.model_copy(update={"stages": stages})
    return decision.model_copy(update={"solver": account})


def comes_to(s: Snapshot, decision: Decision, **figures: float) -> bool:
    """Whether each figure is the decision's, and neither one more nor one less is."""
    for name, figure in figures.items():
        assert audit(s, telling(decision, stage(name, figure))) == ()
        for wrong in (figure - 1, figure + 1):
            assert broken(s, telling(decision, stage(name, wrong))) == {"account"}
    return True


def test_a_gang_comes_to_its_rung_its_machines_and_the_room_of_its_group() -> None:
    s = snapshot(two_racks(), [run("x", 16, topology={})])
    on_both = decided(s, {"x": PAIR})
    assert comes_to(s, on_both, rung=2, machines=1, room=0)
    s = snapshot(
        [*two_racks(), stands("e", port(), rack="r1", fabric="ib-0")], [run("x", 16, topology={})]
    )
    assert comes_to(s, decided(s, {"x": PAIR}), rung=2, machines=1, room=8)
    across = decided(s, {"x": [("a", 8), ("c", 8)]})
    assert comes_to(s, across, rung=3, machines=1, room=24)


def test_room_is_counted_inside_the_unit_that_a_run_is_kept_to() -> None:
    fleet = [stands(name, domain="d", rack=rack) for name, rack in zip("abc", "rrs", strict=True)]
    s = snapshot(fleet, [run("x", 16, topology={})])
    assert comes_to(s, decided(s, {"x": PAIR}), rung=1, room=8)
    kept = snapshot(fleet, [run("x", 16, topology={"keep_within": "rack"})])
    assert comes_to(kept, decided(kept, {"x": PAIR}), rung=1, room=0)


def test_a_single_worker_leaves_the_room_of_its_domain_and_an_element_too() -> None:
    fleet = [stands("a", domain="d"), stands("b", domain="d"), stands("c")]
    runs = [run("x", 8), run("y", 8), run("z", 2, array={"size": 2})]
    s = snapshot(fleet, [*runs, running("old", ("b", 2))])
    places: dict[str, list[Place]] = {
        "x": [("a", 8)],
        "y": [("c", 8)],
        "z": [("b", ["b/2", "b/3"]), ("b", ["b/4", "b/5"])],
    }
    decision = decided(s, places)
    assert comes_to(s, decision, rung=0, machines=0, room=(14 - 8) + 2 * (14 - 2))
    assert comes_to(s, decision, holes=17 + 17 + 2 * 12)


def test_gpus_out_of_service_leave_no_room() -> None:
    away = [stands("c", state="cordoned"), stands("d", reported_at=after(-999))]
    s = snapshot([stands("a"), stands("b"), *away], [run("x", 16, topology={})])
    assert comes_to(s, decided(s, {"x": PAIR}), room=0)


def test_of_two_assumed_networks_only_the_search_knows_which_was_chosen() -> None:
    both = [port(), port("roce")]
    fleet = [stands("a", *both), stands("b", *both), stands("c", port())]
    s = snapshot(fleet, [run("x", 16, topology={})])
    decision = decided(s, {"x": PAIR})
    for room in (0, 8):
        assert audit(s, telling(decision, stage("room", room))) == ()


def test_workers_that_share_a_machine_count_apart() -> None:
    s = snapshot([stands("a", domain="d")], [run("x", 8, node_selection={"mode": "any"})])
    shared: list[Place] = [
        ("a", [f"a/{n}" for n in range(4)]),
        ("a", [f"a/{n}" for n in range(4, 8)]),
    ]
    assert comes_to(s, decided(s, {"x": shared}), rung=0, machines=1, room=0)


def test_gpus_at_risk_and_points_are_counted() -> None:
    cards = [card(health="at_risk"), card(), card(), card()]
    fleet = [machine("m", cards, cpu_cores=8, memory_bytes=0, reserved_for={"team": "v"})]
    runs = [run("x", 2, cpu_cores=2), run("y", cpu_cores=2)]
    drives = [{"name": "data", "machine": "m"}]
    runs = [{**each, "node_selection": {"match_labels": {"team": "v"}}} for each in runs]
    runs[1]["drives"] = [{"name": "data"}]
    s = snapshot(fleet, runs, drives=drives)
    decision = decided(s, {"x": [("m", 2)], "y": [("m", 0)]})
    each = 95_000 + 25_000 - 2 * 6_250
    of_x, of_y = 2 * 12_500 - 60_000, -30_000 + 40_000
    assert comes_to(s, decision, at_risk=1, points=2 * each + of_x + of_y)


def test_a_drive_that_is_near_or_reached_by_rdma_earns_points() -> None:
    drives = [{"name": "data", "machine": "home", "sites": ["s"]}]
    asks = [run("x", 8, drives=[{"name": "data"}])]
    earned = []
    for rack, ports in (("r", []), ("q", [port()]), ("q", [])):
        fleet = [stands("m", *ports, rack=rack, site="s"), stands("home", port(), rack="r")]
        s = snapshot(fleet, asks, drives=drives)
        points = 50_000 + sum(25_000 for each in (s.machines["m"].cpu_cores, 1) if each)
        nearness = {("r", False): 15_000, ("q", True): 10_000}.get((rack, bool(ports)), 0)
        earned.append(comes_to(s, decided(s, {"x": [("m", 8)]}), points=points + nearness))
    assert earned == [True] * 3


def test_what_is_bought_counts_nothing() -> None:
    s = market([offering()], [work("x", 8)])
    right = priced(s, {"x": [("a100#1", 8)]}, "3.60", values={"x": by_rate("3.60")})
    assert comes_to(s, right, at_risk=0, rung=0, machines=0, room=0, points=0, holes=0)


@pytest.mark.parametrize(("name", "beyond"), [("place", 15), ("points", -1), ("cost", 1)])
def test_a_bound_beyond_the_objective_is_told(name: str, beyond: float) -> None:
    s = snapshot([machine("m", 1)], [])
    figure = 16 if name == "place" else 0
    assert audit(s, telling(decided(s), stage(name, figure))) == ()
    assert broken(s, telling(decided(s), stage(name, figure, beyond))) == {"account"}


def test_a_stage_that_a_limit_ended_may_be_bettered_and_what_follows_is_open() -> None:
    s = snapshot(two_racks(), [run("x", 16, topology={})])
    decision = decided(s, {"x": PAIR})
    assert audit(s, telling(decision, stage("rung", 3, 1), stage("room", 99))) == ()
    assert broken(s, telling(decision, stage("rung", 3))) == {"account"}
    assert broken(s, telling(decision, stage("rung", 1, 1))) == {"account"}
