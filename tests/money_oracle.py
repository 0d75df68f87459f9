"""The third witness where money counts: the best a cycle can do, by trying every assignment.

An *assignment* gives each worker a place, or none: a machine, a warm instance of an offering, or
one to be created. Every one that keeps all rules is looked at; there is no bound and no heuristic,
only this: of workers that ask the same it doesn't matter which is where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from stowplan.model.decision import Decision, PlacedRun
from stowplan.model.estimating.duration import as_written
from stowplan.model.estimating.parts import first_start, needs_of
from stowplan.model.fleet import Offering
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.oracle import Load, Loads, TooLarge
from tests.witness.asked import (
    gpus_each,
    gpus_held,
    is_waiting,
    is_within_quota,
    may_start,
    run_named,
    weight_each,
)
from tests.witness.fits import refusals, workers_of
from tests.witness.money_claims import is_free, money_claims
from tests.witness.prices import Place, Prices, Quote, Value, place_of, places, purses

type Assignment = tuple[Place | None, ...]
"""A place for each worker, in the order of `Cycle.workers`."""

type Figure = tuple[str, Fraction]
"""A measure's name, and what it is."""

LIMIT = 400_000
"""The most assignments that are looked at before the oracle gives up, loudly."""


class Score(NamedTuple):
    """What a cycle is worth: weight by tier and wishes the more the better, regret the less."""

    weights: tuple[int, ...]
    wishes: tuple[int, int, int]
    """Runs in their own pool; in it or on a preferred host; and, below 0, beyond speed's limit."""
    regret: int

    @property
    def rank(self) -> tuple[object, ...]:
        """The greater the better."""
        return (self.weights, self.wishes, -self.regret)


def best_value(snapshot: Snapshot) -> Score:
    """The best that the cycle can do: weight by tier, then wishes, then the least regret."""
    return Cycle(snapshot).best()[0]


def weights_of(snapshot: Snapshot, decision: Decision) -> tuple[int, ...]:
    """The weight that a decision places, by tier."""
    cycle = Cycle(snapshot)
    return cycle.score(cycle.decided(decision)).weights


def value_of(snapshot: Snapshot, decision: Decision) -> Score | None:
    """The same of a decision's references; None where no lawful assignment has them all.

    The places after the value stage aren't told, only what each run measured there: of all
    assignments of what is placed that measure just that, the best one counts. An array tells the
    reference of its dearest element only, and is taken to have been at its best; as is a run of
    which no value is told, where nothing costs anything.
    """
    cycle = Cycle(snapshot)
    found = list(cycle.matching(decision))
    return max((score for score, _ in found), key=lambda score: score.rank, default=None)


def money_lies(snapshot: Snapshot, decision: Decision) -> list[str]:
    """Return what a decision says untruly of money and time, or chose worse than it could.

    Its references are those of a best assignment; each run ended within the band of its own; and
    nothing within the bands would have been better by what the later stages go by.
    """
    told = money_claims(snapshot, decision)
    if told:
        return told
    cycle = Cycle(snapshot)
    finals, found = cycle.decided(decision), list(cycle.matching(decision))
    best = cycle.best()[0]
    if not found:
        return [f"no assignment has the references {references(snapshot, decision)}"]
    most = max((score for score, _ in found), key=lambda score: score.rank)
    if most != best:
        return [f"is worth {most}, and {best} can be reached"]
    within = [
        each for score, each in found if score == best and cycle.is_within_bands(each, finals)
    ]
    if not within:
        return [f"ends beyond its bands: {finals}"]
    if is_proven(decision) and not any(cycle.is_well_ordered(each, finals) for each in within):
        return [f"could do better within its bands than {finals}"]
    return []


def is_proven(decision: Decision) -> bool:
    """Whether no stage was ended by a limit."""
    return all(stage.status == "OPTIMAL" for stage in decision.solver.stages)


