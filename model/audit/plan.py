"""What every check reads: each worker that starts, joined with its run, its host and GPUs."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from stowplan.model.audit.instances import Host, Stock
from stowplan.model.audit.places import Place, places_of
from stowplan.model.audit.prices import Prices
from stowplan.model.audit.purses import Purse, purses_of
from stowplan.model.audit.seats import Bought, Seat, Start, Taken
from stowplan.model.audit.violation import Violation
from stowplan.model.decision import Decision, Outcome, PlacedRun, Worker
from stowplan.model.fleet import Device, Drive, Machine, Offering, Reservation
from stowplan.model.holds import holding, is_superseded
from stowplan.model.runs import PlacedWorker, Run
from stowplan.model.snapshot import Snapshot

type Barred = Callable[[Plan, Run, Machine], str | None]
"""Says why the machine takes no worker of the run, whatever room it has; None: it may."""

type Unmet = Callable[[Plan, Run, Offering], str | None]
"""Says why no instance of the offering will do for a worker of the run; None: each will."""

type Over = Callable[[Plan, Run, Host, int], str | None]
"""Says what the run would cost on the host, or when it would end, where that is too much.

The number is how many workers it has: all of them are taken to be on such hosts.
"""

type Together = Callable[[Plan, Run, Sequence[Host]], str | None]
"""Says what the run comes to on these hosts, one for each worker, where that is too much."""

type BoughtApart = Callable[[Plan, Run, Sequence[Offering]], str | None]
"""Says why the workers can't be on instances of these together; None: they can."""

type Apart = Callable[[Plan, Run, Sequence[Machine]], str | None]
"""Says why the workers of the run can't be on these machines together; None: they can."""

type Unfit = Callable[[Run, Machine, Device], str | None]
"""Says why the run can't use a GPU of the machine; None: it can."""


