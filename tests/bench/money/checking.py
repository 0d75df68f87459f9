"""Whether an answer is one: each run on an offering that takes it, and all within what is left.

Read off the snapshot one run at a time, by the scalar estimate: no rule, price or ranking of the
solver's, nor its audit, is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from stowplan.model.estimating.duration import family_of, running_time
from stowplan.model.estimating.outlook import Outlook, outlook
from stowplan.model.estimating.tariff import offering_tariff
from stowplan.model.fleet import Offering
from stowplan.model.money import MICRO
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot


def check(snapshot: Snapshot, hosts: Mapping[str, str]) -> None:
    """Raise AssertionError where runs can't be on these offerings, all of them together."""
    problems = list(wrong(snapshot, hosts))
    assert not problems, "; ".join(problems)


def wrong(snapshot: Snapshot, hosts: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with runs on offerings, one instance each: `run: what`."""
    runs = {run.name: run for run in snapshot.runs}
    sold = {offering.name: offering for offering in snapshot.fleet.offerings}
    for name, taken in Counter(hosts.values()).items():
        told = sold[name].available
        available = snapshot.policy.assumed_available if told is None else told
        if taken > available:
            yield f"{name}: {taken} taken, {available} available"
    spent: Counter[str] = Counter()
    for name, host in hosts.items():
        run, offering = runs[name], sold[host]
        found = seen(run, offering, snapshot)
        spent[run.workspace] += found.cost.p50
        for broken in (*_lacks(run, offering), *_exceeds(run, found, snapshot)):
            yield f"{name} on {host}: {broken}"
    for budget in snapshot.policy.budgets:
        total = sum(spent[workspace] for workspace in set(budget.workspaces))
        if total > budget.remaining_usd * MICRO:
            yield f"{budget.name}: {total / MICRO} of {budget.remaining_usd} USD"
    for workspace in snapshot.policy.workspaces:
        left = workspace.balance_usd
        if left is not None and spent[workspace.name] > left * MICRO:
            yield f"{workspace.name}: {spent[workspace.name] / MICRO} of {left} USD"


def seen(run: Run, offering: Offering, snapshot: Snapshot) -> Outlook:
    """Return what a run comes to on an instance of an offering that is to be created."""
    family = family_of(offering, snapshot.knowledge.cards)
    factor = snapshot.policy.bands.duration_p90_factor
    running = running_time(run, family, snapshot.knowledge.durations, factor)
    tariff = offering_tariff(offering, snapshot.now)
    return outlook(run, tariff, running.seconds if running else None)


def _lacks(run: Run, offering: Offering) -> Iterator[str]:
    gpus, card = run.gpus.count, offering.accelerator
    if gpus > (card.count if card else 0):
        yield "too few GPUs"
    if run.gpus.models and not any(
        card and term.lower() in card.model.lower() for term in run.gpus.models
    ):
        yield "another model"
    if run.gpus.min_memory_gb is not None and (not card or card.memory_gb < run.gpus.min_memory_gb):
        yield "too little memory on a GPU"
    if run.cpu_cores + gpus * run.per_gpu.cpu_cores > offering.cpu_cores:
        yield "too few cores"
    if run.memory_bytes + gpus * run.per_gpu.memory_bytes > offering.memory_bytes:
        yield "too little memory"
    wish = run.placement.interruptible
    if (wish == "never" and offering.interruptible) or (
        wish == "require" and not offering.interruptible
    ):
        yield f"interruptible: {wish}"


def _exceeds(run: Run, found: Outlook, snapshot: Snapshot) -> Iterator[str]:
    limits = run.placement
    if limits.complete_by is not None:
        left_s = (limits.complete_by - snapshot.now).total_seconds()
        if found.finish_s.p90 > left_s:
            yield "ends too late"
    if limits.max_cost_usd is not None and found.cost.p50 > limits.max_cost_usd * MICRO:
        yield "costs too much"
    most = limits.max_rate_usd_per_hour
    if most is not None and found.rate > most * MICRO:
        yield "asks too much an hour"
