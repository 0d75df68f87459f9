"""Offerings as hosts: what is asked of them, and what is got."""

from __future__ import annotations

import pytest

import stowplan
from stowplan.model.decision import WaitingRun
from stowplan.model.reasons import Action, Code
from tests.build import Document, machine, market, offering, run, wants
from tests.solver.cycles import (
    blames,
    headline,
    outcome_of,
    placed,
    places,
    says,
    starts,
)


def test_each_worker_gets_an_instance_of_its_own_however_little_it_needs() -> None:
    s = market(offering("a", gpus=8, available=2), runs=[wants(name) for name in "xyz"])
    assert places(s) == {"x": ["a#1"], "y": ["a#2"]}
    assert headline(s, "z").code == Code.OUTCOMPETED
    taken = "all that could start are taken in this cycle"
    assert says(s, "z", "a") == (Code.NO_CAPACITY_NOW, taken, {})
    assert placed(s, "x").workers[0].devices == ("a#1/0",)
    assert placed(s, "x").workers[0].kind == "offering"


def test_without_a_number_as_many_are_there_as_the_policy_assumes() -> None:
    asked = [wants(name) for name in "xyz"]
    unknown = offering("a", available=None)
    assert len(starts(market(unknown, runs=asked))) == 1
    assert len(starts(market(unknown, runs=asked, policy={"assumed_available": 3}))) == 3


ASSUMED = "its catalog doesn't say how many are (policy.assumed_available)"


def test_that_none_is_left_says_where_it_is_only_assumed() -> None:
    taken = f"all that are assumed to be available are taken in this cycle: {ASSUMED}"
    s = market(offering("a", available=None), runs=[wants("x"), wants("y")])
    assert says(s, "y", "a") == (Code.NO_CAPACITY_NOW, taken, {"assumed": 1})
    nothing = f"none is assumed to be available: {ASSUMED}"
    s = market(offering("a", available=None), runs=[wants("x")], policy={"assumed_available": 0})
    assert says(s, "x", "a") == (Code.NO_CAPACITY_NOW, nothing, {"assumed": 0})
    assert headline(s, "x").code == Code.NO_CAPACITY_NOW


@pytest.mark.parametrize("gpus", [0, 1])
def test_offerings_sold_out_taken_and_assumed_are_told_apart(gpus: int) -> None:
    s = market(
        offering("assumed", available=None), offering("sold", available=0), offering("taken"),
        runs=[wants(name, gpus) for name in "xyz"],
    )  # fmt: skip
    told = {name: says(s, "z", name)[1] for name in ("assumed", "sold", "taken")}
    assert told == {
        "assumed": f"all that are assumed to be available are taken in this cycle: {ASSUMED}",
        "sold": "sold out",
        "taken": "all that could start are taken in this cycle",
    }


def test_idle_instances_are_not_assumed() -> None:
    s = market(offering("a", available=None, warm=1), runs=[wants("x"), wants("y")])
    assert places(s) == {"x": ["a#1"]}
    assert says(s, "y", "a (warm)") == (
        Code.NO_CAPACITY_NOW, "all that could start are taken in this cycle", {},
    )  # fmt: skip
    assert says(s, "y", "a")[2] == {"assumed": 0}


def test_too_few_instances_for_a_run_of_several_workers_says_where_that_is_assumed() -> None:
    several = run("r", 16, machines=2, expected_duration_s=3600, network={"scope": "global"})
    assumed = headline(market(offering("a", gpus=8, available=None), runs=[several]), "r")
    reported = headline(market(offering("a", gpus=8, available=1), runs=[several]), "r")
    assert assumed.code == reported.code == Code.NO_CAPACITY_NOW
    assert "assumed" in assumed.message
    assert "assumed" not in reported.message


def test_warm_instances_have_the_first_numbers_and_are_taken_first() -> None:
    # Two of three are idle; the balanced profile takes what starts sooner at the same rate.
    slow = {"boot_p50_s": 600, "boot_p90_s": 600, "warm_s": 5}
    s = market(offering("a", available=3, warm=2, startup=slow), runs=[wants("x"), wants("y")])
    assert places(s) == {"x": ["a#1"], "y": ["a#2"]}


