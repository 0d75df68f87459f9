"""The same outlook over many hosts at once, for ranking: equal to the scalar one, to the unit.

Arrays have a host in each column; those of two levels have two rows, likely (p50) and at worst
(p90).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stowplan.model.estimating.columns import Whole, column, over, product
from stowplan.model.estimating.counts import Kinds, kinds_of
from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.outlook import tries
from stowplan.model.estimating.parts import Needs, needs_of
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.money import HOUR_S, MICRO
from stowplan.model.runs import Run

type Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Tariffs:
    """The tariffs of many hosts, column by column. Made once for a fleet, read for every run."""

    rate: Whole
    paid_s: Whole
    ranked_rate: Whole
    increment_s: Whole
    minimum_s: Whole
    start_s: Whole
    start_billed_s: Whole
    boot_s: Whole
    boot_billed_s: Whole
    pull: Whole
    restore: Whole
    teardown_s: Whole
    tried: Whole
    started: Whole
    kind: Whole
    """Which of the kinds of interruption."""
    kinds: Kinds
    family: Whole
    families: tuple[str | None, ...]
    """The families of accelerators that there are."""

    def only(self, places: Whole) -> Tariffs:
        """Return the same of some hosts."""
        apart = {"kinds", "families"}
        own = {
            each.name: getattr(self, each.name)[..., places]
            for each in fields(self)
            if each.name not in apart
        }
        return replace(self, **own)


def tariffs_of(tariffs: Sequence[Tariff], families: Sequence[str | None]) -> Tariffs:
    """Return hosts' tariffs as columns; of each host also the family of its accelerators."""
    kind, kinds = kinds_of([tariff.interruptions for tariff in tariffs])
    known = {name: index for index, name in enumerate(dict.fromkeys(families))}
    counted = [tries(tariff.starts) for tariff in tariffs]
    boot = _pairs([tariff.boot_s for tariff in tariffs])
    start = _pairs([tariff.start_s for tariff in tariffs])
    is_billed = np.array([tariff.bills_boot for tariff in tariffs], dtype=np.int64)
    is_running = np.array([tariff.is_running for tariff in tariffs], dtype=np.int64)
    return Tariffs(
        rate=column([tariff.rate for tariff in tariffs]),
        paid_s=column([tariff.paid_s for tariff in tariffs]),
        ranked_rate=column([tariff.ranked_rate for tariff in tariffs]),
        increment_s=_pairs([tariff.increment_s for tariff in tariffs]),
        minimum_s=_pairs([tariff.minimum_s for tariff in tariffs]),
        start_s=start,
        start_billed_s=start * np.maximum(is_billed, is_running),
        boot_s=boot,
        boot_billed_s=boot * is_billed,
        pull=_pairs([tariff.pull for tariff in tariffs]),
        restore=_pairs([tariff.restore for tariff in tariffs]),
        teardown_s=_pairs([tariff.teardown_s for tariff in tariffs]),
        tried=column([tried for tried, _ in counted]),
        started=column([tried - failed for tried, failed in counted]),
        kind=kind,
        kinds=kinds,
        family=column([known[name] for name in families]),
        families=tuple(known),
    )


class Outlooks(NamedTuple):
    """The outlooks of one run on every host, as `outlook.Outlook` has them."""

    is_total: Bools
    """Where it isn't, cost and finish are what is certain."""
    cost: Whole
    """Micro-dollars; two rows, p50 and p90."""
    finish_s: Whole
    """Seconds from now; two rows, p50 and p90."""
    rate: Whole
    ranked_rate: Whole
    risked: Whole
    """The p50 cost as it ranks where starts have failed."""


