"""What measurements say: a table an instance, and all figures as CSV."""

from __future__ import annotations

import csv
import statistics
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from pathlib import Path

from tests.bench.catalogue import INSTANCES
from tests.bench.measure import Measured

OURS = "stowplan"
WIDTH = 100
COLUMNS = ("policy", "weight", "ours to it", "bound", "gap", "seconds", "place", "MiB", "status")


def ratio(each: Measured, run: Iterable[Measured]) -> float | None:
    """Return the weight of our decision to this one's, on the same instance and seed."""
    for other in run:
        if (other.policy, other.instance, other.seed) == (OURS, each.instance, each.seed):
            return other.weight / each.weight if other.weight and each.weight else None
    return None


def write_csv(file: Path, run: Sequence[Measured]) -> None:
    """Write every measurement with all its figures."""
    with file.open("w", newline="") as stream:
        writer = csv.DictWriter(stream, [*(each.name for each in fields(Measured)), "ratio"])
        writer.writeheader()
        for each in run:
            tiers = "/".join(f"{weight:g}" for weight in each.by_priority)
            writer.writerow(asdict(each) | {"by_priority": tiers, "ratio": ratio(each, run)})


def told(run: Sequence[Measured], *, markdown: bool) -> str:
    """Return a heading and a table for each instance."""
    parts = []
    for name in dict.fromkeys(each.instance for each in run):
        mine = [each for each in run if each.instance == name]
        heading = _heading(name, mine)
        table = _markdown if markdown else _plain
        parts.append(f"{'### ' if markdown else ''}{heading}\n\n{table(list(_rows(mine)))}")
    return "\n".join(parts)


def _heading(name: str, run: Sequence[Measured]) -> str:
    known = next((each for each in run if each.machines), run[0])
    seeds = ", ".join(str(seed) for seed in sorted({each.seed for each in run}))
    line = (
        f"{INSTANCES[name].told}. {known.machines:,} machines with {known.gpus_free:,} GPUs free; "
        f"{known.runs:,} runs of {known.kinds} kinds ask for {known.gpus_asked:,} (seed {seeds})."
    )
    return f"{name}\n\n{textwrap.fill(line[0].upper() + line[1:], WIDTH)}"


def _rows(run: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    """Yield a row for each policy: the median over the seeds, and the worst where it differs."""
    for policy in dict.fromkeys(each.policy for each in run):
        mine = [each for each in run if each.policy == policy]
        statuses = dict.fromkeys(each.status for each in mine if each.status)
        yield (
            policy,
            _middle([each.weight for each in mine], _round, worst=min),
            _middle([ratio(each, run) for each in mine], _three, worst=min),
            _middle([each.bound for each in mine], _round, worst=None),
            _middle([each.gap for each in mine], _percent, worst=max),
            _middle([each.seconds for each in mine if each.machines], _seconds, worst=max),
            _middle([each.place_s for each in mine], _seconds, worst=max),
            _middle([each.peak_mib for each in mine if each.machines], _round, worst=max),
            " / ".join(statuses),
        )


def _middle(
    values: Iterable[float | None],
    form: Callable[[float], str],
    worst: Callable[[Sequence[float]], float] | None,
) -> str:
    known = [value for value in values if value is not None]
    if not known:
        return ""
    middle = form(statistics.median(known))
    extreme = form(worst(known)) if worst else middle
    return middle if extreme == middle else f"{middle} ({extreme})"


def _round(value: float) -> str:
    return f"{value:,.0f}"


def _three(value: float) -> str:
    return f"{value:.3f}"


def _seconds(value: float) -> str:
    return f"{value:.2f}"


def _percent(value: float) -> str:
    return f"{value:.2%}"


def _plain(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(COLUMNS, *rows, strict=True)]
    lines = []
    for row in (COLUMNS, *rows):
        first, *figures, status = (
            cell.ljust(width) if index in (0, len(COLUMNS) - 1) else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join((first, *figures, status)).rstrip())
    return "\n".join(lines) + "\n"


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    aligned = ("---", *("---:" for _ in COLUMNS[1:-1]), "---")
    return "".join("| " + " | ".join(row) + " |\n" for row in (COLUMNS, aligned, *rows))
