"""What is asked for: runs, how they are cut into workers, and what runs already."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, field_validator

from stowplan.model.fleet import Vendor
from stowplan.model.types import (
    Bytes,
    Cores,
    Count,
    Flag,
    Frozen,
    Labels,
    Many,
    Memory,
    Mib,
    Name,
    Names,
    Number,
    Positive,
    Seconds,
    Timestamp,
    Usd,
)

Profile = Literal["balanced", "cost", "speed"]


class Gpus(Frozen):
    """The GPUs a run asks for, over all its workers."""

    count: Many = 0
    """Of the whole run, not of a worker; as many as `ids` where only they are given."""
    models: tuple[str, ...] = ()
    """Any of these; each a part of the reported model's name, in any case."""
    min_memory_gb: Number | None = None
    """For each GPU, in units of 10^9 bytes, with half a unit of slack."""
    vendor: Vendor | None = None
    healthy_only: Flag = False
    min_per_machine: Positive | None = None
    policy: Literal["per_node"] | None = None
    ids: tuple[str, ...] = ()
    """Exactly these devices."""


class PerGpu(Frozen):
    """What each GPU's worker needs beside it."""

    cpu_cores: Cores = 0
    memory_bytes: Memory = 0


class Topology(Frozen):
    """How far apart a run's workers may be."""

    min_nodes: Positive | None = None
    max_nodes: Positive | None = None
    keep_within: Literal["node", "nvlink_domain", "fabric", "rack"] | None = None
    spread: Literal["node", "rack", "fabric"] | None = None
    patience_s: Seconds = 0


class Network(Frozen):
    """The slowest network a run accepts."""

    interconnect: Literal["auto", "rdma", "infiniband", "nvlink"] = "auto"
    min_gbps: Number | None = None
    scope: Literal["colocated", "regional", "global"] = "colocated"
    transport: Literal["direct", "auto"] = "auto"


class NodeSelection(Frozen):
    """Which hosts a run chooses for itself."""

    mode: Literal["any", "exact", "all"] = "exact"
    """any: workers may share a machine; exact: never; all: one on every machine that could."""
    names: Names = ()
    match_labels: Labels = {}
    count: Annotated[Many, Field(ge=1)] | None = None
    """The workers of a run without GPUs."""


class DriveAsk(Frozen):
    """A drive a run mounts, and the room it needs there."""

    name: Name
    need_bytes: Bytes = 0


def _drive(value: Any) -> Any:  # Any: raw input
    return {"name": value} if isinstance(value, str) else value


class Checkpoint(Frozen):
    """How a run saves its work."""

    interval_s: Positive
    size_mib: Mib = 0
    saves: Count | None = None
    """Non-empty saves so far; null where it hasn't run yet."""


class Placement(Frozen):
    """What a run optimises, and its limits of money and time."""

    profile: Profile | None = None
    """The cycle's profile where it isn't given (balanced, unless the caller says otherwise)."""
    complete_by: Timestamp | None = None
    max_cost_usd: Usd | None = None
    max_rate_usd_per_hour: Usd | None = None
    interruptible: Literal["never", "allow", "prefer", "require"] = "allow"
    pool: str | None = None
    if_match: str | None = None


class Batch(Frozen):
    """A service that works through records and ends."""

    records: Count
    input: Literal["ok", "missing", "unreadable", "mismatch"] = "ok"
    attempts_left: Count = 1
    last: Literal["failed", "never_started", "cancelled"] | None = None


class Service(Frozen):
    """A model served on one machine."""

    model: Name
    task: Name
    runtime: Name | None = None
    quantisation: Name | None = None
    context: Positive = 4096
    parallel: Positive = 1
    accept_estimate_risk: Flag = False
    spend_safety_reserve: Flag = False
    batch: Batch | None = None


class Array(Frozen):
    """Many elements alike under one name, each placed as a run of its own."""

    size: Annotated[Many, Field(ge=1)]
    """Elements are numbered from 0 to size - 1."""
    max_parallel: Positive | None = None
    finished: tuple[Count, ...] = ()


class PlacedWorker(Frozen):
    """A worker that runs or starts, and what it holds."""

    host: Name
    devices: tuple[Name, ...] = ()
    element: Count | None = None


class Placed(Frozen):
    """Where an earlier cycle put a run."""

    workers: tuple[PlacedWorker, ...]
    generation: Count | None = None
    """The placement generation it was decided at; the fleet's where it isn't given."""
    rate_usd_per_hour: Usd | None = None


class Run(Frozen):
    """One piece of work asked for."""

    name: Name
    workspace: Name = "default"
    labels: Labels = {}
    priority: Annotated[int, Field(strict=True, ge=-(10**6), le=10**6)] = 0
    """Higher goes first."""
    submitted_at: Timestamp | None = None
    """`now` where it isn't given."""
    state: Literal["pending", "running", "starting", "stopped"] = "pending"
    gpus: Gpus = Gpus()
    per_gpu: PerGpu = PerGpu()
    cpu_cores: Cores = 0
    """A fixed ask, for each worker."""
    memory_bytes: Memory = 0
    """A fixed ask, for each worker."""
    machines: Annotated[Many, Field(ge=1)] | None = None
    topology: Topology = Topology()
    network: Network = Network()
    node_selection: NodeSelection = NodeSelection()
    drives: tuple[
        Annotated[DriveAsk, BeforeValidator(_drive, json_schema_input_type=str | DriveAsk)], ...
    ] = ()
    """Names of drives, or `{name, need_bytes}`."""
    needs: tuple[str, ...] = ()
    """Capabilities that its machines must have."""
    time_limit_s: Positive | None = None
    expected_duration_s: Seconds | None = None
    measured_duration_s: Seconds | None = None
    image_mib: Mib | None = None
    checkpoint: Checkpoint | None = None
    placement: Placement = Placement()
    service: Service | None = None
    array: Array | None = None
    started_at: Timestamp | None = None
    placed: Placed | None = None

    @field_validator("gpus", mode="before")
    @classmethod
    def _count_the_ids(cls, value: Any) -> Any:  # Any: raw input
        if isinstance(value, Mapping) and value.get("ids") and value.get("count") is None:
            ids = value["ids"]
            return {**value, "count": len(ids) if isinstance(ids, list | tuple) else 0}
        return value