def alone(snapshot: Snapshot, run_name: str) -> set[Place]:
    """Where the profile's plain rule allows a run that is alone in its cycle."""
    prices = Prices(snapshot, run_named(snapshot, run_name))
    values = {place: prices.value(place) for place in prices.alone}
    widest = prices.widest(min(values.values(), default=Value(0, 0)))
    return {
        place for place, value in values.items() if value.tier == widest.tier and value <= widest
    }


def picks(snapshot: Snapshot, run_name: str) -> set[Place]:
    """Which of these offerings are chosen, by what orders them within the band."""
    prices = Prices(snapshot, run_named(snapshot, run_name))
    within = alone(snapshot, run_name)
    if not all(place.is_offering for place in within):
        raise ValueError("machines are ordered by points, too")
    ranks = {
        place: (has_failed(snapshot, place), *own_order(prices, place).values()) for place in within
    }
    return {place for place in within if ranks[place] == min(ranks.values())}


def has_failed(snapshot: Snapshot, place: Place) -> bool:
    """Whether it failed to start lately."""
    if not place.is_offering:
        return False
    offering = next(each for each in snapshot.fleet.offerings if each.name == place.name)
    failed = offering.starts.last_failed_at
    if failed is None:
        return False
    return (snapshot.now - failed).total_seconds() <= snapshot.policy.bands.recent_failure_s


OWN = ("cost", "health", "start", "warm", "fit", "warm at last", "price")
"""What profiles go by within the band, after all else, one after the other."""


def own_order(prices: Prices, place: Place) -> dict[str, Fraction]:
    """What the profile goes by of those: the less the better."""
    quote = prices.quotes[place]
    match prices.profile:
        case "balanced":
            return {
                "health": -_health(quote),
                "start": _start_s(prices, quote),
                "fit": -_fit(prices, quote),
                "warm at last": _cold(place),
                "price": Fraction(quote.seen.ranked_rate),
            }
        case "cost":
            return {
                "warm": _cold(place),
                "fit": -_fit(prices, quote),
                "price": Fraction(quote.risked),
            }
        case _:
            return {"cost": Fraction(quote.risked)}


def _health(quote: Quote) -> Fraction:
    if isinstance(quote.host, Offering):
        return as_written(quote.host.health)
    sound = sum(device.health == "healthy" for device in quote.host.devices)
    return Fraction(sound, len(quote.host.devices)) if quote.host.devices else Fraction(1)


def _start_s(prices: Prices, quote: Quote) -> Fraction:
    return Fraction(first_start(needs_of(prices.run), quote.tariff, 0).seconds)


def _fit(prices: Prices, quote: Quote) -> Fraction:
    """The share that the worker uses of an instance's GPUs; of its cores where it has none."""
    if not gpus_each(prices.run):
        cores = as_written(quote.host.cpu_cores)
        return as_written(prices.run.cpu_cores) / cores if cores else Fraction(0)
    card = quote.host.accelerator if isinstance(quote.host, Offering) else None
    return Fraction(gpus_each(prices.run), card.count) if card and card.count else Fraction(0)


def _cold(place: Place) -> Fraction:
    return Fraction(place.is_offering and not place.is_warm)


