"""What a host must say of a worker: every rule that it fails, in the order of the filters.

The first that fails decides; the rest are told too. Each is a code with its numbers, and with the
words that its message must hold where the numbers don't say it all.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from stowplan.model.fleet import Device, Machine, Reservation
from stowplan.model.reasons import Figure, Reason
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import cores_each, gpus_each, memory_each
from tests.witness.machines import (
    Room,
    has_memory,
    has_model,
    has_vendor,
    in_pools,
    is_as_asked,
    reaches,
)


class Said(NamedTuple):
    """One failing rule, as a host must tell it."""

    code: str
    numbers: Mapping[str, Figure]
    words: tuple[str, ...] = ()

    def is_told_by(self, reason: Reason) -> bool:
        return (
            reason.code == self.code
            and dict(reason.numbers) == self.numbers
            and all(word in reason.message for word in self.words)
        )


def reasons(snapshot: Snapshot, machine: Machine, run: Run, room: Room) -> list[Said]:
    """All that keeps one worker of the run off the machine, with so much free there."""
    return [
        *not_ready(snapshot, machine, run),
        *_not_chosen(snapshot, machine, run),
        *_too_full(machine, run, room),
        *_without_gpus(machine, run, room),
        *_unfit(snapshot, machine, run),
    ]


def barred(snapshot: Snapshot, machine: Machine, run: Run) -> list[str]:
    """Every code that keeps the run off the machine whatever the room and the GPUs."""
    bars = (not_ready, _not_chosen, _unfit)
    return [said.code for each in bars for said in each(snapshot, machine, run)]


def not_ready(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[Said]:
    """Filters 1 and 2: the machine takes no new work, or not this run's."""
    why = (machine.state_reason,) if machine.state_reason else ()
    if machine.state == "down":
        yield Said("MACHINE_DOWN", {}, ("down", *why))
    elif not (machine.cpu_cores or machine.memory_bytes or machine.devices):
        yield Said("MACHINE_DOWN", {}, ("no cores",))
    age, most = snapshot.now - (machine.reported_at or snapshot.now), snapshot.policy.stale_after_s
    if age > dt.timedelta(seconds=most):
        yield Said("HARDWARE_STALE", {"age_s": int(age.total_seconds()), "stale_after_s": most})
    closed = {"pressure": "PRESSURE", "cordoned": "CORDONED", "draining": "DRAINING"}
    if machine.state in closed:
        yield Said("MACHINE_" + closed[machine.state], {}, why)
    kept = machine.reserved_for
    if not kept.items() <= run.node_selection.match_labels.items():
        told = ", ".join(f"{key}={kept[key]}" for key in sorted(kept))
        yield Said("MACHINE_RESERVED", {"reserved_for": told}, (told,))


