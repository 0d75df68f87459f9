"""Offerings, and decisions that buy them, with every figure of money told rightly by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from stowplan.model.decision import Decision, PlacedRun, Value, Worker
from stowplan.model.knowledge import Knowledge
from stowplan.model.snapshot import Snapshot
from tests.build import GIB, Document, Place, altered, decided, machine, run, snapshot

HOUR = {"expected_duration_s": 3600}


def offering(name: str = "a100", rate: str = "3.60", gpus: int = 8, **more: Any) -> Document:
    """Return an offering of one instance: 3.60 USD an hour is a tenth of a cent a second.

    64 cores, 256 GiB; it boots in 100 s (p90 200 s), warm in 10 s, and ends in 30 s. So an hour of
    work on a new one takes 3730 s of its time and 3.73 USD, is done after 3700 s, and at worst
    (a quarter more work) after 4700 s. The GPUs are 80 GB A100s.
    """
    usual: Document = {
        "name": name,
        "provider": "acme",
        "region": "us",
        "rate_usd_per_hour": rate,
        "cpu_cores": 64,
        "memory_bytes": 256 * GIB,
        "available": 1,
        "startup": {"boot_p50_s": 100, "boot_p90_s": 200, "warm_s": 10},
        "billing": {"increment_s": 1, "minimum_s": 0, "starts": "creation"},
        "teardown_s": 30,
    }
    if gpus:
        accelerator = {"model": "A100", "vendor": "nvidia", "memory_gb": 80, "count": gpus}
        usual["accelerator"] = accelerator
    return usual | more


def work(name: str, gpus: int | Document = 1, **more: Any) -> Document:
    """Return a run of one declared hour that brings nothing to its host."""
    return run(name, gpus, **HOUR, **more)


def rented(name: str = "m", gpus: int = 8, rate: str = "3.60", **more: Any) -> Document:
    """Return a rented machine: an hour of work there costs 3.60 USD."""
    return machine(name, gpus, rate_usd_per_hour=rate, **more)


def market(
    offerings: Sequence[Document],
    runs: Sequence[Document],
    machines: Sequence[Document] = (),
    **more: Any,
) -> Snapshot:
    """Return the snapshot of what can be bought, and of machines."""
    return snapshot(machines, runs, offerings=list(offerings), **more)


def with_history(snapshot: Snapshot, **past: Sequence[int]) -> Snapshot:
    """Return the snapshot where runs labelled `job: x` took so long, by family."""
    durations = [
        {"labels": {"job": "x"}, "family": family, "seconds": list(seconds)}
        for family, seconds in past.items()
    ]
    knowledge = Knowledge.model_validate({"durations": durations})
    return snapshot.model_copy(update={"knowledge": knowledge})


def priced(
    snapshot: Snapshot,
    places: Mapping[str, Sequence[Place]],
    rate: str = "0",
    *,
    values: Mapping[str, Value] | None = None,
) -> Decision:
    """Return the decision that starts these runs there, at this rate an hour in all.

    A host whose name has a number is bought. Runs without a value get `usd_per_hour` of the rate.
    """
    decision = decided(snapshot, places)
    for outcome in decision.outcomes:
        if isinstance(outcome, PlacedRun):
            workers = tuple(_kind(snapshot, worker) for worker in outcome.workers)
            value = (values or {}).get(outcome.run, by_rate(rate))
            told: dict[str, Any] = {"workers": workers, "value": value}
            if any(worker.kind == "offering" for worker in workers):
                told |= {"rung": None, "group": None}
            decision = altered(snapshot, decision, outcome.run, **told)
    return with_rate(decision, rate)


def by_rate(chosen: str, reference: str | None = None, band: str = "0.02") -> Value:
    """Return a value in dollars an hour; the reference is what was chosen, unless told."""
    return value("usd_per_hour", chosen, reference, band)


def value(measure: Any, chosen: str, reference: str | None = None, band: str = "0.02") -> Value:
    """Return a value by any measure; the reference is what was chosen, unless told."""
    return Value(
        measure=measure,
        chosen=Decimal(chosen),
        reference=Decimal(reference or chosen),
        band=Decimal(band),
    )


def with_rate(decision: Decision, rate: str) -> Decision:
    """Return the decision with this in its summary for what is paid an hour."""
    summary = decision.summary.model_copy(update={"usd_per_hour": Decimal(rate)})
    return decision.model_copy(update={"summary": summary})


def _kind(snapshot: Snapshot, worker: Worker) -> Worker:
    is_bought = worker.host not in snapshot.machines
    return worker.model_copy(update={"kind": "offering"}) if is_bought else worker
