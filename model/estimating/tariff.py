"""What a host asks of whoever uses it: its rate, how it bills, how long it takes to start and end.

All in whole units: micro-dollars an hour, seconds, millionths of a MiB a second. A fact that isn't
known is taken as `ASSUMED`: a usual value in the p50, a bad one in the p90, so that a host doesn't
look better for saying less. Every such fact is named, with what was taken.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field

from stowplan.model.estimating.duration import Likely, as_written
from stowplan.model.estimating.interruptions import Interruptions, interruptions_of
from stowplan.model.fleet import Machine, Offering, Starts, Startup, Warm
from stowplan.model.money import MICRO, micro_of

ASSUMED: Mapping[str, Likely] = {
    "boot time": Likely(240, 1500),
    "warm start": Likely(30, 120),
    "image pull rate": Likely(200 * MICRO, 50 * MICRO),
    "restore rate": Likely(200 * MICRO, 50 * MICRO),
    "teardown time": Likely(60, 300),
    "billing increment": Likely(60, 3600),
    "billing minimum": Likely(60, 3600),
}
"""What is taken for a fact that isn't known.

Boot and billing: of eleven clouds the usual figure, and one that nine or ten of them keep within.
The others are ours, and generous.
"""

AT_ONCE, BY_THE_SECOND = Likely(0, 0), Likely(1, 1)
NEVER_TRIED = Starts()


@dataclass(frozen=True)
class Tariff:
    """What using one host comes to."""

    rate: int = 0
    paid_s: int = 0
    """Seconds from now that are paid already, or billed for other work."""
    increment_s: Likely = BY_THE_SECOND
    minimum_s: Likely = AT_ONCE
    bills_boot: bool = True
    """Billed from creation; else once it has booted."""
    is_running: bool = True
    """It exists: a machine, or an idle instance. Else it is to be created, and boots."""
    warm_s: Likely = AT_ONCE
    boot_s: Likely = AT_ONCE
    pull: Likely = ASSUMED["image pull rate"]
    restore: Likely = ASSUMED["restore rate"]
    teardown_s: Likely = AT_ONCE
    interruptions: Interruptions | None = None
    starts: Starts = NEVER_TRIED
    expires_at: dt.datetime | None = None
    """When the price ends."""
    startup_source: str = "it is up"
    unknown: Mapping[str, str] = field(default_factory=dict)
    """The facts that aren't known, each with what is taken for it."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Who told its rate, how it bills, how it starts and how often it is taken back."""

    @property
    def start_s(self) -> Likely:
        """The time until the host can pull an image: as it is now."""
        return self.warm_s if self.is_running else self.boot_s

    @property
    def ranked_rate(self) -> int:
        """The rate that it ranks at: 0 while it is paid for anyway."""
        return 0 if self.paid_s else self.rate


def machine_tariff(
    machine: Machine, now: dt.datetime, billed_until: dt.datetime | None = None
) -> Tariff:
    """Return what a machine asks, owned (at rate 0) or rented.

    It is up, so it starts at once, is billed to the second, and stays when the run has ended. Up
    to `paid_until` it is paid for, and up to `billed_until` billed for other work.
    """
    paid = max(_seconds_until(machine.paid_until, now), _seconds_until(billed_until, now))
    names = ("image pull rate", "restore rate")  # no machine says them
    return Tariff(
        rate=micro_of(machine.rate_usd_per_hour),
        paid_s=paid,
        unknown={name: _taken(name, ASSUMED[name]) for name in names},
    )


