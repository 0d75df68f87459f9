"""Least memory: each GPU has the memory the run asks for, with half a GB of slack."""

from __future__ import annotations

from stowplan.model.reasons import Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.lots import Lot
from stowplan.solver.matching import has_memory, has_model, has_vendor, none_is

ASKED_BY = "min_memory_gb"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """NO_MATCHING_GPU where none (of model and vendor) has memory >= (asked - 0.5) x 10^9 bytes."""
    if ask.min_memory_gb is None:
        return None
    asked = f"{ask.min_memory_gb:g} GB of memory"
    reason = none_is(ask, host, has_memory, asked, _memory)
    if reason is None:
        return None
    lots = [lot for lot in host.lots if has_model(ask, lot) and has_vendor(ask, lot)]
    if not any(has_memory(ask, lot) for lot in host.lots):
        lots = list(host.lots)
    most = max(_gigabytes(lot) for lot in lots)
    more = {"need_gb": ask.min_memory_gb, "has_gb": round(most, 1)}
    return reason.model_copy(update={"numbers": {**reason.numbers, **more}})


def _memory(lot: Lot) -> str:
    return f"{_gigabytes(lot):.1f} GB"


def _gigabytes(lot: Lot) -> float:
    return lot.memory_mib * 2**20 / 10**9 if lot.nominal_gb is None else lot.nominal_gb
