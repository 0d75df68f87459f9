"""A decision as a table: a row a run."""

from __future__ import annotations

from stowplan.model.decision import Outcome, PlacedRun, StayingRun, WaitingRun

COLUMNS = (
    "run", "outcome", "code", "message", "hosts", "gpus", "workers", "points", "closest",
    "usd_per_hour", "cost_usd", "cost_usd_p90",
)  # fmt: skip


def row(outcome: Outcome) -> tuple[object, ...]:
    """Return the figures of one run, in the order of the columns."""
    workers = outcome.workers if isinstance(outcome, PlacedRun | StayingRun) else ()
    hosts = [worker.host for worker in workers]
    if outcome.outcome == "withdrawn":
        workers = ()
    reason = outcome.reason
    return (
        outcome.run,
        outcome.outcome,
        str(reason.code) if reason else "OK",
        reason.message if reason else "",
        hosts,
        sum(len(worker.devices) for worker in workers),
        len(workers),
        outcome.scores.points if isinstance(outcome, PlacedRun) else None,
        outcome.closest if isinstance(outcome, WaitingRun) else None,
        *(_money(outcome) if isinstance(outcome, PlacedRun) else (None, None, None)),
    )


def _money(outcome: PlacedRun) -> tuple[float | None, float | None, float | None]:
    """Return the rate of a placed run's hosts, and its cost as likely and at worst."""
    rates = {worker.host: worker.rate_usd_per_hour for worker in outcome.workers}
    known = [rate for rate in rates.values() if rate is not None]
    if not known or len(known) < len(rates):
        return (None, None, None)
    rate, cost = float(sum(known)), outcome.cost_usd
    return (rate, None, None) if cost is None else (rate, float(cost.p50), float(cost.p90))
