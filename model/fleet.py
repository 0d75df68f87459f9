"""What can run work: machines with their GPUs, offerings that can be bought, drives."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, field_validator

from stowplan.model.ranges import expand
from stowplan.model.types import (
    Bytes,
    Cores,
    Count,
    Few,
    Flag,
    Frozen,
    Labels,
    Memory,
    Mib,
    Name,
    Names,
    Number,
    Positive,
    RangeName,
    Seconds,
    Share,
    Timestamp,
    Usd,
    Watts,
)

Vendor = Literal["nvidia", "amd", "intel"]
Health = Literal["healthy", "unknown", "at_risk", "faulted"]
Mode = Literal["efficiency", "balanced", "performance", "legacy"]
PortState = Literal["up", "down"]
Interconnect = Literal["infiniband", "roce"]

MOST_MACHINES = 200_000
MOST_GPUS = 1_000_000
"""A fleet's: far more than one cycle can look at, and still within a computer's memory."""


class _Card(Frozen):
    model: Name
    """As the driver reports it, e.g. "NVIDIA H100 80GB HBM3"."""
    vendor: Vendor | None = None
    memory_mib: Mib
    addressable_mib: Mib | None = None
    """What a process can address; the card's memory where it isn't given."""
    used_by_others_mib: Mib = 0
    health: Health = "healthy"
    signs: tuple[str, ...] = ()
    """What its health was judged by, e.g. row_remap_pending."""
    xid: Count | None = None
    nvlink_clique: str | None = None
    """The NVLink domain that the card reports, or none."""
    power_limit_w: Watts | None = None


class Device(_Card):
    """One GPU of a machine."""

    id: Name = ""
    """Unique on its machine; `machine/index` where none is given."""
    index: Count = 0


class DeviceCount(_Card):
    """Several GPUs alike, written once: `{count: 8, model: ...}`."""

    count: Few


class Port(Frozen):
    """One RDMA port of a machine."""

    device: Name = ""
    kind: Interconnect
    rate_gbps: Number
    subnet: str | None = None
    state: PortState = "up"
    at_risk: Flag = False


class PortCount(Frozen):
    """Several RDMA ports alike, written once."""

    count: Few
    kind: Interconnect
    rate_gbps: Number
    subnet: str | None = None
    state: PortState = "up"
    at_risk: Flag = False


def _written(value: Any) -> str:  # Any: raw input, or one already read
    return "count" if isinstance(value, dict | DeviceCount | PortCount) else "list"


def _devices(given: tuple[Device, ...] | DeviceCount) -> tuple[Device, ...]:
    if isinstance(given, DeviceCount):
        card = given.model_dump(exclude={"count"})
        return tuple(Device(index=index, **card) for index in range(given.count))
    return tuple(
        device if "index" in device.model_fields_set else device.model_copy(update={"index": index})
        for index, device in enumerate(given)
    )


def _ports(given: tuple[Port, ...] | PortCount) -> tuple[Port, ...]:
    if isinstance(given, PortCount):
        port = given.model_dump(exclude={"count"})
        return tuple(Port(device=f"mlx5_{index}", **port) for index in range(given.count))
    return tuple(
        port if port.device else port.model_copy(update={"device": f"mlx5_{index}"})
        for index, port in enumerate(given)
    )


if TYPE_CHECKING:  # once read, either way of writing them is a tuple
    Devices = tuple[Device, ...]
    Ports = tuple[Port, ...]
else:
    Devices = Annotated[
        Annotated[tuple[Device, ...], Tag("list")] | Annotated[DeviceCount, Tag("count")],
        Discriminator(_written),
        AfterValidator(_devices),
    ]
    Ports = Annotated[
        Annotated[tuple[Port, ...], Tag("list")] | Annotated[PortCount, Tag("count")],
        Discriminator(_written),
        AfterValidator(_ports),
    ]


class Used(Frozen):
    """What something other than a run of ours takes on a machine."""

    cpu_cores: Cores = 0
    memory_bytes: Memory = 0


class InstalledModel(Frozen):
    """A model whose weights are on a machine."""

    id: Name
    quantisation: Name
    digest: Literal["verified", "pending", "unverified", "invalid"]


class InstalledRuntime(Frozen):
    """An inference engine as it was built for a machine."""

    name: Name
    tasks: tuple[str, ...] = ()


class Constraints(Frozen):
    """Limits that the operator sets on a machine."""

    power_budget_w: Watts | None = None
    idle_watts: Watts | None = None
    max_accelerators: Count | None = None
    """The most GPUs that one worker may take here; for a run of one worker, that one run may."""
    denied_devices: tuple[str, ...] = ()


class Machine(Frozen):
    """A machine that exists, as last reported."""

    name: RangeName
    """A plain name, or a range: `gpu-{01..04}` is four machines."""
    state: Literal["up", "down", "cordoned", "draining", "pressure"] = "up"
    state_reason: str | None = None
    reported_at: Timestamp | None = None
    """`now` where it isn't given."""
    labels: Labels = {}
    cpu_cores: Cores = 0
    memory_bytes: Memory = 0
    used: Used = Used()
    devices: Devices = ()
    rdma: Ports = ()
    rate_usd_per_hour: Usd = Decimal(0)
    paid_until: Timestamp | None = None
    byoc_pool: str | None = None
    cpu_pressure: Flag = False
    network: str | None = None
    only: tuple[str, ...] = ()
    """Takes only runs that need one of these capabilities."""
    capabilities: tuple[str, ...] = ()
    reserved_for: Labels = {}
    """Takes only runs that select all of these labels."""
    models: tuple[InstalledModel, ...] = ()
    runtimes: tuple[InstalledRuntime, ...] = ()
    constraints: Constraints = Constraints()
    mode: Mode | None = None


