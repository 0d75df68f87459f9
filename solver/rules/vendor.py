"""Vendor: a GPU is of the vendor the run asks for."""

from __future__ import annotations

from stowplan.model.reasons import Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.matching import has_vendor, none_is

ASKED_BY = "vendor"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """NO_MATCHING_GPU where no GPU (of a model asked for) is of the vendor."""
    if ask.vendor is None:
        return None
    asked = f"vendor {ask.vendor}"
    return none_is(ask, host, has_vendor, asked, lambda lot: lot.vendor or "vendor unknown")
