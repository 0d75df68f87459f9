"""What the snapshot can say that this version can't act on yet.

An ask or a limit whose feature isn't built is refused by name: ignoring it would give a wrong
answer. A fact that only such asks would read is accepted and mentioned once. Both lists are to
end empty.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from stowplan.model.errors import Item, Path, Problem
from stowplan.model.types import Frozen

if TYPE_CHECKING:
    from stowplan.model.snapshot import Snapshot

ASKS: dict[str, str] = {
    "fleet.machines[].constraints.power_budget_w": "power budgets",
    "runs[].service": "services",
    "policy.margins": "services",
    "policy.workspaces[].entitlements": "services",
    "policy.workspaces[].models_permitted": "services",
    "policy.workspaces[].batch_records_left": "services",
}
"""Fields that ask or limit something, each with the feature that will read it."""

FACTS: dict[str, str] = {
    "fleet.machines[].models": "services",
    "fleet.machines[].runtimes": "services",
    "fleet.machines[].mode": "services",
    "fleet.mode": "services",
    "fleet.machines[].constraints.idle_watts": "power budgets",
    "fleet.machines[].devices[].used_by_others_mib": "services",
    "fleet.machines[].devices[].addressable_mib": "services",
    "fleet.machines[].devices[].power_limit_w": "power budgets",
    "fleet.machines[].rdma[].at_risk": "points of gangs",
    "policy.workspaces[].terms.model": "services",
    "runs[].placed.rate_usd_per_hour": "the record",
    "knowledge.cards[].memory_bandwidth_gb_s": "services",
    "knowledge.cards[].power_w": "services",
    "knowledge.runtimes": "services",
    "knowledge.models": "services",
    "knowledge.measurements": "services",
    "knowledge.observations": "services",
}
"""Fields that say something no rule reads yet."""

VALUES: dict[str, tuple[str, ...]] = {"policy.queue": ("backfill",)}
"""Values of a field that this version can't act on yet."""

_SAYS_NOTHING: tuple[object, ...] = (None, 0, (), {})
"""Values of a fact with which nothing is said. An ask of 0, or for none of a list, asks a lot."""


type _Tree = dict[str, _Tree | str]
"""Fields by name; a listed field is a leaf, written as ASKS or FACTS writes it."""


def _tree(listed: Iterable[str]) -> _Tree:
    tree: _Tree = {}
    for field in listed:
        *outer, last = field.split(".")
        inner = tree
        for name in outer:
            below = inner.setdefault(name.removesuffix("[]"), {})
            assert isinstance(below, dict), f"{field} is listed below a listed field"
            inner = below
        inner[last] = field
    return tree


_ASKS, _FACTS = _tree(ASKS), _tree(FACTS)


def _set(value: Frozen, tree: _Tree) -> Iterator[tuple[str, Path, object]]:
    """Yield every listed field that isn't null or at its default: field, path, and value."""
    told = value.model_fields_set & tree.keys()
    if not told:
        return  # as for most of a large snapshot
    defaults = _defaults(type(value))
    for name, below in tree.items():
        if name not in told:
            continue
        child = getattr(value, name)
        if child == defaults[name]:
            continue
        if isinstance(below, str):
            if child is not None:
                yield below, (name,), child
        elif isinstance(child, tuple):
            for index, item in enumerate(child):
                for field, path, found in _set(item, below):
                    part = Item(item.name) if hasattr(item, "name") else index
                    yield field, (name, part, *path), found
        elif child is not None:
            for field, path, found in _set(child, below):
                yield field, (name, *path), found


@functools.cache
def _defaults(kind: type[Frozen]) -> dict[str, object]:
    return {name: field.default for name, field in kind.model_fields.items()}


def refused(snapshot: Snapshot) -> Iterator[Problem]:
    """Yield a problem for every ask or limit that can't be met yet."""
    for field, path, _ in _set(snapshot, _ASKS):
        yield Problem(path, f"not supported yet ({ASKS[field]})", "leave it out for now")
    if snapshot.policy.queue in VALUES["policy.queue"]:
        yield Problem(
            ("policy", "queue"), "'backfill' is not supported yet", "allowed: throughput, strict"
        )


def unread(snapshot: Snapshot) -> Iterator[str]:
    """Yield a sentence for every fact that no rule reads yet."""
    there = {field for field, _, value in _set(snapshot, _FACTS) if value not in _SAYS_NOTHING}
    for field, feature in FACTS.items():
        if field in there:
            yield f"{field} is not used yet ({feature})"
