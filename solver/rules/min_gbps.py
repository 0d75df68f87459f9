"""Min gbps: every host has an RDMA port that is up and as fast as the run asks.

No slower port joins its machines: the ladder has groups for each speed that is asked."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.rules.interconnect import ports

ASKED_BY = "min_gbps"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """RDMA_TOO_SLOW where the fastest port that is up has less; NO_RDMA where none is up."""
    assert ask.min_gbps is not None
    rates = ports(ask, host)
    if not rates:
        return Reason.of(Code.NO_RDMA, "no RDMA port is up", asked=ask.min_gbps)
    if max(rates) >= ask.min_gbps:
        return None
    text = f"its ports have {max(rates):g} Gbit/s, {ask.min_gbps:g} asked for"
    return Reason.of(Code.RDMA_TOO_SLOW, text, need=ask.min_gbps, has=max(rates))
