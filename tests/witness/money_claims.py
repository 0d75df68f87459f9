"""Every untrue word of a decision about money and time, and about hosts that could be bought."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from stowplan.model.decision import Decision, HostRow, PlacedRun, Rejected, WaitingRun
from stowplan.model.estimating.duration import as_written
from stowplan.model.estimating.estimate import estimate
from stowplan.model.money import micro_of, written
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.witness.asked import gpus_each, holding, placed_workers, run_named
from tests.witness.machines import checked, machine_named, rooms
from tests.witness.offerings import offering_named, shortcomings
from tests.witness.prices import Place, Prices, place_of, places, purses
from tests.witness.reasons import reasons
from tests.witness.rows import rejected

WARM = " (warm)"
"""What follows an offering's name where its warm instances are told apart."""


def money_claims(snapshot: Snapshot, decision: Decision) -> list[str]:
    """Return what is untrue, a sentence each; nothing where all is true."""
    ledger = _Ledger(snapshot, decision)
    told = list(ledger.lies())
    for outcome in decision.outcomes:
        run = run_named(snapshot, outcome.run)
        if isinstance(outcome, PlacedRun):
            case = _Placed(ledger, run, outcome)
            told += [f"{run.name} {lie}" for lie in case.lies()]
        elif isinstance(outcome, WaitingRun):
            told += [f"{run.name} {lie}" for lie in _of_waiting(ledger, run, outcome)]
    return told


def is_free(snapshot: Snapshot) -> bool:
    """Whether nothing costs anything, and nothing is preferred for what it costs."""
    return not snapshot.fleet.offerings and not any(
        machine.rate_usd_per_hour or machine.byoc_pool for machine in snapshot.fleet.machines
    )


