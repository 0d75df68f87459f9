"""Pools: a workspace with pools uses the machines of those pools only."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import POOL, Host


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """POOL_MISMATCH unless the workspace has no pools, or the machine's label `pool` is one."""
    pool = host.labels.get(POOL)
    if ask.pools is None or pool in ask.pools or host.offering:
        return None
    own = ", ".join(ask.pools) or "none"
    return Reason.of(
        Code.POOL_MISMATCH,
        f"in {f'pool {pool}' if pool else 'no pool'}; workspace {ask.workspace} may use {own}",
        pool=pool,
        pools=ask.pools,
    )
