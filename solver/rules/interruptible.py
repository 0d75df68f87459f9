"""Interruptible: a run that must not be interrupted, or asks for it, goes where that is so."""

from __future__ import annotations

from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask
from stowplan.solver.money.prices import Bools, Priced, none_of


def bars(ask: Ask, priced: Priced) -> Bools:
    """never: hosts that can be interrupted; require: all others."""
    match priced.work.run.placement.interruptible:
        case "never":
            return priced.interruptible
        case "require":
            return ~priced.interruptible
        case _:
            return none_of(priced)


def why_barred(ask: Ask, priced: Priced, place: int) -> Reason:
    """INTERRUPTION_POLICY."""
    if priced.interruptible[place]:
        return Reason.of(Code.INTERRUPTION_POLICY, "can be interrupted, which the run never is")
    return Reason.of(
        Code.INTERRUPTION_POLICY, "can't be interrupted, and the run asks for what can be"
    )
