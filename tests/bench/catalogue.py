"""Every instance and every policy, by the name that the command takes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from stowplan.model.snapshot import Snapshot
    from tests.bench.policies.answer import Policy

ROOT = Path(__file__).parents[2]
OPENB = "../shared/data/openb"

type Build = Callable[[int], Snapshot]


@dataclass(frozen=True)
class Instance:
    """A seeded instance; its modules are imported where it is built, so that lists stay light."""

    build: Build
    first_seed: int
    told: str
    needs: str = ""
    """The folder, from the project's root, without which it can't be built."""

    def is_here(self) -> bool:
        """Whether all that it is built from is there."""
        return (ROOT / self.needs).exists()


def _openb(which: str, machines: int | None = None) -> Build:
    def build(seed: int) -> Snapshot:
        from tests.bench.instances import openb

        return openb.resampled(which, seed, machines)

    return build


def _racks(machines: int, racks: int, fabrics: int, runs: int) -> Build:
    def build(seed: int) -> Snapshot:
        from tests.bench.instances.racks import snapshot

        return snapshot(machines, racks, fabrics, runs, seed)

    return build


def _irregular(tight: bool, machines: int) -> Build:
    def build(seed: int) -> Snapshot:
        from tests.bench.instances.irregular import snapshot

        return snapshot("tight" if tight else "exp2", seed, machines)

    return build


SMALL: Mapping[str, Instance] = {
    "openb-small": Instance(_openb("default", 100), 42, "the first 100 nodes of the trace", OPENB),
    "racks-small": Instance(_racks(100, 8, 4, 180), 1, "100 machines in 8 racks"),
    "irregular-small": Instance(_irregular(True, 100), 1, "100 machines, short of cores"),
}
FULL: Mapping[str, Instance] = {
    "openb-default": Instance(
        _openb("default"), 42, "the whole trace, its default list of runs", OPENB
    ),
    "openb-gpuspec33": Instance(
        _openb("gpuspec33"), 42, "the same; a third of the runs name models of GPU", OPENB
    ),
    "racks-1250": Instance(
        _racks(1250, 40, 8, 2239), 1, "40 racks, 8 fabrics, 58 % in use, three priorities"
    ),
    "racks-10000": Instance(_racks(10_000, 320, 64, 15_800), 1, "the same in 320 racks"),
    "irregular-exp2": Instance(
        _irregular(False, 1250), 1, "each machine has other GPUs, cores and memory free"
    ),
    "irregular-tight": Instance(
        _irregular(True, 1250), 1, "the same, where cores and memory run short"
    ),
}
INSTANCES: Mapping[str, Instance] = {**SMALL, **FULL}

POLICIES: Mapping[str, str] = {
    "stowplan": "ours:stowplan",
    "stowplan-first": "ours:stowplan_first",
    "first-fit": "online:in_queue_first_fit",
    "best-fit": "online:in_queue_best_fit",
    "fgd": "fgd:in_queue_fgd",
    "decreasing": "online:first_fit_decreasing",
    "cp-sat": "cpsat:cpsat",
    "highs": "highs:highs",
    "highs-hosts": "highs:highs_hosts",
}
"""Where each policy is: its module is imported by the process that runs it, and by no other."""


def policy(name: str) -> Policy:
    """Return a policy by its name."""
    module, _, function = POLICIES[name].partition(":")
    found: Policy = getattr(importlib.import_module(f"tests.bench.policies.{module}"), function)
    return found
