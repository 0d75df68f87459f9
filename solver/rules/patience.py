"""Patience: while a run is patient, it takes only the tightest rung that it could ever get."""

from __future__ import annotations

from stowplan.solver.asks import Ask


def only_tightest(ask: Ask) -> bool:
    """rung(group) = the tightest on the empty fleet, while now < submitted_at + patience_s."""
    return ask.is_patient