def test_a_name_that_a_machine_has_already_is_passed_over() -> None:
    s = market(
        offering("a", available=2), runs=[wants("x")], machines=[machine("a#1", state="down")]
    )
    assert places(s) == {"x": ["a#2"]}


def test_memory_is_nominal_and_held_against_what_is_asked_without_slack() -> None:
    fits = run("r", {"count": 1, "min_memory_gb": 80})
    over = run("r", {"count": 1, "min_memory_gb": 80.1})
    assert starts(market(offering("a"), runs=[fits]))
    assert blames(market(offering("a"), runs=[over]), "r", "a").code == Code.NO_MATCHING_GPU


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (run("r", {"count": 9}), Code.INSUFFICIENT_GPUS),
        (run("r", {"count": 1, "models": ["A100"]}), Code.NO_MATCHING_GPU),
        (run("r", {"count": 1, "vendor": "amd"}), Code.NO_MATCHING_GPU),
        (run("r", 1, cpu_cores=65), Code.INSUFFICIENT_CPU),
        (run("r", 1, memory_bytes=2**38 + 1), Code.INSUFFICIENT_MEMORY),
        (run("r", 1, needs=["sandbox"]), Code.CAPABILITY_MISSING),
        (run("r", 1, node_selection={"match_labels": {"a": "b"}}), Code.LABEL_MISSING),
        (run("r", {"ids": ["0"]}), Code.NO_MATCHING_GPU),
        (
            run("r", {"count": 12, "policy": "per_node"}, topology={"keep_within": "node"}),
            Code.GANG_INFEASIBLE,
        ),
        (run("r", 16, machines=2, topology={"keep_within": "rack"}), Code.TOPOLOGY_UNLABELLED),
        (run("r", 16, machines=2, topology={"spread": "rack"}), Code.TOPOLOGY_UNLABELLED),
        (run("r", 16, machines=2, network={"interconnect": "rdma"}), Code.NO_RDMA),
        (run("r", 16, machines=2, network={"interconnect": "nvlink"}), Code.TOPOLOGY_UNLABELLED),
        (run("r", 1, drives=["far"]), Code.DRIVE_UNREACHABLE),
    ],
)
def test_what_an_offering_does_not_have_is_told_as_of_a_machine(
    asked: Document, code: Code
) -> None:
    drives = [{"name": "far", "sites": ["elsewhere"]}]
    s = market(offering("a"), runs=[asked], drives=drives)
    assert says(s, "r", "a").code == code


@pytest.mark.parametrize(
    "more",
    [
        {"topology": {"keep_within": "rack"}},
        {"topology": {"spread": "fabric"}},
        {"network": {"interconnect": "nvlink"}},
    ],
)
def test_what_offerings_never_tell_is_to_be_relaxed_and_of_machines_labelled(
    more: Document,
) -> None:
    asked = run("r", 16, machines=2, **more)
    s = market(offering("a"), runs=[asked], machines=[machine("m", 8)])
    (outcome,) = stowplan.solve(s).outcomes
    assert isinstance(outcome, WaitingRun)
    actions = {host: row.reasons[0].action for row in outcome.hosts for host in row.hosts}
    assert actions["a"] == Action.RELAX_RULE
    if "topology" in more:
        assert actions["m"] == Action.LABEL_MACHINES


def test_names_are_of_machines() -> None:
    chosen = run("r", 1, node_selection={"names": ["m"]})
    s = market(offering("a"), runs=[chosen], machines=[machine("m", 1, state="down")])
    assert says(s, "r", "a").code == Code.NOT_SELECTED


def test_pools_bind_machines_only() -> None:
    policy = {"workspaces": [{"name": "default", "pools": ["x"]}]}
    s = market(offering("a"), runs=[wants("r")], machines=[machine("m", 1)], policy=policy)
    assert places(s) == {"r": ["a#1"]}


