"""What rows of hosts say: each host once, and of each exactly what is so there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from stowplan.model.decision import Decision, HostRow, PlacedRun, Rejected
from stowplan.model.fleet import Machine
from tests.witness.reasons import Said

type Truth = Callable[[Machine], Sequence[list[Said]]]
"""What may be said of a machine: one list of reasons, or any of several."""


def rejected(decision: Decision, outcome: PlacedRun) -> list[Rejected]:
    """What is said of the hosts that a run isn't on: by itself, and by the run it is the same as.

    A host that it is on itself, or says something of, isn't what the other run says.
    """
    shared: tuple[Rejected, ...] = ()
    if outcome.same_as is not None:
        named = [each for each in decision.outcomes if each.run == outcome.same_as]
        shared = next((each.rejected for each in named if isinstance(each, PlacedRun)), ())
    told = {worker.host for worker in outcome.workers}
    told |= {host for row in outcome.rejected for host in row.hosts}
    rows = [
        row.model_copy(update={"hosts": tuple(host for host in row.hosts if host not in told)})
        for row in shared
    ]
    return _merged([*outcome.rejected, *(row for row in rows if row.hosts)])


def _merged(rows: Sequence[Rejected]) -> list[Rejected]:
    """Put rows together that two runs tell of different hosts in the same words."""
    hosts: dict[str, list[str]] = {}
    for row in rows:
        hosts.setdefault(repr(row.reasons), []).extend(row.hosts)
    reasons = {repr(row.reasons): row.reasons for row in rows}
    return [Rejected(hosts=tuple(hosts[key]), reasons=reasons[key]) for key in hosts]


def untrue(
    rows: Sequence[HostRow | Rejected], machines: Sequence[Machine], truth: Truth
) -> Iterator[str]:
    """Yield each lie of a table that must say the truth of just these machines."""
    told = sorted(name for row in rows for name in row.hosts)
    if told != sorted(machine.name for machine in machines):
        yield f"lists the hosts {told}, not {sorted(machine.name for machine in machines)}"
    by_name = {machine.name: machine for machine in machines}
    said = [_content(row) for row in rows]
    if any(said.count(each) > 1 for each in said):
        yield "says the same in two rows"
    for row in rows:
        there = [by_name[name] for name in row.hosts if name in by_name]
        for machine in there:
            yield from _untrue_of(row, machine, truth)
        if any(truth(machine) != truth(there[0]) for machine in there[1:]):
            yield f"puts {row.hosts} in one row, of which different things are so"


def _content(row: HostRow | Rejected) -> tuple[object, ...]:
    told = [(each.code, dict(each.numbers), each.message) for each in row.reasons]
    return (getattr(row, "kind", None), getattr(row, "state", None), told)


def _untrue_of(row: HostRow | Rejected, machine: Machine, truth: Truth) -> Iterator[str]:
    allowed = truth(machine)
    if not any(
        len(true) == len(row.reasons)
        and all(said.is_told_by(reason) for said, reason in zip(true, row.reasons, strict=True))
        for true in allowed
    ):
        told = [(str(each.code), dict(each.numbers), each.message) for each in row.reasons]
        yield f"says {told} of {machine.name}, where {allowed} is so"
    if isinstance(row, HostRow) and (row.kind, row.state) != ("machine", machine.state):
        yield f"says {machine.name} is {row.state}, not {machine.state}"
