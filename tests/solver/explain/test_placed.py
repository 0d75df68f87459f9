from __future__ import annotations

from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given, note

from stowplan.model.decision import Decision, PlacedRun, Rejected
from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from stowplan.solver import points
from stowplan.solver.cycle import solve
from stowplan.solver.matching import is_usable
from stowplan.solver.situation import Situation
from tests.build import Document, Place, broken, card, decided, machine, run, running, snapshot
from tests.solver.cycles import class_of, gpus_of, host_of, placed, places, situation_of, told
from tests.strategies import examples, snapshots
from tests.witness.rows import rejected

RISKY = card(health="at_risk")


def _row(rows: tuple[Rejected, ...], host: str) -> Rejected:
    [row] = [each for each in rows if host in each.hosts]
    return row


# What each worker gets.


def test_a_worker_is_told_its_gpus() -> None:
    outcome = placed(snapshot([machine("m", 4)], [run("a", 2)]), "a")
    [worker] = outcome.workers
    assert worker.devices == ("m/0", "m/1")
    assert worker.environment == {"STOWPLAN_GPU_IDS": "m/0,m/1", "STOWPLAN_GPU_COUNT": "2"}
    assert worker.kind == "machine"


def test_a_worker_without_gpus_is_told_nothing() -> None:
    [worker] = placed(snapshot([machine("m")], [run("a")]), "a").workers
    assert (worker.devices, worker.environment, worker.element) == ((), {}, None)


def test_the_rung_of_one_machine_is_the_first_and_that_of_one_site_the_last() -> None:
    machines = [machine("m"), machine("n")]
    s = snapshot(machines, [run("a"), run("b", machines=2)])
    assert (placed(s, "a").rung, placed(s, "b").rung) == (1, 8)


@pytest.mark.parametrize(
    ("asked", "tasks", "each", "why"),
    [
        (run("a", 2), 1, 2, "1 machine x 2 GPUs"),
        (run("a"), 1, 0, "1 machine x 1 worker"),
        (run("a", 1), 1, 1, "1 machine x 1 GPU"),
        (run("a", 1, array={"size": 1}), 1, 1, "1 element x 1 GPU on 1 machine"),
        (run("a", machines=2), 2, 0, "2 machines x 1 worker over Ethernet"),
        (run("a", 2, array={"size": 2}), 1, 2, "2 elements x 2 GPUs on 1 machine"),
    ],
)
def test_the_shape_says_how_the_run_was_cut(
    asked: Document, tasks: int, each: int, why: str
) -> None:
    shape = placed(snapshot([machine("m", 4), machine("n", 1)], [asked]), "a").shape
    assert (shape.tasks, shape.gpus_each, shape.why) == (tasks, each, why)


@pytest.mark.parametrize(
    ("profile", "measure"),
    [("balanced", "usd_per_hour"), ("cost", "cost_usd"), ("speed", None)],
)
def test_machines_that_are_there_cost_nothing(profile: str, measure: str | None) -> None:
    asked = run("a", placement={"profile": profile})
    value = placed(snapshot([machine("m")], [asked]), "a").value
    assert (value.measure if value else None) == measure
    if value:
        assert value.chosen == value.reference == 0
        assert value.band == Decimal("0.02")


def test_the_scores_are_those_of_the_machine_after_the_decision() -> None:
    cards = [card(), card(), card(health="unknown"), RISKY]
    s = snapshot([machine("m", cards)], [run("a", 1), run("b", 1)])
    scores = placed(s, "a").scores
    assert (scores.fit, scores.health) == (0.5, 0.5)  # 2 of 4 in use, 2 of 4 said to be healthy
    alone = placed(snapshot([machine("m")], [run("a")]), "a").scores
    assert (alone.fit, alone.health) == (0, 1)


# Asked and got.


