"""What runs after the cycle: what it places, and what it keeps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from stowplan.cli.render.money import Money
from stowplan.cli.render.page import STYLES, Page, table, words
from stowplan.cli.render.text import counted, folded, printable, ranged
from stowplan.model.decision import ArrayCount, Decision, PlacedRun, StayingRun, Worker
from stowplan.model.snapshot import Snapshot

MOST_KEPT = 20
"""More kept runs than this are counted, not listed: they are no news."""

_COLUMNS = ("RUN", "OUTCOME", "WHERE", "GPUS", "DEVICES", "SHAPE", "NETWORK", "POINTS")
_MONEY = ("USD/H", "USD IN ALL (P90)")
_NETWORKS = {
    2: "NVLink",
    3: "InfiniBand",
    4: "InfiniBand",
    5: "RDMA",
    6: "RDMA",
    7: "Ethernet",
    8: "Ethernet",
}
"""What joins several machines, by rung."""


def add_running(page: Page, decision: Decision, snapshot: Snapshot, *, whole: bool) -> None:
    """Add the table of runs that start or go on, one row each."""
    placed = [outcome for outcome in decision.outcomes if isinstance(outcome, PlacedRun)]
    kept = [
        outcome
        for outcome in decision.outcomes
        if isinstance(outcome, StayingRun) and outcome.outcome == "kept"
    ]
    listed = kept if whole or len(kept) <= MOST_KEPT else []
    if placed or listed:
        page.space()
        rows: Sequence[PlacedRun | StayingRun] = (*placed, *listed)
        _add_table(page, rows, Money(decision, snapshot))
    if len(listed) < len(kept):
        page.space()
        runs = counted(len(kept), "run")
        page.add(words(f"{runs} kept where they were: {folded((k.run for k in kept), 50)}"))


def _add_table(page: Page, rows: Sequence[PlacedRun | StayingRun], money: Money) -> None:
    """Add the rows; where something costs, with its rate and cost instead of its points.

    Shapes and networks are there where a run with GPUs is on several hosts.
    """
    indexes = _indexes(money.snapshot)
    cells = []
    for outcome in rows:
        told = dict(zip(_COLUMNS, _row(outcome, indexes, page.width), strict=True))
        if money.is_any:
            row = money.row(outcome) if isinstance(outcome, PlacedRun) else ("", "")
            told |= dict(zip(_MONEY, row, strict=True))
        cells.append(told)
    hidden = {"POINTS"} if money.is_any else set()
    has_gangs = any(" x " in told["SHAPE"] for told in cells)
    if not has_gangs:
        hidden |= {"SHAPE", "NETWORK"}
    if not any(told["NETWORK"] for told in cells):
        hidden.add("NETWORK")
    if (money.is_any or has_gangs) and not any(told["DEVICES"] for told in cells):
        hidden.add("DEVICES")
    names = [name for name in (*_COLUMNS, *_MONEY) if name in cells[0] and name not in hidden]
    whole = ("OUTCOME", "SHAPE")
    grid = table(names, right=("GPUS", "POINTS", *_MONEY), whole=whole)
    page.add_rows(grid, [[told[name] for name in names] for told in cells], names="WHERE")


def array_words(count: ArrayCount) -> str:
    """Return how an array's elements fare: "8 start, 4 run, 28 wait", or "all ended"."""
    parts = {"start": count.placed, "run": count.running, "wait": count.waiting}
    told = ", ".join(f"{number:,} {what}" for what, number in parts.items() if number)
    return told or "all ended"


type Indexes = dict[tuple[str, str], int]


def _indexes(snapshot: Snapshot) -> Indexes:
    return {
        (machine.name, device.id): device.index
        for machine in snapshot.fleet.machines
        for device in machine.devices
    }


def _row(outcome: PlacedRun | StayingRun, indexes: Indexes, width: int) -> Sequence[str | Text]:
    name = words((outcome.run, "bold"))
    if outcome.array:
        name.append(f" ({array_words(outcome.array)})", "dim")
    hosts = [worker.host for worker in outcome.workers]
    bought = any(worker.kind == "offering" for worker in outcome.workers)
    gpus = sum(len(worker.devices) for worker in outcome.workers)
    points = f"{outcome.scores.points:.1f}" if isinstance(outcome, PlacedRun) else ""
    return (
        name,
        words((outcome.outcome, STYLES[outcome.outcome])),
        folded(hosts, max(16, width // 4)),
        str(gpus or ""),
        _devices(outcome.workers, indexes) if len(set(hosts)) == 1 and not bought else "",
        *_joined(outcome),
        points,
    )


def _joined(outcome: PlacedRun | StayingRun) -> tuple[str, str]:
    """Return how a run on several hosts is cut, and what joins them: "2 x 8", "NVLink d1"."""
    if not isinstance(outcome, PlacedRun) or outcome.array:
        return "", ""
    if len({worker.host for worker in outcome.workers}) < 2:
        return "", ""
    shape = outcome.shape
    cut = f"{shape.tasks} x {shape.gpus_each}" if shape.gpus_each else str(shape.tasks)
    if outcome.rung not in _NETWORKS:
        return cut, ""  # bought: nothing is known of it
    network = " ".join(filter(None, (_NETWORKS[outcome.rung], outcome.group)))
    return cut, printable(network)


def _devices(workers: Iterable[Worker], indexes: Indexes) -> str:
    """Return the GPUs of one host, by index; by id where the host isn't in the fleet."""
    given = [(worker.host, device) for worker in workers for device in worker.devices]
    if all(pair in indexes for pair in given):
        return ranged(indexes[pair] for pair in given)
    return printable(", ".join(device for _, device in given))
