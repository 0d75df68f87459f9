"""A placed run in words: its workers and what they get, its shape, what it asked and got."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from stowplan.model.decision import ChosenShape, Got, Span, Value, Worker
from stowplan.model.money import usd_of
from stowplan.model.runs import Profile
from stowplan.model.topology import Joint
from stowplan.model.vicinity import location_of, words_of, zone_of
from stowplan.model.workers import Wiring, equipment
from stowplan.solver.asks import Ask
from stowplan.solver.decode import Seat, Start
from stowplan.solver.matching import gpus as word_for
from stowplan.solver.money.appraisal import Appraisal, Measure, Tier


class Bill(NamedTuple):
    """What a worker's host asks an hour, and what the worker comes to there."""

    rate_usd_per_hour: Decimal
    cost_usd: Span | None
    """None where nobody knows how long it runs."""


def workers_of(
    starts: Sequence[Start], wiring: Wiring, bills: Sequence[Bill | None]
) -> tuple[Worker, ...]:
    """Return a run's workers, numbered from 0; of an array, one for each element that starts."""
    seats = [(start, seat) for start in starts for seat in start.seats]
    workers = []
    for index, ((start, seat), bill) in enumerate(zip(seats, bills, strict=True)):
        environment, access = equipment(seat.host.machine, seat.devices, wiring)
        workers.append(
            Worker(
                index=index,
                host=seat.name,
                kind=seat.host.kind,
                devices=seat.devices,
                environment=environment,
                access=access,
                element=start.element,
                rate_usd_per_hour=bill.rate_usd_per_hour if bill else None,
                cost_usd=bill.cost_usd if bill else None,
            )
        )
    return tuple(workers)


def shape_of(ask: Ask, seats: Sequence[Seat], joint: Joint | None = None) -> ChosenShape:
    """Return the shape, and why so, in words; `joint` is what joins several machines."""
    bought = len({seat.name for seat in seats if seat.host.offering})
    owned = len({seat.name for seat in seats}) - bought
    shape = _shape(ask.gpus, bool(ask.array), len(seats), owned, bought)
    if bought > 1 and not ask.array:
        return shape.model_copy(update={"why": f"{shape.why} {_where(seats)}"})
    if joint is None or owned < 2:
        return shape
    return shape.model_copy(update={"why": f"{shape.why} {joint.words}"})


def _nearness(ask: Ask, seats: Sequence[Seat]) -> Iterator[tuple[str, str, str]]:
    """Yield how near to each other instances are, and how joined, where other than usual."""
    if ask.scope != "colocated":
        yield "scope", str(ask.scope), _where(seats)
    if ask.transport == "direct":
        paths = [p for p in ("private", "direct") if all(_has(seat, p) for seat in seats)]
        yield "transport", "direct", f"{' and '.join(paths)} paths"


def _has(seat: Seat, path: str) -> bool:
    offering = seat.host.offering
    return bool(offering and offering.network and path in offering.network.paths)


def _where(seats: Sequence[Seat]) -> str:
    """Return where the instances of a run are, as near as can be told."""
    offerings = [seat.host.offering for seat in seats if seat.host.offering]
    first = offerings[0]
    if len({zone_of(each, "colocated") for each in offerings}) == 1:
        return f"in {words_of(first)}"
    if first.region_class and len({zone_of(each, "regional") for each in offerings}) == 1:
        return f"in region class {first.region_class}"
    return f"in {len({location_of(each) for each in offerings}):,} locations"


@functools.cache
def _shape(gpus: int, is_array: bool, seats: int, owned: int, bought: int) -> ChosenShape:
    hosts = owned + bought
    machines = " and ".join(
        f"{count:,} {word}{'s' if count > 1 else ''}"
        for count, word in ((owned, "machine"), (bought, "instance"))
        if count
    )
    each = f"{gpus:,} {word_for(gpus)}" if gpus else "1 worker"
    if is_array:
        text = f"{seats:,} element{'s' if seats > 1 else ''} x {each} on {machines}"
        return ChosenShape(tasks=1, gpus_each=gpus, why=text)
    if not gpus and seats != hosts:
        each = f"{seats:,} workers in all"
    return ChosenShape(tasks=seats, gpus_each=gpus, why=f"{machines} x {each}")


