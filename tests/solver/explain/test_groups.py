"""What is said of a run of several workers that waits for a group of machines."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.decision import WaitingRun
from stowplan.model.reasons import Code, Reason
from stowplan.solver.cycle import solve
from tests.build import Document, after, run, running, snapshot
from tests.model.audit.standing import port, stands, two_racks

RED = [stands(name, port(), fabric="red") for name in "abc"]
BLUE = [stands(name, port(), fabric="blue") for name in "de"]
ROCE = [stands(name, port("roce"), fabric="red") for name in "abc"]
PLAIN = [stands(name, fabric="blue") for name in "de"]
TAKEN = [running(f"t-{host}", (host, 8)) for host in "ae"]


def reason(fleet: list[Document], *runs: Document, gpus: int = 16, **asked: object) -> Reason:
    """Why x, of two machines unless told more, waits beside these runs."""
    wanted = run("x", gpus, **{"machines": 2} | asked)
    [outcome] = [o for o in solve(snapshot(fleet, [*runs, wanted])).outcomes if o.run == "x"]
    assert isinstance(outcome, WaitingRun)
    return outcome.reason


@pytest.mark.parametrize(
    ("machines", "kind"),
    [
        ([*RED, *BLUE], "InfiniBand fabric"),
        ([*ROCE, *[stands(name, port("roce"), fabric="blue") for name in "de"]], "RoCE fabric"),
        ([*ROCE, *BLUE], "fabric"),
        ([*RED, *PLAIN], "fabric"),
    ],
)
def test_the_kind_of_fabric_is_named_where_all_are_of_one(
    machines: list[Document], kind: str
) -> None:
    said = reason(machines, machines=4, topology={"keep_within": "fabric"})
    assert said.code == Code.TOPOLOGY_NO_ROOM
    assert said.message == (
        f"no {kind} has room for the whole run, even if it were empty: "
        "best is red with 3 of 4 workers"
    )
    assert (said.numbers["empty"], said.numbers["rules"]) == (True, ("keep_within",))


def test_what_is_taken_now_is_told_apart_from_what_could_never_be() -> None:
    within = {"keep_within": "fabric"}
    said = reason([*RED, *BLUE], *TAKEN, gpus=24, machines=3, topology=within)
    assert said.message == (
        "no InfiniBand fabric has room for the whole run: best is red with 2 of 3 workers"
    )
    assert said.numbers["empty"] is False


@pytest.mark.parametrize(
    ("asked", "kind"),
    [("infiniband", "InfiniBand fabric"), ("rdma", "RDMA network")],
)
def test_a_run_that_asks_for_a_network_is_told_of_it(asked: str, kind: str) -> None:
    said = reason([*RED, *BLUE], machines=4, network={"interconnect": asked})
    assert said.message.startswith(f"no {kind} has room for the whole run")


def test_patience_is_told_with_both_networks() -> None:
    racks = [*two_racks()[:2], stands("e", rack="r3"), stands("f", rack="r3")]
    others, patient = running("t", ("a", 8)), {"patience_s": 3600}
    said = reason(racks, others, topology=patient, submitted_at=after(-3000))
    assert said.code == Code.PATIENCE
    assert said.message == (
        "there is room on Ethernet in one rack (rung 7); for 600 s more it waits for one "
        "InfiniBand fabric in one rack (rung 3)"
    )


def test_a_run_that_spreads_is_told_in_how_many_of_what() -> None:
    racks = [stands(name, site="s", rack=rack) for name, rack in zip("abc", "112", strict=True)]
    said = reason(racks, gpus=24, machines=3, topology={"spread": "rack"})
    assert said.message == (
        "no site has room for a worker in each of 3 racks, even if it were empty: "
        "best is s with 2 of 3 workers"
    )
    assert said.numbers["rules"] == ("spread",)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (
            {
                "gpus": 0,
                "machines": None,
                "cpu_cores": 40,
                "node_selection": {"mode": "any", "count": 2},
                "topology": {"keep_within": "node"},
            },
            "no machine takes the whole run, however empty",
        ),
        (
            {"network": {"interconnect": "nvlink"}},
            "no NVLink domain joins two machines that could take its workers",
        ),
    ],
)
def test_what_no_group_could_be_is_said(asked: Any, message: str) -> None:
    said = reason(two_racks(), **asked)
    assert (said.message, said.numbers["fit"]) == (message, 0)
    assert said.numbers["empty"] is True