def test_each_rule_that_the_run_set_is_told_with_what_it_got() -> None:
    cards = [card(), card(health="unknown", model="NVIDIA H100 NVL", memory_mib=95830)]
    asked = run(
        "a",
        {
            "count": 2,
            "models": ["H100", "a100"],
            "vendor": "nvidia",
            "min_memory_gb": 80,
            "healthy_only": True,
        },
        needs=["net"],
        drives=["data"],
        node_selection={"names": ["m"], "match_labels": {"zone": "a"}},
    )
    home = machine("m", cards, capabilities=["net"], labels={"zone": "a"})
    s = snapshot([home], [asked], drives=[{"name": "data", "machine": "m"}])
    got = {each.rule: (each.asked, each.got) for each in placed(s, "a").asked_and_got}
    assert got == {
        "models": ("a100 or h100", "NVIDIA H100 80GB HBM3, NVIDIA H100 NVL"),
        "vendor": ("nvidia", "nvidia"),
        "min_memory_gb": ("80 GB", "85.5 GB"),
        "healthy_only": (
            "no GPU at risk",
            "1 healthy, 1 of unknown health (no sign of failing)",
        ),
        "names": ("m", "m"),
        "match_labels": ("zone=a", "m"),
        "capabilities": ("net", "m"),
        "drives": ("data", "on the machine"),
    }


def test_pinned_gpus_and_a_drive_elsewhere_are_told() -> None:
    asked = run("a", {"ids": ["m/1"]}, drives=["data"])
    s = snapshot([machine("m", 2)], [asked], drives=[{"name": "data"}])
    got = {each.rule: (each.asked, each.got) for each in placed(s, "a").asked_and_got}
    assert got == {"pinned_ids": ("m/1", "m/1"), "drives": ("data", "reachable")}


def test_a_run_that_sets_no_rule_has_nothing_to_compare() -> None:
    assert placed(snapshot([machine("m", 2)], [run("a", 1)]), "a").asked_and_got == ()


# Every other host.


def test_hosts_that_can_not_take_it_say_all_their_reasons() -> None:
    machines = [machine("m", 2), machine("n", 1, state="draining"), machine("o", 2, cpu_cores=1)]
    s = snapshot(machines, [run("a", 2, cpu_cores=2)])
    rows = placed(s, "a").rejected
    assert [reason.code for reason in _row(rows, "n").reasons] == [
        Code.MACHINE_DRAINING,
        Code.INSUFFICIENT_GPUS,
    ]
    assert [reason.code for reason in _row(rows, "o").reasons] == [Code.INSUFFICIENT_CPU]


def test_hosts_with_the_same_reasons_share_a_row() -> None:
    machines = [machine("m", 2), *(machine(name, state="down") for name in "nop")]
    [row] = placed(snapshot(machines, [run("a", 2)]), "a").rejected
    assert row.hosts == ("n", "o", "p")


def test_a_host_that_earns_less_says_how_much() -> None:
    machines = [machine("m", 2), machine("n", 8)]
    [row] = placed(snapshot(machines, [run("a", 2)]), "a").rejected
    # All of 2 GPUs earn 50, 2 of 8 earn 12.5; cores and memory are left free on both: 25 each.
    assert told(row.reasons[0]) == (
        Code.OUTRANKED,
        "62.5 points there, 100 where it is",
        {"stage": "points", "value": 62.5, "reference": 100.0},
    )


def test_a_host_that_would_take_gpus_at_risk_says_how_many() -> None:
    drives = [{"name": "data", "machine": "n", "sites": ["s"]}]
    machines = [machine("m", 2, network="s"), machine("n", [RISKY, RISKY])]
    s = snapshot(machines, [run("a", 2, drives=["data"])], drives=drives)
    [row] = placed(s, "a").rejected
    assert told(row.reasons[0]) == (
        Code.OUTRANKED,
        "would take 2 GPUs at risk, against 0",
        {"stage": "at_risk", "value": 2, "reference": 0},
    )


def test_of_hosts_alike_the_other_is_as_good() -> None:
    outcome = placed(snapshot([machine("m", 2), machine("n", 2)], [run("a", 2)]), "a")
    [row] = outcome.rejected
    assert told(row.reasons[0]) == (
        Code.OUTRANKED,
        "as good (100 points)",
        {"stage": "canonical", "value": 100.0, "reference": 100.0},
    )


