"""Runs on every machine that could take them: solver and audit agree, whatever else they ask."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from stowplan.solver.cycle import solve
from tests.build import Document, machine, run, snapshot
from tests.model.audit.standing import port, stands
from tests.solver.cycles import headline, outcome_of, places, starts

UNITS = (None, None, None, "node", "rack", "fabric")


@st.composite
def machines(draw: st.DrawFn) -> list[Document]:
    """Up to five machines in two sites, of which some are labelled, wired, taken or out."""
    return [
        stands(
            name,
            *draw(st.sampled_from(((), (), (port(),), (port("roce", 100),)))),
            gpus=draw(st.sampled_from((0, 1, 2, 2, 4))),
            domain=draw(st.sampled_from((None, None, "d"))),
            site=draw(st.sampled_from((None, None, None, "s"))),
            rack=draw(st.sampled_from((None, "r1", "r1", "r2"))),
            fabric=draw(st.sampled_from((None, None, "f1", "f2"))),
            used={"cpu_cores": draw(st.sampled_from((0, 0, 0, 60)))},
            state=draw(st.sampled_from(("up", "up", "up", "up", "up", "cordoned"))),
        )
        for name in "abcde"[: draw(st.integers(1, 5))]
    ]


@st.composite
def everywhere(draw: st.DrawFn, name: str) -> Document:
    """A run of mode `all`, with any of what bounds its shape or its machines."""
    count = draw(st.sampled_from((0, 0, 1, 2, 3, 4, 6, 8, 12)))
    gpus: Document = {"count": count}
    if count:
        gpus["min_per_machine"] = draw(st.sampled_from((None, None, 1, 2, 3)))
        gpus["policy"] = draw(st.sampled_from((None, None, "per_node")))
    least = draw(st.sampled_from((None, None, 1, 2, 3, 8)))
    most = draw(st.sampled_from((None, None, 1, 2, 4)))
    within = draw(st.sampled_from((*UNITS, "nvlink_domain")))
    if least and ((most and most < least) or (within == "node" and least > 1)):
        least = None
    spread = draw(st.sampled_from(UNITS))
    if spread is not None and spread == within and (least or 0) > 1:
        spread = None
    topology = {"min_nodes": least, "max_nodes": most, "keep_within": within, "spread": spread}
    topology["patience_s"] = draw(st.sampled_from((0, 0, 3600)))
    selection: Document = {"mode": "all"}
    if draw(st.integers(0, 3)) == 0:
        selection["names"] = draw(st.sampled_from((["a"], ["a", "b"], ["a", "c"])))
    network = {
        "interconnect": draw(
            st.sampled_from(("auto", "auto", "auto", "rdma", "infiniband", "nvlink"))
        ),
        "min_gbps": draw(st.sampled_from((None, None, None, 100, 400))),
    }
    cores = draw(st.sampled_from((0, 1, 8, 65)))
    return run(
        name, gpus, cpu_cores=cores, topology=topology, node_selection=selection, network=network
    )


@st.composite
def snapshots(draw: st.DrawFn) -> Snapshot:
    """A small fleet, and runs on all of it beside others."""
    fleet = draw(machines())
    others: Sequence[Document] = (
        run("one", 1, cpu_cores=1),
        run("open", 4, topology={}),
        run("sweep", 1, array={"size": 3}),
        run("two", cpu_cores=30, machines=2),
    )
    asked = [draw(everywhere(f"all-{n}")) for n in range(draw(st.integers(1, 2)))]
    beside = [other for other in others if draw(st.integers(0, 2)) == 0]
    return snapshot(fleet, [*asked, *beside])


@given(snapshots())
def test_no_run_on_every_machine_breaks_the_cycle(s: Snapshot) -> None:
    assert len(solve(s).outcomes) == len(s.runs)


@pytest.mark.parametrize(
    ("bounds", "numbers"),
    [
        ({"topology": {"max_nodes": 2}}, {"max_nodes": 2}),
        ({"topology": {"min_nodes": 8}}, {"min_nodes": 8}),
        ({"gpus": {"count": 4, "min_per_machine": 2}}, {"min_per_machine": 2}),
        ({"gpus": {"count": 12, "policy": "per_node"}}, {"gpus": 12, "gpus_each": 3}),
    ],
)
@pytest.mark.parametrize("site", [None, "x"])
def test_a_bound_that_all_machines_break_refuses_the_run_and_no_other(
    bounds: Document, numbers: Document, site: str | None
) -> None:
    fleet = [stands("a", site=site), *(stands(name) for name in "bcd")]
    asked = {"name": "every", "gpus": {"count": 4}, "node_selection": {"mode": "all"}} | bounds
    s = snapshot(fleet, [asked, run("other", 1)])
    outcome = outcome_of(s, "every")
    assert outcome.outcome == "refused"
    assert outcome.reason.code is Code.UNEVEN_SHAPE
    assert outcome.reason.numbers == {"gpus": 4, "machines": 4} | numbers
    assert starts(s) == {"other"}


@pytest.mark.parametrize("gpus", [0, 2])
@pytest.mark.parametrize(
    "topology", [{"spread": "rack"}, {"keep_within": "rack"}, {"keep_within": "fabric"}]
)
def test_a_machine_without_the_label_is_one_of_all_and_the_run_waits_for_it(
    topology: Document, gpus: int
) -> None:
    fleet = [stands("m0"), stands("m1", rack="r1", fabric="f1")]
    everywhere = run("every", gpus, node_selection={"mode": "all"}, topology=topology)
    s = snapshot(fleet, [everywhere, run("other", 1)])
    assert headline(s, "every").code is Code.TOPOLOGY_UNLABELLED
    assert starts(s) == {"other"}
    alone = snapshot([machine("m0", 2)], [everywhere])
    assert places(alone) == {"every": ["m0"]}
