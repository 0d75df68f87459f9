"""An estimate as a page: the hosts that would take a run, and what it costs on one of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from stowplan.cli.render.money import dollars
from stowplan.cli.render.page import Page, table, words
from stowplan.cli.render.text import counted, folded, printable
from stowplan.model.decision import CostLine, Estimate
from stowplan.model.estimating.duration import Likely
from stowplan.model.money import HOUR_S, in_cents, micro_of

if TYPE_CHECKING:
    from stowplan.solver.gang_pricing import GangRanking
    from stowplan.solver.pricing import OutHosts, RankedHost, Ranking

MOST_OUT = 8
"""Kinds of hosts that wouldn't take the run which are shown."""
UNKNOWN = "not known"
ROOMY = 96
"""Columns of a page on which long names and their figures go side by side."""
_BY = {
    "usd_per_hour": "the lowest rate",
    "cost_usd": "the lowest expected cost",
    "finish_s": "the soonest expected end",
}
_COLUMNS = ("HOST", "USD/H", "USD IN ALL (P90)", "DONE AFTER (P90)", "")


def plural(noun: str) -> str:
    """Return what several are called."""
    return "sets of hosts" if noun == "set of hosts" else f"{noun}s"


def add_ranking(page: Page, ranking: Ranking | GangRanking, top: int) -> None:
    """Add the best hosts for a run, those within the band of the best first."""
    best, others = ranking.best(top), len(ranking.order) - top
    is_gang = ranking.is_of_sets
    by = _BY[ranking.measure]
    why = "" if ranking.measure == _own(ranking.profile) else ", for no running time is known"
    what = f"one of its {counted(ranking.run.array.size, 'element')}" if ranking.run.array else "it"
    noun = "set of hosts" if is_gang else "host"
    number = f"{len(ranking.order):,} {noun if len(ranking.order) == 1 else plural(noun)}"
    told = f"{number} would take {what}"
    told += f"; by {by} ({ranking.profile}{why})" if best else ""
    told += "; of all its workers" if best and is_gang else ""
    page.add(words((ranking.run.name, "bold"), f"  {told}"))
    if not best:
        return
    page.space()
    grid = table(_COLUMNS, right=_COLUMNS[1:4])
    rows = [
        (*_host(host), ", ".join(_notes(host, ranking, is_best=not place)))
        for place, host in enumerate(best)
    ]
    if page.width < ROOMY and any(len(host.name) > page.width // 4 for host in best):
        for name, rate, cost, ends, notes in rows:
            page.add(words((name, "bold")))
            sums = (
                f"{cost} USD in all, done after {ends}" if cost != UNKNOWN else f"no total, {ends}"
            )
            told = f"{rate} USD/h, {sums}"
            page.add(words(f"{told}; {notes}" if notes else told), 2)
    else:
        page.add_rows(grid, rows, names="HOST")
    if others > 0:
        page.add(words((f"and {others:,} more: --top {len(ranking.order)}", "dim")))


def add_estimate(page: Page, host: str, told: Estimate, token: str) -> None:
    """Add what a run costs on one host, line by line, and what that rests on."""
    page.heading(f"On {host}")
    if told.cost_usd:
        cost = _span(told.cost_usd.p50, told.cost_usd.p90)
        finish = told.finish
        ends = f", done {_at(finish.p50)} (p90 {_at(finish.p90)})" if finish else ""
        page.add(words(f"{cost} USD in all{ends}"), 2)
    else:
        page.add(words("nobody knows how long it runs: no total"), 2)
    rate = dollars(micro_of(told.rate_usd_per_hour))
    ends = in_cents(micro_of(told.startup_teardown_usd))
    page.add(words(f"{rate} USD an hour; starting and ending cost {ends} USD"), 2)
    start = told.startup_s
    cold, warm = lasting(start.cold), lasting(start.warm)
    starts = f"starts in {cold}"
    if start.cold != start.warm:
        starts = f"a new instance starts in {cold}, an idle one in {warm}"
    page.add(words(starts), 2)
    page.space()
    add_lines(page, told, 2)
    page.space()
    hold, least = (in_cents(micro_of(each)) for each in (told.first_hold_usd, told.minimum_usd))
    page.add(words(f"held first {hold} USD, charged at least {least}"), 2)
    if told.assembly_bound_usd:
        most = in_cents(micro_of(told.assembly_bound_usd))
        page.add(words(f"if not all of it starts within 900 s, that costs at most {most} USD"), 2)
    if told.sources:
        page.add(words(f"sources: {_sources(told)}"), 2)
    for fact in told.unverified:
        page.add(words(f"not known: {fact}"), 2)
    page.add(words(f"valid until {told.valid_until:%Y-%m-%d %H:%M:%S %Z}; If-Match: {token}"), 2)


def _sources(told: Estimate) -> str:
    """Return each source with what comes from it: "price list (rate, billing)"."""
    by_source: dict[str, list[str]] = {}
    for what, source in told.sources.items():
        by_source.setdefault(source, []).append(what)
    return "; ".join(f"{source} ({', '.join(what)})" for source, what in by_source.items())


def add_lines(page: Page, told: Estimate, indent: int) -> None:
    """Add the lines of an estimate."""
    names = ("what", "likely", "USD", "at worst", "USD", "from")
    grid = table(names, right=("likely", "USD", "at worst"))
    page.add_rows(grid, [_line(line) for line in told.breakdown], indent)


def add_out(page: Page, out: Sequence[OutHosts]) -> None:
    """Add how many hosts wouldn't take the run, and why: by the deciding reason."""
    if not out:
        return
    ordered = by_code(out)
    number = sum(len(row.hosts) for row in out)
    page.heading(f"Not: {counted(number, 'host')}")
    grid = table(("hosts", "names", "code", "why"), right=("hosts",), whole=("code",))
    grid.show_header = False
    rows = []
    for code, alike in ordered[:MOST_OUT]:
        hosts = [host for row in alike for host in row.hosts]
        message = alike[0].reasons[0].message
        if len(alike) > 1:
            message = f"e.g. {message}"
        lead = (counted(len(hosts), "host"), folded(hosts, max(14, page.width // 4)))
        rows.append((*lead, code, words(message)))
    page.add_rows(grid, rows, 2, names="names")
    if left := ordered[MOST_OUT:]:
        hidden = sum(len(row.hosts) for _, alike in left for row in alike)
        page.add(words((f"{counted(hidden, 'more host')}: {', '.join(c for c, _ in left)}", "dim")))


def by_code(out: Sequence[OutHosts]) -> list[tuple[str, list[OutHosts]]]:
    """Group rows by their deciding reason, that of most hosts first."""
    groups: dict[str, list[OutHosts]] = {}
    for row in out:
        groups.setdefault(row.reasons[0].code, []).append(row)
    return sorted(groups.items(), key=lambda each: -sum(len(row.hosts) for row in each[1]))


def _own(profile: str) -> str:
    return {"balanced": "usd_per_hour", "cost": "cost_usd", "speed": "finish_s"}[profile]


def _host(host: RankedHost) -> tuple[str, str, str, str]:
    cost = UNKNOWN
    if host.is_total:
        likely, worst = (in_cents(micro) for micro in host.cost)
        cost = f"{likely} ({worst})"
    ends = _lasts(host.finish_s) if host.is_total else f"starts {_lasts(host.finish_s)}"
    return (printable(host.name), dollars(host.rate), cost, ends)


def _notes(host: RankedHost, ranking: Ranking | GangRanking, *, is_best: bool) -> Iterator[str]:
    """Yield what else tells a host from others."""
    from stowplan.solver.money.appraisal import Tier  # loaded with the ranking already

    own = ranking.market.named.get(host.name)
    if host.is_as_good or is_best:
        yield "best" if is_best else "as good"
    if host.tier == Tier.POOL:
        yield "your pool"
    if own and own.tariff.rate and own.tariff.paid_s:
        yield "paid for"
    if own and own.is_warm:
        yield "warm"
    if host.is_interruptible:
        yield "interruptible"
    if host.kind == "machine":
        yield "machine"
    if host.tier == Tier.BEYOND:
        yield "too dear"


def _lasts(time: Likely) -> str:
    return f"{lasting(time.p50)} ({lasting(time.p90)})"


def lasting(seconds: int) -> str:
    """Return a length of time with its two largest units: "45 s", "10 min", "2 h 05", "3 d 4 h"."""
    if seconds < 60:
        return f"{seconds} s"
    if seconds < HOUR_S:
        return f"{seconds // 60} min"
    if seconds < 48 * HOUR_S:
        return f"{seconds // HOUR_S} h {seconds % HOUR_S // 60:02}"
    return f"{seconds // (24 * HOUR_S):,} d {seconds // HOUR_S % 24} h"


def _line(line: CostLine) -> tuple[str, ...]:
    likely, worst = line.usd, line.usd if line.usd_p90 is None else line.usd_p90
    return (
        line.what,
        _seconds(line.seconds),
        _usd(likely),
        _seconds(line.seconds_p90),
        _usd(worst),
        printable(line.source or ""),
    )


def _usd(amount: Decimal) -> str:
    return f"{amount:,.4f}"


def _seconds(seconds: int | None) -> str:
    return "" if seconds is None else f"{seconds:,} s"


def _span(likely: str, worst: str) -> str:
    first, last = (in_cents(micro_of(Decimal(amount))) for amount in (likely, worst))
    return f"{first} (p90 {last})"


def _at(time: str) -> str:
    return time.removesuffix("Z").replace("T", " ")[:16]
