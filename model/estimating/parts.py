"""The parts of a run's time on one host: startup, running, what interruptions cost, teardown.

In whole seconds, each part rounded up, so that a longer run never ends sooner.
"""

from __future__ import annotations

from typing import NamedTuple

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.money import MICRO, ceil_div
from stowplan.model.runs import Run


class Needs(NamedTuple):
    """What a run brings to a host and saves while it works, in MiB and seconds."""

    image_mib: int
    restore_mib: int
    """What its first start reads back: the saved state, where a save holds work."""
    saved_mib: int
    """What a start after an interruption reads back."""
    interval_s: int | None
    """Between saves; none where an interruption loses all work done."""


def needs_of(run: Run) -> Needs:
    """Return what a run brings and saves.

    A run that hasn't run yet (`saves: null`) will save as declared: it has nothing to restore at
    its first start, and has after an interruption. With `saves: 0` its saves are all empty: it
    loses all. An image whose size isn't given counts nothing.
    """
    image, saving = run.image_mib or 0, run.checkpoint
    if saving is None or saving.saves == 0:
        return Needs(image, 0, 0, None)
    restore = saving.size_mib if saving.saves else 0
    return Needs(image, restore, saving.size_mib, saving.interval_s)


class Start(NamedTuple):
    """A start: how long it takes, and how much of that is billed."""

    seconds: int
    billed_s: int


class Parts(NamedTuple):
    """The parts of a run's time on a host, in seconds, at one level: likely, or at worst."""

    startup: Start
    running_s: int
    redone_s: int
    restarts: Start
    teardown_s: int

    @property
    def until_finish_s(self) -> int:
        """The time from now until the work is done."""
        return self.startup.seconds + self.running_s + self.redone_s + self.restarts.seconds

    @property
    def used_s(self) -> int:
        """The time that is billed, before rounding."""
        starting = self.startup.billed_s + self.restarts.billed_s
        return starting + self.running_s + self.redone_s + self.teardown_s


def first_start(needs: Needs, tariff: Tariff, level: int, *, is_warm: bool | None = None) -> Start:
    """Return the first start: boot, or the idle instance's own start; image pull; restore.

    "Ready" is when it has booted: with billing from ready, the pull and the restore are billed.
    Cold or warm as the host is now, unless told otherwise.
    """
    loading = _loading(needs.image_mib, needs.restore_mib, tariff, level)
    if tariff.is_running if is_warm is None else is_warm:
        return Start(tariff.warm_s[level] + loading, tariff.warm_s[level] + loading)
    return _cold(tariff, level, loading)


def restart(needs: Needs, tariff: Tariff, level: int) -> Start:
    """Return a start after an interruption: of a new instance, reading back what was saved."""
    return _cold(tariff, level, _loading(needs.image_mib, needs.saved_mib, tariff, level))


def _cold(tariff: Tariff, level: int, loading: int) -> Start:
    boot = tariff.boot_s[level]
    return Start(boot + loading, (boot if tariff.bills_boot else 0) + loading)


def _loading(image_mib: int, saved_mib: int, tariff: Tariff, level: int) -> int:
    pull = ceil_div(image_mib * MICRO, tariff.pull[level])
    return pull + ceil_div(saved_mib * MICRO, tariff.restore[level])


def parts_of(needs: Needs, tariff: Tariff, running: Likely, level: int, hosts: int = 1) -> Parts:
    """Return the parts at a level: 0 is likely (p50), 1 at worst (p90).

    Each interruption redoes half of what lies between two saves, or half the whole run, and pays a
    start again. Interruptions of the time that they add aren't counted. Of several hosts any one
    stops them all, and each is counted apart.
    """
    count = interruptions(tariff, running, hosts)[level]
    lost = running[level] if needs.interval_s is None else min(needs.interval_s, running[level])
    again = restart(needs, tariff, level)
    return Parts(
        startup=first_start(needs, tariff, level),
        running_s=running[level],
        redone_s=ceil_div(count * lost, 2 * MICRO),
        restarts=Start(
            ceil_div(count * again.seconds, MICRO), ceil_div(count * again.billed_s, MICRO)
        ),
        teardown_s=tariff.teardown_s[level],
    )


def interruptions(tariff: Tariff, running: Likely, hosts: int = 1) -> Likely:
    """Return the number of interruptions over a run, in millionths."""
    if tariff.interruptions is None:
        return Likely(0, 0)
    likely, worst = tariff.interruptions.over(running)
    return Likely(likely * hosts, worst * hosts)
