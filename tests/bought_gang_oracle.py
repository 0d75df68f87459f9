"""The witness of runs of several workers on offerings: every set of instances, priced by hand.

For runs that are to have so many GPUs, and may be cut in any way. Nothing of the solver or of the
audit is used; of the estimates only what one host asks (its tariff), and how long the work takes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil

from stowplan.model.estimating.duration import RunningTime, family_of, running_time
from stowplan.model.estimating.tariff import Tariff, machine_tariff, offering_tariff
from stowplan.model.fleet import Machine, Offering
from stowplan.model.instances import instances_of
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot

MICRO = 10**6
LIMIT = 30_000
"""Sets that are looked at before the witness gives up, loudly."""


@dataclass(frozen=True)
class Item:
    """One instance, or one machine, that a worker could be on."""

    name: str
    host: Offering | Machine
    tariff: Tariff
    running: RunningTime | None

    @property
    def gpus(self) -> int:
        if isinstance(self.host, Machine):
            return len(self.host.devices)
        return self.host.accelerator.count if self.host.accelerator else 0


@dataclass(frozen=True)
class Chosen:
    """A set of hosts, one for each worker, and what a run comes to there."""

    items: tuple[Item, ...]
    gpus_each: int
    start_s: int
    finish_s: int
    finish_p90_s: int
    costs: tuple[int, ...]
    is_total: bool

    @property
    def rate(self) -> int:
        return sum(item.tariff.rate for item in self.items)

    @property
    def ranked_rate(self) -> int:
        return sum(item.tariff.ranked_rate for item in self.items)

    @property
    def cost(self) -> int:
        return sum(self.costs)

    @property
    def risked(self) -> int:
        """With a worker's risk of a failed start: x 1 / (1 - f), f = failures / (attempts + 4)."""
        return sum(_risked(cost, item) for cost, item in zip(self.costs, self.items, strict=True))

    @property
    def risked_rate(self) -> int:
        return sum(_risked(item.tariff.ranked_rate, item) for item in self.items)

    @property
    def is_bought(self) -> bool:
        return not isinstance(self.items[0].host, Machine)

    @property
    def can_stop(self) -> bool:
        """Whether all of it can be interrupted."""
        return all(isinstance(i.host, Offering) and i.host.interruptible for i in self.items)


def _risked(amount: int, item: Item) -> int:
    starts = item.tariff.starts
    tried, failed = starts.attempts + 4, min(starts.failures, starts.attempts)
    return ceil(Fraction(amount * tried, tried - failed))


def items_of(snapshot: Snapshot, run: Run) -> list[Item]:
    """Every instance and every machine that there is, each by itself."""
    now, found = snapshot.now, []
    knowledge = snapshot.knowledge
    factor = snapshot.policy.bands.duration_p90_factor

    def time(host: Machine | Offering) -> RunningTime | None:
        return running_time(run, family_of(host, knowledge.cards), knowledge.durations, factor)

    for machine in snapshot.fleet.machines:
        free = machine.model_copy(update={"rate_usd_per_hour": Decimal(0)})
        tariff = machine_tariff(free if machine.byoc_pool else machine, now)
        found.append(Item(machine.name, machine, tariff, time(machine)))
    for offering in snapshot.fleet.offerings:
        there = instances_of(offering, snapshot.policy)
        for number in range(there.number):
            tariff = offering_tariff(offering, now, is_warm=number < there.warm)
            found.append(Item(f"{offering.name}#{number + 1}", offering, tariff, time(offering)))
    return found


def sets_of(snapshot: Snapshot, run: Run) -> list[Chosen]:
    """Every lawful way to have the run alone; those alike but for the names of instances once."""
    items = items_of(snapshot, run)
    found: dict[object, Chosen] = {}
    tried = 0
    for workers in _counts(run):
        gpus = run.gpus.count // workers
        takers = [item for item in items if item.gpus >= gpus and _may_be(run, item)]
        for chosen in itertools.combinations(takers, workers):
            tried += 1
            if tried > LIMIT:
                raise RuntimeError("too many sets")
            key = tuple(sorted((i.host.name, i.tariff.is_running) for i in chosen))
            if (workers, key) not in found and _are_near(run, chosen):
                priced = priced_together(run, chosen, gpus)
                if not _breaks(snapshot, run, priced):
                    found[workers, key] = priced
    return list(found.values())


def _counts(run: Run) -> Iterator[int]:
    for workers in range(1, run.gpus.count + 1):
        is_wanted = run.machines in (None, workers)
        most = run.topology.max_nodes or workers
        if run.gpus.count % workers == 0 and is_wanted and workers <= most:
            yield workers


def _may_be(run: Run, item: Item) -> bool:
    stops = isinstance(item.host, Offering) and item.host.interruptible
    return {"never": not stops, "require": stops}.get(run.placement.interruptible, True)


