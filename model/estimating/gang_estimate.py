"""The estimate of a run of several workers, as a decision shows it: of all its nodes together."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence

from stowplan.model.decision import Duration, Estimate, StartupTime
from stowplan.model.decision import Span as Shown
from stowplan.model.estimating.breakdown import (
    Line,
    Row,
    charged,
    counted_in_words,
    how_started,
    with_source,
)
from stowplan.model.estimating.duration import Likely, RunningTime
from stowplan.model.estimating.estimate import HOLDS, at, shown, unverified
from stowplan.model.estimating.gang import (
    Node,
    bound_of_assembly,
    gang_outlook,
    parts_together,
    slowest,
)
from stowplan.model.estimating.outlook import bill_of, minimum_charge
from stowplan.model.estimating.parts import Needs, Parts, first_start, interruptions, needs_of
from stowplan.model.money import HOUR_S, beyond_paid, charge, usd_of, written
from stowplan.model.runs import Run

ALWAYS = ("startup", "teardown", "already paid")
"""The lines that are told without a running time too."""


def gang_estimate(run: Run, nodes: Sequence[Node], now: dt.datetime) -> Estimate:
    """Return what a run costs on its nodes, one for each worker, and when it ends there.

    Amounts are of all nodes together. The startup is that of the slowest, cold and warm.
    """
    needs, running, until = needs_of(run), slowest(nodes), now + HOLDS
    told = gang_outlook(run, nodes)
    seen, finish = told.seen, told.seen.finish_s
    cold, warm = (
        max(first_start(needs, node.tariff, 0, is_warm=is_warm).seconds for node in nodes)
        for is_warm in (False, True)
    )
    likely = parts_together(needs, nodes, running.seconds if running else Likely(0, 0), 0)
    ends = (node.tariff.expires_at for node in nodes)
    return Estimate(
        cost_usd=Shown(p50=written(seen.cost.p50), p90=written(seen.cost.p90)) if running else None,
        finish=Shown(p50=at(now, finish.p50), p90=at(now, finish.p90)) if running else None,
        startup_s=StartupTime(cold=cold, warm=warm),
        duration=Duration(seconds=running.seconds.p50, source=running.source) if running else None,
        breakdown=shown(gang_lines(run, nodes)),
        first_hold_usd=usd_of(
            sum(map(_hold, nodes, likely)) if running else charge(seen.rate, HOUR_S)
        ),
        minimum_usd=usd_of(sum(minimum_charge(node.tariff) for node in nodes)),
        valid_until=min([until, *(end for end in ends if end is not None)]),
        rate_usd_per_hour=usd_of(seen.rate),
        startup_teardown_usd=usd_of(sum(map(_start_and_end, nodes, likely))),
        assembly_bound_usd=usd_of(bound_of_assembly(nodes)),
        unverified=_unverified(run, nodes, running),
        sources=_sources(nodes),
    )


def gang_lines(run: Run, nodes: Sequence[Node]) -> tuple[Line, ...]:
    """Return the lines of an estimate. Their micro-dollars add up to the cost, at both levels.

    Seconds are those of the run; where nodes differ, the most of one of them.
    """
    needs, running = needs_of(run), slowest(nodes)
    seconds = running.seconds if running else Likely(0, 0)
    both = [parts_together(needs, nodes, seconds, level) for level in (0, 1)]
    of_each = [
        charged(
            list(_rows(needs, nodes, node, running, (likely, worst))), node.tariff.rate, hosts=1
        )
        for node, likely, worst in zip(nodes, *both, strict=True)
    ]
    found = []
    for alike in zip(*of_each, strict=True):
        most = Likely(*(max((each.seconds[k] for each in alike), key=abs) for k in (0, 1)))
        micro = Likely(*(sum(each.micro[k] for each in alike) for k in (0, 1)))
        billed = Likely(*(sum(each.billed_s[k] for each in alike) for k in (0, 1)))
        is_told = running is not None or alike[0].what in ALWAYS
        if is_told and (any(most) or any(micro) or alike[0].what in ("startup", "teardown")):
            found.append(Line(alike[0].what, most, billed, micro, alike[0].source))
    return tuple(found)


def _rows(
    needs: Needs,
    nodes: Sequence[Node],
    node: Node,
    running: RunningTime | None,
    parts: tuple[Parts, Parts],
) -> Iterator[Row]:
    tariff = node.tariff
    latest = max(nodes, key=lambda each: first_start(needs, each.tariff, 0).seconds).tariff
    started = f"the slowest of {len(nodes)} nodes: {how_started(needs, latest)}"
    yield (
        "startup",
        Likely(*(part.startup.seconds for part in parts)),
        Likely(*(part.startup.billed_s for part in parts)),
        started,
    )
    works = Likely(*(part.running_s for part in parts))
    yield "running", works, works, running.source if running else ""
    counts = [interruptions(each.tariff, works) for each in nodes]
    told = counted_in_words(Likely(*map(sum, zip(*counts, strict=True))))
    span = "the whole run" if needs.interval_s is None else f"{needs.interval_s} s between saves"
    redone = Likely(*(part.redone_s for part in parts))
    yield "redone work", redone, redone, f"{told} of any node, each half of {span}"
    yield (
        "restarts",
        Likely(*(part.restarts.seconds for part in parts)),
        Likely(*(part.restarts.billed_s for part in parts)),
        f"{told} of any node; all wait until it has started again",
    )
    yield "teardown", tariff.teardown_s, tariff.teardown_s, "until deletion is confirmed"
    bills = [bill_of(part.used_s, tariff, level) for level, part in enumerate(parts)]
    paid = Likely(*(bill.beyond_s - bill.used_s for bill in bills))
    yield "already paid", paid, paid, "what of each node is paid already"
    rounding = Likely(*(bill.billed_s - bill.beyond_s for bill in bills))
    told = with_source("each node up to its increment, at least its minimum", _sources(nodes))
    yield "rounding", rounding, rounding, told


def _sources(nodes: Sequence[Node]) -> Mapping[str, str]:
    """Return where facts of the nodes come from: of each kind every source once."""
    found: dict[str, dict[str, None]] = {}
    for node in nodes:
        for what, source in node.tariff.sources.items():
            found.setdefault(what, {})[source] = None
    return {what: "; ".join(sources) for what, sources in found.items()}


def _hold(node: Node, likely: Parts) -> int:
    """Return what is held first for a node: an hour, or its likely bill if that is shorter."""
    billed = bill_of(likely.used_s, node.tariff, 0).billed_s
    return charge(node.tariff.rate, min(HOUR_S, billed))


def _start_and_end(node: Node, likely: Parts) -> int:
    used = likely.startup.billed_s + likely.teardown_s
    return charge(node.tariff.rate, beyond_paid(used, node.tariff.paid_s))


def _unverified(run: Run, nodes: Sequence[Node], running: RunningTime | None) -> tuple[str, ...]:
    """Return what the estimate rests on and nobody knows, of any node; each line once."""
    lines = (line for node in nodes for line in unverified(run, node.tariff, running))
    return tuple(dict.fromkeys(lines))