def test_a_host_as_good_for_the_run_and_worse_for_all_is_no_tie() -> None:
    # a is pinned to m. Beside it b earns 2 of 4 GPUs, 25, as much as alone on n, 1 of 2; but
    # then a has 25 too, and by itself 12.5.
    s = snapshot([machine("m", 4), machine("n", 2)], [run("a", {"ids": ["m/0"]}), run("b", 1)])
    assert places(s)["b"] == ["m"]
    [row] = placed(s, "b").rejected
    assert told(row.reasons[0]) == (
        Code.OUTRANKED,
        "75 points there, 75 where it is; all runs together earn more this way",
        {"stage": "points", "value": 75.0, "reference": 75.0},
    )


def test_a_host_better_for_the_run_and_worse_for_all_says_so() -> None:
    # On m, a quarter of the cores is used: b earns 25 + 18.75 there, and 25 + 25 on n. But on n
    # it leaves a with 1 of 4 GPUs in use, 12.5 less.
    machines = [machine("m", 4, used={"cpu_cores": 16}), machine("n", 2)]
    s = snapshot(machines, [run("a", {"ids": ["m/0"]}), run("b", 1)])
    assert places(s)["b"] == ["m"]
    assert told(placed(s, "b").rejected[0].reasons[0]) == (
        Code.OUTRANKED,
        "75 points there, 68.75 where it is; all runs together earn more this way",
        {"stage": "points", "value": 75.0, "reference": 68.75},
    )


@examples(80)
@given(snapshots())
def test_every_other_host_is_rejected_exactly_once(snapshot: Snapshot) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    situation, decision = situation_of(snapshot), solve(snapshot)
    for outcome in decision.outcomes:
        if isinstance(outcome, PlacedRun):
            each = class_of(situation, outcome.run)
            own = {worker.host for worker in outcome.workers}
            listed = {host.name for host in situation.eligibility.listed(each.ask)}
            rows = rejected(decision, outcome)
            assert sorted(name for row in rows for name in row.hosts) == sorted(listed - own)
            assert all(row.reasons for row in rows)


# Fallbacks.


def test_fallbacks_are_the_hosts_with_room_the_best_first() -> None:
    machines = [machine("m", 2), machine("n", 8), machine("o", 4), machine("p", 1)]
    assert placed(snapshot(machines, [run("a", 2)]), "a").fallbacks == ("o", "n")


def test_hosts_that_take_gpus_at_risk_are_the_last_to_fall_back_on() -> None:
    machines = [machine("m", 2), machine("n", [RISKY, RISKY]), machine("o", 8)]
    assert placed(snapshot(machines, [run("a", 2)]), "a").fallbacks == ("o", "n")


def test_room_that_others_take_is_no_fallback() -> None:
    s = snapshot([machine("m", 2), machine("n", 2)], [run("a", 2), run("b", 2)])
    assert placed(s, "a").fallbacks == ()


def test_at_most_ten_fallbacks_are_told() -> None:
    machines = [machine(f"m{index:02}", 1) for index in range(20)]
    assert len(placed(snapshot(machines, [run("a", 1)]), "a").fallbacks) == 10


def test_the_fallbacks_of_several_workers_are_whole_sets_the_best_first() -> None:
    # On m and n a worker earns 25 - 12.5 for its half of the cores, on o and p 3.125 less.
    used = {"m": 0, "n": 0, "o": 1, "p": 1}
    machines = [
        machine(name, cpu_cores=8, memory_bytes=0, used={"cpu_cores": cores})
        for name, cores in used.items()
    ]
    outcome = placed(snapshot(machines, [run("a", cpu_cores=4, machines=2)]), "a")
    assert sorted(worker.host for worker in outcome.workers) == ["m", "n"]
    assert outcome.fallbacks == ("m+o", "m+p", "n+o", "n+p", "o+p")


