"""Models: a GPU's reported model holds one of the terms the run gives, in any case."""

from __future__ import annotations

from stowplan.model.reasons import Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.matching import has_model, none_is

ASKED_BY = "models"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """NO_MATCHING_GPU where no GPU's model holds a term."""
    asked = f"model {' or '.join(ask.models)}"
    return none_is(ask, host, has_model, asked, lambda lot: lot.model) if ask.models else None
