"""What the placed runs cost: the value each got, its estimate, and what all take an hour."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from stowplan.model.decision import Estimate, Got, Span, Value
from stowplan.model.estimating.estimate import estimate
from stowplan.model.estimating.gang import Node, gang_outlook
from stowplan.model.estimating.gang_estimate import gang_estimate
from stowplan.model.estimating.outlook import outlook, risked
from stowplan.model.estimating.token import rate_in
from stowplan.model.holds import holding
from stowplan.model.money import usd_of, written
from stowplan.solver.asks import Ask, RunClass
from stowplan.solver.decode import Seat
from stowplan.solver.explain.placed import Bill, value_of, value_where_nothing_costs
from stowplan.solver.hosts import Host
from stowplan.solver.money.appraisal import Appraisal, Measure, Tier
from stowplan.solver.money.bands import Standing
from stowplan.solver.money.purses import with_purses
from stowplan.solver.situation import Situation


class Money:
    """Values and estimates of placed runs; those alike are worked out once."""

    def __init__(self, situation: Situation) -> None:
        """Work out nothing before it is asked for."""
        self._situation = situation
        self._estimates: dict[tuple[Ask, tuple[int, ...]], Estimate] = {}
        self._bills: dict[tuple[Ask, int], Bill] = {}
        self._references: dict[str, dict[str, list[Standing]]] = {}

    def value(self, each: RunClass, run: str, seats: Sequence[Seat]) -> Value | None:
        """Return what a run's profile optimises: what it has, and what the cycle left it."""
        situation = self._situation
        appraisal = situation.grid.appraisals[situation.index_of[each.name]]
        if appraisal is not None and _is_gang(each.ask):
            return self._value_of_gang(each, appraisal, run, seats)
        references = self._left_to(each).get(run)
        if appraisal is None or not references:
            bands = situation.snapshot.policy.bands
            return value_where_nothing_costs(each.ask.profile, bands.profile)
        chosen = sorted(self._standing(each, seat.host) for seat in seats)
        return value_of(appraisal, chosen, references)

    def _value_of_gang(
        self, each: RunClass, appraisal: Appraisal, run: str, seats: Sequence[Seat]
    ) -> Value | None:
        """Return the value of a run of several workers: of all of them together."""
        references = self._situation.plan.references.get(each.name, ())
        if appraisal.of_run is None:
            tier = max(int(appraisal.tier[appraisal.at(seat.host.place)]) for seat in seats)
            own = self._left_to(each).get(run, ())
            left = [(max(tier for tier, _ in own), sum(measure for _, measure in own))]
        else:
            tier, left = int(appraisal.tier[0]), list(references)
        by = "cost_usd" if tier == Tier.BEYOND else appraisal.by
        measure = self._measure_of_gang(each.ask, by, seats)
        if left[-1][0] == tier and measure > appraisal.limit(*left[-1]):
            left = [(tier, measure)]  # its accelerators are of several families
        return value_of(appraisal, [(tier, measure)], left)

    def _measure_of_gang(self, ask: Ask, by: Measure, seats: Sequence[Seat]) -> int:
        nodes = self._nodes(ask, seats)
        if by == "usd_per_hour" and ask.profile == "balanced":
            return sum(node.tariff.ranked_rate for node in nodes)
        if by == "usd_per_hour":
            return sum(risked(node.tariff.ranked_rate, node.tariff.starts) for node in nodes)
        assert ask.work is not None
        told = gang_outlook(ask.work.run, nodes)
        if by == "finish_s":
            return told.seen.finish_s.p50
        costs = zip(told.costs, nodes, strict=True)
        return sum(risked(cost.p50, node.tariff.starts) for cost, node in costs)

    def _nodes(self, ask: Ask, seats: Sequence[Seat]) -> list[Node]:
        assert ask.work is not None
        running = self._situation.eligibility.prices.running(ask.work)
        return [Node(seat.host.tariff, running[seat.host.accelerators]) for seat in seats]

    def spent(self, each: RunClass, seats: Sequence[Seat]) -> int:
        """Return what a run takes of the purses that it is paid from; of an array, an element."""
        situation = self._situation
        index = situation.index_of[each.name]
        appraisal = situation.grid.appraisals[index]
        if appraisal is None or not situation.grid.purses_of[index]:
            return 0
        costs = [int(appraisal.cost[appraisal.at(seat.host.place)]) for seat in seats]
        return max(costs) if each.ask.array else sum(costs)

    def estimate(self, each: RunClass, seats: Sequence[Seat]) -> Estimate | None:
        """Return what a run costs and when it ends; of an array, on the dearest of its hosts."""
        ask, prices = each.ask, self._situation.eligibility.prices
        priced = prices.of(ask)
        if ask.work is None or priced is None:
            return None
        now = self._situation.snapshot.now
        dearest = max((seat.host for seat in seats), key=lambda host: int(priced.cost[host.place]))
        places = sorted(seat.host.place for seat in seats) if _is_gang(ask) else [dearest.place]
        key = (ask, tuple(places))
        if key not in self._estimates:
            nodes = self._nodes(ask, seats if _is_gang(ask) else seats[:1])
            running = prices.running(ask.work)[dearest.accelerators]
            told = (
                gang_estimate(ask.work.run, nodes, now)
                if _is_gang(ask)
                else estimate(ask.work.run, dearest.tariff, running, now)
            )
            self._estimates[key] = with_purses(told, priced.purses)
        return self._estimates[key]

    def bills(self, each: RunClass, seats: Sequence[Seat]) -> Sequence[Bill | None]:
        """Return the bill of each worker; None where nothing costs anything.

        Those of several workers that work together add up to what their estimate says.
        """
        ask = each.ask
        if ask.work is None or self._situation.eligibility.prices.of(ask) is None:
            return [None] * len(seats)
        if not _is_gang(ask):
            return [self._bill(ask, seat) for seat in seats]
        told = gang_outlook(ask.work.run, self._nodes(ask, seats))
        return [
            Bill(usd_of(seat.host.tariff.rate), _span(*cost) if told.seen.is_total else None)
            for seat, cost in zip(seats, told.costs, strict=True)
        ]

    def _bill(self, ask: Ask, seat: Seat) -> Bill:
        """Return the bill of a run of one worker, or of an element of an array."""
        key = (ask, seat.host.place)
        if key not in self._bills:
            assert ask.work is not None
            [(tariff, running)] = self._nodes(ask, [seat])
            seen = outlook(ask.work.run, tariff, running.seconds if running else None)
            cost = _span(*seen.cost) if seen.is_total else None
            self._bills[key] = Bill(usd_of(tariff.rate), cost)
        return self._bills[key]

    def got(self, each: RunClass, seats: Sequence[Seat], told: Estimate | None) -> Iterator[Got]:
        """Yield each wish and limit of money and time that a run set, with what it got."""
        if each.ask.work is None or told is None:
            return
        asked = each.ask.work.run.placement
        rate = f"{told.rate_usd_per_hour:,f} USD an hour"
        if asked.interruptible != "allow":
            can = any(seat.host.offering and seat.host.offering.interruptible for seat in seats)
            got = "can be interrupted" if can else "can't be interrupted"
            yield Got(rule="interruptible", asked=asked.interruptible, got=got)
        if asked.pool is not None:
            pools = {seat.host.machine.byoc_pool for seat in seats}
            got = asked.pool if pools == {asked.pool} else "another host: none there is free"
            yield Got(rule="pool", asked=asked.pool, got=got)
        if asked.max_rate_usd_per_hour is not None:
            most = f"at most {asked.max_rate_usd_per_hour:,f} USD an hour"
            yield Got(rule="max_rate", asked=most, got=rate)
        elif asked.if_match is not None:
            most = f"the estimate's {usd_of(rate_in(asked.if_match)):,f} USD an hour"
            yield Got(rule="if_match", asked=most, got=rate)
        if asked.max_cost_usd is not None:
            cost = (
                f"{told.cost_usd.p50} USD expected" if told.cost_usd else "no total: see unverified"
            )
            yield Got(rule="max_cost", asked=f"at most {asked.max_cost_usd:,f} USD", got=cost)
        if asked.complete_by is not None:
            ends = f"{told.finish.p90} at worst" if told.finish else "no end: see unverified"
            by = asked.complete_by.isoformat().replace("+00:00", "Z")
            yield Got(rule="complete_by", asked=f"by {by}", got=ends)

    def _left_to(self, each: RunClass) -> dict[str, list[Standing]]:
        """Return what the cycle left the workers of each run of a class, by the run's name.

        What workers have and what they were left are both sorted, and matched rank by rank.
        """
        if each.name not in self._references:
            references = self._situation.plan.references.get(each.name, ())
            found: dict[str, list[Standing]] = {}
            if references:
                seats = [
                    (self._standing(each, seat.host), start.run)
                    for start in self._situation.starts_of(each)
                    for seat in start.seats
                ]
                for (_, run), left in zip(sorted(seats), references, strict=True):
                    found.setdefault(run, []).append(left)
            self._references[each.name] = found
        return self._references[each.name]

    def _standing(self, each: RunClass, host: Host) -> Standing:
        appraisal = self._situation.grid.appraisals[self._situation.index_of[each.name]]
        assert appraisal is not None
        at = appraisal.at(host.place)
        return int(appraisal.tier[at]), int(appraisal.measure[at])


def _is_gang(ask: Ask) -> bool:
    """Whether a run has several workers, which are priced together."""
    return (ask.tasks or 1) > 1 and not ask.array


def _span(likely: int, worst: int) -> Span:
    return Span(p50=written(likely), p90=written(worst))


def usd_per_hour(situation: Situation) -> Decimal:
    """Return what is paid an hour for what starts: instances, and rented machines that were idle.

    A rented machine counts once, however many runs start there.
    """
    busy = {worker.host for _, worker in holding(situation.snapshot)}
    hosts = {
        seat.name: seat.host
        for start in situation.plan.starts
        for seat in start.seats
        if seat.name not in busy
    }
    return with_cents(usd_of(sum(host.tariff.rate for host in hosts.values())))


def with_cents(usd: Decimal) -> Decimal:
    """Return dollars with two decimals at least."""
    cents = usd.quantize(Decimal("0.01"))
    return cents if cents == usd else usd