class _Ledger:
    """What a decision takes and spends in all."""

    def __init__(self, snapshot: Snapshot, decision: Decision) -> None:
        self.snapshot, self.decision = snapshot, decision
        self.rooms_left = rooms(snapshot, decision)
        self.given = placed_workers(decision)
        self.prices = {run.name: Prices(snapshot, run) for run in snapshot.runs}
        self.hosts = [worker.host for workers in self.given.values() for worker in workers]
        self.taken = Counter(place_of(snapshot, host) for host in self.hosts)
        self.spent = {purse.name: 0 for purse in purses(snapshot)}
        for name in self.given:
            for purse, cost in self.spent_by(name).items():
                self.spent[purse] += cost

    def spent_by(self, name: str) -> dict[str, int]:
        """What a run's workers are expected to cost, of each purse that is theirs."""
        seats = [place_of(self.snapshot, worker.host) for worker in self.given.get(name, ())]
        quotes = self.prices[name].quotes
        cost = sum(quotes[place].cost for place in seats if place)
        workspace = run_named(self.snapshot, name).workspace
        return {
            purse.name: cost if workspace in purse.workspaces else 0
            for purse in purses(self.snapshot)
        }

    def beside(self, run: Run) -> list[dict[str, int]]:
        """What the others spend; of an array either all else, or all without its own elements."""
        own = self.spent_by(run.name)
        others = {name: total - own.get(name, 0) for name, total in self.spent.items()}
        return [others, self.spent] if run.array else [others]

    def left(self, place: Place) -> int:
        """How many instances are left there."""
        return places(self.snapshot)[place] - self.taken[place]

    def codes(self, run: Run, place: Place) -> list[list[str]]:
        """Every code that keeps one more worker of the run off a place: one list, or any."""
        prices = self.prices[run.name]
        return [self._codes(run, place, prices.limits(place, spent)) for spent in self.beside(run)]

    def _codes(self, run: Run, place: Place, limits: list[str]) -> list[str]:
        if not place.is_offering:
            machine = machine_named(self.snapshot, place.name)
            said = reasons(self.snapshot, machine, run, self.rooms_left[place.name])
            owned = ["INTERRUPTION_POLICY"] * (run.placement.interruptible == "require")
            return [*(each.code for each in said), *owned, *limits]
        offering = offering_named(self.snapshot, place.name)
        short = shortcomings(self.snapshot, offering, run)
        too_few = {"INSUFFICIENT_GPUS", "INSUFFICIENT_HEALTHY_GPUS"}
        is_small = not too_few.isdisjoint(short) or (run.gpus.count and not offering.accelerator)
        sold_out = [] if self.left(place) > 0 or is_small else ["NO_CAPACITY_NOW"]
        return [*short, *sold_out, *limits]

    def lies(self) -> Iterator[str]:
        for host, count in Counter(self.hosts).items():
            place = place_of(self.snapshot, host)
            if place is None:
                yield f"there is no host {host}"
            elif place.is_offering and count > 1:
                yield f"{host} takes {count} workers"
        for purse in purses(self.snapshot):
            if self.spent[purse.name] > purse.left:
                yield f"{purse.name}: {self.spent[purse.name]} is spent of {purse.left}"
        if (rate := self._rate()) != self.decision.summary.usd_per_hour:
            yield f"says {self.decision.summary.usd_per_hour} USD an hour, and it is {rate}"

    def _rate(self) -> Decimal:
        """What is paid by the hour for what starts: instances, and machines that were idle."""
        busy = {worker.host for run in self.snapshot.runs for worker in holding(self.snapshot, run)}
        total = Decimal(0)
        for host in set(self.hosts):
            place = place_of(self.snapshot, host)
            if place and place.is_offering:
                total += offering_named(self.snapshot, place.name).rate_usd_per_hour
            elif place and host not in busy:
                machine = machine_named(self.snapshot, host)
                total += machine.rate_usd_per_hour if machine.byoc_pool is None else 0
        return total

    def named(self, host: str) -> list[Place]:
        """The places that a row means by a host's name; none where there is no such host."""
        name = host.removesuffix(WARM)
        if any(each.name == name for each in self.snapshot.fleet.offerings):
            kinds = [True] if host != name else [False, True]
            return [Place(name, True, is_warm) for is_warm in kinds]
        place = place_of(self.snapshot, host)
        return [place] if place else []

    def untrue(self, run: Run, rows: Sequence[HostRow | Rejected], free: str) -> Iterator[str]:
        """Yield each lie of a table, in which a host that would do says `free`."""
        told = Counter(host for row in rows for host in row.hosts)
        yield from (f"tells of {host} twice" for host in told if told[host] > 1)
        for row in rows:
            said = [str(reason.code) for reason in row.reasons]
            for host in row.hosts:
                kinds = self.named(host)
                true = [each or [free] for place in kinds for each in self.codes(run, place)]
                if not any(set(said) == set(each) for each in true):
                    yield f"says {said} of {host}, where {true} is so"

    def unmentioned(self, run: Run, rows: Sequence[HostRow | Rejected]) -> Iterator[str]:
        """Yield each offering of which nothing is said."""
        told = {host.removesuffix(WARM) for row in rows for host in row.hosts}
        for offering in self.snapshot.fleet.offerings:
            if offering.name not in told:
                yield f"says nothing of {offering.name}"


