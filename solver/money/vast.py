"""Vast amounts: what adds up to more than whole numbers hold exactly is refused by its name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from stowplan.model.errors import InvalidInput, Item, Path, Problem
from stowplan.model.money import in_cents
from stowplan.solver.grid import Grid
from stowplan.solver.money.prices import VAST, Purse
from stowplan.solver.money.profiles import LARGEST, OWN

WIDEST = 2**60
"""What the terms of a row must add up to less than, were all of them at their most."""


def refuse_vast_sums(grid: Grid) -> None:
    """Raise InvalidInput where costs, times or spending add up to more than can be counted.

    Spending matters only where a purse could be overdrawn.
    """
    for own, each in zip(grid.classes, grid.appraisals, strict=True):
        if each is not None and each.measure.max(initial=0) >= VAST:
            raise InvalidInput([_of_run(own.name, "costs or takes more than can be counted")])
    for purse in grid.eligibility.prices.purses:
        could = could_spend(grid, purse)
        if could > purse.micro and (could >= LARGEST or _width(grid, purse) >= WIDEST):
            told = f"its runs could spend {in_cents(could)} USD: too much to add up"
            raise InvalidInput([_of_purse(purse, told)])
    for preference in OWN:
        most = [
            int(np.abs(preference.figure(grid, index)).max(initial=0)) * workers
            for index, workers in enumerate(_workers(grid))
        ]
        if sum(most) >= LARGEST:
            run = grid.classes[most.index(max(most))].name
            amount = (
                f"{in_cents(max(most))} USD"
                if preference.name in ("cost", "price")
                else f"{max(most)} s"
            )
            told = f"could come to {amount} by its {preference.name}: too much to add up"
            raise InvalidInput([_of_run(run, told)])


def could_spend(grid: Grid, purse: Purse) -> int:
    """Return what the runs paid from a purse cost on their dearest hosts, in micro-dollars."""
    workers = _workers(grid)
    return sum(
        int(grid.cost(index).max(initial=0)) * workers[index] for index in _members(grid, purse)
    )


def _width(grid: Grid, purse: Purse) -> int:
    """Return what they would cost on all hosts at once."""
    width, workers = 0, _workers(grid)
    for index in _members(grid, purse):
        there = grid.where[index]
        instances = np.minimum(grid.instances[there], workers[index])
        times = np.where(grid.offered[there], instances, workers[index])
        width += sum(map(int.__mul__, grid.cost(index).tolist(), times.tolist()))
    return width


def _members(grid: Grid, purse: Purse) -> list[int]:
    return [index for index, keys in enumerate(grid.purses_of) if purse.key in keys]


def _workers(grid: Grid) -> Sequence[int]:
    return [each.count * (each.ask.tasks or 0) for each in grid.classes]


def _of_run(run: str, told: str) -> Problem:
    path: Path = ("runs", Item(run), "placement")
    return Problem(path, f"'{run}' {told}", "give it a lower max_rate_usd_per_hour")


def _of_purse(purse: Purse, told: str) -> Problem:
    path: Path = ("policy", "workspaces", Item(purse.name), "balance_usd")
    if purse.rule == "budget":
        path = ("policy", "budgets", Item(purse.name), "remaining_usd")
    return Problem(path, told, "give its runs a lower max_rate_usd_per_hour")
