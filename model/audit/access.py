"""Access: each worker is told its GPUs and gets what its network needs, and nothing else."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from stowplan.model.audit.interconnect import ports
from stowplan.model.audit.places import bond, shared
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Access, Worker
from stowplan.model.fleet import Interconnect, Machine
from stowplan.model.runs import Run


def check(plan: Plan) -> Iterator[Violation]:
    """Yield each worker that is told or given anything but what is due to it."""
    joined = {run.name: _joined(plan, run, machines) for run, machines in plan.gangs}
    for run, worker, machine, _ in plan.seats:
        rung, kind = joined.get(run.name, (1, None))
        for wrong in _wrong(worker, machine, rung, _due(run, machine, rung, kind)):
            yield Violation("access", run.name, machine.name, wrong)
    for bought in plan.bought:
        for wrong in _wrong(bought.worker, None, 1, frozenset()):
            yield Violation("access", bought.run.name, bought.worker.host, wrong)


def _joined(plan: Plan, run: Run, machines: Sequence[Machine]) -> tuple[int, Interconnect | None]:
    """Return the rung of a run's machines, and the kind of RDMA between them; 1 for one machine."""
    there = plan.places_for(run)
    places = [there[name] for name in {machine.name for machine in machines}]
    joined = bond(places)
    networks = shared(places) if joined and joined.rung > 1 else ()
    best = min(networks, key=lambda each: (not each.is_firm, each.kind), default=None)
    return (joined.rung if joined else 8), best.kind if best else None


def _due(run: Run, machine: Machine, rung: int, kind: Interconnect | None) -> frozenset[str]:
    """Return the ports that the run uses on a machine: those of the network, and those it asks."""
    asks = run.network.interconnect in ("rdma", "infiniband") or bool(run.network.min_gbps)
    return _fast(run, machine, kind) if asks or 3 <= rung <= 6 else frozenset()


def _fast(run: Run, machine: Machine, kind: Interconnect | None) -> frozenset[str]:
    least = run.network.min_gbps or 0
    return frozenset(
        port.device
        for port in ports(run, machine)
        if port.rate_gbps >= least and (kind is None or port.kind == kind)
    )


def _wrong(
    worker: Worker, machine: Machine | None, rung: int, due: Collection[str]
) -> Iterator[str]:
    """Yield what is wrong with the variables of a worker, and with what it gets."""
    told, got = dict(worker.environment), worker.access or Access()
    with_gpus = bool(worker.devices)
    right = {
        "STOWPLAN_GPU_IDS": ",".join(worker.devices) if with_gpus else None,
        "STOWPLAN_GPU_COUNT": str(len(worker.devices)) if with_gpus else None,
        "NCCL_IB_DISABLE": "1" if with_gpus and rung >= 7 else None,
    }
    for name, value in right.items():
        if told.get(name) != value:
            yield f"{name} is {told.get(name)}, and should be {value}"
    uses = due if with_gpus and rung < 7 else ()
    if _chosen(told, machine) != set(uses):
        yield f"NCCL_IB_HCA is {told.get('NCCL_IB_HCA')}, and it uses {', '.join(sorted(uses))}"
    if others := sorted(told.keys() - right.keys() - {"NCCL_IB_HCA"}):
        yield f"is told {', '.join(others)}, which nothing asks for"
    given = {
        "imex_channel": (got.imex_channel, 0 if with_gpus and rung == 2 else None),
        "rdma_devices": (sorted(got.rdma_devices), sorted(due)),
        "capabilities": (list(got.capabilities), ["IPC_LOCK"] if due else []),
        "large_shm": (got.large_shm, with_gpus),
        "unlimited_memlock": (got.unlimited_memlock, with_gpus),
    }
    for what, (is_given, is_due) in given.items():
        if is_given != is_due:
            yield f"gets {what} {is_given}, and {is_due} is due"


def _chosen(told: Mapping[str, str], machine: Machine | None) -> set[str]:
    """Return the ports that NCCL would take: each name is the beginning of some, unless `=`."""
    names = told.get("NCCL_IB_HCA")
    if names is None:
        return set()
    exact, wanted = names.startswith("="), names.removeprefix("=").split(",")
    return {
        port.device
        for port in (machine.rdma if machine else ())
        if any(port.device == own if exact else port.device.startswith(own) for own in wanted)
    }