def test_a_drive_can_be_reached_from_the_region_that_it_names() -> None:
    s = market(
        offering("a"),
        offering("b", location="fra-1"),
        runs=[wants("r") | {"drives": ["d"]}],
        drives=[{"name": "d", "sites": ["fra-1"]}],
    )
    assert places(s) == {"r": ["b#1"]}


def test_that_none_is_large_enough_is_said_where_there_are_only_offerings() -> None:
    s = market(offering("a"), offering("b", gpus=4), runs=[run("r", {"count": 16})])
    assert headline(s, "r").code == Code.NO_OFFERING_FITS
    with_machine = market(offering("a"), runs=[run("r", {"count": 16})], machines=[machine("m", 8)])
    assert headline(with_machine, "r").code == Code.INSUFFICIENT_GPUS


def test_an_offering_counts_once_warm_or_not() -> None:
    s = market(offering("a", available=2, warm=1), runs=[run("r", {"count": 16})])
    waiting = outcome_of(s, "r")
    assert waiting.outcome == "waiting"
    assert (waiting.hosts_checked, waiting.hosts_ready) == (1, 1)
    assert [(row.kind, row.hosts) for row in waiting.hosts] == [("offering", ("a", "a (warm)"))]


def test_a_run_that_asks_for_nothing_finds_nothing_where_all_is_sold_out() -> None:
    s = market(offering("a", available=0), runs=[run("r", expected_duration_s=600)])
    assert headline(s, "r").code == Code.NO_CAPACITY_NOW


def test_the_run_s_own_limit_is_told_before_an_offering_that_is_too_small() -> None:
    s = market(
        offering("small", "1", gpus=1),
        offering("large", "8"),
        runs=[wants("r", 8, max_rate_usd_per_hour="2")],
    )
    told = headline(s, "r")
    assert told.code == Code.EXCEEDS_MAX_RATE
    assert told.message.startswith("the nearest, large: 8.00 USD an hour, and at most 2.00 allowed")


def test_names_pass_over_every_machine_and_warm_ones_come_first() -> None:
    # a#1, a#2 and a#4 are machines: the idle one is a#3, the one to be created a#5.
    slow = {"boot_p50_s": 600, "boot_p90_s": 600, "warm_s": 5}
    taken = [machine(f"a#{n}", state="down") for n in (1, 2, 4)]
    a = offering("a", available=2, warm=1, startup=slow)
    one = market(a, runs=[wants("x")], machines=taken)
    assert places(one) == {"x": ["a#3"]}
    two = market(a, runs=[wants("x"), wants("y")], machines=taken)
    assert sorted(host for own in places(two).values() for host in own) == ["a#3", "a#5"]


@pytest.mark.parametrize(
    ("available", "warm", "number"), [(1, 5, 1), (0, 2, 0), (3, 0, 3), (None, 2, 2), (None, 0, 1)]
)
def test_idle_ones_are_among_those_available_and_never_fewer_where_no_number_is_known(
    available: int | None, warm: int, number: int
) -> None:
    s = market(offering("a", available=available, warm=warm), runs=[wants(name) for name in "wxyz"])
    assert len(starts(s)) == number


def test_work_without_gpus_takes_a_whole_instance_too() -> None:
    cpu: Document = {"accelerator": None, "cpu_cores": 4}
    runs = [run(name, cpu_cores=1, expected_duration_s=60) for name in "xyz"]
    s = market(offering("a", available=2, **cpu), runs=runs)
    assert len(starts(s)) == 2
    large = market(offering("a", available=2, **cpu), runs=[run("r", cpu_cores=5)])
    assert says(large, "r", "a").code == Code.INSUFFICIENT_CPU


def test_cpu_work_packs_onto_owned_machines_before_anything_is_bought() -> None:
    runs = [run(name, cpu_cores=2, expected_duration_s=60) for name in "wxyz"]
    s = market(offering("a", "0.01", available=9), runs=runs, machines=[machine("m", cpu_cores=6)])
    hosts = sorted(host for own in places(s).values() for host in own)
    assert hosts == ["a#1", "m", "m", "m"]