def _are_near(run: Run, chosen: Sequence[Item]) -> bool:
    machines = [item for item in chosen if isinstance(item.host, Machine)]
    if machines:
        sites = {item.host.labels.get("topology/site") for item in machines}  # type: ignore[union-attr]
        return len(machines) == len(chosen) and len(sites) == 1
    offerings = [item.host for item in chosen if isinstance(item.host, Offering)]
    return all(
        _near(run, a, b) and (run.network.transport == "auto" or _direct(a, b))
        for a, b in itertools.combinations(offerings, 2)
    )


def _together(a: Offering, b: Offering) -> bool:
    """Whether both are in one location and network."""
    if a is b:
        return True
    where = [
        (each.location, each.network.id if each.network else ("its own", each.provider))
        for each in (a, b)
    ]
    return a.location is not None and where[0] == where[1]


def _near(run: Run, a: Offering, b: Offering) -> bool:
    if run.network.scope == "global":
        return True
    if run.network.scope == "regional" and (a.region_class or b.region_class):
        return a.region_class == b.region_class
    return _together(a, b)


def _direct(a: Offering, b: Offering) -> bool:
    one = a.network.paths if a.network else ()
    other = b.network.paths if b.network else ()
    is_private = "private" in one and "private" in other and _together(a, b)
    return is_private or ("direct" in one and "direct" in other)


def priced_together(run: Run, items: Sequence[Item], gpus: int) -> Chosen:
    """Price a set: all wait for the slowest start, work as long as the slowest, and stop whenever
    one of them is taken back."""
    levels = [_level(run, items, level) for level in (0, 1)]
    return Chosen(
        tuple(items),
        gpus,
        levels[0][0],
        levels[0][1],
        levels[1][1],
        tuple(levels[0][2]),
        all(item.running for item in items),
    )


def _level(run: Run, items: Sequence[Item], level: int) -> tuple[int, int, list[int]]:
    saving = run.checkpoint
    keeps = saving is not None and saving.saves != 0
    restores = saving.size_mib if saving and saving.saves else 0
    saved = saving.size_mib if saving and keeps else 0
    boots, loads, again = [], [], []
    for item in items:
        tariff = item.tariff
        pull = ceil(Fraction((run.image_mib or 0) * MICRO, tariff.pull[level]))
        boots.append((tariff.warm_s if tariff.is_running else tariff.boot_s)[level])
        loads.append(pull + ceil(Fraction(restores * MICRO, tariff.restore[level])))
        again.append(
            tariff.boot_s[level] + pull + ceil(Fraction(saved * MICRO, tariff.restore[level]))
        )
    start = max(boot + load for boot, load in zip(boots, loads, strict=True))
    known = all(item.running for item in items)
    work = max(item.running.seconds[level] for item in items if item.running) if known else 0
    both = [
        max(item.running.seconds[k] for item in items if item.running) if known else 0
        for k in (0, 1)
    ]
    counts = [Fraction(0)] * len(items)
    for place, item in enumerate(items):
        if item.tariff.interruptions and known:
            likely = item.tariff.interruptions.expected(both[0])
            worst = item.tariff.interruptions.at_worst(both[1])
            counts[place] = Fraction((likely, worst)[level], MICRO)
    lost = min(saving.interval_s, work) if saving and keeps else work
    redone = ceil(sum(counts) * lost / 2)
    waited = sum(count * each for count, each in zip(counts, again, strict=True))
    finish = start + work + redone + ceil(waited)
    costs = []
    for place, item in enumerate(items):
        tariff = item.tariff
        free_boot = 0 if tariff.bills_boot or tariff.is_running else boots[place]
        free_again = 0 if tariff.bills_boot else tariff.boot_s[level]
        used = start - free_boot + tariff.teardown_s[level]
        if not known:
            ends = _charged(tariff.rate, max(0, used - tariff.paid_s))
            costs.append(max(ends, _charged(tariff.rate, _billed(tariff, 1, level))))
            continue
        used += work + redone + ceil(waited - counts[place] * free_again)
        costs.append(_charged(tariff.rate, _billed(tariff, used, level)))
    return start, finish if known else start, costs


def _billed(tariff: Tariff, used: int, level: int) -> int:
    beyond = max(0, used - tariff.paid_s)
    if not beyond:
        return 0
    increment = tariff.increment_s[level]
    return max(ceil(Fraction(beyond, increment)) * increment, tariff.minimum_s[level])


def _charged(rate: int, seconds: int) -> int:
    return ceil(Fraction(rate * seconds, 3600))


