"""Scope: the instances that a run of several workers is on are as near to each other as it asks.

Colocated: in one location and one network; regional: in one region class; global: anywhere. The
machines of a run are in one site, which is nearer still.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stowplan.model.vicinity import SCOPES
from stowplan.solver.asks import Ask

if TYPE_CHECKING:
    from stowplan.solver.ladder import Group


def allows(ask: Ask, group: Group) -> bool:
    """scope(group) <= scope asked, from colocated to global."""
    if group.vicinity is None:
        return True
    return ask.scope is not None and SCOPES.index(group.vicinity.scope) <= SCOPES.index(ask.scope)
