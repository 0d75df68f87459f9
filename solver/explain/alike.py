"""Hosts with the same reasons, put together: what is said of many hosts stays short."""

from __future__ import annotations

from collections.abc import Iterable

from stowplan.model.reasons import Reason

type Group = tuple[tuple[str, ...], str, tuple[Reason, ...]]
"""Hosts, what else they have in common, and their reasons."""


def grouped(said: Iterable[tuple[str, str, tuple[Reason, ...]]]) -> list[Group]:
    """Return hosts grouped by reasons, their words and numbers, in the order in which they come."""
    groups: dict[tuple[str, str], tuple[list[str], str, tuple[Reason, ...]]] = {}
    for host, kind, reasons in said:
        key = repr([(each.code, each.message, sorted(each.numbers.items())) for each in reasons])
        groups.setdefault((kind, key), ([], kind, reasons))[0].append(host)
    return [(tuple(hosts), kind, reasons) for hosts, kind, reasons in groups.values()]
