"""Whether a run could start alone on the empty fleet: no run anywhere, nothing used by others.

Nothing is sold out there; what the run may cost, and when it must end, binds it there too.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from stowplan.model.audit import (
    accepting,
    balance,
    budget,
    capabilities,
    complete_by,
    cpu,
    denied,
    drives,
    freshness,
    healthy_only,
    if_match,
    interruptible,
    match_labels,
    max_accelerators,
    max_cost,
    max_rate,
    memory,
    min_memory_gb,
    models,
    names,
    pinned_ids,
    pools,
    pressure,
    reservation,
    reserved_for,
    room,
    state,
    vendor,
)
from stowplan.model.audit.cut import cut_of
from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Barred, Over, Plan, Unfit, Unmet
from stowplan.model.audit.refusal import refusals
from stowplan.model.fleet import Machine
from stowplan.model.runs import Run

BARRED: tuple[Barred, ...] = (
    state.barred,
    freshness.barred,
    pressure.barred,
    accepting.barred,
    reserved_for.barred,
    capabilities.barred,
    names.barred,
    match_labels.barred,
    pools.barred,
    max_accelerators.barred,
    drives.barred,
    reservation.barred,
)
"""The rules of one run and one machine."""

UNFIT: tuple[Unfit, ...] = (
    models.unfit,
    min_memory_gb.unfit,
    vendor.unfit,
    healthy_only.unfit,
    pinned_ids.unfit,
    denied.unfit,
)
"""The rules of one run and one GPU."""


UNMET: tuple[Unmet, ...] = (
    capabilities.unmet,
    names.unmet,
    match_labels.unmet,
    cpu.unmet,
    memory.unmet,
    models.unmet,
    min_memory_gb.unmet,
    vendor.unmet,
    pinned_ids.unmet,
    room.unmet,
    drives.unmet,
)
"""The rules of one run and one offering."""

OVER: tuple[Over, ...] = (
    complete_by.over,
    max_cost.over,
    max_rate.over,
    if_match.over,
    interruptible.over,
    budget.over,
    balance.over,
)
"""The limits of one run on one host of either kind."""


class EmptyFleet:
    """The fleet as it would be with nothing on it; answers once for runs alike."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._could: dict[str, bool] = {}
        self._takers: dict[str, frozenset[str]] = {}
        self._fit: dict[tuple[str, str], int] = {}

    def could_start(self, run: Run) -> bool:
        """Whether the run, or an element of it, could start if it were alone."""
        alike = self._specification(run)
        if alike not in self._could:
            self._could[alike] = self._starts(run)
        return self._could[alike]

    def takers(self, run: Run) -> frozenset[str]:
        """Return the names of all machines that could take a worker of the run."""
        alike = self._specification(run)
        if alike not in self._takers:
            machines = self._plan.machines.values()
            self._takers[alike] = frozenset(m.name for m in machines if self._copies(run, m))
        return self._takers[alike]

    def takes(self, run: Run, host: Host) -> bool:
        """Whether the host could take a worker of the run."""
        if isinstance(host, Machine):
            return self._copies(run, host) > 0
        if cut_of(run).workers != 1 or self._is_over(run, host):
            return False
        return not any(unmet(self._plan, run, host.offering) for unmet in UNMET)

    def _starts(self, run: Run) -> bool:
        quota = self._plan.quotas.get(run.workspace)
        if refusals(self._plan, run) or (quota is not None and run.gpus.count > quota):
            return False
        cut = cut_of(run)
        if any(self.takes(run, instance) for instance in self._plan.stock.kinds):
            return True
        wanted = 1 if cut.workers is None else cut.workers
        for machine in self._plan.machines.values():
            copies = self._copies(run, machine)
            wanted -= copies if cut.may_share else min(copies, 1)
            if wanted <= 0:
                return True
        return False

    def _copies(self, run: Run, machine: Machine) -> int:
        """Return how many workers of the run the machine could take at once: 0 or more."""
        gpus = cut_of(run).gpus_each
        limits = [
            whole // ask
            for whole, ask in (
                (self._fitting(run, machine) if gpus else 0, gpus),
                (cpu.whole(machine), cpu.ask(run, gpus)),
                (machine.memory_bytes, memory.ask(run, gpus)),
            )
            if ask
        ]
        copies = min(limits, default=_MANY)
        if copies and any(barred(self._plan, run, machine) for barred in BARRED):
            return 0
        return 0 if copies and self._is_over(run, machine) else copies

    def _is_over(self, run: Run, host: Host) -> bool:
        plan = self._plan
        return plan.is_limited(run) and any(over(plan, run, host) for over in OVER)

    def _fitting(self, run: Run, machine: Machine) -> int:
        """Return how many GPUs of the machine the run could use; found once for sets alike."""
        if run.gpus.ids or machine.constraints.denied_devices:  # rules that read the ids
            return _usable(run, machine)
        key = (run.name, self._alike[machine.name])
        if key not in self._fit:
            self._fit[key] = _usable(run, machine)
        return self._fit[key]

    def _specification(self, run: Run) -> str:
        """Return all that the run asks for, the same for runs alike."""
        apart = {"name", "priority", "submitted_at", "state", "started_at", "placed"}
        if not self._plan.snapshot.knowledge.durations:  # where labels say nothing of its time
            apart.add("labels")
        return run.model_dump_json(exclude=apart)

    @cached_property
    def _alike(self) -> Mapping[str, str]:
        """What the GPUs of each machine are, their ids aside, by machine name."""
        apart = {"id", "index"}
        return {
            machine.name: "".join(sorted(d.model_dump_json(exclude=apart) for d in machine.devices))
            for machine in self._plan.machines.values()
        }


def _usable(run: Run, machine: Machine) -> int:
    return sum(
        room.usable(device) and not any(unfit(run, machine, device) for unfit in UNFIT)
        for device in machine.devices
    )


_MANY = 2**60
"""More workers than any run has."""
