"""How often the cheapest by the hour isn't the cheapest to completion.

`python -m tests.bench.money.cheapest` prints a table: over the catalog's groups of offerings with
the same GPUs, and as many of them, for runs of several lengths that save their work or don't.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from stowplan.model.estimating.duration import running_time
from stowplan.model.estimating.estimates import outlooks, tariffs_of
from stowplan.model.estimating.tariff import offering_tariff
from stowplan.model.fleet import Offering, Reclaims
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.bench.money.instance import is_here, left_out, market
from tests.bench.money.tables import DOCS, put, table

HOURS = (0.1, 1, 8, 24)
IMAGE_MIB = 15_000
SAVES = {"interval_s": 900, "size_mib": 20_000}
P90 = 1.25
PAGE = DOCS / "concepts" / "cheapest.md"

COLUMNS = ("sold as", "hours", "saves", "groups", "differs", "dearer by, median", "worst")

type Groups = list[list[Offering]]


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
            self.sold,
            f"{self.hours:g}",
            "every 15 min" if self.saves else "nothing",
            str(len(self.dearer)),
            f"{len(differing)} ({len(differing) / max(1, len(self.dearer)):.0%})",
            f"{statistics.median(differing):.1%}" if differing else "",
            f"{max(differing):.1%}" if differing else "",
        )


def groups_of(snapshot: Snapshot, *, spot: bool, since: int = 0) -> Groups:
    """Return the offerings by their GPUs and how many of them; groups of one are left out.

    With `since`, only those whose price is of that year or later.
    """
    groups: dict[tuple[str, int], list[Offering]] = {}
    for offering in snapshot.fleet.offerings:
        at = offering.price.as_of
        is_late = not since or (at is not None and at.year >= since)
        if offering.accelerator and is_late and (spot or not offering.interruptible):
            key = (offering.accelerator.model, offering.accelerator.count)
            groups.setdefault(key, []).append(offering)
    return [group for group in groups.values() if len(group) > 1]


def lines(snapshot: Snapshot, *, reclaims: float | None = None, since: int = 0) -> Iterator[Line]:
    """Yield a line for each kind of run and of offering.

    `reclaims` is how often an hour an interruptible offering is taken back that doesn't say.
    """
    for spot in (True, False):
        groups = groups_of(snapshot, spot=spot, since=since)
        if reclaims is not None:
            groups = [[_reclaimed(each, reclaims) for each in group] for group in groups]
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


def _reclaimed(offering: Offering, per_hour: float) -> Offering:
    if not offering.interruptible or offering.reclaims:
        return offering
    return offering.model_copy(update={"reclaims": Reclaims(per_hour=per_hour)})


def _run(hours: float, *, saves: bool) -> Run:
    document = {
        "name": "run",
        "image_mib": IMAGE_MIB,
        "expected_duration_s": int(hours * 3600),
        "checkpoint": SAVES if saves else None,
    }
    return Run.model_validate(document)


def told(snapshot: Snapshot, *, reclaims: float | None = None, since: int = 0) -> str:
    """Return the table."""
    found = lines(snapshot, reclaims=reclaims, since=since)
    return table(COLUMNS, [line.cells() for line in found])


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench.money.cheapest", description=__doc__
    )
    parser.add_argument("--reclaims", type=float, metavar="N", help="an hour, instead of 0.5")
    parser.add_argument(
        "--since", type=int, default=0, metavar="YEAR", help="without prices that are older"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="write the table into docs/concepts/cheapest.md"
    )
    asked = parser.parse_args(arguments)
    if not is_here():
        print(left_out("cheapest"), file=sys.stderr)
        return
    snapshot = market(1, runs=0)
    found = told(snapshot, reclaims=asked.reclaims, since=asked.since)
    if asked.markdown:
        put(PAGE, "cheapest", found)
    else:
        print(found, end="")


if __name__ == "__main__":
    main()
