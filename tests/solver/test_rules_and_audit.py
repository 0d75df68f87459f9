"""What ties each rule to its audit: both say the same of one worker on one machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hypothesis import given, note

from stowplan.model.audit import CHECKS
from stowplan.model.fleet import Device
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask
from stowplan.solver.cycle import RULES
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.hosts import Host
from stowplan.solver.lots import Lot
from stowplan.solver.matching import has_memory, has_model, has_vendor, is_usable
from stowplan.solver.requests import Requests
from tests.build import (
    Place,
    after,
    broken,
    card,
    decided,
    machine,
    run,
    running,
    snapshot,
)
from tests.solver.cycles import asked_of
from tests.strategies import examples, snapshots

OF_GPUS: dict[str, Callable[[Ask, Lot], bool]] = {
    "models": lambda ask, lot: not has_model(ask, lot),
    "vendor": lambda ask, lot: not has_vendor(ask, lot),
    "min_memory_gb": lambda ask, lot: not has_memory(ask, lot),
    "healthy_only": lambda ask, lot: lot.condition == "at_risk",
    "denied": lambda ask, lot: lot.denied,
}
"""Rules of single GPUs: which of them break it."""

OTHERWISE = {"pinned_ids": {"room", "models", "vendor", "min_memory_gb"}}
"""A rule whose breach the audit names otherwise: pinned GPUs held, not there, or not as asked.