class OfferingNetwork(Frozen):
    """Where an offering's instances are joined, and by which paths."""

    id: Name
    paths: tuple[Literal["private", "direct", "relay"], ...] = ()


class Accelerator(Frozen):
    """The GPUs of one instance."""

    model: Name
    family: str | None = None
    vendor: Vendor | None = None
    memory_gb: Number
    count: Count


class Reclaims(Frozen):
    """How often an interruptible offering is taken back."""

    per_hour: Number | None = None
    uptime_p50_s: Seconds | None = None
    uptime_p90_s: Seconds | None = None
    source: str | None = None
    confidence: Literal["low", "medium", "high"] | None = None


class Warm(Frozen):
    """Idle instances of an offering that are already yours."""

    count: Count = 0
    paid_until: Timestamp | None = None


class Billing(Frozen):
    """How use is rounded and from when it is charged; what isn't given isn't known."""

    increment_s: Positive | None = None
    minimum_s: Seconds | None = None
    starts: Literal["creation", "ready"] | None = None
    source: str | None = None


class Startup(Frozen):
    """How long an instance takes to be useful."""

    boot_p50_s: Seconds | None = None
    boot_p90_s: Seconds | None = None
    pull_mib_per_s: Number | None = None
    restore_mib_per_s: Number | None = None
    warm_s: Seconds | None = None
    source: str | None = None


class Starts(Frozen):
    """How often an offering failed to start."""

    attempts: Count = 0
    failures: Count = 0
    last_failed_at: Timestamp | None = None


class Price(Frozen):
    """Where a price comes from, and how long it holds."""

    as_of: Timestamp | None = None
    expires_at: Timestamp | None = None
    source: str | None = None


class Offering(Frozen):
    """Something that can be bought: a kind of instance at a place and a price."""

    name: Name
    provider: Name
    region: Name
    region_class: str | None = None
    location: str | None = None
    network: OfferingNetwork | None = None
    accelerator: Accelerator | None = None
    cpu_cores: Cores = 0
    memory_bytes: Memory = 0
    rate_usd_per_hour: Usd
    interruptible: Flag = False
    reclaims: Reclaims | None = None
    available: Count | None = None
    warm: Count | Warm = 0
    billing: Billing = Billing()
    startup: Startup = Startup()
    teardown_s: Seconds | None = None
    starts: Starts = Starts()
    health: Share = 1
    price: Price = Price()


class Drive(Frozen):
    """A data drive: where it is, and what is free on it."""

    name: Name
    machine: Name | None = None
    """The machine it is on; none: reachable from its sites."""
    sites: tuple[str, ...] = ()
    free_bytes: Bytes | None = None
    """Unknown where it isn't given: then it is never too small."""


class Reservation(Frozen):
    """Machines kept for one workspace over a span of time."""

    name: Name
    machines: Names
    workspace: Name
    from_: Timestamp = Field(alias="from")
    to: Timestamp


class Fleet(Frozen):
    """Every host there is."""

    machines: tuple[Machine, ...] = ()
    offerings: tuple[Offering, ...] = ()
    drives: tuple[Drive, ...] = ()
    generation: Count = 0
    """The placement generation: raised when placements decided before are void."""
    reservations: tuple[Reservation, ...] = ()
    mode: Mode = "balanced"

    @field_validator("machines")
    @classmethod
    def _one_each(cls, machines: tuple[Machine, ...]) -> tuple[Machine, ...]:
        """Make a machine of each name that a range stands for, and name the devices."""
        named = [(machine, expand(machine.name)) for machine in machines]
        hosts = sum(len(names) for _, names in named)
        gpus = sum(len(names) * len(machine.devices) for machine, names in named)
        if hosts > MOST_MACHINES or gpus > MOST_GPUS:
            raise ValueError(
                f"the ranges stand for {hosts:,} machines with {gpus:,} GPUs; "
                f"at most {MOST_MACHINES:,} with {MOST_GPUS:,}"
            )
        return tuple(
            machine.model_copy(update={"name": name, "devices": _identified(machine, name)})
            for machine, names in named
            for name in names
        )


def _identified(machine: Machine, name: str) -> tuple[Device, ...]:
    return tuple(
        device if device.id else device.model_copy(update={"id": f"{name}/{device.index}"})
        for device in machine.devices
    )
