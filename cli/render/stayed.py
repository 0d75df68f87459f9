"""What keeps its place for want of evidence, is refused, or is withdrawn: those alike together."""

from __future__ import annotations

from stowplan.cli.render.causes import Cause, causes
from stowplan.cli.render.page import STYLES, Page, table, words
from stowplan.cli.render.text import counted, folded
from stowplan.cli.render.words import advice
from stowplan.model.decision import Decision, RefusedRun, StayingRun

MOST_TOLD = 12
"""More causes than this get a line each."""

_TITLES = {
    "held": "Held in place until there is proof that they ended",
    "refused": "Refused until the request or the policy changes",
    "withdrawn": "Withdrawn",
}


def add_stayed(page: Page, decision: Decision, *, whole: bool) -> None:
    """Add what was held in its place for want of evidence, refused, or withdrawn, and why."""
    for kind, title in _TITLES.items():
        runs = [
            outcome
            for outcome in decision.outcomes
            if isinstance(outcome, StayingRun | RefusedRun) and outcome.outcome == kind
        ]
        if not runs:
            continue
        page.heading(f"{title}: {counted(len(runs), 'run')}")
        groups = causes(runs, len(runs) if whole else MOST_TOLD)
        told = groups if whole else groups[:MOST_TOLD]
        for cause in told:
            _add_cause(page, cause, kind)
        if rest := groups[len(told) :]:
            _add_lines(page, rest, kind)


def _add_cause(page: Page, cause: Cause, kind: str) -> None:
    page.space()
    count = f"  {len(cause.runs):,} alike" if len(cause.runs) > 1 else ""
    hosts = _hosts(cause)
    page.add(
        words(
            (folded((run.run for run in cause.runs), 48), "bold"),
            (f"  {cause.reason.code}", STYLES[kind]),
            (f"{count}{f'  {folded(hosts)}' if hosts else ''}", "dim"),
        ),
        2,
    )
    page.add(words(cause.message), 4)
    if told := advice(cause.reason):
        page.add(words(("-> ", "dim"), told), 4)


def _hosts(cause: Cause) -> list[str]:
    """Return where the runs are."""
    return [
        worker.host
        for run in cause.runs
        for worker in (run.workers if isinstance(run, StayingRun) else ())
    ]


def _add_lines(page: Page, rest: list[Cause], kind: str) -> None:
    page.space()
    grid = table(("runs", "names", "code", "why"), right=("runs",), whole=("code",))
    grid.show_header = False
    for cause in rest:
        names = folded((run.run for run in cause.runs), 24)
        code = words((cause.reason.code, STYLES[kind]))
        grid.add_row(counted(len(cause.runs), "run"), names, code, words(cause.message))
    page.add(grid, 2)
