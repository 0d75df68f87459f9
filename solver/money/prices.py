"""What runs cost on every host, and when they end there: worked out once for runs alike."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from stowplan.model.estimating.columns import Whole, over, product
from stowplan.model.estimating.duration import Likely, RunningTime, as_written, running_time
from stowplan.model.estimating.estimates import Outlooks, Tariffs, outlooks, startups, tariffs_of
from stowplan.model.estimating.together import Nodes
from stowplan.model.estimating.token import rate_in
from stowplan.model.money import HOUR_S, MICRO, in_cents, micro_of, written
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask, Work
from stowplan.solver.hosts import Host

type Ints = npt.NDArray[np.int64]
type Bools = npt.NDArray[np.bool_]

VAST = 2**62
"""More micro-dollars, or seconds, than anything takes."""


class Purse(NamedTuple):
    """Money that some workspaces may spend in this cycle, together."""

    rule: Literal["budget", "balance"]
    name: str
    micro: int
    workspaces: frozenset[str]

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others: a budget and a workspace may be called the same."""
        return (self.rule, self.name)


type Left = Mapping[tuple[str, str], int]
"""What is left of purses, by their keys; micro-dollars."""


@dataclass(frozen=True, eq=False)
class Priced:
    """What one run costs on every host, and when it ends there; an array over all hosts each."""

    work: Work
    times: Ints
    """By machine: how many workers the run has, each counted as if all were on such a machine. By
    offering 1: its instances are priced together with those of others."""
    is_total: Bools
    """Whether its running time is known there."""
    cost: Ints
    """Expected, of one worker; micro-dollars."""
    cost_p90: Ints
    finish_s: Ints
    finish_p90_s: Ints
    start_s: Ints
    """Until it does useful work, likely."""
    rate: Ints
    """An hour, of one worker's host; micro-dollars."""
    ranked_rate: Ints
    """The same; 0 where it is paid for anyway."""
    risked: Ints
    """The cost as it ranks where starts have failed."""
    risked_rate: Ints
    """And the rate."""
    seconds: Ints
    """The likely running time, an hour where it isn't known."""
    seconds_p90: Ints
    interruptible: Bools
    purses: Sequence[Purse]
    """Those that the run is paid from."""
    left: Left

    ceiling: int | None
    """The most that the estimate allows which the run was made from; micro-dollars an hour."""
    seconds_left: int | None
    """Until it must be complete."""

    def costs(self, place: int) -> str:
        """Return what is said before a cost: without a running time it is what is sure alone."""
        return "is expected to cost" if self.is_total[place] else "costs at least"

    def beside(self, left: Left) -> Priced:
        """Return the same with so much left of the purses."""
        return replace(self, left=left)

    @cached_property
    def all_costs(self) -> Ints:
        """The expected cost of all its workers; on offerings, of one of them."""
        return np.minimum(self.cost, VAST // self.times) * self.times


class _Rates(NamedTuple):
    """Micro-dollars an hour by host: what is asked, and what it ranks at."""

    rate: Ints
    ranked: Ints
    risked: Ints


class Prices:
    """The prices of all hosts, and what each kind of work comes to on them."""

    def __init__(self, snapshot: Snapshot, hosts: Sequence[Host]) -> None:
        """Read what hosts ask; nothing is worked out before it is asked for."""
        self.snapshot, self.hosts = snapshot, hosts
        self._priced: dict[tuple[Work, str, int], Priced] = {}

    @cached_property
    def is_priced(self) -> bool:
        """Whether hosts differ in what they cost, or in who may use them first."""
        return any(
            host.offering or host.tariff.rate or host.machine.byoc_pool for host in self.hosts
        )

    @cached_property
    def purses(self) -> Sequence[Purse]:
        """Every budget and every balance, by the names of rules and then their own."""
        policy = self.snapshot.policy
        budgets = [
            Purse("budget", each.name, micro_of(each.remaining_usd), frozenset(each.workspaces))
            for each in policy.budgets
        ]
        balances = [
            Purse("balance", each.name, micro_of(each.balance_usd), frozenset({each.name}))
            for each in policy.workspaces
            if each.balance_usd is not None
        ]
        return sorted([*balances, *budgets], key=lambda purse: purse.key)

    def of(self, ask: Ask) -> Priced | None:
        """Return what a run that asks this costs on every host; None where nothing counts."""
        if ask.work is None:
            return None
        key = (ask.work, ask.workspace, ask.tasks or 1)
        if key not in self._priced:
            self._priced[key] = self._of(ask.work, ask)
        return self._priced[key]

    def running(self, work: Work) -> Mapping[str | None, RunningTime | None]:
        """Return how long the work runs on each family of accelerators that there is."""
        policy, knowledge = self.snapshot.policy, self.snapshot.knowledge
        factor = policy.bands.duration_p90_factor
        return {
            family: running_time(work.run, family, knowledge.durations, factor)
            for family in self._columns.families
        }

    def nodes(self, work: Work, hosts: Ints) -> Nodes:
        """Return what each of these hosts would bring to a run as one of its nodes."""
        return Nodes(work.run, self._columns.only(hosts))

    def _of(self, work: Work, ask: Ask) -> Priced:
        running, columns = self.running(work), self._columns
        times = {family: time.seconds if time else None for family, time in running.items()}
        seen: Outlooks = outlooks(work.run, columns, times)
        hour = Likely(HOUR_S, HOUR_S)
        likely, worst = np.array(
            [times[family] or hour for family in columns.families], np.int64
        ).T[:, columns.family]
        purses = [purse for purse in self.purses if ask.workspace in purse.workspaces]
        return Priced(
            work=work,
            times=np.where(self.offered, 1, ask.tasks or 1),
            is_total=seen.is_total,
            cost=_ints(seen.cost[0]),
            cost_p90=_ints(seen.cost[1]),
            finish_s=_ints(seen.finish_s[0]),
            finish_p90_s=_ints(seen.finish_s[1]),
            start_s=_ints(startups(work.run, columns)[0]),
            rate=self._rates.rate,
            ranked_rate=self._rates.ranked,
            risked=_ints(seen.risked),
            risked_rate=self._rates.risked,
            seconds=likely,
            seconds_p90=worst,
            interruptible=self.interruptible,
            purses=purses,
            left={purse.key: purse.micro for purse in purses},
            ceiling=self._ceiling(work),
            seconds_left=self._seconds_left(work),
        )

    def _ceiling(self, work: Work) -> int | None:
        wanted, band = work.run.placement, self.snapshot.policy.bands.if_match
        if wanted.if_match is None or wanted.max_rate_usd_per_hour is not None:
            return None
        return int(rate_in(wanted.if_match) * (1 + as_written(band)))

    def _seconds_left(self, work: Work) -> int | None:
        until = work.run.placement.complete_by
        return None if until is None else (until - self.snapshot.now) // dt.timedelta(seconds=1)

    @cached_property
    def _rates(self) -> _Rates:
        columns = self._columns
        risked = over(product(columns.ranked_rate, columns.tried), columns.started)
        return _Rates(_ints(columns.rate), _ints(columns.ranked_rate), _ints(risked))

    @cached_property
    def _columns(self) -> Tariffs:
        return tariffs_of(
            [host.tariff for host in self.hosts], [host.accelerators for host in self.hosts]
        )

    @cached_property
    def interruptible(self) -> Bools:
        """By host: whether it may be taken back."""
        return _bools(bool(host.offering and host.offering.interruptible) for host in self.hosts)

    @cached_property
    def offered(self) -> Bools:
        """By host: whether it is an offering."""
        return _bools(host.offering is not None for host in self.hosts)

    @cached_property
    def pools(self) -> npt.NDArray[np.object_]:
        """By host: the pool of machines of your own that it is in, or None."""
        return np.array([host.machine.byoc_pool for host in self.hosts], np.object_)

    @cached_property
    def failed_lately(self) -> Bools:
        """By host: whether a start failed there within `policy.bands.recent_failure_s`."""
        since = self.snapshot.now - dt.timedelta(
            seconds=self.snapshot.policy.bands.recent_failure_s
        )
        return _bools(
            last is not None and last >= since
            for host in self.hosts
            for last in (host.tariff.starts.last_failed_at,)
        )

    @cached_property
    def health(self) -> Ints:
        """By host: its health in millionths; of a machine, the share of its GPUs that have it."""
        return np.array([_health(host) for host in self.hosts], np.int64)

    @cached_property
    def warm(self) -> Bools:
        """By host: whether it exists already."""
        return _bools(host.tariff.is_running for host in self.hosts)

    @cached_property
    def gpus(self) -> Ints:
        """By host: how many GPUs one instance, or the machine, has."""
        return np.array([len(host.machine.devices) for host in self.hosts], np.int64)

    @cached_property
    def millicores(self) -> Ints:
        """By host: how many thousandths of a core one instance, or the machine, has."""
        return np.array([host.empty.millicores for host in self.hosts], np.int64)


def none_of(priced: Priced) -> Bools:
    """Return none of the hosts."""
    return np.zeros(len(priced.rate), np.bool_)


def in_dollars(amount: int, limit: int) -> tuple[str, str]:
    """Return two amounts as they are told: to the cent, or exactly where cents don't tell them
    apart."""
    told = in_cents(amount), in_cents(limit)
    return told if told[0] != told[1] else (written(amount), written(limit))


def hours(seconds: int) -> str:
    """Return a time as it is told: to a hundredth of an hour, never as nothing."""
    return f"{max(0.01, seconds / HOUR_S):,.2f}".rstrip("0").rstrip(".")


def _ints(values: Whole) -> Ints:
    return np.minimum(values, VAST).astype(np.int64)


def _bools(values: Iterable[bool]) -> Bools:
    return np.fromiter(values, np.bool_)


def _health(host: Host) -> int:
    if host.offering:
        return int(as_written(host.offering.health) * MICRO)
    devices = host.machine.devices
    sound = sum(device.health == "healthy" for device in devices)
    return sound * MICRO // len(devices) if devices else MICRO
