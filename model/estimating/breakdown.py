"""The lines of an estimate: each part's seconds and money, and where the figure comes from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import NamedTuple

from stowplan.model.estimating.duration import Likely, RunningTime
from stowplan.model.estimating.outlook import bill_of
from stowplan.model.estimating.parts import Needs, Parts, interruptions, needs_of, parts_of, restart
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.money import MICRO, charge, written
from stowplan.model.runs import Run


class Line(NamedTuple):
    """One line of an estimate: its seconds and micro-dollars, likely and at worst."""

    what: str
    seconds: Likely
    billed_s: Likely
    """What the line adds to the bill of one host, in seconds: below 0 where it is paid already."""
    micro: Likely
    source: str


def lines(
    run: Run, tariff: Tariff, running: RunningTime | None, hosts: int = 1
) -> tuple[Line, ...]:
    """Return the lines of an estimate. Their micro-dollars add up to the cost, at both levels.

    Each is charged what it adds to the bill so far, so that the rounding of a micro-dollar is in
    exactly one of them.
    """
    needs = needs_of(run)
    seconds = running.seconds if running else Likely(0, 0)
    likely, worst = (parts_of(needs, tariff, seconds, level, hosts) for level in (0, 1))
    rows = [
        row
        for row in _rows(needs, tariff, running, (likely, worst), hosts)
        if running or row[0] in ("startup", "teardown", "already paid")
    ]
    return tuple(charged(rows, tariff.rate, hosts))


type Row = tuple[str, Likely, Likely, str]
"""What, its seconds, what of them is billed, and its source."""


def _rows(
    needs: Needs,
    tariff: Tariff,
    running: RunningTime | None,
    parts: tuple[Parts, Parts],
    hosts: int,
) -> Iterator[Row]:
    likely, worst = parts
    start = Likely(likely.startup.seconds, worst.startup.seconds)
    billed = Likely(likely.startup.billed_s, worst.startup.billed_s)
    yield "startup", start, billed, how_started(needs, tariff)
    if running:
        yield "running", running.seconds, running.seconds, running.source
    if tariff.interruptions and running:
        count = counted_in_words(interruptions(tariff, running.seconds, hosts))
        again = Likely(*(restart(needs, tariff, level).seconds for level in (0, 1)))
        redone = Likely(likely.redone_s, worst.redone_s)
        span = (
            "the whole run" if needs.interval_s is None else f"{needs.interval_s} s between saves"
        )
        yield (
            "redone work", redone, redone,
            f"{count}, each half of {span}; {tariff.interruptions.source}",
        )  # fmt: skip
        yield (
            "restarts",
            Likely(likely.restarts.seconds, worst.restarts.seconds),
            Likely(likely.restarts.billed_s, worst.restarts.billed_s),
            f"{count}, each a start of {again.p50} s (p90 {again.p90} s)",
        )
    yield "teardown", tariff.teardown_s, tariff.teardown_s, "until deletion is confirmed"
    bills = [bill_of(part.used_s, tariff, level) for level, part in enumerate(parts)]
    paid = Likely(*(bill.beyond_s - bill.used_s for bill in bills))
    if any(paid):
        yield "already paid", paid, paid, f"{tariff.paid_s} s from now are paid already"
    rounding = Likely(*(bill.billed_s - bill.beyond_s for bill in bills))
    if any(rounding):
        least = f", at least {tariff.minimum_s.p50} s" if tariff.minimum_s.p50 else ""
        told = with_source(f"up to {tariff.increment_s.p50} s{least}", tariff.sources)
        yield "rounding", rounding, rounding, told


def charged(rows: list[Row], rate: int, hosts: int) -> Iterator[Line]:
    """Yield each row with what it adds to the bill of so many hosts alike."""
    at, before = [0, 0], [0, 0]
    for what, seconds, billed, source in rows:
        micro = []
        for level in (0, 1):
            at[level] += billed[level]
            after = charge(rate, at[level])
            micro.append((after - before[level]) * hosts)
            before[level] = after
        yield Line(what, seconds, billed, Likely(*micro), source)


def how_started(needs: Needs, tariff: Tariff) -> str:
    """Return what a start consists of."""
    start, source = tariff.start_s, tariff.sources.get("startup")
    takes = f", {start.p50} s (p90 {start.p90} s)" if any(start) else ""
    said = [f"{tariff.startup_source}{takes}{f': {source}' if source else ''}"]
    if needs.image_mib:
        said.append(f"image of {needs.image_mib} MiB at {_per_second(tariff.pull.p50)}")
    if needs.restore_mib:
        said.append(f"restore of {needs.restore_mib} MiB at {_per_second(tariff.restore.p50)}")
    return "; ".join(said)


def with_source(rounding: str, sources: Mapping[str, str]) -> str:
    """Return how a bill is rounded, and who says so where that is told."""
    return f"{rounding}: {sources['billing']}" if "billing" in sources else rounding


def _per_second(rate: int) -> str:
    return f"{written(rate)} MiB/s"


def counted_in_words(count: Likely) -> str:
    """Return a number of interruptions, given in millionths, as it is told."""
    likely, worst = (in_two_digits(amount) for amount in count)
    return f"{likely} interruptions likely, {worst} at worst (p90)"


def in_two_digits(millionths: int) -> str:
    """Return a number as people read it: with two significant digits, or all before the point."""
    number = Decimal(millionths) / MICRO
    digits = max(0, 1 - number.adjusted()) if number else 0
    return f"{number:,.{digits}f}".rstrip("0").rstrip(".") if digits else f"{number:,.0f}"
