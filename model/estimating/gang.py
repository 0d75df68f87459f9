"""The outlook of a run of several workers: all its nodes are priced together.

Every node is there from its own creation until the slowest is up, then for the work, then until its
teardown is done; each rounds its own bill its own way. The work takes as long as on the slowest
kind of accelerator. Whichever node is taken back stops them all: a run is interrupted as often as
its nodes are in sum, and each time all wait until that node has started again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stowplan.model.estimating.duration import Likely, RunningTime
from stowplan.model.estimating.outlook import ASSEMBLY_S, Outlook, bill_of, minimum_charge
from stowplan.model.estimating.parts import (
    Needs,
    Parts,
    Start,
    first_start,
    interruptions,
    needs_of,
    restart,
)
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.money import MICRO, beyond_paid, ceil_div, charge
from stowplan.model.runs import Run


class Node(NamedTuple):
    """A host of one worker: what it asks, and how long the work takes on its accelerators."""

    tariff: Tariff
    running: RunningTime | None


class GangOutlook(NamedTuple):
    """What a run costs on its nodes together, and when it ends there."""

    seen: Outlook
    """Of all of them."""
    costs: tuple[Likely, ...]
    """Of each node, in their order: they add up to the whole."""
    start_s: Likely
    """Until the slowest does useful work."""


def slowest(nodes: Sequence[Node]) -> RunningTime | None:
    """Return how long the work takes on nodes together; None where it isn't known on one."""
    times = [node.running for node in nodes]
    known = [time for time in times if time is not None]
    if len(known) < len(times):
        return None
    likely, worst = (max(time.seconds[level] for time in known) for level in (0, 1))
    source = max(known, key=lambda time: time.seconds).source
    return RunningTime(Likely(likely, worst), source)


def gang_outlook(run: Run, nodes: Sequence[Node]) -> GangOutlook:
    """Return the outlook of a run on its nodes, one for each worker.

    Without a running time on all of them it is what is certain: the time to start, and of each node
    the larger of its minimum charge and the charge for starting and ending.
    """
    needs, running = needs_of(run), slowest(nodes)
    seconds = running.seconds if running else Likely(0, 0)
    levels = [parts_together(needs, nodes, seconds, level) for level in (0, 1)]
    charges = [
        [
            _charged(node.tariff, part, level, is_total=running is not None)
            for node, part in zip(nodes, parts, strict=True)
        ]
        for level, parts in enumerate(levels)
    ]
    start = Likely(*(parts[0].startup.seconds for parts in levels))
    finish = Likely(*(parts[0].until_finish_s for parts in levels)) if running else start
    return GangOutlook(
        Outlook(
            is_total=running is not None,
            cost=Likely(*map(sum, charges)),
            finish_s=finish,
            rate=sum(node.tariff.rate for node in nodes),
            ranked_rate=sum(node.tariff.ranked_rate for node in nodes),
        ),
        tuple(Likely(*both) for both in zip(*charges, strict=True)),
        start,
    )


def parts_together(
    needs: Needs, nodes: Sequence[Node], running: Likely, level: int
) -> tuple[Parts, ...]:
    """Return the parts of each node's time, at a level: they differ in what is billed of starts,
    and in their teardown."""
    starts = [first_start(needs, node.tariff, level) for node in nodes]
    start = max(each.seconds for each in starts)
    counts = [interruptions(node.tariff, running)[level] for node in nodes]
    again = [restart(needs, node.tariff, level) for node in nodes]
    lost = running[level] if needs.interval_s is None else min(needs.interval_s, running[level])
    waited = sum(count * each.seconds for count, each in zip(counts, again, strict=True))
    return tuple(
        Parts(
            startup=Start(start, start - own.seconds + own.billed_s),
            running_s=running[level],
            redone_s=ceil_div(sum(counts) * lost, 2 * MICRO),
            restarts=Start(
                ceil_div(waited, MICRO),
                ceil_div(waited - count * (each.seconds - each.billed_s), MICRO),
            ),
            teardown_s=node.tariff.teardown_s[level],
        )
        for node, own, count, each in zip(nodes, starts, counts, again, strict=True)
    )


def _charged(tariff: Tariff, parts: Parts, level: int, *, is_total: bool) -> int:
    if is_total:
        return charge(tariff.rate, bill_of(parts.used_s, tariff, level).billed_s)
    used = parts.startup.billed_s + parts.teardown_s
    ends = charge(tariff.rate, beyond_paid(used, tariff.paid_s))
    return max(ends, minimum_charge(tariff, level))


def bound_of_assembly(nodes: Sequence[Node]) -> int:
    """Return the most that a failed assembly can cost: each node for as long as it is waited for,
    rounded up its own way; nothing of a single one."""
    if len(nodes) == 1:
        return 0
    return sum(
        charge(node.tariff.rate, bill_of(ASSEMBLY_S, node.tariff, 1).billed_s) for node in nodes
    )