def test_the_fallbacks_of_hundreds_of_workers_are_found_too() -> None:
    machines = [machine(f"m{index:03}", cpu_cores=1) for index in range(205)]
    outcome = placed(snapshot(machines, [run("a", cpu_cores=1, machines=200)]), "a")
    assert len(outcome.fallbacks) == 10
    assert {len(set(each.split("+"))) for each in outcome.fallbacks} == {200}


def test_workers_that_may_share_have_alternatives_that_hold_them_all() -> None:
    asked = run("a", cpu_cores=1, node_selection={"count": 3, "mode": "any"})
    big, small = machine("m", cpu_cores=8), machine("n", cpu_cores=3)
    tiny = machine("o", cpu_cores=2)
    outcome = placed(snapshot([big, small, tiny], [asked]), "a")
    ways = {"m+m+m", "n+n+n", "m+o+o", "n+o+o"}
    own = "+".join(sorted(worker.host for worker in outcome.workers))
    assert set(outcome.fallbacks) <= ways - {own}
    assert {"m+m+m", "n+n+n"} <= {own, *outcome.fallbacks}


def _moved(s: Snapshot, decision: Decision, run: str, hosts: list[str]) -> Decision:
    """The decision with a run on other hosts: all its workers, or the last of an array."""
    situation = situation_of(s)
    moved: dict[str, list[Place]] = {}
    for outcome in decision.outcomes:
        if isinstance(outcome, PlacedRun):
            moved[outcome.run] = [
                (worker.host, worker.devices)
                if worker.element is None
                else (worker.host, worker.devices, worker.element)
                for worker in outcome.workers
            ]
    own = moved[run]
    ask = class_of(situation, run).ask
    if ask.array is not None:
        last = own[-1]
        assert len(last) == 3
        moved[run] = [*own[:-1], (hosts[0], _free(situation, run, hosts[0]), last[2])]
    else:
        moved[run] = [(host, _free(situation, run, host)) for host in hosts]
    refused = {
        outcome.run: outcome.reason.code
        for outcome in decision.outcomes
        if outcome.outcome == "refused"
    }
    return decided(s, moved, refused)


def _free(situation: Situation, run: str, host_name: str) -> list[str]:
    """GPUs that the run could take on a host, those at risk last."""
    ask, host = class_of(situation, run).ask, host_of(situation, host_name)
    lots = sorted(host.lots, key=lambda lot: lot.condition == "at_risk")
    free = [
        id
        for lot in lots
        if is_usable(ask, lot)
        for id in sorted(lot.ids & situation.room_left(host).devices)
    ]
    return free[: ask.gpus]


@examples(80)
@given(snapshots())
def test_each_fallback_works_with_all_else_as_decided(snapshot: Snapshot) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    decision = solve(snapshot)
    for outcome in decision.outcomes:
        if isinstance(outcome, PlacedRun):
            for fallback in outcome.fallbacks:
                moved = _moved(snapshot, decision, outcome.run, fallback.split("+"))
                assert broken(snapshot, moved) == set(), (outcome.run, fallback)


@examples(60)
@given(snapshots())
def test_fallbacks_of_one_worker_are_in_the_order_of_risk_and_points(snapshot: Snapshot) -> None:
    situation = situation_of(snapshot)
    for outcome in solve(snapshot).outcomes:
        if isinstance(outcome, PlacedRun) and len(outcome.workers) == 1:
            ask = class_of(situation, outcome.run).ask
            ranks = []
            for name in outcome.fallbacks:
                host = host_of(situation, name)
                ids = _free(situation, outcome.run, name)
                health = {each.id: each.health for each in host.machine.devices}
                risk = sum(health[id] == "at_risk" for id in ids)
                load = situation.plan.loads[name].plus(ask, host, risk)
                ranks.append((risk, -points.of_worker(ask, host, load, risk)))
            assert all(better <= worse for better, worse in pairwise(ranks))


def test_ids_of_a_run_that_stays_are_no_fallback() -> None:
    s = snapshot([machine("m", 2), machine("n", 2)], [running("r", ("n", 1)), run("a", 2)])
    assert gpus_of(s, "a") == [("m/0", "m/1")]
    assert placed(s, "a").fallbacks == ()
