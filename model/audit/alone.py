"""Whether a run could start alone on the empty fleet, and how tightly joined it could be there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from stowplan.model.audit import interconnect, keep_within, one_site, spread
from stowplan.model.audit.cut import Cut, Shape, cut_of
from stowplan.model.audit.gangs import can_be_bought
from stowplan.model.audit.instances import Host
from stowplan.model.audit.places import LADDER, Place, bond
from stowplan.model.audit.plan import Plan
from stowplan.model.audit.refusal import refusals
from stowplan.model.audit.vacant import Vacant
from stowplan.model.fleet import Machine
from stowplan.model.reasons import Code
from stowplan.model.runs import Run

BOUGHT = 9
"""Stands for a rung where only instances would do."""

JOINTLY = (one_site.apart, keep_within.apart, spread.apart, interconnect.apart)
"""The rules of one run and all machines that hold its workers."""


class EmptyFleet:
    """The fleet as it would be with nothing on it; answers once for runs alike."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._vacant = Vacant(plan)
        self._tightest: dict[str, int | None] = {}
        self._takers: dict[str, frozenset[str]] = {}

    def could_start(self, run: Run) -> bool:
        """Whether the run, or an element of it, could start if it were alone."""
        quota = self._plan.quotas.get(run.workspace)
        if quota is not None and run.gpus.count > quota:
            return False
        return self.tightest(run) is not None

    def tightest(self, run: Run) -> int | None:
        """Return the tightest rung that the run could get if it were alone; None: it can't start.

        One worker, wherever it is, is on rung 1.
        """
        alike = self._specification(run)
        if alike not in self._tightest:
            self._tightest[alike] = None if self.refusals(run) else self._best(run)
        return self._tightest[alike]

    def refusals(self, run: Run) -> set[Code]:
        """Return every code for which the run is refused; none: it isn't."""
        codes = refusals(self._plan, run)
        cut = cut_of(run)
        if cut.counts is None and not codes:  # how many, the machines say
            there = len(self.takers(run))
            if there and cut.against(there):
                codes.add(Code.UNEVEN_SHAPE)
        return codes

    def takers(self, run: Run) -> frozenset[str]:
        """Return the names of all machines that could take a worker of a run that asks for all.

        How many GPUs each worker has isn't known before: those with one could.
        """
        alike = self._specification(run)
        if alike not in self._takers:
            one = Shape(1, min(1, run.gpus.count))
            self._takers[alike] = frozenset(self._slots(run, one))
        return self._takers[alike]

    def takes(self, run: Run, host: Host) -> bool:
        """Whether the host could take a worker of the run."""
        cut = cut_of(run)
        if not isinstance(host, Machine):
            return any(shape.workers == 1 for shape in cut.shapes) and self._takes_whole(run, host)
        if cut.counts is None:
            return host.name in self.takers(run)
        return any(self._vacant.copies(run, host, shape) for shape in cut.shapes)

    def _takes_whole(self, run: Run, host: Host) -> bool:
        return self._vacant.takes_whole(run, host)

    def _best(self, run: Run) -> int | None:
        cut = cut_of(run)
        if cut.counts is None:
            return self._rung_of_all(run, cut)
        if any(self.takes(run, instance) for instance in self._plan.stock.kinds):
            return 1
        found = (self._rung(run, shape, cut.may_share) for shape in cut.shapes)
        best = min((rung for rung in found if rung), default=None)
        return BOUGHT if best is None and self._can_be_bought(run, cut) else best

    def _can_be_bought(self, run: Run, cut: Cut) -> bool:
        """Whether it could be on instances alone, each worker on one of its own."""
        takers = [
            (shape, kind)
            for shape in cut.shapes
            if shape.workers > 1
            for kind in self._plan.stock.kinds
            if self._vacant.takes_one(run, kind, shape.gpus_each)
        ]
        return can_be_bought(self._plan, run, takers)

    def _rung_of_all(self, run: Run, cut: Cut) -> int | None:
        """Return the rung of a run on every machine that could take it: there is no choice."""
        takers = self.takers(run)
        if not takers:
            return None
        shape = Shape(len(takers), cut.gpus // len(takers))
        machines = [self._plan.machines[name] for name in sorted(takers)]
        if not all(self._vacant.copies(run, machine, shape) for machine in machines):
            return None
        if any(apart(self._plan, run, machines) for apart in JOINTLY):
            return None
        there = self._plan.places_for(run)
        joined = bond([there[machine.name] for machine in machines])
        return joined.rung if joined else None

    def _slots(self, run: Run, shape: Shape) -> dict[str, int]:
        """Return how many workers each machine could take, where it could take any."""
        machines = self._plan.machines.values()
        copies = {each.name: self._vacant.copies(run, each, shape) for each in machines}
        return {name: count for name, count in copies.items() if count}

    def _rung(self, run: Run, shape: Shape, may_share: bool) -> int | None:
        """Return the tightest rung on which the run could be in this shape."""
        slots = self._slots(run, shape)
        if shape.workers == 1:
            return 1 if slots else None
        within = run.topology.keep_within
        if within and within != "node":
            told = self._plan.places
            slots = {
                name: own for name, own in slots.items() if told[name].unit(within) is not None
            }
        if may_share and any(count >= shape.workers for count in slots.values()):
            return 1
        for rung in LADDER if within != "node" else ():
            for members in self._circles(run, slots, rung):
                if _workers(run, members, slots, may_share) >= shape.workers:
                    return rung
        return None

    def _circles(
        self, run: Run, slots: Mapping[str, int], rung: int
    ) -> Iterator[Mapping[str, Place]]:
        """Yield the widest sets of these machines on a rung that the run may be on."""
        within = run.topology.keep_within
        circles: dict[object, dict[str, Place]] = {}
        there = self._plan.places_for(run)
        for name in slots:
            place = there[name]
            unit = place.unit(within) if within and within != "node" else None
            for fabric, key in place.circles(rung):
                if not interconnect.too_slow(run, rung, () if fabric is None else (fabric,)):
                    circles.setdefault((place.site, unit, key), {})[name] = place
        yield from circles.values()

    def _specification(self, run: Run) -> str:
        """Return all that the run asks for, the same for runs alike."""
        apart = {"name", "priority", "submitted_at", "state", "started_at", "placed"}
        if not self._plan.snapshot.knowledge.durations:  # where labels say nothing of its time
            apart.add("labels")
        return run.model_dump_json(exclude=apart)


def _workers(
    run: Run, members: Mapping[str, Place], slots: Mapping[str, int], may_share: bool
) -> int:
    """Return how many workers of the run these machines could take at once."""
    match run.topology.spread:
        case "rack" | "fabric" as unit:
            units = {place.unit(unit) for place in members.values()}
            return len(units - {None})
        case _:
            return sum(slots[name] if may_share else 1 for name in members)
