"""What an offering must say of a worker: whether one of its instances would do."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from stowplan.model.fleet import Accelerator, Drive, Offering
from stowplan.model.instances import instances_of
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import cores_each, gpus_each, memory_each
from tests.witness.fits import refusals, workers_of


def offering_named(snapshot: Snapshot, name: str) -> Offering:
    return next(each for each in snapshot.fleet.offerings if each.name == name)


def instances_left(snapshot: Snapshot, offering: Offering) -> dict[bool, int]:
    """How many can start now: those that are warm, and those that aren't."""
    there = instances_of(offering, snapshot.policy)
    return {True: there.warm, False: there.cold}


def shortcomings(snapshot: Snapshot, offering: Offering, run: Run) -> list[str]:
    """Every code, in the order of the filters, for which no instance would ever take the run.

    Money, time and how many are left aside.
    """
    return list(_shortcomings(snapshot, offering, run))


def would_do(snapshot: Snapshot, offering: Offering, run: Run) -> bool:
    """Whether an instance takes a worker, if one is left and what it costs is no matter.

    Only runs of one worker are taken; a run on every machine never is.
    """
    return (
        not refusals(snapshot, run)
        and (run.node_selection.mode != "all" or run.array is not None)
        and workers_of(snapshot, run) == 1
        and not shortcomings(snapshot, offering, run)
    )


def _shortcomings(snapshot: Snapshot, offering: Offering, run: Run) -> Iterator[str]:
    if run.needs:
        yield "CAPABILITY_MISSING"
    if run.node_selection.names:
        yield "NOT_SELECTED"
    if run.node_selection.match_labels:
        yield "LABEL_MISSING"
    gpus = gpus_each(run)
    if cores_each(run, gpus) > round(offering.cpu_cores * 1000):
        yield "INSUFFICIENT_CPU"
    if memory_each(run, gpus) > offering.memory_bytes:
        yield "INSUFFICIENT_MEMORY"
    if gpus:
        card = offering.accelerator
        if card is None or not card.count or run.gpus.ids or not is_as_asked(card, run):
            yield "NO_MATCHING_GPU"
        elif card.count < gpus:
            yield f"INSUFFICIENT_{'HEALTHY_' * run.gpus.healthy_only}GPUS"
    yield from _drive_trouble(snapshot, offering, run)
    if run.placement.interruptible == ("never" if offering.interruptible else "require"):
        yield "INTERRUPTION_POLICY"


def is_as_asked(card: Accelerator, run: Run) -> bool:
    """Whether it is of the model, vendor and memory asked; the memory nominal, without slack."""
    terms, least = run.gpus.models, run.gpus.min_memory_gb
    return (
        (not terms or any(term.lower() in card.model.lower() for term in terms))
        and run.gpus.vendor in (None, card.vendor)
        and (least is None or Fraction(str(least)) <= Fraction(str(card.memory_gb)))
    )


def _drive_trouble(snapshot: Snapshot, offering: Offering, run: Run) -> Iterator[str]:
    drives = {drive.name: drive for drive in snapshot.fleet.drives}
    there = [drives.get(ask.name) for ask in run.drives]
    if None in there:
        yield "DRIVE_MISSING"
    elif not all(drive and _reaches(offering, drive) for drive in there):
        yield "DRIVE_UNREACHABLE"
    elif any(
        drive and drive.free_bytes is not None and ask.need_bytes > drive.free_bytes
        for ask, drive in zip(run.drives, there, strict=True)
    ):
        yield "DRIVE_FULL"


def _reaches(offering: Offering, drive: Drive) -> bool:
    """Whether the drive is anywhere, or at one of the offering's places."""
    network = offering.network.id if offering.network else None
    places = {offering.region, offering.location, network} - {None}
    return (drive.machine is None and not drive.sites) or bool(places & set(drive.sites))
