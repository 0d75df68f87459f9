"""What every host says of a run that waits: its reasons, the counts, and the closest host."""

from __future__ import annotations

from dataclasses import dataclass

from stowplan.model.decision import HostRow
from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.eligibility import Failing
from stowplan.solver.explain.alike import grouped
from stowplan.solver.hosts import Host
from stowplan.solver.matching import tally, usable
from stowplan.solver.situation import Situation

READY = {"state", "freshness", "pressure", "accepting", "reserved_for"}
"""The rules of the first two filters."""
FITS = Reason.of(Code.OK, "has room for one of its workers")


@dataclass(frozen=True)
class Verdict:
    """What one host says of a worker that waits."""

    host: Host
    now: tuple[Failing, ...]
    """What fails with the room that the cycle leaves."""
    empty: tuple[Failing, ...]
    """What would fail if the host were empty."""


@dataclass(frozen=True)
class Why:
    """Why the runs of a class wait, but for their place in line."""

    verdicts: tuple[Verdict, ...]
    rows: tuple[HostRow, ...]
    closest: Verdict | None
    """The host that is short of room only, and of the least; None: nothing could ever take it."""
    ready: int
    down: int


def examined(situation: Situation, each: RunClass) -> Why:
    """Return what every listed host says of a class that waits."""
    eligibility = situation.eligibility
    verdicts = tuple(
        Verdict(
            host,
            eligibility.failing(each.ask, host, situation.room_left(host)),
            eligibility.failing(each.ask, host, host.empty),
        )
        for host in eligibility.listed(each.ask)
    )
    return Why(
        verdicts,
        _rows(verdicts),
        _closest(situation, each.ask, verdicts),
        ready=sum(_is_ready(verdict) for verdict in verdicts),
        down=sum(verdict.host.machine.state == "down" for verdict in verdicts),
    )


def _is_ready(verdict: Verdict) -> bool:
    """Whether a host passes the first two filters: up, fresh, and taking this work."""
    return READY.isdisjoint(failing.rule.name for failing in verdict.empty)


def _rows(verdicts: tuple[Verdict, ...]) -> tuple[HostRow, ...]:
    groups = grouped(
        (each.host.name, each.host.machine.state, tuple(f.reason for f in each.now) or (FITS,))
        for each in verdicts
    )
    return tuple(
        HostRow(hosts=hosts, state=state, reasons=reasons) for hosts, state, reasons in groups
    )


def _closest(situation: Situation, ask: Ask, verdicts: tuple[Verdict, ...]) -> Verdict | None:
    """Return the host that lacks the least room, or None where no room would be enough.

    Of a run of several workers that don't all fit, a host that lacks some.
    """
    takers = [verdict for verdict in verdicts if not verdict.empty]
    if (ask.tasks or 0) > 1:
        if not situation.eligibility.fits(ask, lambda host: host.empty):
            return None
        if not situation.eligibility.fits(ask, situation.room_left):
            takers = [verdict for verdict in takers if verdict.now] or takers
    return min(takers, key=lambda each: _lack(situation, ask, each), default=None)


def _lack(situation: Situation, ask: Ask, verdict: Verdict) -> tuple[int, float, str]:
    """How much room a worker lacks on a host: GPUs first, then the share of cores and memory."""
    room = situation.room_left(verdict.host)
    gpus = max(0, ask.gpus - usable(ask, tally(ask, verdict.host, room)))
    cores = max(0, ask.millicores - max(0, room.millicores)) / max(1, ask.millicores)
    memory = max(0, ask.memory_bytes - max(0, room.memory_bytes)) / max(1, ask.memory_bytes)
    return (gpus, cores + memory, verdict.host.name)