@dataclass(frozen=True)
class Plan:
    """A snapshot and what was decided on it, joined once for all checks."""

    snapshot: Snapshot
    decision: Decision
    runs: Mapping[str, Run]
    machines: Mapping[str, Machine]
    starts: tuple[Start, ...]
    """Every placed outcome of a run that the snapshot has."""
    seats: tuple[Seat, ...]
    """Every worker of `starts` on a machine that the fleet has."""
    bought: tuple[Bought, ...]
    """Every worker of `starts` on an instance of an offering that the fleet has."""
    astray: tuple[tuple[Run, Worker], ...]
    """Every worker of `starts` on a host that the fleet doesn't have."""

    @classmethod
    def of(cls, snapshot: Snapshot, decision: Decision) -> Self:
        """Join a decision with the snapshot it was made on."""
        runs = {run.name: run for run in snapshot.runs}
        machines = {machine.name: machine for machine in snapshot.fleet.machines}
        starts = tuple(
            Start(runs[outcome.run], outcome)
            for outcome in decision.outcomes
            if isinstance(outcome, PlacedRun) and outcome.run in runs
        )
        stock = Stock(snapshot)
        cards: dict[str, dict[str, Device]] = {}
        seats: list[Seat] = []
        bought: list[Bought] = []
        astray: list[tuple[Run, Worker]] = []
        for run, outcome in starts:
            for worker in outcome.workers:
                if worker.kind == "offering" and (instance := stock.named(worker.host)):
                    bought.append(Bought(run, worker, *instance))
                    continue
                machine = machines.get(worker.host)
                if machine is None or worker.kind != "machine":
                    astray.append((run, worker))
                    continue
                if machine.name not in cards:
                    cards[machine.name] = {device.id: device for device in machine.devices}
                known = cards[machine.name]
                devices = tuple(known[each] for each in worker.devices if each in known)
                seats.append(Seat(run, worker, machine, devices))
        return cls(
            snapshot, decision, runs, machines, starts, tuple(seats), tuple(bought), tuple(astray)
        )

    @cached_property
    def taken(self) -> tuple[Taken, ...]:
        """Every worker that starts on a machine or an instance that there is."""
        return (
            *(Taken(seat.run, seat.worker, seat.machine) for seat in self.seats),
            *(Taken(each.run, each.worker, each.host) for each in self.bought),
        )

    @cached_property
    def taken_by(self) -> Mapping[str, list[Host]]:
        """The hosts that each run takes in this cycle, by run name; one may be there twice."""
        theirs: dict[str, list[Host]] = defaultdict(list)
        for run, _, host in self.taken:
            theirs[run.name].append(host)
        return theirs

    @cached_property
    def gangs(self) -> tuple[tuple[Run, list[Machine]], ...]:
        """Each run that starts with several workers on machines, and the machine of each worker.

        Elements of an array are runs of their own.
        """
        theirs: dict[str, list[Machine]] = defaultdict(list)
        for seat in self.seats:
            if seat.run.array is None:
                theirs[seat.run.name].append(seat.machine)
        return tuple(
            (self.runs[name], machines) for name, machines in theirs.items() if len(machines) > 1
        )

    @cached_property
    def together(self) -> Mapping[str, list[Host]]:
        """The hosts of each run that starts with several workers, one for each; by its name."""
        return {
            name: hosts
            for name, hosts in self.taken_by.items()
            if len(hosts) > 1 and self.runs[name].array is None
        }

    def bought_apart(self, rule: str, apart: BoughtApart) -> Iterator[Violation]:
        """Yield a violation for each run whose workers can't be on their instances together."""
        for name, hosts in self.together.items():
            offerings = [host.offering for host in hosts if not isinstance(host, Machine)]
            if offerings and (why := apart(self, self.runs[name], offerings)):
                yield Violation(rule, name, None, why)

    @cached_property
    def places(self) -> Mapping[str, Place]:
        """Where each machine stands, by its name."""
        return places_of(self.snapshot)

    def places_for(self, run: Run) -> Mapping[str, Place]:
        """Return where each stands for this run, which uses no slower ports than it asks for."""
        least = run.network.min_gbps or 0
        if least not in self._places_at:
            self._places_at[least] = places_of(self.snapshot, least)
        return self._places_at[least]

    @cached_property
    def _places_at(self) -> dict[float, Mapping[str, Place]]:
        return {0: self.places}

    @cached_property
    def stock(self) -> Stock:
        """The offerings, and what there is of them."""
        return Stock(self.snapshot)

    @cached_property
    def hosts(self) -> tuple[Host, ...]:
        """Every host that there is, but for offerings that are sold out; the cheapest first."""
        left = (kind for kind in self.stock.kinds if kind.is_left)
        hosts: tuple[Host, ...] = (*self.machines.values(), *left)
        return tuple(sorted(hosts, key=lambda host: self.prices.tariff(host).ranked_rate))

    @cached_property
    def prices(self) -> Prices:
        """What hosts ask, and what runs come to there."""
        return Prices(self.snapshot)

    @cached_property
    def purses(self) -> Mapping[str, list[Purse]]:
        """The budgets and the balance from which a workspace's runs are paid, by its name."""
        return purses_of(self.snapshot.policy)

    def is_limited(self, run: Run) -> bool:
        """Whether the run may have a limit of money, of time, or of what may interrupt it."""
        return bool(run.placement.model_fields_set) or run.workspace in self.purses

    @cached_property
    def seats_on(self) -> Mapping[str, list[Seat]]:
        """The workers that start on each machine, by machine name."""
        there: dict[str, list[Seat]] = defaultdict(list)
        for seat in self.seats:
            there[seat.machine.name].append(seat)
        return there

    @cached_property
    def holding(self) -> tuple[tuple[Run, PlacedWorker], ...]:
        """Every worker that an earlier cycle placed and that holds its place."""
        return tuple(holding(self.snapshot))

    @cached_property
    def held_on(self) -> Mapping[str, list[tuple[Run, PlacedWorker]]]:
        """The workers that hold a place on each host, by host name."""
        there: dict[str, list[tuple[Run, PlacedWorker]]] = defaultdict(list)
        for run, worker in self.holding:
            there[worker.host].append((run, worker))
        return there

    @cached_property
    def held_by(self) -> Mapping[str, list[PlacedWorker]]:
        """The workers of each run that hold their place, by run name."""
        theirs: dict[str, list[PlacedWorker]] = defaultdict(list)
        for run, worker in self.holding:
            theirs[run.name].append(worker)
        return theirs

    @cached_property
    def outcomes(self) -> Mapping[str, list[Outcome]]:
        """The outcomes by the run they name: exactly one each, or `outcomes` refuses them."""
        named: dict[str, list[Outcome]] = defaultdict(list)
        for outcome in self.decision.outcomes:
            named[outcome.run].append(outcome)
        return named

    @cached_property
    def drives(self) -> Mapping[str, Drive]:
        """The drives by name."""
        return {drive.name: drive for drive in self.snapshot.fleet.drives}

    @cached_property
    def reservations(self) -> Mapping[str, list[Reservation]]:
        """The reservations of each machine, by machine name."""
        kept: dict[str, list[Reservation]] = defaultdict(list)
        for reservation in self.snapshot.fleet.reservations:
            for name in reservation.machines:
                kept[name].append(reservation)
        return kept

    @cached_property
    def selected(self) -> Mapping[str, frozenset[str]]:
        """The host names that each run selects, by run name; empty: any."""
        return {name: frozenset(run.node_selection.names) for name, run in self.runs.items()}

    @cached_property
    def pools(self) -> Mapping[str, frozenset[str]]:
        """The pools of each workspace that has a list of them, by workspace name."""
        return {
            workspace.name: frozenset(workspace.pools)
            for workspace in self.snapshot.policy.workspaces
            if workspace.pools is not None
        }

    @cached_property
    def pools_there(self) -> frozenset[str]:
        """Every pool that some machine is in."""
        machines = self.snapshot.fleet.machines
        labels = [{**machine.labels, **machine.reserved_for} for machine in machines]
        return frozenset(own["pool"] for own in labels if "pool" in own)

    @cached_property
    def quotas(self) -> Mapping[str, int]:
        """The most GPUs of each workspace that has a limit, by workspace name."""
        return {
            workspace.name: workspace.gpu_quota
            for workspace in self.snapshot.policy.workspaces
            if workspace.gpu_quota is not None
        }

    def may_start(self, run: Run) -> bool:
        """Whether the run's state lets workers of it start: pending, or an array not stopped."""
        if run.array:
            return run.state != "stopped" and not is_superseded(run, self.snapshot)
        return run.state == "pending"

    def elements_left(self, run: Run) -> int:
        """Return how many elements of an array neither ended nor run."""
        assert run.array is not None
        return run.array.size - len(self._gone(run))

    def lowest_left(self, run: Run, count: int) -> list[int]:
        """Return the lowest elements of an array that neither ended nor run, so many."""
        assert run.array is not None
        gone = self._gone(run)
        left = (element for element in range(run.array.size) if element not in gone)
        return list(itertools.islice(left, count))

    def _gone(self, run: Run) -> set[int | None]:
        finished: tuple[int, ...] = run.array.finished if run.array else ()
        return {*finished, *(worker.element for worker in self.held_by.get(run.name, ()))}

    def barred(self, rule: str, barred: Barred) -> Iterator[Violation]:
        """Yield a violation for each worker that starts on a machine barred to it."""
        for run, _, machine, _ in self.seats:
            if why := barred(self, run, machine):
                yield Violation(rule, run.name, machine.name, why)

    def unmet(self, rule: str, unmet: Unmet) -> Iterator[Violation]:
        """Yield a violation for each worker on an instance that won't do for it."""
        for run, worker, offering, *_ in self.bought:
            if why := unmet(self, self._one_of(run), offering):
                yield Violation(rule, run.name, worker.host, why)

    def _one_of(self, run: Run) -> Run:
        """Return what one worker of the run asks for, as a run of its own."""
        if run.name not in self.together:
            return run
        each = run.gpus.count // len(self.together[run.name])
        return run.model_copy(update={"gpus": run.gpus.model_copy(update={"count": each})})

    def over(self, rule: str, over: Over, together: Together | None = None) -> Iterator[Violation]:
        """Yield a violation for each worker on a host that is too dear for it, or too slow.

        Of a run of several workers that is bought, what they come to `together` counts.
        """
        bought = [name for name in self.together if self._limited and self._is_bought(name)]
        for name in bought if together else ():
            if together and (why := together(self, self.runs[name], self.together[name])):
                yield Violation(rule, name, None, why)
        for run, worker, host in self._limited:
            if together and run.name in bought:
                continue
            workers = 1 if run.array else len(self.taken_by[run.name])
            if why := over(self, run, host, workers):
                yield Violation(rule, run.name, worker.host, why)

    def _is_bought(self, name: str) -> bool:
        return all(not isinstance(host, Machine) for host in self.taken_by[name])

    @cached_property
    def _limited(self) -> tuple[Taken, ...]:
        if not (self.purses or any(run.placement.model_fields_set for run, _ in self.starts)):
            return ()
        return tuple(each for each in self.taken if self.is_limited(each.run))

    def apart(self, rule: str, apart: Apart) -> Iterator[Violation]:
        """Yield a violation for each run whose workers can't be where they are together."""
        for run, machines in self.gangs:
            if why := apart(self, run, machines):
                yield Violation(rule, run.name, None, why)

    def unfit(self, rule: str, unfit: Unfit) -> Iterator[Violation]:
        """Yield a violation for each GPU that is given to a worker that can't use it."""
        for run, _, machine, devices in self.seats:
            for device in devices:
                if why := unfit(run, machine, device):
                    yield Violation(rule, run.name, machine.name, f"{device.id} {why}")