def outlooks(run: Run, tariffs: Tariffs, running: Mapping[str | None, Likely | None]) -> Outlooks:
    """Return a run's outlook on each of the hosts, one host each.

    `running` gives its running time on every family in `tariffs.families`.
    """
    needs = needs_of(run)
    times = [running[family] for family in tariffs.families]
    is_total = np.array([time is not None for time in times], dtype=np.bool_)[tariffs.family]
    seconds = _pairs([time or Likely(0, 0) for time in times])[:, tariffs.family]
    first = loading(needs.image_mib, needs.restore_mib, tariffs)
    startup, startup_billed = tariffs.start_s + first, tariffs.start_billed_s + first
    used = startup_billed + tariffs.teardown_s + seconds
    finish = startup + seconds
    if tariffs.kinds.is_any:
        redone, restarts, restarts_billed = _interrupted(needs, tariffs, times, seconds)
        used, finish = used + redone + restarts_billed, finish + redone + restarts
    cost = charged(tariffs.rate, billed(used, tariffs))
    if not is_total.all():
        cost = np.where(is_total, cost, certain(startup_billed, tariffs))
    return Outlooks(
        is_total=is_total,
        cost=cost,
        finish_s=finish,
        rate=tariffs.rate,
        ranked_rate=tariffs.ranked_rate,
        risked=over(product(cost[0], tariffs.tried), tariffs.started),
    )


def startups(run: Run, tariffs: Tariffs) -> Whole:
    """Return how long each host takes until a run does useful work; two rows, p50 and p90."""
    needs = needs_of(run)
    starts: Whole = tariffs.start_s + loading(needs.image_mib, needs.restore_mib, tariffs)
    return starts


def loading(image_mib: int, saved_mib: int, tariffs: Tariffs) -> Whole:
    """Return how long each host takes to load so much; two rows, p50 and p90."""
    taken: Whole = np.zeros_like(tariffs.pull)
    if image_mib:
        taken = taken + over(image_mib * MICRO, tariffs.pull)
    if saved_mib:
        taken = taken + over(saved_mib * MICRO, tariffs.restore)
    return taken


def _interrupted(
    needs: Needs, tariffs: Tariffs, times: Sequence[Likely | None], seconds: Whole
) -> tuple[Whole, Whole, Whole]:
    """Return the seconds of redone work, of restarts, and of these what is billed."""
    count = _counts(tariffs, times)
    lost = seconds if needs.interval_s is None else np.minimum(needs.interval_s, seconds)
    loaded = loading(needs.image_mib, needs.saved_mib, tariffs)
    again, again_billed = tariffs.boot_s + loaded, tariffs.boot_billed_s + loaded
    return (
        over(product(count, lost), 2 * MICRO),
        over(product(count, again), MICRO),
        over(product(count, again_billed), MICRO),
    )


def _counts(tariffs: Tariffs, times: Sequence[Likely | None]) -> Whole:
    """Return the interruptions on every host, in millionths.

    They are counted once for each running time and kind of interruption, which are few.
    """
    distinct = {time: index for index, time in enumerate(dict.fromkeys(times))}
    table = np.stack([tariffs.kinds.counted(time or Likely(0, 0)) for time in distinct])
    row = np.array([distinct[time] for time in times])[tariffs.family]
    return np.stack([table[row, level, tariffs.kind] for level in (0, 1)])


def billed(used: Whole, tariffs: Tariffs) -> Whole:
    """Return what is billed of so long: less what is paid, rounded up; two rows."""
    beyond = np.maximum(0, used - tariffs.paid_s)
    up = over(beyond, tariffs.increment_s) * tariffs.increment_s
    return np.where(beyond > 0, np.maximum(up, tariffs.minimum_s), 0)


def certain(startup_billed: Whole, tariffs: Tariffs) -> Whole:
    """Return what is sure to be charged where no time is known; two rows."""
    beyond = np.maximum(0, startup_billed + tariffs.teardown_s - tariffs.paid_s)
    least = billed(np.ones_like(beyond), tariffs)
    return np.maximum(charged(tariffs.rate, beyond), charged(tariffs.rate, least))


def charged(rate: Whole, seconds: Whole) -> Whole:
    """Return what so many seconds cost at these rates."""
    return over(product(rate, seconds), HOUR_S)


def _pairs(values: Sequence[Likely]) -> Whole:
    return np.array(values, dtype=np.int64).reshape(-1, 2).T.copy()