class _Placed:
    """One run where it starts."""

    def __init__(self, ledger: _Ledger, run: Run, outcome: PlacedRun) -> None:
        self.ledger, self.run, self.outcome = ledger, run, outcome
        self.snapshot, self.prices = ledger.snapshot, ledger.prices[run.name]
        found = [place_of(ledger.snapshot, worker.host) for worker in outcome.workers]
        self.seats = [place for place in found if place]

    def lies(self) -> Iterator[str]:
        for worker, place in zip(self.outcome.workers, self.seats, strict=False):
            if worker.kind != ("offering" if place.is_offering else "machine"):
                yield f"calls {worker.host} a {worker.kind}"
            names = tuple(f"{worker.host}/{index}" for index in range(gpus_each(self.run)))
            if place.is_offering and worker.devices != names:
                yield f"has {worker.devices} on {worker.host}, not {names}"
            if place not in self.prices.alone:
                broken = self.prices.limits(place)
                yield f"is on {worker.host}, which wouldn't do: {broken or 'by no limit'}"
        if self.outcome.profile != (self.run.placement.profile or "balanced"):
            yield f"is placed by {self.outcome.profile}"
        if all(place in self.prices.alone for place in self.seats):
            yield from self._value()
            yield from self._estimate()
            yield from self._workers()
        rows = rejected(self.ledger.decision, self.outcome)
        yield from self.ledger.untrue(self.run, rows, "OUTRANKED")
        if not self.run.array and not self.outcome.same_as:
            own = [Rejected(hosts=tuple(place.name for place in self.seats), reasons=())]
            yield from self.ledger.unmentioned(self.run, [*rows, *own])
        for host in self.outcome.fallbacks:
            kinds = self.ledger.named(host)
            if all(codes for place in kinds for codes in self.ledger.codes(self.run, place)):
                yield f"could fall back to {host}, which wouldn't do"

    def _value(self) -> Iterator[str]:
        told = self.outcome.value
        worst = max(self.prices.value(place) for place in self.seats)
        if told is None:
            if self.prices.profile != "speed" or not is_free(self.snapshot):
                yield "says nothing of what its profile measures"
            return
        name, figure = self.prices.told(worst)
        is_nothing = is_free(self.snapshot) and told.chosen == 0  # in whatever unit
        if (told.measure, Fraction(told.chosen)) != (name, figure) and not is_nothing:
            yield f"measures {told.measure} {told.chosen}, and it is {name} {float(figure)}"
        share = Fraction(told.band)
        is_exact = self.prices.is_by_finish
        if share != (0 if is_exact else as_written(self.snapshot.policy.bands.profile)):
            yield f"has a band of {told.band}"
        if Fraction(told.chosen) > Fraction(told.reference) * (1 + share) and not self.run.array:
            yield f"is at {told.chosen}, beyond the band of {told.reference}"

    def _workers(self) -> Iterator[str]:
        """Yield what is untrue of a worker's own rate and cost."""
        if is_free(self.snapshot):
            return
        for worker, place in zip(self.outcome.workers, self.seats, strict=True):
            quote = self.prices.quotes[place]
            rate = worker.rate_usd_per_hour
            if rate is None or micro_of(rate) != quote.tariff.rate:
                yield f"has a worker at {rate} an hour, and its host asks {quote.tariff.rate}"
            costs = worker.cost_usd and [worker.cost_usd.p50, worker.cost_usd.p90]
            true = [written(cost) for cost in quote.seen.cost] if quote.seen.is_total else None
            if costs != true:
                yield f"has a worker that costs {costs}, and it is {true}"

    def _estimate(self) -> Iterator[str]:
        told = self.outcome.estimate
        if told is None:
            if not is_free(self.snapshot):
                yield "has no estimate"
            return
        quotes = [self.prices.quotes[place] for place in self.seats]
        dearest = max(quote.cost for quote in quotes)
        true = [
            estimate(self.run, quote.tariff, quote.running, self.snapshot.now)
            for quote in quotes
            if quote.cost == dearest or not quote.seen.is_total
        ]
        bare = told.model_copy(update={"unverified": ()})
        if not any(
            each.model_copy(update={"unverified": ()}) == bare
            and set(each.unverified) <= set(told.unverified)
            for each in true
        ):
            yield f"is estimated at {told.cost_usd} ({told.rate_usd_per_hour} an hour)"
        for purse in purses(self.snapshot) if told.cost_usd is None else ():
            whose = purse.name.split()[-1]
            if self.run.workspace in purse.workspaces and not any(
                line.startswith(f"{whose}:") for line in told.unverified
            ):
                yield f"doesn't say that {purse.name} is held against what is certain only"


def _of_waiting(ledger: _Ledger, run: Run, outcome: WaitingRun) -> Iterator[str]:
    tables = {each.run: each for each in ledger.decision.outcomes if isinstance(each, WaitingRun)}
    shared = tables.get(outcome.same_as or run.name)
    rows = shared.hosts if shared else ()
    yield from ledger.untrue(run, rows, "OK")
    yield from ledger.unmentioned(run, rows)
    there = len(checked(ledger.snapshot, run)) + len(ledger.snapshot.fleet.offerings)
    if outcome.hosts_checked != there:
        yield f"says {outcome.hosts_checked} hosts are checked, not {there}"
    for row in rows:
        for host in row.hosts:
            kinds = {"offering" if each.is_offering else "machine" for each in ledger.named(host)}
            if kinds != {row.kind}:
                yield f"calls {host} a {row.kind}"
