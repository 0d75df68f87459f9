"""What one host takes of a run when it is empty: no run there, nothing used by others.

Nothing is sold out then; what the run may cost, and when it must end, binds it there too.
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
    interconnect,
    interruptible,
    match_labels,
    max_accelerators,
    max_cost,
    max_rate,
    memory,
    min_gbps,
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
from stowplan.model.audit.cut import Shape
from stowplan.model.audit.instances import Host
from stowplan.model.audit.plan import Barred, Over, Plan, Unfit, Unmet
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
    interconnect.barred,
    min_gbps.barred,
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
    interconnect.unmet,
    min_gbps.unmet,
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


class Vacant:
    """The hosts as they would be with nothing on them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._fit: dict[tuple[str, str], int] = {}

    def copies(self, run: Run, machine: Machine, shape: Shape) -> int:
        """Return how many workers of the run the machine could take at once: 0 or more."""
        gpus = shape.gpus_each
        if max_accelerators.over(gpus, machine):
            return 0
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
        return 0 if copies and self._is_over(run, machine, shape.workers) else copies

    def takes_whole(self, run: Run, host: Host) -> bool:
        """Whether an instance of an offering could take the run, as one worker."""
        assert not isinstance(host, Machine)
        if self._is_over(run, host, 1):
            return False
        return not any(unmet(self._plan, run, host.offering) for unmet in UNMET)

    def takes_one(self, run: Run, host: Host, gpus: int) -> bool:
        """Whether an instance could take one worker of several, with so many GPUs; what all of
        them cost aside."""
        assert not isinstance(host, Machine)
        one = run.model_copy(update={"gpus": run.gpus.model_copy(update={"count": gpus})})
        return not any(unmet(self._plan, one, host.offering) for unmet in UNMET)

    def _is_over(self, run: Run, host: Host, workers: int) -> bool:
        plan = self._plan
        return plan.is_limited(run) and any(over(plan, run, host, workers) for over in OVER)

    def _fitting(self, run: Run, machine: Machine) -> int:
        """Return how many GPUs of the machine the run could use; found once for sets alike."""
        if run.gpus.ids or machine.constraints.denied_devices:  # rules that read the ids
            return _usable(run, machine)
        key = (run.name, self._alike[machine.name])
        if key not in self._fit:
            self._fit[key] = _usable(run, machine)
        return self._fit[key]

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
