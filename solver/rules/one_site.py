"""One site: the workers of a run are never in several sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stowplan.solver.asks import Ask

if TYPE_CHECKING:
    from stowplan.solver.ladder import Group


def allows(ask: Ask, group: Group) -> bool:
    """sites(group) = 1."""
    return group.joint.sites == 1
