"""How often the cheapest by the hour isn't the cheapest to completion.

`python -m tests.bench.money.cheapest` prints a table: over the catalog's groups of offerings with
the same GPUs, and as many of them, for runs of several lengths that save their work or don't.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stowplan.model.estimating.duration import running_time
from stowplan.model.estimating.estimates import outlooks, tariffs_of
from stowplan.model.estimating.tariff import offering_tariff
from stowplan.model.fleet import Offering
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.bench.money.instance import is_here, market

HOURS = (0.1, 1, 8, 24)
IMAGE_MIB = 15_000
SAVES = {"interval_s": 900, "size_mib": 20_000}
P90 = 1.25

COLUMNS = ("hours", "saves", "sold as", "groups", "differs", "dearer by, median", "worst")


@dataclass(frozen=True)
class Line:
    """How one kind of run fares over all groups."""

    hours: float
    saves: bool
    sold: str
    dearer: Sequence[float]
    """By group: by what share the cheapest by the hour costs more to completion than the best."""

    @property
    def differing(self) -> Sequence[float]:
        """Of groups in which it does cost more."""
        return [share for share in self.dearer if share > 0]

    def cells(self) -> tuple[str, ...]:
        """Return the line as it is printed."""
        differing = self.differing
        return (
            f"{self.hours:g}",
            "every 15 min" if self.saves else "nothing",
            self.sold,
            str(len(self.dearer)),
            f"{len(differing)} ({len(differing) / max(1, len(self.dearer)):.0%})",
            f"{statistics.median(differing):.1%}" if differing else "",
            f"{max(differing):.0%}" if differing else "",
        )


def groups_of(snapshot: Snapshot, *, spot: bool) -> list[list[Offering]]:
    """Return the offerings by their GPUs and how many of them; groups of one are left out."""
    groups: dict[tuple[str, int], list[Offering]] = {}
    for offering in snapshot.fleet.offerings:
        if offering.accelerator and (spot or not offering.interruptible):
            key = (offering.accelerator.model, offering.accelerator.count)
            groups.setdefault(key, []).append(offering)
    return [group for group in groups.values() if len(group) > 1]


def lines(snapshot: Snapshot) -> Iterator[Line]:
    """Yield a line for each kind of run and of offering."""
    for spot in (True, False):
        groups = groups_of(snapshot, spot=spot)
        for hours in HOURS:
            for saves in (True, False) if spot else (False,):
                run = _run(hours, saves=saves)
                dearer = [dearer_by(run, group, snapshot) for group in groups]
                yield Line(hours, saves, "both" if spot else "on demand", dearer)


def dearer_by(run: Run, group: Sequence[Offering], snapshot: Snapshot) -> float:
    """Return by what share the cheapest by the hour costs more to completion than the best.

    Of several at the lowest rate, the one that costs least counts.
    """
    tariffs = tariffs_of(
        [offering_tariff(offering, snapshot.now) for offering in group], [None] * len(group)
    )
    running = running_time(run, None, (), P90)
    cost = outlooks(run, tariffs, {None: running.seconds if running else None}).cost[0]
    by_hour = int(cost[np.asarray(tariffs.rate) == tariffs.rate.min()].min())
    best = int(cost.min())
    return by_hour / best - 1 if best else 0.0


def _run(hours: float, *, saves: bool) -> Run:
    document = {
        "name": "run",
        "image_mib": IMAGE_MIB,
        "expected_duration_s": int(hours * 3600),
        "checkpoint": SAVES if saves else None,
    }
    return Run.model_validate(document)


def main() -> None:
    """Print the table."""
    if not is_here():
        print("left out: the catalog isn't here")
        return
    print(f"| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    for line in lines(market(1, runs=0)):
        print(f"| {' | '.join(line.cells())} |")


if __name__ == "__main__":
    main()
