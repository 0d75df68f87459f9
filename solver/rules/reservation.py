"""Reservation: a machine that another workspace has booked takes only what ends before that."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ON_MACHINES = True


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """MACHINE_RESERVED where a booking is on, or begins soon and before now + time_limit_s."""
    for booking in host.bookings:
        if booking.workspace == ask.workspace:
            continue
        limit = ask.time_limit_s
        if booking.begins_in_s > 0 and limit is not None and limit <= booking.begins_in_s:
            continue
        begins = booking.begins.strftime("%Y-%m-%d %H:%M:%SZ")
        since = "since" if booking.begins_in_s <= 0 else "from"
        ends = "" if limit is None else f"; the run may take {limit:,} s"
        if limit is None and booking.begins_in_s > 0:
            ends = "; the run has no time limit"
        return Reason.of(
            Code.MACHINE_RESERVED,
            f"reserved by '{booking.name}' for {booking.workspace} {since} {begins}{ends}",
            reservation=booking.name,
            begins=booking.begins.isoformat(),
        )
    return None
