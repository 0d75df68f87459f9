"""What the organisation decided: queues, quotas, pools, margins, budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StrictInt

from stowplan.model.types import (
    Count,
    Frozen,
    Mib,
    Name,
    Number,
    Positive,
    Seconds,
    Share,
    Timestamp,
    Usd,
)

MOST_WORKERS = 64
"""Each takes a thread and a copy of the model: more of them exhaust a machine, and find nothing."""


class Margins(Frozen):
    """Memory that admission keeps back on each card."""

    safety_reserve_mib: Mib = 512
    prediction_mib: Mib = 256
    estimate_mib: Mib = 768
    multi_device_mib: Mib = 128
    runtime_overhead_mib: Mib = 300


class Bands(Frozen):
    """How far from the best a choice may be."""

    profile: Share = 0.02
    interruptible_prefer: Share = 0.10
    speed_cost: Number = 1.5
    if_match: Share = 0.10
    recent_failure_s: Seconds = 300
    duration_p90_factor: Number = 1.25


class Entitlements(Frozen):
    """What a workspace's plan includes."""

    features: tuple[str, ...] = ()
    limits: Mapping[str, Count] = {}
    expires_at: Timestamp | None = None


class Terms(Frozen):
    """The organisation's own words for its refusals, added to the message."""

    quota: str | None = None
    pool: str | None = None
    model: str | None = None


class Workspace(Frozen):
    """Whose runs these are, and what they may use."""

    name: Name
    pools: tuple[str, ...] | None = None
    """Machines whose label `pool` is one of these; null: every machine."""
    gpu_quota: Count | None = None
    """The most GPUs it may hold at once; null: no limit."""
    balance_usd: Usd | None = None
    entitlements: Entitlements | None = None
    models_permitted: tuple[str, ...] | None = None
    batch_records_left: Count | None = None
    terms: Terms | None = None


class Budget(Frozen):
    """Money that several workspaces share."""

    name: Name
    workspaces: tuple[Name, ...]
    remaining_usd: Usd


class Policy(Frozen):
    """The rules of the house."""

    queue: Literal["throughput", "strict", "backfill"] = "throughput"
    """`strict`: no run starts before an earlier one of its queue; `throughput`: any may."""
    ageing_s: Positive = 21600
    """A run that has waited this long weighs twice as much as a new one."""
    stale_after_s: Seconds = 120
    reservation_soon_s: Seconds = 86400
    assumed_available: Count = 1
    topology_prefix: str = "topology/"
    margins: Margins = Margins()
    bands: Bands = Bands()
    workspaces: tuple[Workspace, ...] = ()
    budgets: tuple[Budget, ...] = ()


class SolverSettings(Frozen):
    """How long and how far to search."""

    time_limit_s: Number = 30
    gap: Share = 0.001
    """Stop once the decision is proven within this share of the best; 0: prove it."""
    workers: Annotated[StrictInt, Field(ge=1, le=MOST_WORKERS)] = 1
    """Of CP-SAT. Several take turns, so that the answer stays the same; one is mostly faster."""