@functools.cache
def value_where_nothing_costs(profile: Profile, band: float) -> Value | None:
    """Return what a profile optimises where all hosts are paid for; a finish isn't known."""
    zero, share = Decimal(0), Decimal(str(band))
    match profile:
        case "balanced":
            return Value(measure="usd_per_hour", chosen=zero, reference=zero, band=share)
        case "cost":
            return Value(measure="cost_usd", chosen=zero, reference=zero, band=share)
        case "speed":
            return None


def value_of(appraisal: Appraisal, chosen: Sequence[Ranked], references: Sequence[Ranked]) -> Value:
    """Return what a run's worst worker has, and what the cycle left the one of that rank."""
    (tier, measure), (best, reference) = chosen[-1], references[-1]
    if tier < best == Tier.BEYOND:
        reference = measure  # what is in seconds now was too dear then
    by = "cost_usd" if tier == Tier.BEYOND else appraisal.by
    return Value(
        measure=by,
        chosen=_plain(by, measure),
        reference=_plain(by, reference),
        band=Decimal(str(0 if tier == Tier.BEYOND else appraisal.band)),
    )


type Ranked = tuple[int, int]
"""A tier, and a measure in it."""


def _plain(by: Measure, measure: int) -> Decimal:
    """Return a measure as it is shown: in seconds, or in dollars."""
    return Decimal(measure) if by == "finish_s" else usd_of(measure)


def asked_and_got(ask: Ask, seats: Sequence[Seat]) -> tuple[Got, ...]:
    """Return each of the run's own rules that it set, with what it got."""
    return tuple(Got(rule=rule, asked=asked, got=got) for rule, asked, got in _got(ask, seats))


def _got(ask: Ask, seats: Sequence[Seat]) -> Iterator[tuple[str, str, str]]:
    asks_gpus = ask.models or ask.vendor or ask.min_memory_gb is not None or ask.healthy_only
    devices = [
        device
        for seat in (seats if asks_gpus else ())
        for device in seat.host.machine.devices
        if device.id in seat.devices or (seat.host.offering and device.index < len(seat.devices))
    ]
    if ask.models:
        models = ", ".join(sorted({device.model for device in devices}))
        yield "models", " or ".join(ask.models), models
    if ask.vendor:
        yield "vendor", ask.vendor, ", ".join(sorted({str(device.vendor) for device in devices}))
    if ask.min_memory_gb is not None:
        least = min((device.memory_mib for device in devices), default=0) * 2**20 / 1e9
        yield "min_memory_gb", f"{ask.min_memory_gb:g} GB", f"{least:.1f} GB"
    if ask.healthy_only:
        unknown = sum(device.health == "unknown" for device in devices)
        rest = f", {unknown:,} of unknown health (no sign of failing)" if unknown else ""
        yield "healthy_only", "no GPU at risk", f"{len(devices) - unknown:,} healthy{rest}"
    if ask.ids:
        yield (
            "pinned_ids",
            ", ".join(sorted(ask.ids)),
            ", ".join(sorted(device for seat in seats for device in seat.devices)),
        )
    hosts = ", ".join(sorted({seat.name for seat in seats}))
    if ask.names:
        yield "names", ", ".join(sorted(ask.names)), hosts
    if ask.match_labels:
        yield "match_labels", ", ".join(f"{key}={value}" for key, value in ask.match_labels), hosts
    if ask.needs:
        yield "capabilities", ", ".join(sorted(ask.needs)), hosts
    if ask.scope and len(seats) > 1 and all(seat.host.offering for seat in seats):
        yield from _nearness(ask, seats)
    if ask.drives:
        where = sum(seat.host.drives[name].here for seat in seats for name, _ in ask.drives)
        got = "on the machine" if where else "reachable"
        yield "drives", ", ".join(name for name, _ in ask.drives), got
