"""What the page tells of runs on several machines."""

from __future__ import annotations

from typing import Any

from stowplan.cli.formats import written
from stowplan.cli.render.words import advice
from stowplan.model.reasons import Code, Reason
from stowplan.solver.cycle import solve
from tests.build import Document, machine, offering, run, snapshot
from tests.model.audit.standing import port, stands, two_racks

MONEY = ("USD/H", "USD IN ALL (P90)")


def page(machines: list[Document], *runs: Document, form: Any = "table", **more: Any) -> list[str]:
    s = snapshot(machines, runs, **more)
    return written(solve(s), s, form).splitlines()


def row(lines: list[str], start: str) -> list[str]:
    return next(line for line in lines if line.startswith(start)).split("  ")


def cells(lines: list[str], start: str) -> list[str]:
    return [cell.strip() for cell in row(lines, start) if cell.strip()]


def test_a_run_on_several_machines_is_shown_with_its_shape_and_network() -> None:
    lines = page(two_racks()[:2], run("x", 16, machines=2))
    assert cells(lines, "RUN") == ["RUN", "OUTCOME", "WHERE", "GPUS", "SHAPE", "NETWORK", "POINTS"]
    told = cells(lines, "x ")
    assert told[-3:] == ["2 x 8", "InfiniBand ib-0/r1", "100.0"]


def test_each_network_is_named() -> None:
    for machines, told in (
        ([stands(name, domain="d") for name in "ab"], "NVLink d"),
        ([stands(name, port(), rack="r1") for name in "ab"], "RDMA infiniband/r1"),
        ([stands(name, port("roce"), fabric="f") for name in "ab"], "RDMA f"),
        ([stands(name, rack="r1") for name in "ab"], "Ethernet r1"),
        ([stands(name) for name in "ab"], "Ethernet"),
    ):
        assert cells(page(machines, run("x", 16, machines=2)), "x ")[-2] == told


def test_beside_runs_on_one_machine_its_row_is_the_only_one_with_a_shape() -> None:
    lines = page([*two_racks(), machine("m", 4)], run("x", 16, machines=2), run("y", 4))
    assert "DEVICES" in row(lines, "RUN")
    assert cells(lines, "y ")[:5] == ["y", "placed", "m", "4", "0-3"]
    assert len(cells(lines, "y ")) == 6


def test_where_no_run_with_gpus_is_on_several_machines_nothing_is_told_of_shapes() -> None:
    others = run("y", 4), run("e", 8, array={"size": 2}), run("c", machines=2)
    lines = page(two_racks(), *others)
    assert not {"SHAPE", "NETWORK"} & {*cells(lines, "RUN")}


def test_where_something_costs_shapes_stand_beside_money() -> None:
    machines = [each | {"rate_usd_per_hour": "2"} for each in two_racks()]
    lines = page(machines, run("x", 16, machines=2, expected_duration_s=3600))
    names = ["RUN", "OUTCOME", "WHERE", "GPUS", "SHAPE", "NETWORK", *MONEY]
    assert cells(lines, "RUN") == names


def test_instances_of_a_run_are_shown_with_its_shape() -> None:
    kind = offering("o", available=2, location="l")
    asked = run("x", 16, machines=2, expected_duration_s=3600)
    lines = page([], asked, offerings=[kind])
    assert cells(lines, "RUN") == ["RUN", "OUTCOME", "WHERE", "GPUS", "SHAPE", *MONEY]
    assert cells(lines, "x ")[2:5] == ["o#[1-2]", "16", "2 x 8"]
    wide = page([], asked, form="wide", offerings=[kind])
    assert "    o#[1-2]: 8 GPUs of each" in wide


def test_wide_shows_what_each_worker_gets_for_its_network() -> None:
    for machines, told in (
        ([stands(name, domain="d") for name in "ab"], "    a, b: [0-7] of each; IMEX channel 0"),
        (two_racks()[:2], "    a, b: [0-7] of each; RDMA on mlx5_0"),
        ([stands(name) for name in "ab"], "    a, b: [0-7] of each; NCCL without RDMA"),
        (
            [stands("a", port(device="x"), rack="r"), stands("b", port(device="y"), rack="r")],
            "    b: b/[0-7]; RDMA on y",
        ),
    ):
        assert told in page(machines, run("x", 16, machines=2), form="wide")
    assert "    a: a/[0-7]" in page(two_racks()[:1], run("x", 8), form="wide")


def test_wide_says_that_ports_of_machines_on_ethernet_are_not_for_nccl() -> None:
    machines = [stands("a", port(), fabric="f"), stands("b", port(), fabric="g")]
    lines = page(machines, run("x", 16, machines=2, network={"min_gbps": 100}), form="wide")
    assert "    a, b: [0-7] of each; RDMA on mlx5_0, which NCCL doesn't use" in lines


def test_what_to_do_is_told_of_a_run_that_has_no_room_together() -> None:
    def told(code: Code, **numbers: Any) -> str:
        return advice(Reason.of(code, "no", **numbers))

    waits = {"empty": False, "rules": ("keep_within", "interconnect")}
    assert told(Code.TOPOLOGY_NO_ROOM, **waits) == "wait, or relax keep_within or interconnect"
    assert told(Code.TOPOLOGY_NO_ROOM, empty=True, rules=("spread",)) == "relax spread"
    assert told(Code.TOPOLOGY_NO_ROOM) == "relax the rule"
    assert told(Code.GANG_INFEASIBLE, rule="scope and transport") == "relax scope and transport"
    assert told(Code.GANG_INFEASIBLE) == "relax the rule"
    unlabelled = Code.TOPOLOGY_UNLABELLED
    assert told(unlabelled, unit="rack") == "label the machines"
    clique = "let all GPUs of a machine report one nvlink_clique, or relax keep_within"
    assert told(unlabelled, unit="nvlink_domain", rule="keep_within") == clique
    bought = "relax spread: of offerings it is never known"
    assert told(unlabelled, unit="rack", rule="spread", kind="offering") == bought
    assert told(Code.SITE_SPAN) == "wait for room in one site, or ask for less"
    assert told(Code.SITE_SPAN, empty=True) == "ask for less, or add machines to one site"
    chosen = told(Code.SITE_SPAN, empty=True, rule="node_selection")
    assert chosen == "choose machines of one site, or ask for less"
    assert told(Code.SPREAD_CONFLICT) == "ask for fewer workers, or add machines"
    more = told(Code.INSUFFICIENT_GPUS, need=40, whole=32, more=1, like="a-1")
    assert more == "ask for less, or add 1 machine like a-1"
    assert told(Code.NO_RDMA) == "look at the ports, or ask for another network"
    assert told(Code.RDMA_TOO_SLOW) == "lower its min_gbps"
    assert told(Code.PATIENCE) == "wait, or lower its patience_s"
