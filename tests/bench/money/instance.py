"""A market: every offering of a real catalog, and runs of mixed kinds that want some of them."""

from __future__ import annotations

import datetime as dt
import functools
import json
import random
from pathlib import Path
from typing import Any

from stowplan.adapters.catalog.reading import read_catalog
from stowplan.model.snapshot import Snapshot

CATALOG = Path(__file__).parents[3] / "../shared/data/catalog"
MODELS = (
    ["A100"], ["H100"], ["A100", "H100"], ["L4"], ["V100", "T4"], ["H200", "H100"], ["A10G"],
)  # fmt: skip
HOURS = (0.1, 0.5, 1, 3, 8, 24, 72)
AVAILABLE = (0, 1, 1, 2, 3, 5, 8, 20)
"""How many instances an offering has: catalogs don't say."""
WORKSPACES = 10
AMPLE, TIGHT = "100000", "100"
"""USD of each workspace's budget."""

type Document = dict[str, Any]  # Any: what a document holds


def is_here() -> bool:
    """Whether the catalog is there."""
    return (CATALOG / "offerings.csv").exists()


def left_out(name: str) -> str:
    """Return the line that says why a bench doesn't run."""
    return f"{name}: left out, the catalog isn't here (../shared/data/catalog)"


def market(seed: int, *, tight: bool = False, runs: int = 200) -> Snapshot:
    """Return the whole catalog with so many runs, and budgets that are ample or run short."""
    draw = random.Random(seed)
    document: Document = json.loads(_catalog())
    for offering in document["fleet"]["offerings"]:
        offering["available"] = draw.choice(AVAILABLE)
    return _with_runs(document, draw, runs, TIGHT if tight else AMPLE)


def small_market(
    seed: int, *, offerings: int = 40, runs: int = 12, budget: str = AMPLE
) -> Snapshot:
    """Return an invented market, which needs no file."""
    draw = random.Random(seed)
    sold = [_invented(draw, number) for number in range(offerings)]
    document = {"now": "2026-07-20T00:00:00Z", "fleet": {"offerings": sold}}
    return _with_runs(document, draw, runs, budget)


@functools.cache
def _catalog() -> str:
    read = read_catalog(
        [CATALOG / "offerings.csv"],
        defaults=CATALOG / "provider_defaults.csv",
        provider=None,
        as_of=None,
        now=None,
    )
    return json.dumps(read.document())


def _with_runs(document: Document, draw: random.Random, runs: int, budget: str) -> Snapshot:
    now = dt.datetime.fromisoformat(document["now"])
    document["runs"] = [_run(draw, number, now) for number in range(runs)]
    document["policy"] = {
        "budgets": [
            {"name": f"budget-{n}", "workspaces": [f"team-{n}"], "remaining_usd": budget}
            for n in range(WORKSPACES)
        ]
    }
    return Snapshot.read(document)


def _run(draw: random.Random, number: int, now: dt.datetime) -> Document:
    hours = draw.choice(HOURS)
    wanted: Document = {
        "profile": draw.choice(["balanced", "balanced", "cost", "speed"]),
        "interruptible": draw.choice(["never", "allow", "allow", "prefer"]),
    }
    if draw.random() < 0.3:
        late = dt.timedelta(hours=hours * draw.choice([2, 3]) + 2)
        wanted["complete_by"] = (now + late).isoformat()
    if draw.random() < 0.2:
        wanted["max_rate_usd_per_hour"] = draw.choice(["2", "5", "10", "30"])
    if draw.random() < 0.1:
        wanted["max_cost_usd"] = draw.choice(["20", "200", "2000"])
    run: Document = {
        "name": f"run-{number:03}",
        "workspace": f"team-{number % WORKSPACES}",
        "submitted_at": (now - dt.timedelta(seconds=1000 - number)).isoformat(),
        "image_mib": draw.choice([4000, 15000]),
        "placement": wanted,
    }
    if draw.random() < 0.9:
        run["expected_duration_s"] = int(hours * 3600)
    if draw.random() < 0.1:
        return {**run, "cpu_cores": draw.choice([4, 16]), "memory_bytes": 16 * 2**30}
    run["gpus"] = {"count": draw.choice([1, 1, 1, 2, 4, 8, 8])}
    run["machines"] = 1
    if draw.random() < 0.6:
        run["gpus"]["models"] = draw.choice(MODELS)
    if draw.random() < 0.3:
        run["gpus"]["min_memory_gb"] = draw.choice([16, 24, 40, 80])
    if draw.random() < 0.5:
        run["checkpoint"] = {"interval_s": 900, "size_mib": 20000}
    return run


def _invented(draw: random.Random, number: int) -> Document:
    model, memory, price = draw.choice([("A100", 80, 2.0), ("H100", 80, 4.0), ("L4", 24, 0.6)])
    count = draw.choice([1, 2, 8])
    spot = draw.random() < 0.3
    rate = price * count * draw.uniform(0.8, 1.3) * (0.4 if spot else 1)
    return {
        "name": f"sold-{number:03}",
        "provider": f"cloud-{number % 3}",
        "region": "here",
        "accelerator": {"model": model, "memory_gb": memory, "count": count},
        "cpu_cores": 12 * count,
        "memory_bytes": 120 * 2**30 * count,
        "rate_usd_per_hour": f"{rate:.4f}",
        "interruptible": spot,
        "available": draw.choice(AVAILABLE),
    }
