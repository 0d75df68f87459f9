"""What a run asked of its machines together, and what it got: their network, number and places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

from stowplan.model.decision import Got
from stowplan.model.runs import Run
from stowplan.model.topology import MACHINE, RACK, RDMA_WORDS, RUNG_WORDS, SITE, Joint, Spot, Unit
from stowplan.model.workers import Wiring
from stowplan.solver.asks import Ask
from stowplan.solver.decode import Seat
from stowplan.solver.rules.keep_within import WORDS


def wiring_of(ask: Ask, seats: Sequence[Seat], joint: Joint | None) -> Wiring:
    """Return what joins a run's machines; `joint` is None for runs of one worker."""
    if joint is None or ask.array or len({seat.name for seat in seats}) == 1:
        return Wiring.of(ask.interconnect, ask.min_gbps)
    return Wiring.of(ask.interconnect, ask.min_gbps, joint)


def asked_of_all(
    run: Run, ask: Ask, seats: Sequence[Seat], joint: Joint | None, wiring: Wiring
) -> tuple[Got, ...]:
    """Return each rule on a run's machines together that it set, with what it got."""
    spots = {seat.name: seat.host.spot for seat in seats if seat.host.spot}
    names = {seat.name for seat in seats}
    if len(spots) < len(names):
        told = (*_apart(ask, names), *_shape(run, ask, len(seats), "instance"))
        return tuple(Got(rule=rule, asked=asked, got=got) for rule, asked, got in told)
    several = joint if len(spots) > 1 and not ask.array else None
    told = (
        *_places(ask, spots, several),
        *_network(ask, seats, several, wiring),
        *_shape(run, ask, len(seats)),
        *_patience(run, ask, several),
    )
    return tuple(Got(rule=rule, asked=asked, got=got) for rule, asked, got in told)


type _Told = Iterator[tuple[str, str, str]]
"""A rule, what was asked of it, and what it got."""


def _places(ask: Ask, spots: dict[str, Spot], joint: Joint | None) -> _Told:
    if ask.keep_within:
        yield "keep_within", ask.keep_within, _one(ask.keep_within, spots, joint)
    if ask.spread:
        named = {spot.of(ask.spread) or name for name, spot in spots.items()}
        known = ask.spread == "node" or all(spot.of(ask.spread) for spot in spots.values())
        word = WORDS[ask.spread if known else "node"]
        yield "spread", ask.spread, f"{_counted(len(named), word)}: {', '.join(sorted(named))}"


def _apart(ask: Ask, names: Set[str]) -> _Told:
    """Yield what is told of instances: each worker has one of its own."""
    if ask.spread == "node" and not ask.array:
        yield "spread", "node", f"{_counted(len(names), 'instance')}: {', '.join(sorted(names))}"


def _one(unit: Unit, spots: dict[str, Spot], joint: Joint | None) -> str:
    """Return the one unit in which all of a run is: one machine is in one, whatever it is."""
    name = joint.shared(unit) if joint else None
    if name is None:
        return f"one machine, {next(iter(spots))}"
    if joint and unit == "fabric":
        own = next((fabric for fabric in joint.fabrics if fabric.name == name), None)
        if own:
            return own.words if own.is_assumed else f"one {own.word} fabric, {name}"
    return f"one {WORDS[unit]}, {name}"


def _network(ask: Ask, seats: Sequence[Seat], joint: Joint | None, wiring: Wiring) -> _Told:
    if ask.interconnect:
        yield "interconnect", ask.interconnect, _link(ask, seats, joint, wiring)
    if ask.min_gbps:
        rates = [
            port.rate_gbps
            for seat in seats
            for port in seat.host.machine.rdma
            if port.device in wiring.ports(seat.host.machine)
        ]
        slowest = f"{min(rates):g} Gbit/s at the slowest port" if rates else "no port in use"
        if wiring.rung in (RACK, SITE):
            slowest += "; only Ethernet joins the machines"
        yield "min_gbps", f"{ask.min_gbps:g} Gbit/s", slowest


def _link(ask: Ask, seats: Sequence[Seat], joint: Joint | None, wiring: Wiring) -> str:
    """Return what joins a run's machines, or which ports the only one has."""
    if joint and joint.domain is not None:
        return f"NVLink domain {joint.domain}"
    if joint and joint.link:
        return joint.link.words
    machine = seats[0].host.machine
    if ask.interconnect == "nvlink":
        return f"one machine, {machine.name}"
    ports = wiring.ports(machine)
    kinds = {port.kind for port in machine.rdma if port.device in ports}
    words = " and ".join(RDMA_WORDS[kind] for kind in sorted(kinds))
    return f"{_counted(len(ports), f'{words} port')} up on {machine.name}"


def _shape(run: Run, ask: Ask, workers: int, word: str = "machine") -> _Told:
    if not ask.array:
        if run.topology.min_nodes:
            yield "min_nodes", f"{run.topology.min_nodes:,} or more", _counted(workers, word)
        if run.topology.max_nodes:
            yield "max_nodes", f"{run.topology.max_nodes:,} or fewer", _counted(workers, word)
    if run.gpus.min_per_machine:
        yield (
            "min_per_machine",
            f"{run.gpus.min_per_machine:,} or more",
            f"{_counted(ask.gpus, 'GPU')} on each",
        )


def _patience(run: Run, ask: Ask, joint: Joint | None) -> _Told:
    if not run.topology.patience_s or ask.array:
        return
    rung = joint.rung if joint else MACHINE
    over = "the tightest it could get" if ask.is_patient else "after its patience"
    yield "patience", f"{run.topology.patience_s:,} s", f"{RUNG_WORDS[rung]} (rung {rung}), {over}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