Its own name is for GPUs given in the place of those pinned.
"""

SHARED = {"quota", "queue", "array_limit"}
"""Rules that a run alone on its machine can break by what runs elsewhere."""


class Seat(NamedTuple):
    """One worker of a run of one worker, and a host to try it on."""

    run: str
    ask: Ask
    host: Host


def seats(eligibility: Eligibility, requests: Requests) -> Iterator[Seat]:
    for asked in requests.asked:
        for ask in asked.ways:
            if ask.tasks == 1:
                yield from (Seat(asked.run.name, ask, host) for host in eligibility.hosts)


def verdict(snapshot: Snapshot, requests: Requests, seat: Seat, ids: Sequence[str]) -> set[str]:
    """The rules that the audit says are broken where this worker alone starts, there."""
    place: Place = (seat.host.name, ids)
    refused = {name: reason.code for name, reason in requests.refused.items()}
    return broken(snapshot, decided(snapshot, {seat.run: [place]}, refused))


def usable_first(seat: Seat, wrong: str | None = None) -> list[str]:
    """Ids of the host: free ones that would do, then those that break the rule, then the rest."""
    ask, host = seat.ask, seat.host
    lots = {id: lot for lot in host.lots for id in lot.ids}

    def rank(device: Device) -> tuple[bool, bool]:
        lot, is_free = lots[device.id], device.id in host.start.devices
        is_wrong = wrong is not None and OF_GPUS[wrong](ask, lot)
        return (not (is_free and is_usable(ask, lot)), not is_wrong)

    return [device.id for device in sorted(host.machine.devices, key=rank)]


def given_for(seat: Seat, rule: str) -> list[str]:
    """Ids to give, as many as asked for, so that a breach of the rule shows."""
    ask, host = seat.ask, seat.host
    made_up = [f"{host.name}/none-{n}" for n in range(ask.gpus)]
    if rule == "pinned_ids":
        return sorted(ask.ids)
    if rule == "room":
        free = {id for lot in host.lots if is_usable(ask, lot) for id in lot.ids}
        return [*sorted(free & host.start.devices), *made_up][: ask.gpus]
    ids = usable_first(seat, rule if rule in OF_GPUS else None)
    return [*ids, *made_up][: ask.gpus]


RISKY, FAULTED = card(health="at_risk"), card(health="faulted")
L4 = card(model="NVIDIA L4", memory_mib=23034)
MI = card(model="AMD Instinct MI300X", vendor="amd", memory_mib=196592)
DEMO = {"name": "demo", "workspace": "w2", "machines": ["booked"], "from": after(0), "to": after(9)}

MACHINES = [
    machine("plain", 4),
    machine("down", 2, state="down"),
    machine("stale", 2, reported_at=after(-121)),
    machine("pressed", 2, state="pressure"),
    machine("cordoned", 2, state="cordoned"),
    machine("kept", 2, reserved_for={"team": "v"}),
    machine("only", 2, only=["native"]),
    machine("booked", 2),
    machine("limited", 4, constraints={"max_accelerators": 1}),
    machine("withheld", 2, constraints={"denied_devices": ["withheld/0"]}),
    machine("risky", [card(), RISKY]),
    machine("faulted", [card(), FAULTED]),
    machine("mixed", [card(), L4, MI]),
    machine("small", 1, cpu_cores=1, memory_bytes=5),
    machine("full", 2, labels={"pool": "x", "zone": "a"}),
    machine("joined", 2, rdma={"count": 1, "kind": "roce", "rate_gbps": 100}),
]
RUNS = [
    running("holder", ("full", 1)),
    run("one", 1),
    run("two", 2),
    run("cores", cpu_cores=2),
    run("memory", 1, memory_bytes=6),
    run("named", 1, node_selection={"names": ["full"]}),
    run("pooled", 1, workspace="w1", node_selection={"names": ["plain", "full"], "mode": "any"}),
    run("labelled", 1, node_selection={"match_labels": {"zone": "a"}}),
    run("team", 1, node_selection={"match_labels": {"team": "v"}}),
    run("native", 1, needs=["native"]),
    run("healthy", {"count": 2, "healthy_only": True}),
    run("small-card", {"count": 1, "models": ["L4"]}),
    run("amd", {"count": 1, "vendor": "amd"}),
    run("large", {"count": 1, "min_memory_gb": 96}),
    run("pinned", {"ids": ["full/0"]}),
    run("pinned-other", {"ids": ["mixed/0"], "vendor": "amd"}),
    run("near", drives=["data"]),
    run("remote", 1, network={"interconnect": "rdma"}),
    run("quick", 1, network={"min_gbps": 200}),
    run("array", 1, array={"size": 2}),
]


def check_refusals(snapshot: Snapshot) -> set[str]:
    """Hold what the rules refuse against the audit; return the rules that refuse something."""
    eligibility, requests = asked_of(snapshot)
    refusing = set()
    for seat in seats(eligibility, requests):
        for failing in eligibility.failing(seat.ask, seat.host, seat.host.start):
            rule = failing.rule.name
            said = verdict(snapshot, requests, seat, given_for(seat, rule))
            assert said & OTHERWISE.get(rule, {rule}), (seat.run, seat.host.name, failing)
            refusing.add(rule)
    return refusing


def check_acceptances(snapshot: Snapshot) -> None:
    eligibility, requests = asked_of(snapshot)
    for seat in seats(eligibility, requests):
        slots = eligibility.slots(seat.ask, seat.host, seat.host.start)
        failing = eligibility.failing(seat.ask, seat.host, seat.host.start)
        assert bool(slots) is not bool(failing)
        if slots:
            ids = usable_first(seat)[: seat.ask.gpus]
            said = verdict(snapshot, requests, seat, ids)
            assert said <= SHARED, (seat.run, seat.host.name)
            if snapshot.policy.queue == "throughput":
                assert "queue" not in said
            if snapshot.workspaces[seat.ask.workspace].gpu_quota is None:
                assert "quota" not in said
            if seat.ask.array is None:
                assert "array_limit" not in said


ON_MACHINES = {rule.name for rule in RULES if rule.why_not} - {"machines", "keep_within", "spread"}
"""Rules that refuse a single worker a machine: `machines` refuses only offerings."""


OF_ANOTHER = {"per_node"}
"""A rule whose breach the audit names `machines`, as any other number of workers."""


def test_every_rule_has_an_audit_of_its_name() -> None:
    audits = {check.__module__.rpartition(".")[2] for check in CHECKS}
    told = {"holds", "outcomes", "value", "estimate", "ladder", "access", "account"}
    assert {rule.name for rule in RULES} - OF_ANOTHER == audits - told


@examples(100)
@given(snapshots(max_machines=3, max_runs=5))
def test_the_audit_refuses_a_worker_where_a_rule_does_and_names_it(snapshot: Snapshot) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    check_refusals(snapshot)


@examples(100)
@given(snapshots(max_machines=3, max_runs=5))
def test_the_audit_accepts_a_worker_where_every_rule_does(snapshot: Snapshot) -> None:
    note(snapshot.model_dump_json(by_alias=True, exclude_defaults=True))
    check_acceptances(snapshot)


def test_rules_and_audit_agree_where_every_rule_refuses_something() -> None:
    crowd = snapshot(
        MACHINES,
        RUNS,
        drives=[{"name": "data", "machine": "plain"}],
        reservations=[DEMO],
        policy={"workspaces": [{"name": "w1", "pools": ["x"]}]},
    )
    assert check_refusals(crowd) == ON_MACHINES
    check_acceptances(crowd)


@examples(100)
@given(snapshots(max_machines=3, max_runs=5))
def test_a_pinned_gpu_is_replaced_by_no_other(snapshot: Snapshot) -> None:
    eligibility, requests = asked_of(snapshot)
    for seat in seats(eligibility, requests):
        others = [id for id in usable_first(seat) if id not in seat.ask.ids]
        if seat.ask.ids and len(others) >= seat.ask.gpus:
            said = verdict(snapshot, requests, seat, others[: seat.ask.gpus])
            assert "pinned_ids" in said
