"""Which GPUs of a host would do for a worker: by what they are, and by whether they may be used."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import NamedTuple

from stowplan.model.reasons import Code, Figure, Reason
from stowplan.model.room import Room
from stowplan.solver.asks import Ask
from stowplan.solver.hosts import Host
from stowplan.solver.lots import Lot

SLACK_GB = Decimal("0.5")
"""A card that reports a little less than its nominal memory still counts as having it."""


def has_model(ask: Ask, lot: Lot) -> bool:
    """Whether any model term is part of the reported model, in any case."""
    return not ask.models or any(term in lot.model.lower() for term in ask.models)


def has_vendor(ask: Ask, lot: Lot) -> bool:
    """Whether it is the vendor asked for."""
    return ask.vendor is None or lot.vendor == ask.vendor


def has_memory(ask: Ask, lot: Lot) -> bool:
    """Whether memory_mib x 2^20 >= (asked - 0.5) x 10^9; of an offering, memory_gb >= asked."""
    asked = ask.min_memory_gb
    if asked is None:
        return True
    if lot.nominal_gb is not None:
        return lot.nominal_gb >= asked
    return lot.memory_mib * 2**20 >= _least_bytes(asked)


@functools.cache
def _least_bytes(asked: float) -> int:
    """Return (asked - 0.5) x 10^9 of the number as it is written; a float can be a byte off."""
    return math.ceil((Decimal(str(asked)) - SLACK_GB) * 10**9)


def is_pinned(ask: Ask, lot: Lot) -> bool:
    """Whether the run pins no GPUs, or these are among them."""
    return not ask.ids or lot.ids <= ask.ids


_BEING = (has_model, has_vendor, has_memory)


def matches(ask: Ask, lot: Lot) -> bool:
    """Whether these GPUs are what the run asks for, whatever their condition."""
    return all(test(ask, lot) for test in _BEING) and is_pinned(ask, lot)


def matching_lots(ask: Ask, host: Host) -> tuple[Lot, ...]:
    """Return the GPUs of a host that are what the run asks for, whatever their condition."""
    lots = host.matching.get(ask)
    if lots is None:
        lots = host.matching[ask] = tuple(lot for lot in host.lots if matches(ask, lot))
    return lots


def is_usable(ask: Ask, lot: Lot) -> bool:
    """Whether a worker may be given these GPUs, where they are free."""
    return (
        not lot.denied
        and lot.condition != "faulted"
        and not (ask.healthy_only and lot.condition == "at_risk")
        and matches(ask, lot)
    )


class Tally(NamedTuple):
    """How many matching GPUs of a host are free, by what may be done with them."""

    sound: int
    at_risk: int
    faulted: int
    """Not withheld either."""
    denied: int
    """Not faulted."""


def tally(ask: Ask, host: Host, room: Room) -> Tally:
    """Count the free GPUs of a host that match."""
    sound = at_risk = faulted = denied = 0
    for lot in matching_lots(ask, host):
        free = lot.free(room)
        if lot.condition == "faulted":
            faulted += free * (not lot.denied)
        elif lot.denied:
            denied += free * (lot.condition == "sound" or not ask.healthy_only)
        elif lot.condition == "at_risk":
            at_risk += free
        else:
            sound += free
    return Tally(sound, at_risk, faulted, denied)


def usable(ask: Ask, count: Tally) -> int:
    """How many of them the run may be given."""
    return count.sound + (0 if ask.healthy_only else count.at_risk)


def gpus(count: int) -> str:
    """Return the word for so many GPUs."""
    return "GPU" if count == 1 else "GPUs"


def none_is(
    ask: Ask, host: Host, test: Callable[[Ask, Lot], bool], asked: str, has: Callable[[Lot], str]
) -> Reason | None:
    """Return NO_MATCHING_GPU where no GPU passes a test, or none that passed those before it."""
    if not ask.gpus or not host.lots:
        return None
    earlier = _BEING[: _BEING.index(test)]
    before = [lot for lot in host.lots if all(passes(ask, lot) for passes in earlier)]
    passing = [lot for lot in host.lots if test(ask, lot)]
    if passing and (not before or any(lot in passing for lot in before)):
        return None
    return _no_gpu(asked, _listed(has(lot) for lot in (host.lots if not passing else before)))


@functools.lru_cache(maxsize=10_000)
def _no_gpu(asked: str, there: tuple[str, ...]) -> Reason:
    numbers: dict[str, Figure] = {"asked": asked, "has": there}
    return Reason.of(
        Code.NO_MATCHING_GPU, f"no GPU with {asked} (has {', '.join(there)})", **numbers
    )


def _listed(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))
