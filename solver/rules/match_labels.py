"""Match labels: a run that selects labels goes where every one of them is."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host

ASKED_BY = "match_labels"


def why_not(ask: Ask, host: Host, room: Room) -> Reason | None:
    """LABEL_MISSING unless match_labels is a subset of the host's labels."""
    missing = [(key, value) for key, value in ask.match_labels if host.labels.get(key) != value]
    if not missing:
        return None
    told = [
        f"{key}={value} (has {key}={host.labels[key]})" if key in host.labels else f"{key}={value}"
        for key, value in missing
    ]
    return Reason.of(
        Code.LABEL_MISSING,
        f"without the label {', '.join(told)}",
        missing=tuple(f"{key}={value}" for key, value in missing),
    )
