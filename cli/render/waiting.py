"""What doesn't run, and why: each run's reason, the host that comes closest, the telling hosts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rich.text import Text

from stowplan.cli.render.causes import causes
from stowplan.cli.render.page import STYLES, Page, table, words
from stowplan.cli.render.running import array_words
from stowplan.cli.render.text import counted, folded
from stowplan.cli.render.words import advice
from stowplan.model.decision import (
    Decision,
    HostRow,
    PlacedRun,
    StayingRun,
    WaitingRun,
)
from stowplan.model.reasons import Code, Reason

MOST_TOLD = 12
"""More kinds of waiting than this get a line each, without their hosts."""
MOST_LINES = 40
"""More reasons than this among those lines are told by their cause, with one as an example."""
MOST_GROUPS = 4
"""Kinds of host shown for a waiting run."""


@dataclass(frozen=True)
class _Alike:
    """Runs that wait alike: of the same class, for the same reason."""

    runs: tuple[WaitingRun, ...]
    hosts: tuple[HostRow, ...]
    hosts_of: str | None
    """The run that shows their hosts, where it isn't one of them."""


def add_waiting(page: Page, decision: Decision, *, whole: bool) -> None:
    """Add each waiting run, those alike together."""
    groups = list(_alike(decision.outcomes))
    if not groups:
        return
    page.heading(f"Waiting: {counted(sum(len(group.runs) for group in groups), 'run')}")
    told = groups if whole else groups[:MOST_TOLD]
    for group in told:
        page.space()
        _add_group(page, group, whole=whole)
    if rest := groups[len(told) :]:
        page.space()
        grid = table(("runs", "names", "code", "why"), right=("runs",), whole=("code",))
        grid.show_header = False
        for cause in causes((run for group in rest for run in group.runs), MOST_LINES):
            runs = (counted(len(cause.runs), "run"), folded((run.run for run in cause.runs), 24))
            grid.add_row(*runs, words((cause.reason.code, "yellow")), words(cause.message))
        page.add(grid, 2)
        page.add(words(("their hosts: -o wide", "dim")), 2)


def add_rest(page: Page, decision: Decision) -> None:
    """Add why the rest of an array waits, where some of it starts or runs."""
    rows = [
        (outcome.run, reason, array_words(outcome.array))
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun | StayingRun)
        and outcome.array
        and outcome.array.waiting
        and (reason := outcome.reason if isinstance(outcome, PlacedRun) else outcome.rest)
    ]
    if rows:
        page.heading("Arrays of which some wait")
        for run, reason, told in rows:
            _add_reason(page, run, told, reason, "waiting")


def _add_reason(page: Page, run: str, beside: str, reason: Reason, kind: str) -> None:
    page.space()
    parts = [(run, "bold"), (f"  {reason.code}", STYLES[kind]), (f"  {beside}", "dim")]
    page.add(words(*parts), 2)
    page.add(words(reason.message), 4)
    _add_action(page, reason)


def _add_action(page: Page, reason: Reason) -> None:
    if told := advice(reason):
        page.add(words(("-> ", "dim"), told), 4)


def _add_group(page: Page, group: _Alike, *, whole: bool) -> None:
    first = group.runs[0]
    count = f"  {len(group.runs):,} alike" if len(group.runs) > 1 else ""
    elements = f"  {array_words(first.array)}" if first.array else ""
    name = words((_names(group), "bold"), (f"  {first.reason.code}", "yellow"))
    name.append_text(words((count + elements, "dim")))
    page.add(name, 2)
    page.add(words(first.reason.message), 4)
    page.add(words((_counts(first), "dim")), 4)
    rows = list(group.hosts)
    if rows and (whole or not _says_it_all(rows, first.reason)):
        _add_hosts(page, rows, first.closest, whole=whole)
    elif group.hosts_of:
        page.add(words((f"hosts as for {group.hosts_of}", "dim")), 6)
    _add_action(page, first.reason)


def _names(group: _Alike) -> str:
    return folded((run.run for run in group.runs), 48)


def _counts(run: WaitingRun) -> str:
    counts = f"{counted(run.hosts_checked, 'host')} checked, {run.hosts_ready:,} ready"
    if run.hosts_down:
        counts += f", {run.hosts_down:,} down"
    if run.closest:
        return f"closest {run.closest}; {counts}"
    return f"{counts}; none is short of room alone" if run.hosts_ready and run.hosts else counts


def _says_it_all(rows: Sequence[HostRow], reason: Reason) -> bool:
    """Whether the one row of hosts would only repeat the sentence above it."""
    return len(rows) == 1 and rows[0].reasons[0].message in reason.message


def _add_hosts(page: Page, rows: list[HostRow], closest: str | None, *, whole: bool) -> None:
    grid = table(("hosts", "names", "code", "why"), right=("hosts",), whole=("code",))
    grid.show_header = False
    room = max(14, page.width // 4)
    cells: list[Sequence[str | Text]] = []
    if whole:
        for row in rows:
            for number, reason in enumerate(row.reasons):
                lead = ("", "")
                if not number:
                    lead = (counted(len(row.hosts), "host"), folded(row.hosts, room))
                cells.append((*lead, reason.code, words(reason.message)))
        page.add_rows(grid, cells, 6, names="names")
        return
    groups = _by_code(rows, closest)
    for code, alike in groups[:MOST_GROUPS]:
        hosts = [host for row in alike for host in row.hosts]
        message = alike[0].reasons[0].message
        if len(alike) > 1:
            shown = alike[0].kind == "offering"  # its name stands beside it, and is long
            message = f"e.g. {message}" if shown else f"e.g. {alike[0].hosts[0]}: {message}"
        cells.append((counted(len(hosts), "host"), folded(hosts, room), code, words(message)))
    page.add_rows(grid, cells, 6, names="names")
    if left := groups[MOST_GROUPS:]:
        hidden = sum(len(row.hosts) for _, alike in left for row in alike)
        codes = ", ".join(code for code, _ in left)
        page.add(words((f"{counted(hidden, 'more host')}: {codes}", "dim")), 6)


def _by_code(rows: Iterable[HostRow], closest: str | None) -> list[tuple[Code, list[HostRow]]]:
    """Group rows by their deciding reason: that of the closest host first, then the commonest."""
    groups: dict[Code, list[HostRow]] = {}
    for row in rows:
        mates = groups.setdefault(row.reasons[0].code, [])
        mates.insert(0, row) if closest in row.hosts else mates.append(row)

    def telling(group: tuple[Code, list[HostRow]]) -> tuple[bool, int, str]:
        code, mates = group
        return (closest not in mates[0].hosts, -sum(len(row.hosts) for row in mates), code)

    return sorted(groups.items(), key=telling)


def _alike(outcomes: Iterable[object]) -> Iterator[_Alike]:
    waiting = [outcome for outcome in outcomes if isinstance(outcome, WaitingRun)]
    tables = {run.run: run.hosts for run in waiting}
    groups: dict[tuple[str, str], list[WaitingRun]] = {}
    for run in waiting:
        groups.setdefault((run.same_as or run.run, run.reason.message), []).append(run)
    for (shows, _), runs in groups.items():
        of_another = runs[0].same_as is not None
        yield _Alike(
            tuple(runs), () if of_another else tables[shows], shows if of_another else None
        )