class Cycle:
    """All assignments of a snapshot's waiting runs, each of one worker or an array of such."""

    def __init__(self, snapshot: Snapshot) -> None:
        if snapshot.policy.queue == "strict":
            raise ValueError("strict queues aren't looked at")
        self.snapshot = snapshot
        waiting = [run for run in snapshot.runs if is_waiting(snapshot, run)]
        self.tiers = sorted({run.priority for run in waiting}, reverse=True)
        able = [run for run in waiting if not refusals(snapshot, run)]
        if any(workers_of(snapshot, run) != 1 for run in able):
            raise ValueError("runs of several workers aren't looked at")
        self.workers = [
            run for run in sorted(able, key=_alike) for _ in range(may_start(snapshot, run))
        ]
        self.alike = [_alike(run) for run in self.workers]
        self.classes = [_class(run) for run in self.workers]
        prices = {run.name: Prices(snapshot, run) for run in self.workers}
        self.prices = [prices[run.name] for run in self.workers]
        self.count, self.purses = places(snapshot), purses(snapshot)
        self.names = list(dict.fromkeys(run.name for run in self.workers))
        self.loads = Loads(snapshot, [run_named(snapshot, name) for name in self.names])
        self.held = {run.workspace: gpus_held(snapshot, run.workspace) for run in self.workers}
        self.fits = lru_cache(None)(self._fits)
        self.looked_at = 0

    def best(self) -> tuple[Score, list[Assignment]]:
        """The best score, and every assignment that reaches it."""
        most: Score | None = None
        found: list[Assignment] = []
        for assignment in self.all():
            score = self.score(assignment)
            if most is None or score.rank > most.rank:
                most, found = score, []
            if score == most:
                found.append(assignment)
        assert most is not None  # nothing placed is an assignment
        return most, found

    def all(self, told: Assignment | None = None) -> Iterator[Assignment]:
        """Yield every lawful assignment; where one is told, only of the same runs."""
        options = [
            [place for place in prices.alone if told is None or told[index]]
            + [None] * (told is None or told[index] is None)
            for index, prices in enumerate(self.prices)
        ]

        def extended(start: tuple[Place | None, ...]) -> Iterator[Assignment]:
            self.looked_at += 1
            if self.looked_at > LIMIT:
                raise TooLarge(f"more than {LIMIT:,} assignments")
            index = len(start)
            if index == len(self.workers):
                yield start
                return
            least = 0
            if told is None and index and self.alike[index - 1] == self.alike[index]:
                least = options[index].index(start[-1])
            for place in options[index][least:]:
                if self.is_lawful((*start, place)):
                    yield from extended((*start, place))

        return extended(())

    def is_lawful(self, start: Assignment) -> bool:
        """Whether there is room, stock, quota and money for the first workers, so placed."""
        if (last := start[-1]) is None:
            return True
        taken = Counter(start)
        if last.is_offering and taken[last] > self.count[last]:
            return False
        if not last.is_offering and not self.fits(last.name, self.load(start, last)):
            return False
        run = self.workers[len(start) - 1]
        given = [other for other, place in zip(self.workers, start, strict=False) if place]
        gpus = sum(gpus_each(other) for other in given if other.workspace == run.workspace)
        if not is_within_quota(self.snapshot, run, gpus, self.held[run.workspace]):
            return False
        spent = self.spent(start)
        return all(spent[purse.name] <= purse.left for purse in self.purses)

    def spent(self, start: Assignment) -> dict[str, int]:
        """What is spent of each purse."""
        totals = {purse.name: 0 for purse in self.purses}
        for prices, place in zip(self.prices, start, strict=False):
            for purse in self.purses if place else ():
                if place and prices.run.workspace in purse.workspaces:
                    totals[purse.name] += prices.quotes[place].cost
        return totals

    def load(self, start: Assignment, machine: Place) -> Load:
        """How many workers of each run the machine gets."""
        there = Counter(
            run.name for run, place in zip(self.workers, start, strict=False) if place == machine
        )
        return tuple(there[name] for name in self.names)

    def _fits(self, machine: str, load: Load) -> bool:
        return self.loads.fits(self.snapshot.machines[machine], load)

    def score(self, assignment: Assignment) -> Score:
        weights = dict.fromkeys(self.tiers, 0)
        tiers: Counter[int] = Counter()
        regret = 0
        for prices, place in zip(self.prices, assignment, strict=True):
            if place is None:
                continue
            run = prices.run
            weights[run.priority] += max(1, gpus_each(run)) * weight_each(self.snapshot, run)
            tiers[prices.value(place).tier] += 1
            regret += prices.regrets[place]
        wishes = (tiers[0], tiers[0] + tiers[1], -tiers[3])
        return Score(tuple(weights.values()), wishes, regret)

    def decided(self, decision: Decision) -> Assignment:
        """Where a decision puts each worker. Raises ValueError where that is nowhere, or no run."""
        given = {
            each.run: [place_of(self.snapshot, worker.host) for worker in each.workers]
            for each in decision.outcomes
            if isinstance(each, PlacedRun)
        }
        if any(None in hosts for hosts in given.values()):
            raise ValueError("a worker is on no host that there is")
        assignment = tuple(
            given[run.name].pop(0) if given.get(run.name) else None for run in self.workers
        )
        if any(given.values()):
            raise ValueError("more workers are placed than may start")
        return assignment

    def matching(self, decision: Decision) -> Iterator[tuple[Score, Assignment]]:
        """Yield the assignments of what a decision places that measure what its references say."""
        told = references(self.snapshot, decision)
        decided = self.decided(decision)
        single = [
            index
            for index, run in enumerate(self.workers)
            if decided[index] and not run.array and run.name in told
        ]
        wanted = sorted((self.classes[index], told[self.workers[index].name]) for index in single)
        for assignment in self.all(decided):
            measured = [
                (self.classes[index], self.prices[index].told(value))
                for index in single
                if (value := self.value(index, assignment))
            ]
            if sorted(measured) == wanted:
                yield self.score(assignment), assignment

    def value(self, index: int, assignment: Assignment) -> Value:
        """How the place of one of the workers, which has one, ranks."""
        place = assignment[index]
        assert place is not None
        return self.prices[index].value(place)

    def is_within_bands(self, references: Assignment, finals: Assignment) -> bool:
        """Whether each run is as good as its reference allows; equal runs rank by rank."""
        placed = [index for index, place in enumerate(finals) if place]
        bounds = sorted(
            (self.classes[index], self.prices[index].widest(self.value(index, references)))
            for index in placed
        )
        values = sorted((self.classes[index], self.value(index, finals)) for index in placed)
        return all(value <= bound for value, bound in zip(values, bounds, strict=True))

    def order(self, assignment: Assignment) -> tuple[Fraction, ...]:
        """What the stages after value go by, one after the other: the less the better.

        Several arrays alike are looked at no further than points: how they spread isn't decided.
        What the profiles prefer is looked at where there are no machines.
        """
        machines = self.snapshot.fleet.machines
        loads = [(each, self.load(assignment, Place(each.name))) for each in machines]
        named = zip(self.workers, self.classes, strict=True)
        arrays = {(run.name, key) for run, key in named if run.array}
        counts = Counter(
            (key, place.name)
            for key, place in zip(self.classes, assignment, strict=True)
            if place and place.is_offering
        )
        seats = [
            (prices, place)
            for prices, place in zip(self.prices, assignment, strict=True)
            if place is not None
        ]
        shared = (
            sum(self.loads.at_risk(machine, load) for machine, load in loads),
            sum(has_failed(self.snapshot, place) for _, place in seats),
            -sum(self.loads.points(machine, load) for machine, load in loads),
            sum(count**2 for count in counts.values()),
        )
        if len({key for _, key in arrays}) < len(arrays):
            return tuple(map(Fraction, shared[:3]))
        if machines:
            return tuple(map(Fraction, shared))
        own = [own_order(*seat) for seat in seats]
        sums = (sum((each.get(name, Fraction(0)) for each in own), Fraction(0)) for name in OWN)
        return (*map(Fraction, shared), *sums)

    def is_well_ordered(self, references: Assignment, finals: Assignment) -> bool:
        """Whether nothing within the bands of these references is better in that order."""
        within = [other for other in self.all(finals) if self.is_within_bands(references, other)]
        return self.order(finals) == min(self.order(other) for other in within)


def references(snapshot: Snapshot, decision: Decision) -> dict[str, Figure]:
    """What each placed run measured after the value stage, as its decision tells it."""
    return {
        each.run: (each.value.measure, Fraction(each.value.reference))
        for each in decision.outcomes
        if isinstance(each, PlacedRun) and each.value and not is_free(snapshot)
    }


def _alike(run: Run) -> str:
    """The same for runs that differ in their names only."""
    return run.model_copy(update={"name": ""}).model_dump_json()


def _class(run: Run) -> str:
    """The same for runs that ask the same, whenever they came."""
    return _alike(run.model_copy(update={"submitted_at": None}))
