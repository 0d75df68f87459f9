"""Names: a run that names machines goes to those only."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ASKED_BY = "names"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """NOT_SELECTED unless no name is given or the host's is."""
    if not ask.names or (host.name in ask.names and not host.offering):
        return None
    return Reason.of(Code.NOT_SELECTED, "not among the machines that the run names")