def _not_chosen(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[Said]:
    """Filters 3 and 4: capabilities, names, labels, pools."""
    needs, only, selection = set(run.needs), set(machine.only), run.node_selection
    if lacks := tuple(sorted(needs - only - set(machine.capabilities))):
        yield Said("CAPABILITY_MISSING", {"missing": lacks}, lacks)
    elif only and not needs & only:
        yield Said("CAPABILITY_MISSING", {"only": tuple(sorted(only))}, ("only", *only))
    if selection.names and machine.name not in selection.names:
        yield Said("NOT_SELECTED", {})
    labels = {**machine.labels, **machine.reserved_for}
    asked = sorted(selection.match_labels.items())
    if missing := [(key, value) for key, value in asked if labels.get(key) != value]:
        told = tuple(f"{key}={value}" for key, value in missing)
        instead = [f"has {key}={labels[key]}" for key, _ in missing if key in labels]
        yield Said("LABEL_MISSING", {"missing": told}, (*told, *instead))
    if not in_pools(snapshot, machine, run):
        own = next(w.pools for w in snapshot.policy.workspaces if w.name == run.workspace)
        pools = tuple(sorted(own or ()))
        yield Said("POOL_MISMATCH", {"pool": labels.get("pool"), "pools": pools}, (run.workspace,))


def _too_full(machine: Machine, run: Run, room: Room) -> Iterator[Said]:
    """Filter 7: free cores, then free memory."""
    cores, memory = cores_each(run, gpus_each(run)), memory_each(run, gpus_each(run))
    if cores > max(0, room.cores):
        free, whole = max(0, room.cores) / 1000, round(machine.cpu_cores * 1000) / 1000
        yield Said("INSUFFICIENT_CPU", {"need": cores / 1000, "free": free, "whole": whole})
    if memory > (bytes_free := max(0, room.memory)):
        yield Said(
            "INSUFFICIENT_MEMORY",
            {"need_bytes": memory, "free_bytes": bytes_free, "whole_bytes": machine.memory_bytes},
        )


def _without_gpus(machine: Machine, run: Run, room: Room) -> Iterator[Said]:
    """Filter 8: GPUs as asked, the pinned ones, and enough of them free."""
    need = gpus_each(run)
    if need and machine.devices:
        yield from _unlike(machine, run)
    if need and run.gpus.ids:
        yield from _unpinned(machine, run, room)
    if need and machine.devices:
        yield from _too_few(machine, run, room)
    elif need:
        yield Said("NO_MATCHING_GPU", {"need": need}, ("no GPU",))


def _unlike(machine: Machine, run: Run) -> Iterator[Said]:
    """No GPU has the model; or the vendor; or the memory: none at all, or none of those before."""
    tests: list[tuple[str, Callable[[Device, Run], bool], Callable[[Device], str]]] = [
        (f"model {' or '.join(sorted(t.lower() for t in run.gpus.models))}", has_model, _model),
        (f"vendor {run.gpus.vendor}", has_vendor, lambda one: one.vendor or "vendor unknown"),
        (f"{run.gpus.min_memory_gb or 0:g} GB of memory", has_memory, _memory),
    ]
    before = list(machine.devices)
    for asked, test, shown in tests:
        passing = [one for one in machine.devices if test(one, run)]
        after = [one for one in before if test(one, run)]
        if not passing or (before and not after):
            there = before if passing else machine.devices
            has = tuple(sorted({shown(one) for one in there}))
            figures: dict[str, Figure] = {"asked": asked, "has": has}
            if test is has_memory:
                most = max(one.memory_mib for one in there) * 2**20 / 10**9
                figures |= {"need_gb": run.gpus.min_memory_gb, "has_gb": round(most, 1)}
            yield Said("NO_MATCHING_GPU", figures, (asked, *has))
        before = after


def _model(device: Device) -> str:
    return device.model


def _memory(device: Device) -> str:
    return f"{device.memory_mib * 2**20 / 10**9:.1f} GB"


def _unpinned(machine: Machine, run: Run, room: Room) -> Iterator[Said]:
    """A pinned GPU isn't here; or is, and not as asked; or is as asked, and not free."""
    pinned = sorted(run.gpus.ids)
    there = {device.id: device for device in machine.devices}
    absent = tuple(id for id in pinned if id not in there)
    unlike = tuple(id for id in pinned if id in there and not is_as_asked(there[id], run))
    busy = tuple(id for id in pinned if id not in room.devices)
    if absent:
        yield Said("NO_MATCHING_GPU", {"missing": absent}, absent)
    elif unlike:
        yield Said("NO_MATCHING_GPU", {"unlike": unlike}, unlike)
    elif busy:
        yield Said("PINNED_GPU_BUSY", {"busy": busy}, busy)


def _too_few(machine: Machine, run: Run, room: Room) -> Iterator[Said]:
    """Too few free: which kind of the others would have made it enough, or that none would.

    Only GPUs as asked count. Faulted ones first, as what is wrong with the hardware; else those
    withheld that the run could have been given, and for healthy_only those at risk.
    """
    need, withheld = gpus_each(run), machine.constraints.denied_devices
    as_asked = [
        device
        for device in machine.devices
        if is_as_asked(device, run) and (not run.gpus.ids or device.id in run.gpus.ids)
    ]
    free = [device for device in as_asked if device.id in room.devices]
    faulted = sum(one.health == "faulted" and one.id not in withheld for one in free)
    sound = [one for one in free if one.health != "faulted"]
    given = [one for one in sound if one.id not in withheld]
    risky = sum(one.health == "at_risk" for one in given) if run.gpus.healthy_only else 0
    have = len(given) - risky
    denied = sum(
        one.id in withheld and not (run.gpus.healthy_only and one.health == "at_risk")
        for one in sound
    )
    if have >= need or not as_asked:
        return
    healthy = {"need": need, "healthy_free": have, "at_risk_free": risky}
    if have + faulted >= need:
        yield Said("GPU_FAULTED", {"need": need, "free": have, "faulted": faulted})
        return
    if have + denied >= need:
        yield Said("GPU_DENIED", {"need": need, "free": have, "denied": denied})
    if run.gpus.healthy_only and (have + risky >= need or have + denied < need):
        yield Said("INSUFFICIENT_HEALTHY_GPUS", healthy)
    elif have + denied < need:
        yield Said("INSUFFICIENT_GPUS", {"need": need, "free": have, "whole": len(as_asked)})


def _unfit(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[Said]:
    """The last of filter 8, then 10 and 11: max_accelerators, drives, reservations."""
    need, most = gpus_each(run), machine.constraints.max_accelerators
    if most is not None and need > most:
        yield Said("MAX_ACCELERATORS", {"need": need, "most": most})
    yield from sorted(_drive_trouble(snapshot, machine, run), key=_worst_first)[:1]
    for each in sorted(snapshot.fleet.reservations, key=lambda one: one.name):
        if machine.name in each.machines and _keeps_out(snapshot, each, run):
            begins = each.from_.astimezone(dt.UTC).isoformat()
            numbers = {"reservation": each.name, "begins": begins}
            yield Said("MACHINE_RESERVED", numbers, (each.name, each.workspace))
            return


def _drive_trouble(snapshot: Snapshot, machine: Machine, run: Run) -> Iterator[Said]:
    drives = {drive.name: drive for drive in snapshot.fleet.drives}
    for ask in sorted(run.drives, key=lambda one: one.name):
        drive = drives.get(ask.name)
        if drive is None:
            yield Said("DRIVE_MISSING", {"drive": ask.name}, (ask.name,))
        elif not reaches(snapshot, machine, drive):
            yield Said("DRIVE_UNREACHABLE", {"drive": ask.name}, (ask.name,))
        elif drive.free_bytes is not None and ask.need_bytes > drive.free_bytes:
            bytes_ = {"need_bytes": ask.need_bytes, "free_bytes": drive.free_bytes}
            yield Said("DRIVE_FULL", {"drive": ask.name, **bytes_}, (ask.name,))


def _worst_first(said: Said) -> int:
    return ("DRIVE_MISSING", "DRIVE_UNREACHABLE", "DRIVE_FULL").index(said.code)


def _keeps_out(snapshot: Snapshot, each: Reservation, run: Run) -> bool:
    """Whether it is another workspace's, and on, or soon and before the run is sure to end."""
    now, soon = snapshot.now, dt.timedelta(seconds=snapshot.policy.reservation_soon_s)
    if each.workspace == run.workspace:
        return False
    if each.from_ <= now:
        return now < each.to
    limit = None if run.time_limit_s is None else dt.timedelta(seconds=run.time_limit_s)
    return each.from_ <= now + soon and (limit is None or now + limit > each.from_)
