"""What a decision comes to in GPUs at risk, points and holes: of workers on machines, said anew.

Points, in thousandths, hold for the state after the whole decision. A machine kept for labels:
+100, -5 for each. To a worker with GPUs the share of GPUs in use: up to +50; one without them on a
machine with GPUs: -30. Cores and memory left free: up to +25 each. Each GPU at risk -60; a machine
under pressure -20. Each drive on the machine +40; else near it +15; else reached by RDMA +10.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stowplan.model.audit import cpu, memory
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.seats import Seat
from stowplan.model.fleet import Machine


def at_risk(plan: Plan) -> int:
    """Return how many GPUs at risk are given out."""
    return sum(device.health == "at_risk" for seat in plan.seats for device in seat.devices)


def holes(plan: Plan) -> int:
    """Return for all workers with GPUs together twice the GPUs that nobody held on their machine
    at the start, and one more where nobody held any."""
    found = 0
    for name, seats in plan.seats_on.items():
        whole, held = len(plan.machines[name].devices), _held(plan, name)
        found += sum(bool(seat.worker.devices) for seat in seats) * (
            2 * (whole - held) + (held == 0)
        )
    return found


def points(plan: Plan) -> int:
    """Return what all workers earn together."""
    earned = sum(_of_machine(plan, name, seats) for name, seats in plan.seats_on.items())
    return earned - 60_000 * at_risk(plan)


def _of_machine(plan: Plan, name: str, seats: Sequence[Seat]) -> int:
    machine, there = plan.machines[name], plan.held_on.get(name, ())
    asks = [(cpu.ask(s.run, len(s.devices)), memory.ask(s.run, len(s.devices))) for s in seats]
    held = [(cpu.ask(r, len(w.devices)), memory.ask(r, len(w.devices))) for r, w in there]
    each = _left(
        cpu.whole(machine),
        cpu.used(machine) + sum(cores for cores, _ in held),
        [cores for cores, _ in asks],
    )
    each += _left(
        machine.memory_bytes,
        machine.used.memory_bytes + sum(own for _, own in held),
        [own for _, own in asks],
    )
    if machine.reserved_for:
        each += 100_000 - 5_000 * len(machine.reserved_for)
    if machine.cpu_pressure:
        each -= 20_000
    devices = len(machine.devices)
    in_use = _held(plan, name) + sum(len(seat.devices) for seat in seats)
    packed = 50_000 // devices * in_use if devices else 0
    own = sum(packed if seat.devices else -30_000 * bool(devices) for seat in seats)
    near = sum(_nearness(plan, machine, ask.name) for seat in seats for ask in seat.run.drives)
    return len(seats) * each + own + near


def _left(whole: int, taken: int, asks: Sequence[int]) -> int:
    """Return what is worth the share that is left free, by whole thousandths of each ask."""
    if not whole:
        return 0
    return 25_000 * max(0, whole - taken) // whole - sum(25_000 * ask // whole for ask in asks)


def _held(plan: Plan, name: str) -> int:
    """Return how many GPUs of a machine runs held at the start, of those that are there."""
    held = {device for _, worker in plan.held_on.get(name, ()) for device in worker.devices}
    return sum(device.id in held for device in plan.machines[name].devices)


def _nearness(plan: Plan, machine: Machine, drive: str) -> int:
    home = plan.drives[drive].machine if drive in plan.drives else None
    if home == machine.name:
        return 40_000
    other = plan.machines.get(home) if home else None
    if other is None:
        return 0
    if _is_near(plan, machine, other):
        return 15_000
    return 10_000 if _has_rdma(machine) and _has_rdma(other) else 0


def _is_near(plan: Plan, machine: Machine, other: Machine) -> bool:
    """Whether they share a rack, a fabric, or an NVLink domain of some of their GPUs."""
    mine, theirs = ([*_places(plan, each)] for each in (machine, other))
    if any(one is not None and one == two for one, two in zip(mine, theirs, strict=True)):
        return True
    domains = ({card.nvlink_clique for card in each.devices} for each in (machine, other))
    return bool(set.intersection(*domains) - {None})


def _places(plan: Plan, machine: Machine) -> Iterator[str | None]:
    """Yield its rack, and its fabric as it is labelled or as InfiniBand that is up reports it."""
    prefix = plan.snapshot.policy.topology_prefix
    ports = [port for port in machine.rdma if port.state == "up"]
    yield machine.labels.get(prefix + "rack")
    subnets = (port.subnet for port in ports if port.kind == "infiniband" and port.subnet)
    yield machine.labels.get(prefix + "fabric", next(subnets, None))


def _has_rdma(machine: Machine) -> bool:
    return any(port.state == "up" for port in machine.rdma)
