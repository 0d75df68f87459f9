"""Where instances of offerings are to each other, and by which paths they are joined."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Literal

from stowplan.model.fleet import Offering

type Scope = Literal["colocated", "regional", "global"]
type Transport = Literal["direct", "auto"]

SCOPES: tuple[Scope, ...] = ("colocated", "regional", "global")
"""The narrowest first."""


def location_of(offering: Offering) -> Hashable:
    """Return what instances share that are in one location and one network.

    An offering that doesn't tell its location is in one of its own. Where it tells no network, it
    is in its provider's own there.
    """
    if offering.location is None:
        return ("offering", offering.name)
    if offering.network is None:
        return ("provider", offering.provider, offering.location)
    return ("network", offering.location, offering.network.id)


def zone_of(offering: Offering, scope: Scope) -> Hashable:
    """Return what instances share that are near enough to each other, as a scope has it.

    An offering without a region class is in one of its own: its location.
    """
    match scope:
        case "colocated":
            return location_of(offering)
        case "regional":
            if offering.region_class is None:
                return location_of(offering)
            return ("region class", offering.region_class)
        case "global":
            return ()


def has_path(offering: Offering, path: Literal["private", "direct"]) -> bool:
    """Whether it is told that its instances can be reached so."""
    return offering.network is not None and path in offering.network.paths


def words_of(offering: Offering) -> str:
    """Return a location as it is told: "us-east-1a, vpc-1"."""
    parts = [offering.location or offering.region]
    if offering.network is not None:
        parts.append(offering.network.id)
    return ", ".join(parts)
