"""The outlook of one run on one host: what it costs and when it ends, likely and at worst.

Whole seconds and whole micro-dollars, rounded up, against the user, so that a dearer rate never
costs less, and a longer run neither costs less nor ends sooner.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.parts import Needs, first_start, needs_of, parts_of
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.fleet import Starts
from stowplan.model.money import HOUR_S, beyond_paid, billed_seconds, ceil_div, charge
from stowplan.model.runs import Run

ASSEMBLY_S = 900
"""How long the hosts of a gang are waited for."""


class Bill(NamedTuple):
    """What is charged for one host, in seconds: what was used, less what is paid, rounded up."""

    used_s: int
    beyond_s: int
    billed_s: int


def bill_of(used_s: int, tariff: Tariff, level: int) -> Bill:
    """Return the bill for so long. An increment that is paid already is free."""
    beyond = beyond_paid(used_s, tariff.paid_s)
    billed = billed_seconds(beyond, tariff.increment_s[level], tariff.minimum_s[level])
    return Bill(used_s, beyond, billed)


@dataclass(frozen=True)
class Outlook:
    """What one run costs on a host and when it ends: seconds from now, micro-dollars.

    Where the running time isn't known, both hold what is certain alone: the time to start, and the
    larger of the minimum charge and the charge for starting and ending. Limits are checked on it.
    """

    is_total: bool
    """Whether the running time is known, so that the cost is a total."""
    cost: Likely
    finish_s: Likely
    rate: int
    """Of all its hosts, an hour."""
    ranked_rate: int
    """The rate it ranks at: 0 on hosts that are paid for anyway."""


def outlook(run: Run, tariff: Tariff, running: Likely | None, hosts: int = 1) -> Outlook:
    """Return the outlook of a run on so many hosts alike, all of which must be up."""
    needs = needs_of(run)
    if running is None:
        likely, worst = (_certain(needs, tariff, level) for level in (0, 1))
    else:
        likely, worst = (_whole(needs, tariff, running, level, hosts) for level in (0, 1))
    return Outlook(
        is_total=running is not None,
        cost=Likely(likely[0] * hosts, worst[0] * hosts),
        finish_s=Likely(likely[1], worst[1]),
        rate=tariff.rate * hosts,
        ranked_rate=tariff.ranked_rate * hosts,
    )


def _whole(
    needs: Needs, tariff: Tariff, running: Likely, level: int, hosts: int
) -> tuple[int, int]:
    parts = parts_of(needs, tariff, running, level, hosts)
    bill = bill_of(parts.used_s, tariff, level)
    return charge(tariff.rate, bill.billed_s), parts.until_finish_s


def _certain(needs: Needs, tariff: Tariff, level: int) -> tuple[int, int]:
    ends = start_end_charge(needs, tariff, level)
    start = first_start(needs, tariff, level)
    return max(ends, minimum_charge(tariff, level)), start.seconds


def start_end_charge(needs: Needs, tariff: Tariff, level: int = 0) -> int:
    """Return what starting and ending one host cost, before rounding to increments."""
    start = first_start(needs, tariff, level)
    used = start.billed_s + tariff.teardown_s[level]
    return charge(tariff.rate, beyond_paid(used, tariff.paid_s))


def minimum_charge(tariff: Tariff, level: int = 0) -> int:
    """Return the least that one host is charged once used; nothing while it is paid already."""
    return charge(tariff.rate, bill_of(1, tariff, level).billed_s)


def first_hold(run: Run, tariff: Tariff, running: Likely | None, hosts: int = 1) -> int:
    """Return what is held first: the rate for an hour, or for the likely bill if it is shorter."""
    if running is None:
        return charge(tariff.rate, HOUR_S) * hosts
    parts = parts_of(needs_of(run), tariff, running, 0, hosts)
    return charge(tariff.rate, min(HOUR_S, bill_of(parts.used_s, tariff, 0).billed_s)) * hosts


def assembly_bound(tariff: Tariff, hosts: int) -> int:
    """Return the most that hosts can cost which are waited for in vain; none for a single one."""
    if hosts == 1:
        return 0
    return charge(tariff.rate, bill_of(ASSEMBLY_S, tariff, 1).billed_s) * hosts


def risked(cost: int, starts: Starts) -> int:
    """Return a cost as it ranks where starts have failed: x 1 / (1 - f), rounded up.

    f = failures / (attempts + 4). More failures than attempts count as all of them.
    """
    tried, failed = tries(starts)
    return ceil_div(cost * tried, tried - failed)


def tries(starts: Starts) -> tuple[int, int]:
    """Return the attempts and failures that f is made of."""
    return starts.attempts + 4, min(starts.failures, starts.attempts)
