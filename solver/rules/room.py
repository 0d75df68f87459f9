"""Room: each worker gets as many free GPUs as it asks for, none faulted, each for itself alone.

On an offering it gets an instance of its own, whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.matching import gpus, matching_lots, tally, usable
from stowplan.solver.program.linear import Row
from stowplan.solver.rules.healthy_only import too_few_healthy

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices

READS_ROOM = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """GPU_FAULTED where faulted ones would have made it enough, else INSUFFICIENT_GPUS.

    NO_CAPACITY_NOW of an offering that would do and is sold out, by what is reported or by what the
    policy assumes where nothing is. Other rules say so where none is
    what was asked for (models, vendor, min_memory_gb, pinned_ids), and where the withheld ones, or
    those at risk, would have made it enough.
    """
    return _too_few_gpus(ask, host, room) or _sold_out(host, room)


def _sold_out(host: Host, room: Room) -> Reason | None:
    if not host.offering or room.instances:
        return None
    there = host.start.instances
    if not host.is_assumed:
        taken = "all that could start are taken in this cycle"
        return Reason.of(Code.NO_CAPACITY_NOW, taken if there else "sold out")
    told = "all that are assumed to be available are taken in this cycle"
    told = told if there else "none is assumed to be available"
    text = f"{told}: its catalog doesn't say how many are (policy.assumed_available)"
    return Reason.of(Code.NO_CAPACITY_NOW, text, assumed=there)


def _too_few_gpus(ask: Ask, host: Host, room: Room) -> Reason | None:
    if not ask.gpus:
        return None
    if not host.lots:
        return Reason.of(Code.NO_MATCHING_GPU, "no GPU", need=ask.gpus)
    lots = matching_lots(ask, host)
    if not lots:
        return None
    count = tally(ask, host, room)
    have = usable(ask, count)
    if have >= ask.gpus:
        return None
    asked = f"needs {ask.gpus} {gpus(ask.gpus)}"
    if have + count.faulted >= ask.gpus:
        return Reason.of(
            Code.GPU_FAULTED,
            f"{asked}, {have} free ({count.faulted} more free but faulted)",
            need=ask.gpus,
            free=have,
            faulted=count.faulted,
        )
    if have + count.denied >= ask.gpus:
        return None
    if ask.healthy_only and count.sound + count.at_risk >= ask.gpus:
        return None
    if ask.healthy_only:
        return too_few_healthy(ask.gpus, count.sound, count.at_risk)
    whole = sum(len(lot.ids) for lot in lots)
    like = "matching " if whole < len(host.empty.devices) else ""
    return Reason.of(
        Code.INSUFFICIENT_GPUS,
        f"{asked}, {have} of {whole} {like}free",
        need=ask.gpus,
        free=have,
        whole=whole,
    )


def post(choices: Choices) -> Iterator[Row]:
    """gpus_taken(kind) <= free GPUs of the kind; a signature takes what its workers ask.

    Of an offering: workers_in(cell) <= instances that can be had, for each takes a whole one.
    """
    for cell in choices.cells:
        if cell.instances is not None:
            yield choices.over(cell, lambda each: 1) <= cell.instances
        for kind in cell.kinds:
            yield choices.gpus_taken(kind, cell) <= kind.free
        for each in choices.signatures_in(cell):
            if len(choices.kinds_for(each, cell)) > 1:
                workers = choices.workers_in(each, cell)
                yield choices.gpus_given(each, cell).equals(workers * each.ask.gpus)
