"""What is odd in a snapshot that can be read: told once, and not an error."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Protocol

from stowplan.model.names import nearest
from stowplan.model.ranges import meant_range
from stowplan.model.roadmap import unread
from stowplan.model.room import free_room

if TYPE_CHECKING:
    from stowplan.model.snapshot import Snapshot


class _Named(Protocol):
    @property
    def name(self) -> str: ...


AHEAD = dt.timedelta(minutes=1)
"""How far clocks may differ: a time that is later than `now` by more is told of."""
SHOWN = 5
"""The most sentences of one kind; the rest is counted."""


def warnings(snapshot: Snapshot) -> tuple[str, ...]:
    """Return a sentence for everything odd: kind by kind, and by name within a kind."""
    kinds: tuple[Callable[[Snapshot], Iterable[str]], ...] = (
        _empty,
        _ranges,
        _future,
        _generations,
        _used,
        _overcommitted,
        _denied,
        _drives,
        _reserved,
        _terms,
        _budgets,
        _own_pools,
        unread,
    )
    return tuple(sentence for kind in kinds for sentence in _few(kind(snapshot)))


def _few(sentences: Iterable[str]) -> Iterator[str]:
    rest = iter(sentences)
    yield from islice(rest, SHOWN)
    if more := sum(1 for _ in rest):
        yield f"... and {more:,} more like it"


def _empty(snapshot: Snapshot) -> Iterator[str]:
    if not snapshot.fleet.machines and not snapshot.fleet.offerings:
        yield "the fleet has no machines: every run waits"


def _ranges(snapshot: Snapshot) -> Iterator[str]:
    """Say which names are written as output folds them: input reads no `gpu-[01-03]`."""
    named = [(f"fleet.machines[{m.name}].name", m.name) for m in _by_name(snapshot.fleet.machines)]
    for run in _by_name(snapshot.runs):
        where = f"runs[{run.name}].node_selection.names"
        named.extend((where, name) for name in sorted(run.node_selection.names))
    for reservation in _by_name(snapshot.fleet.reservations):
        where = f"fleet.reservations[{reservation.name}].machines"
        named.extend((where, name) for name in sorted(reservation.machines))
    for where, name in named:
        if meant := meant_range(name):
            yield f"{where}: '{name}' looks like a range: write {meant}"


def _future(snapshot: Snapshot) -> Iterator[str]:
    """Say what is later than `now`, as by a clock that is wrong, or a `now` that is old."""
    times = [
        (f"fleet.machines[{machine.name}].reported_at", machine.reported_at)
        for machine in _by_name(snapshot.fleet.machines)
    ]
    times += [
        (f"runs[{run.name}].submitted_at", run.submitted_at) for run in _by_name(snapshot.runs)
    ]
    for where, time in times:
        if time is not None and time - snapshot.now > AHEAD:
            moments = f"{time:%Y-%m-%d %H:%M:%S}, and now is {snapshot.now:%Y-%m-%d %H:%M:%S}"
            yield f"{where}: is in the future ({moments})"


def _generations(snapshot: Snapshot) -> Iterator[str]:
    fleet = snapshot.fleet.generation
    for run in _by_name(snapshot.runs):
        own = run.placed.generation if run.placed else None
        if own is not None and own > fleet:
            where = f"runs[{run.name}].placed.generation"
            yield f"{where}: {own} is above the fleet's generation ({fleet})"


def _used(snapshot: Snapshot) -> Iterator[str]:
    for machine in _by_name(snapshot.fleet.machines):
        for field in ("cpu_cores", "memory_bytes"):
            used, whole = getattr(machine.used, field), getattr(machine, field)
            if used > whole:
                where = f"fleet.machines[{machine.name}].used.{field}"
                yield f"{where}: {used} is more than the machine has ({whole})"


def _overcommitted(snapshot: Snapshot) -> Iterator[str]:
    rooms = free_room(snapshot)
    for machine in _by_name(snapshot.fleet.machines):
        room, used = rooms[machine.name], machine.used
        if room.millicores < 0 and used.cpu_cores <= machine.cpu_cores:
            short = -room.millicores / 1000
            yield f"{machine.name}: its runs and others hold {short:g} cores more than it has"
        if room.memory_bytes < 0 and used.memory_bytes <= machine.memory_bytes:
            short = -room.memory_bytes
            yield f"{machine.name}: its runs and others hold {short} bytes more than it has"


def _denied(snapshot: Snapshot) -> Iterator[str]:
    """Say which denied GPUs no machine that denies them has: a range of machines shares a list."""
    denying: dict[str, list[str]] = {}
    for machine in _by_name(snapshot.fleet.machines):
        for device in machine.constraints.denied_devices:
            denying.setdefault(device, []).append(machine.name)
    for device, machines in sorted(denying.items()):
        there = sorted(one.id for name in machines for one in snapshot.machines[name].devices)
        if device not in there:
            where = f"fleet.machines[{machines[0]}].constraints.denied_devices"
            yield f"{where}: it has no GPU '{device}'{_meant(device, there)}"


def _drives(snapshot: Snapshot) -> Iterator[str]:
    machines = sorted(snapshot.machines)
    for drive in _by_name(snapshot.fleet.drives):
        if drive.machine is not None and drive.machine not in snapshot.machines:
            where = f"fleet.drives[{drive.name}].machine"
            yield f"{where}: no machine '{drive.machine}'{_meant(drive.machine, machines)}"


def _reserved(snapshot: Snapshot) -> Iterator[str]:
    machines = sorted(snapshot.machines)
    for reservation in _by_name(snapshot.fleet.reservations):
        for name in sorted(set(reservation.machines)):
            if name not in snapshot.machines:
                where = f"fleet.reservations[{reservation.name}].machines"
                yield f"{where}: no machine '{name}'{_meant(name, machines)}"


def _terms(snapshot: Snapshot) -> Iterator[str]:
    models = sorted({d.model for m in snapshot.fleet.machines for d in m.devices})
    runs: dict[str, list[str]] = {}
    for run in _by_name(snapshot.runs):
        for term in dict.fromkeys(run.gpus.models):
            runs.setdefault(term, []).append(run.name)
    for term, names in sorted(runs.items()):
        matched = [model for model in models if term.lower() in model.lower()]
        if len(matched) > 1:
            more = len(names) - 1
            others = f" (and {more:,} more run{'s' if more > 1 else ''})" if more else ""
            where = f"runs[{names[0]}].gpus.models"
            yield f"{where}{others}: '{term}' matches {' and '.join(matched)}"


def _budgets(snapshot: Snapshot) -> Iterator[str]:
    """Say which budgets name a workspace that no run is of, and nothing else tells of."""
    known = sorted(snapshot.workspaces)
    for budget in _by_name(snapshot.policy.budgets):
        for workspace in sorted(set(budget.workspaces) - set(known)):
            where = f"policy.budgets[{budget.name}].workspaces"
            yield f"{where}: no run is of workspace '{workspace}'{_meant(workspace, known)}"


def _own_pools(snapshot: Snapshot) -> Iterator[str]:
    """Say which runs name a pool that no machine is in."""
    there = sorted({m.byoc_pool for m in snapshot.fleet.machines if m.byoc_pool})
    for run in _by_name(snapshot.runs):
        pool = run.placement.pool
        if pool is not None and pool not in there:
            where = f"runs[{run.name}].placement.pool"
            yield f"{where}: no machine is in byoc_pool '{pool}'{_meant(pool, there)}"


def _by_name[T: _Named](things: Iterable[T]) -> list[T]:
    return sorted(things, key=lambda thing: thing.name)


def _meant(name: str, known: Iterable[str]) -> str:
    close = nearest(name, known)
    return f"; did you mean '{close}'?" if close else ""