def _breaks(snapshot: Snapshot, run: Run, chosen: Chosen) -> bool:
    wanted, many = run.placement, len(chosen.items)
    costs = chosen.costs
    if not chosen.is_bought:  # each machine is held against the limits as if all were like it
        alone = [priced_together(run, [item], chosen.gpus_each) for item in chosen.items]
        costs = tuple(each.cost for each in alone)
    if wanted.complete_by is not None:
        left = (wanted.complete_by - snapshot.now).total_seconds()
        if chosen.finish_p90_s > left:
            return True
    pairs = []
    if wanted.max_cost_usd is not None:
        pairs.append((costs, wanted.max_cost_usd))
    if wanted.max_rate_usd_per_hour is not None:
        rates = tuple(item.tariff.rate for item in chosen.items)
        pairs.append((rates, wanted.max_rate_usd_per_hour))
    for budget in snapshot.policy.budgets:
        if run.workspace in budget.workspaces:
            pairs.append((costs, budget.remaining_usd))
    for parts, most in pairs:
        total = sum(parts) if chosen.is_bought else max(parts) * many
        if total > most * MICRO:
            return True
    return False


def measure_of(run: Run, chosen: Chosen, *, by_rate: bool) -> int:
    """What a set comes to by the run's profile: micro-dollars, or seconds."""
    profile = run.placement.profile or "balanced"
    if profile == "balanced":
        return chosen.ranked_rate
    if by_rate:
        return chosen.risked_rate
    return chosen.risked if profile == "cost" else chosen.finish_s


@dataclass(frozen=True)
class Best:
    """What is best for a run alone."""

    sets: Sequence[Chosen]
    by_rate: bool
    lowest: int
    tier: int
    reference: int

    def tier_of(self, snapshot: Snapshot, run: Run, chosen: Chosen) -> int:
        """0: of its pool; 1: as it prefers; 2: any; 3: too dear for speed."""
        bands, pool = snapshot.policy.bands, run.placement.pool
        if pool and all(getattr(item.host, "byoc_pool", None) == pool for item in chosen.items):
            return 0
        if self._is_by_finish(run):
            cheapest = min(each.risked for each in self.sets)
            if chosen.risked > int(cheapest * Fraction(str(bands.speed_cost))):
                return 3
        if run.placement.interruptible == "prefer" and chosen.can_stop:
            most = int(self.lowest * (1 + Fraction(str(bands.interruptible_prefer))))
            if measure_of(run, chosen, by_rate=self.by_rate) <= most:
                return 1
        return 2

    def _is_by_finish(self, run: Run) -> bool:
        return run.placement.profile == "speed" and not self.by_rate

    def measured(self, snapshot: Snapshot, run: Run, chosen: Chosen) -> int:
        """The measure in its tier."""
        if self.tier_of(snapshot, run, chosen) == 3:
            return chosen.risked
        return measure_of(run, chosen, by_rate=self.by_rate)

    def within(self, snapshot: Snapshot, run: Run, chosen: Chosen) -> bool:
        """Whether a set is as good as the best, but for the band."""
        tier, bands = self.tier_of(snapshot, run, chosen), snapshot.policy.bands
        if tier != self.tier:
            return tier < self.tier
        limit = self.reference
        if not self._is_by_finish(run) and tier != 3:
            limit = int(self.reference * (1 + Fraction(str(bands.profile))))
            if tier == 1:
                most = int(self.lowest * (1 + Fraction(str(bands.interruptible_prefer))))
                limit = min(limit, max(self.reference, most))
        return self.measured(snapshot, run, chosen) <= limit


def best_of(snapshot: Snapshot, run: Run) -> Best | None:
    """What is best for the run alone; None: nothing is lawful."""
    sets = sets_of(snapshot, run)
    if not sets:
        return None
    profile = run.placement.profile or "balanced"
    by_rate = profile == "balanced" or not all(each.is_total for each in sets)
    near = sets
    if profile == "speed" and not by_rate:
        cheapest = min(each.risked for each in sets)
        most = int(cheapest * Fraction(str(snapshot.policy.bands.speed_cost)))
        near = [each for each in sets if each.risked <= most]
    lowest = min(measure_of(run, each, by_rate=by_rate) for each in near)
    whole = Best(sets, by_rate, lowest, 0, 0)
    tier, reference = min(
        (whole.tier_of(snapshot, run, each), whole.measured(snapshot, run, each)) for each in sets
    )
    return Best(sets, by_rate, lowest, tier, reference)


def preferred(snapshot: Snapshot, run: Run, chosen: Chosen) -> tuple[int, ...]:
    """What decides among sets in the band where all is bought: the lower the better."""
    profile = run.placement.profile or "balanced"
    since = snapshot.policy.bands.recent_failure_s
    failed = cold = 0
    health = fit = Fraction(0)
    for item in chosen.items:
        last = item.tariff.starts.last_failed_at
        failed += last is not None and (snapshot.now - last).total_seconds() <= since
        cold += not item.tariff.is_running
        assert isinstance(item.host, Offering)
        health += int(Fraction(str(item.host.health)) * MICRO) - MICRO
        fit += min(chosen.gpus_each, item.gpus) * MICRO // item.gpus - MICRO
    own: dict[str, tuple[int, ...]] = {
        "balanced": (-int(health), chosen.start_s, -int(fit), cold, chosen.ranked_rate),
        "cost": (cold, -int(fit), chosen.risked),
        "speed": (chosen.risked,),
    }
    return (failed, *own[profile])
