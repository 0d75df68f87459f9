from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stowplan.model.topology import Unit
from stowplan.solver.ladder import Group, Ladder
from tests.build import Document, card, offering, run, running, snapshot
from tests.model.audit.standing import port, stands
from tests.solver.cycles import ask_in, asked_of


def ladder_of(machines: list[Document], *runs: Document, **fleet: Any) -> Ladder:
    return asked_of(snapshot(machines, list(runs), **fleet))[0].ladder


def names(ladder: Ladder, group: Group) -> str:
    return "".join(ladder.hosts[place].name for place in group.hosts.tolist())


def free(ladder: Ladder) -> dict[str, int]:
    return {host.name: int(ladder.free[host.place]) for host in ladder.hosts}


def test_free_are_the_sound_gpus_that_nobody_holds_on_machines_in_service() -> None:
    sick = [card(), card(health="at_risk"), card(health="faulted")]
    found = ladder_of(
        [
            stands("up", gpus=4),
            stands("sick") | {"devices": sick},
            stands("held", gpus=4),
            stands("down", state="down"),
            stands("cordoned", state="cordoned"),
            stands("stale", reported_at="2026-09-21T05:00:00Z"),
            stands("none", gpus=0),
        ],
        running("x", ("held", 3)),
        offerings=[offering("o")],
    )
    assert free(found) == {
        "up": 4, "sick": 2, "held": 1, "down": 0, "cordoned": 0, "stale": 0, "none": 0, "o": 0,
    }  # fmt: skip


def test_a_group_has_the_free_gpus_of_all_its_machines_whoever_else_is_there() -> None:
    machines = [stands(name, rack="r", gpus=2) for name in "abd"]
    found = ladder_of(machines, running("x", ("a", 1)))
    [rack] = found.groups(None)
    assert (rack.rung, names(found, rack), rack.free, rack.left(4)) == (7, "abd", 5, 1)


def test_groups_are_numbered_the_tightest_first() -> None:
    machines = [stands(name, port(), rack="r", domain="c", fabric="f") for name in "ab"]
    machines += [stands(name, port(), rack="r", fabric="f") for name in "de"]
    found = ladder_of([*machines, stands("x")])
    told = [(each.number, each.rung, names(found, each)) for each in found.groups(None)]
    assert told == [(0, 2, "ab"), (1, 3, "abde"), (2, 8, "abdex")]


def test_no_group_of_several_machines_is_within_one_node() -> None:
    assert ladder_of([stands("a"), stands("b")]).groups("node") == ()


def test_a_machine_alone_leaves_what_is_free_in_its_domain_and_nothing_where_it_is_in_none() -> (
    None
):
    machines = [stands(name, domain="c", gpus=2) for name in "ab"]
    machines += [stands("away", domain="c", gpus=2, site="s"), stands("x", gpus=4)]
    found = ladder_of(machines, running("on", ("a", 1)))
    told = {names(found, each): (each.rung, each.left(2)) for each in found.machines}
    assert told == {"a": (1, 1), "b": (1, 1), "away": (1, 0), "x": (1, 0)}
    of_one = {host.name: int(found.room_of_one[host.place]) for host in found.hosts}
    assert of_one == {"a": 3, "b": 3, "away": 2, "x": -1}


def test_a_site_has_all_its_machines_on_the_last_rung() -> None:
    machines = [stands("a", rack="r"), stands("b", rack="r"), stands("x", site="s")]
    found = ladder_of(machines)
    assert [(each.rung, names(found, each)) for each in found.sites] == [(8, "ab"), (8, "x")]


def test_units_are_told_apart_by_name_and_site() -> None:
    machines = [
        stands("a", rack="r"), stands("b", rack="q"), stands("d", rack="r", site="s"), stands("x"),
    ]  # fmt: skip
    numbers = ladder_of(machines).units("rack").tolist()
    assert numbers[3] == -1
    assert len({*numbers[:3]}) == 3


@pytest.mark.parametrize(
    ("asked", "slots", "workers"),
    [
        ({"machines": 4}, [5, 0, 1, 1], 3),
        ({"node_selection": {"mode": "any"}}, [5, 0, 1, 1], 6),
        ({"machines": 4, "topology": {"spread": "rack"}}, [5, 0, 1, 1], 2),
        ({"machines": 4, "topology": {"spread": "rack"}}, [5, 5, 0, 0], 1),
        ({"machines": 4, "topology": {"spread": "node"}}, [5, 5, 0, 0], 2),
        ({"machines": 4, "topology": {"spread": "fabric"}}, [1, 1, 1, 1], 2),
    ],
)
def test_workers_that_fit_at_once_are_counted_as_they_may_share_or_must_spread(
    asked: Document, slots: list[int], workers: int
) -> None:
    machines = [
        stands("a", rack="r", fabric="f"), stands("b", rack="r", fabric="f"),
        stands("d", rack="q", fabric="f"), stands("e", rack="q", fabric="g"),
    ]  # fmt: skip
    eligibility, requests = asked_of(snapshot(machines, [run("r", 4, **asked)]))
    found = eligibility.ladder
    [own] = requests.asked
    ask = next(way for way in own.ways if way.tasks == 4)
    assert found.workers(ask, np.arange(4), np.array(slots)) == workers


@pytest.mark.parametrize("kept", ["rack", "fabric", "nvlink_domain"])
def test_groups_within_a_unit_are_found_once(kept: Unit) -> None:
    where: Document = {"rack": "r", "fabric": "f", "domain": "c"}
    found = ladder_of([stands("a", **where), stands("b", **where), stands("x")])
    assert [names(found, each) for each in found.groups(kept)] == ["ab"]
    assert found.groups(kept) is found.groups(kept)


def test_what_a_run_asks_of_the_network_is_in_its_ask() -> None:
    network = {"interconnect": "rdma", "min_gbps": 200}
    asked = run("r", 4, topology={"keep_within": "rack", "spread": "node"}, network=network)
    ask = ask_in(asked_of(snapshot([stands("a")], [asked]))[1], "r")
    assert (ask.keep_within, ask.spread, ask.interconnect, ask.min_gbps) == (
        "rack", "node", "rdma", 200,
    )  # fmt: skip
