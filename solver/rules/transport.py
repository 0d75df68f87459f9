"""Transport: every two instances of a run that asks for direct paths are joined by one.

Private within one location and network, where both are told to have that; or direct, where both
are. What isn't told isn't there. With auto a relayed mesh, slower, joins them as well.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from stowplan.solver.asks import Ask

if TYPE_CHECKING:
    from stowplan.solver.ladder import Group


def allows(ask: Ask, group: Group) -> bool:
    """direct: every two offerings of the group, or two instances of one, have such a path."""
    if group.vicinity is None or ask.transport == "auto":
        return True
    return group.vicinity.transport == "direct"
