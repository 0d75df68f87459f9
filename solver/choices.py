"""The variables: how many workers of each class are on each host, asked for in sentences.

Counts, not run by host: `k` runs of a class start, `x` of its workers are on a host, and where a
host has several kinds of GPU that would do, `u` GPUs of each kind go to the class. What can't be
is the constant 0. This is the only module that knows variables; rules ask it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Cohort, RunClass
from stowplan.solver.eligibility import Eligibility
from stowplan.solver.hosts import Host
from stowplan.solver.limits import Limits
from stowplan.solver.linear import ZERO, Program, Sum, total
from stowplan.solver.matching import is_usable


@dataclass(frozen=True, eq=False)
class Kind:
    """Free GPUs of a host that the same classes can use, and at the same risk."""

    host: Host
    ids: frozenset[str]
    at_risk: bool

    @property
    def free(self) -> int:
        """How many there are."""
        return len(self.ids)


class Choices:
    """The program's variables, by what they mean."""

    def __init__(
        self, snapshot: Snapshot, classes: Sequence[RunClass], eligibility: Eligibility
    ) -> None:
        """Make the variables for what could be: classes on hosts that have room for a worker."""
        self.snapshot = snapshot
        self.classes = classes
        self.hosts = eligibility.hosts
        self.limits = Limits(snapshot, classes, eligibility)
        self.program = Program()
        self._eligibility = eligibility
        self._kinds: dict[str, list[Kind]] = {}
        self._kinds_for: dict[tuple[str, str], list[Kind]] = {}
        self._starting: dict[tuple[str, int], Sum] = {}
        self._workers: dict[tuple[str, str], Sum] = {}
        self._given: dict[tuple[str, Kind], Sum] = {}
        self._taken: dict[Kind, Sum] = {}
        self._millicores: dict[str, Sum] = {}
        self._hosts_for: dict[str, list[Host]] = {each.name: [] for each in classes}
        self._classes_on: dict[str, list[RunClass]] = {host.name: [] for host in self.hosts}
        for each in classes:
            self._make_starts(each)
            self._make_workers(each)
        for host in self.hosts:
            self._make_kinds(host)

    def hosts_for(self, each: RunClass) -> Sequence[Host]:
        """Return the hosts where a worker of the class could be."""
        return self._hosts_for[each.name]

    def classes_on(self, host: Host) -> Sequence[RunClass]:
        """Return the classes of which a worker could be on the host."""
        return self._classes_on[host.name]

    def kinds(self, host: Host) -> Sequence[Kind]:
        """Return the kinds of free GPU on a host that some class could use."""
        return self._kinds[host.name]

    def kinds_for(self, each: RunClass, host: Host) -> Sequence[Kind]:
        """Return the kinds of free GPU on a host that the class could use."""
        return self._kinds_for.get((each.name, host.name), ())

    def starts(self, each: RunClass) -> Sum:
        """Return how many runs of the class (elements, of an array) start."""
        return total(self.starting(each, index) for index in range(len(each.cohorts)))

    def starting(self, each: RunClass, cohort: int) -> Sum:
        """Return how many runs of one of its cohorts start."""
        return self._starting[each.name, cohort]

    def workers_on(self, each: RunClass, host: Host) -> Sum:
        """Return how many workers of the class are on the host."""
        return self._workers.get((each.name, host.name), ZERO)

    def gpus_on(self, each: RunClass, kind: Kind) -> Sum:
        """Return how many GPUs of a kind go to the class."""
        return self._given.get((each.name, kind), ZERO)

    def gpus_given(self, each: RunClass, host: Host) -> Sum:
        """Return how many GPUs of the host go to the class, over all kinds."""
        return total(self.gpus_on(each, kind) for kind in self.kinds_for(each, host))

    def gpus_taken(self, kind: Kind) -> Sum:
        """Return how many GPUs of a kind are given out."""
        if kind not in self._taken:
            given = (self.gpus_on(each, kind) for each in self.classes_on(kind.host))
            self._taken[kind] = total(given)
        return self._taken[kind]

    def at_risk_taken(self) -> Sum:
        """Return how many GPUs at risk are given out."""
        return total(
            self.gpus_taken(kind)
            for host in self.hosts
            for kind in self.kinds(host)
            if kind.at_risk
        )

    def millicores_taken(self, host: Host) -> Sum:
        """Return the thousandths of a core that the workers placed on a host ask for."""
        if host.name not in self._millicores:
            self._millicores[host.name] = total(
                self.workers_on(each, host) * each.ask.millicores for each in self.classes_on(host)
            )
        return self._millicores[host.name]

    def memory_taken(self, host: Host) -> Sum:
        """Return the bytes that the workers placed on a host ask for."""
        return total(
            self.workers_on(each, host) * each.ask.memory_bytes for each in self.classes_on(host)
        )

    def started(self, cohort: Cohort) -> Sum:
        """Return how many runs of a cohort start (strict queues have a cohort for each run)."""
        return self._by_cohort[id(cohort)]

    @cached_property
    def _by_cohort(self) -> Mapping[int, Sum]:
        return {
            id(cohort): self.starting(each, index)
            for each in self.classes
            for index, cohort in enumerate(each.cohorts)
        }

    def oldest_first(self, values: list[int]) -> None:
        """Change values so that of each class the oldest cohorts start first; as many start."""
        for each in self.classes:
            left = self.starts(each).at(values)
            for index, cohort in enumerate(each.cohorts):
                for column in self.starting(each, index).terms:
                    values[column] = min(left, cohort.count)
                    left -= values[column]

    def _make_starts(self, each: RunClass) -> None:
        fits = self._eligibility.fits(each.ask, lambda host: host.start)
        for index, cohort in enumerate(each.cohorts):
            start = self.program.variable(cohort.count) if fits else ZERO
            self._starting[each.name, index] = start

    def _make_workers(self, each: RunClass) -> None:
        if not self.starts(each):
            return
        for host in self.hosts:
            slots = self._eligibility.slots(each.ask, host, host.start)
            if slots:
                most = each.count * (each.ask.tasks or 0 if each.ask.may_share else 1)
                self._workers[each.name, host.name] = self.program.variable(min(slots, most))
                self._hosts_for[each.name].append(host)
                self._classes_on[host.name].append(each)

    def _make_kinds(self, host: Host) -> None:
        asking = [each for each in self.classes_on(host) if each.ask.gpus]
        alike: dict[tuple[bool, tuple[str, ...]], set[str]] = {}
        for lot in host.lots:
            users = tuple(each.name for each in asking if is_usable(each.ask, lot))
            free = lot.ids & host.start.devices
            if users and free:
                alike.setdefault((lot.condition == "at_risk", users), set()).update(free)
        self._kinds[host.name] = []
        for (at_risk, users), ids in alike.items():
            kind = Kind(host, frozenset(ids), at_risk)
            self._kinds[host.name].append(kind)
            for name in users:
                self._kinds_for.setdefault((name, host.name), []).append(kind)
        for each in asking:
            kinds = self.kinds_for(each, host)
            workers = self.workers_on(each, host) * each.ask.gpus
            most = self.program.range(workers)[1]
            for kind in kinds:
                alone = len(kinds) == 1
                given = workers if alone else self.program.variable(min(kind.free, most))
                self._given[each.name, kind] = given
