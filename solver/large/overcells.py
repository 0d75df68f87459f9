"""The program over cells, tier by tier, and its answer packed onto the hosts."""

from __future__ import annotations

from dataclasses import replace

from stowplan.solver.cells import MOST_CELLS, Finer, binding, merged, signatures
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import greedy
from stowplan.solver.grid import Grid
from stowplan.solver.large.bounds import Bounds
from stowplan.solver.large.evenly import spread_evenly
from stowplan.solver.large.packing import packed
from stowplan.solver.layout import Layout
from stowplan.solver.ledger import Ledger
from stowplan.solver.limits import Limits
from stowplan.solver.program.relaxed import relaxed
from stowplan.solver.program.search import search
from stowplan.solver.values import settle, values_of

OF_TIME = 0.25
"""The share of the stage's time for one tier over cells."""
RESTRICTED = 2000
"""Past so many variables a tier is first searched over those that relaxation or hint use."""


def program_over_cells(grid: Grid, shared: Limits, *, finer: Finer | None = None) -> Choices:
    """Return the program over cells, at most `MOST_CELLS` where that can be."""
    binds = binding(grid)
    cells = merged(grid, binds, finer=finer)
    if len(cells) > MOST_CELLS:
        cells = merged(grid, binds, finer="least")
    return Choices(grid, shared, cells, signatures(grid, binds))


def better_over_cells(bounds: Bounds, layout: Layout, chain: Chain, tally: Tally) -> Layout:
    """Return the better of a layout and what the program over cells comes to on the hosts."""
    choices = bounds.choices
    values = values_over_cells(bounds, layout, chain, tally)
    found = _on_hosts(choices, values)
    if not Ledger(choices, found).holds():
        return layout
    found = greedy(choices, lambda it: bounds.is_best(it) or chain.is_over(), found)
    return max(layout, found, key=Layout.weights)


def values_over_cells(
    bounds: Bounds, layout: Layout, chain: Chain, tally: Tally, *, is_brief: bool = False
) -> list[int]:
    """Return the values of the program over cells with the most weight, tier by tier.

    `is_brief`: only over those variables that relaxation or hint use; the last bit is left.
    """
    gap = chain.settings.gap
    values = values_of(bounds.choices, layout)
    share = chain.limits("place", gap / 2, tally.deterministic).deterministic * OF_TIME
    for tier in bounds.tiers:
        values = _searched(bounds, tier, values, chain, tally, share, is_brief=is_brief)
        if chain.is_over():
            break
    return values


def _on_hosts(choices: Choices, values: list[int]) -> Layout:
    """Return the layout that the values come to: host by host as it is, else spread and packed."""
    by_host = all(len(cell.hosts) == 1 for cell in choices.cells)
    if by_host and all(len(each.members) == 1 for each in choices.signatures):
        layout = Layout(choices.grid)
        settle(choices, values, layout)
        return layout
    fixed = choices.fixed(choices.started(values), options=True)
    return packed(choices, spread_evenly(choices, values, fixed))


def _searched(
    bounds: Bounds,
    tier: int,
    values: list[int],
    chain: Chain,
    tally: Tally,
    deterministic: float,
    *,
    is_brief: bool,
) -> list[int]:
    """Return the values with the most of a tier, beside what starts above it."""
    choices, goal = bounds.choices, bounds.goal(tier)
    started = choices.started(values)
    fixed, bound = choices.fixed(started, above=tier), bounds.bound(tier, started)
    rows = tuple(choices.settled(started, above=tier))
    program, gap = choices.program, chain.settings.gap
    for restricted in (True,) if is_brief else (True, False):
        value = goal.terms.at(values)
        if bound - value <= gap / 2 * bound or chain.is_over():
            break
        held = dict(fixed)
        if restricted:
            if len(program.upper) <= RESTRICTED and not is_brief:
                continue
            amounts = relaxed(program, goal, values, fixed, bound, rows).amounts
            held |= {c: 0 for c, at in enumerate(values) if not at and amounts.get(c, 0.0) <= 0}
        limits = replace(chain.limits("place", gap / 2), deterministic=deterministic)
        found = search(
            program,
            goal,
            values,
            limits,
            trivial=bound,
            fixed=held,
            also=rows,
            interrupt=chain.interrupt,
        )
        title = f"place, priority {tier}, over cells"
        chain.logs.append(f"#### {title}\n{found.log}")
        tally.spend(found)
        values = found.values
        if not restricted:
            bounds.prove(tier, started, found.bound)
            bound = min(bound, found.bound)
    return values
