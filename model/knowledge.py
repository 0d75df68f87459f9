"""What has been measured and learned: cards, models, runtimes, durations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from stowplan.model.fleet import InstalledRuntime
from stowplan.model.types import Count, Frozen, Labels, Mib, Name, Number, Positive, Seconds, Watts


class Card(Frozen):
    """A model of GPU."""

    model: Name
    family: str | None = None
    memory_bandwidth_gb_s: Number | None = None
    power_w: Watts | None = None


class ModelFacts(Frozen):
    """A model that can be served: what it does and what its weights and cache take."""

    id: Name
    tasks: tuple[str, ...] = ()
    weights_mib: Mapping[str, Mib] = {}
    """By quantisation."""
    layers: Positive | None = None
    kv_heads: Positive | None = None
    head_dim: Positive | None = None
    kv_bytes: Number | None = None


class Measurement(Frozen):
    """A peak of memory that was seen."""

    model: Name
    quantisation: Name
    runtime: Name
    context: Positive
    parallel: Positive
    hardware: Name
    peak_mib: Mib
    scope: Literal["process", "device"]
    """process, or device: then `baseline_mib` is taken off first."""
    baseline_mib: Mib | None = None


class Observation(Frozen):
    """A rate and a draw of power that were seen."""

    model: Name
    quantisation: Name
    hardware: Name
    rate: Number
    unit: str
    watts: Watts | None = None
    count: Count


class Durations(Frozen):
    """How long runs with these labels took."""

    labels: Labels
    family: str
    seconds: tuple[Seconds, ...]


class Knowledge(Frozen):
    """All that is known beside the fleet itself."""

    hardware_data: str | None = None
    cards: tuple[Card, ...] = ()
    runtimes: tuple[InstalledRuntime, ...] = ()
    models: tuple[ModelFacts, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    observations: tuple[Observation, ...] = ()
    durations: tuple[Durations, ...] = ()
