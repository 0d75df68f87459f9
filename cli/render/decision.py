"""A decision as a page: what runs, what waits and why; with `whole`, all that is known of it."""

from __future__ import annotations

from stowplan.cli.render import words as say
from stowplan.cli.render.money import Money
from stowplan.cli.render.page import Page, words
from stowplan.cli.render.running import add_running
from stowplan.cli.render.stayed import add_stayed
from stowplan.cli.render.waiting import add_rest, add_waiting
from stowplan.cli.render.wide import add_account, add_fleet, add_placed
from stowplan.model.decision import Decision
from stowplan.model.snapshot import Snapshot


def add_decision(
    page: Page, decision: Decision, snapshot: Snapshot, *, whole: bool, took_s: float | None = None
) -> None:
    """Add all of a decision: the summary, what runs, what doesn't and why."""
    now = f"{decision.now:%Y-%m-%d %H:%M:%S %Z}"
    page.add(words((decision.snapshot, "bold"), f"  at {now}, {say.fleet(snapshot)}"))
    page.add(words((say.outcomes(decision), "bold"), f"; {say.gpus_in_use(decision, snapshot)}"))
    money = Money(decision, snapshot)
    if money.is_any:
        page.add(words(money.summary()))
    page.add(words(say.proof(decision.solver, took_s)))
    add_running(page, decision, snapshot, whole=whole)
    add_waiting(page, decision, whole=whole)
    add_rest(page, decision)
    add_stayed(page, decision, whole=whole)
    if whole:
        add_placed(page, decision)
        add_fleet(page, decision, snapshot)
        add_account(page, decision)