def offering_tariff(offering: Offering, now: dt.datetime, *, is_warm: bool = False) -> Tariff:
    """Return what an instance of an offering asks: one to be created, or an idle one of yours.

    An idle instance starts in `startup.warm_s`, is billed from now whatever `billing.starts` says,
    and has had its minimum. Up to `warm.paid_until` it is paid for.
    """
    facts = _Facts()
    billing, startup = offering.billing, offering.startup
    boot = _boot(facts, startup)
    warm = facts.exactly("warm start", startup.warm_s, at_most=boot)
    until = offering.warm.paid_until if isinstance(offering.warm, Warm) else None
    minimum = facts.exactly("billing minimum", billing.minimum_s)
    if billing.starts is None:
        facts.note("start of billing", "creation taken")
    if offering.interruptible:
        interruptions = interruptions_of(offering.reclaims)
        if not interruptions.is_known:
            facts.note("reclaims", interruptions.source.removeprefix("unknown: "))
    ends = offering.price.expires_at
    if ends is not None and ends <= now:
        facts.note("price", f"expired at {ends.isoformat().replace('+00:00', 'Z')}")
    return Tariff(
        rate=micro_of(offering.rate_usd_per_hour),
        paid_s=_seconds_until(until, now) if is_warm else 0,
        increment_s=facts.exactly("billing increment", billing.increment_s),
        minimum_s=AT_ONCE if is_warm else minimum,
        bills_boot=billing.starts != "ready",
        is_running=is_warm,
        warm_s=warm,
        boot_s=boot,
        pull=facts.rate("image pull rate", startup.pull_mib_per_s),
        restore=facts.rate("restore rate", startup.restore_mib_per_s),
        teardown_s=facts.exactly("teardown time", offering.teardown_s),
        interruptions=interruptions if offering.interruptible else None,
        starts=offering.starts,
        expires_at=ends,
        startup_source="an idle instance" if is_warm else "a new instance",
        unknown=facts.unknown,
        sources=_sources(offering),
    )


class _Facts:
    """Reads facts, and notes those that aren't known."""

    def __init__(self) -> None:
        self.unknown: dict[str, str] = {}

    def note(self, name: str, taken: str) -> None:
        self.unknown[name] = taken

    def exactly(self, name: str, told: int | None, at_most: Likely | None = None) -> Likely:
        if told is not None:
            return Likely(told, told)
        usual = ASSUMED[name]
        if at_most is not None:
            usual = Likely(min(usual.p50, at_most.p50), min(usual.p90, at_most.p90))
        self.note(name, _taken(name, usual))
        return usual

    def rate(self, name: str, told: float | None) -> Likely:
        """Return millionths of a MiB a second, rounded down; a rate of 0 says nothing."""
        exact = 0 if told is None else int(as_written(told) * MICRO)
        if exact:
            return Likely(exact, exact)
        self.note(name, _taken(name, ASSUMED[name]))
        return ASSUMED[name]


def _boot(facts: _Facts, startup: Startup) -> Likely:
    """Return the time to boot; a p90 that isn't known is a bad one, and never below the p50."""
    p50, p90 = startup.boot_p50_s, startup.boot_p90_s
    usual, bad = ASSUMED["boot time"]
    if p50 is None:
        p50 = usual if p90 is None else min(usual, p90)
    boot = Likely(p50, max(p50, bad if p90 is None else p90))
    if startup.boot_p50_s is None or p90 is None:
        facts.note("boot time", _taken("boot time", boot))
    return boot


def _taken(name: str, likely: Likely) -> str:
    scale, unit = (MICRO, "MiB/s") if name.endswith(" rate") else (1, "s")
    return f"{likely.p50 // scale} {unit} taken, at worst {likely.p90 // scale} {unit}"


def _sources(offering: Offering) -> Mapping[str, str]:
    price, reclaims = offering.price, offering.reclaims
    dated = f"of {price.as_of:%Y-%m-%d}" if price.as_of else ""
    told = {
        "rate": " ".join(part for part in (price.source, dated) if part),
        "billing": offering.billing.source,
        "startup": offering.startup.source,
        "reclaims": reclaims.source if offering.interruptible and reclaims else None,
    }
    return {what: source for what, source in told.items() if source}


def _seconds_until(time: dt.datetime | None, now: dt.datetime) -> int:
    """Return the whole seconds until then, rounded down; 0 where it is past or there is none."""
    return 0 if time is None else max(0, (time - now) // dt.timedelta(seconds=1))
