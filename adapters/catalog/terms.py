"""What isn't known of the terms on which providers sell, said once for those alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stowplan.adapters.catalog.defaults import Defaults
from stowplan.adapters.catalog.findings import Tally
from stowplan.model.fleet import Offering

_FIELDS = ("billing.increment_s", "billing.minimum_s", "billing.starts", "startup.boot_p50_s")
"""What every offering is asked for; an estimate names what isn't told, and what it takes for it."""


def say_terms(
    offerings: Sequence[Offering], known: Mapping[str, Defaults] | None, tally: Tally
) -> None:
    """Say what the defaults of the providers that occur don't tell, and what they propose."""
    interruptible: dict[str, bool] = {}
    for offering in offerings:
        name = offering.provider
        interruptible[name] = offering.interruptible or interruptible.get(name, False)
    if not interruptible:
        return
    if known is None:
        told = "the providers' terms (billing, startup, reclaims) aren't known without --defaults"
        tally.say(None, None, "", f"{told}: estimates say what they take for them")
        return
    given = {name: known.get(name.lower()) for name in sorted(interruptible)}
    alike: dict[str, list[str]] = {}
    for name, defaults in given.items():
        lacks = _lacks(defaults, interruptible[name])
        if lacks:
            alike.setdefault(lacks, []).append(name)
    for lacks, names in alike.items():
        tally.say(None, None, "", f"unknown for {', '.join(names)}: {lacks}")
    used = [defaults for defaults in given.values() if defaults]
    for one in used:
        for note in one.notes:
            tally.assume(one.file, one.line, *note)
    proposed = [one for one in used if one.proposed]
    if proposed:
        those = ", ".join(f"{one.provider} (line {one.line})" for one in proposed)
        told = f"startup times are proposals, as their columns say, for {those}"
        tally.say(proposed[0].file, None, "startup", told)


def _lacks(defaults: Defaults | None, interruptible: bool) -> str:
    lacks: list[str] = []
    for field in _FIELDS:
        part, _, inner = field.partition(".")
        if defaults is None or inner not in defaults.part(part):
            lacks.append(field)
    if interruptible and not (defaults and defaults.part("reclaims")):
        lacks.append("reclaims")
    return ", ".join(lacks)
