"""The value stage of a large fleet: over cells of machines and single offerings, then on hosts.

What starts stays. The answer over cells is packed onto the machines; what they don't hold goes
where it fits best, or where one other worker can leave; if that fails, the layout stays as it was.
Then a few hosts at a time, those with the most regret first.
"""

from __future__ import annotations

from stowplan.solver.cells import Cell, apart, merged, signatures
from stowplan.solver.chain import Chain, Tally
from stowplan.solver.choices import Choices
from stowplan.solver.greedy import complete
from stowplan.solver.grid import Grid, Ints
from stowplan.solver.large.neighbourhoods import Neighbourhoods
from stowplan.solver.large.packing import make_room, packed
from stowplan.solver.layout import Layout
from stowplan.solver.limits import Limits as Shared
from stowplan.solver.money.profiles import Figure, regret, summed, trivial, wishes, worth_at_best
from stowplan.solver.program.linear import Goal, Row
from stowplan.solver.program.steps import search_in_steps
from stowplan.solver.values import values_of

SLOW, WORTHWHILE = 5, 0.0005
"""It goes on until so many neighbourhoods in a row each bring less than this share of all."""


def with_less_regret(
    layout: Layout, shared: Shared, chain: Chain, binds: Ints, tally: Tally
) -> Layout:
    """Return the same runs where they meet the most wishes, and then have the least regret."""
    choices = Choices(layout.grid, shared, _cells(layout.grid, binds), signatures(layout.grid))
    chain.measure(choices.program)
    fixed = choices.fixed(layout.started)
    values, rows, bound = values_of(choices, layout), list[Row](), 0
    spent = worth_at_best(choices, values)
    for figure, maximise in ((wishes, True), (regret, False)):
        goal = Goal(summed(choices, figure), maximise)
        best, now = trivial(choices, figure, values, maximise=maximise), goal.terms.at(values)
        bound = best
        if now != best and not chain.is_over():
            gap = 0.0 if maximise else min(1.0, chain.settings.gap * (spent + now) / max(1, now))
            found = search_in_steps(
                choices.program,
                goal,
                values,
                chain.limits("value", gap, tally.deterministic),
                trivial=best,
                fixed=fixed,
                also=rows,
                interrupt=chain.interrupt,
            )
            chain.logs.append(f"#### value, over cells\n{found.log}")
            tally.spend(found)
            values, bound = found.values, found.bound
        if goal.terms:
            now = goal.terms.at(values)
            rows.append(goal.terms >= now if maximise else goal.terms <= now)
    other = packed(choices, values)
    complete(choices, other, layout.started)
    make_room(other, layout.started)
    layout = _better(layout, other)
    layout = _on_hosts(layout, shared, chain, tally, bound, spent)
    tally.objective, tally.bound = spent + total_of(layout, regret), spent + bound
    within = chain.settings.gap * max(1, tally.objective)
    tally.proven = tally.objective - tally.bound <= within
    return layout


def total_of(layout: Layout, figure: Figure) -> int:
    """Return the sum of a figure over all that a layout places."""
    grid = layout.grid
    by_class = [figure(grid, index) for index in range(len(grid.classes))]
    found = 0
    for host, there in enumerate(layout.there):
        for index, workers in there.items():
            each = grid.appraisals[index]
            if each is not None:
                found += int(by_class[index][each.at(host)]) * workers
    return found


def _better(layout: Layout, other: Layout) -> Layout:
    """Return the other layout, if it starts the same and is of more value."""
    if other.started != layout.started or min(other.left.values(), default=0) < 0:
        return layout
    return max(layout, other, key=lambda it: (total_of(it, wishes), -total_of(it, regret)))


def _on_hosts(
    layout: Layout, shared: Shared, chain: Chain, tally: Tally, bound: int, spent: int
) -> Layout:
    """Lower the regret a few hosts at a time, as long as that brings enough."""
    now, slow = total_of(layout, regret), 0
    small = max(1, int(chain.settings.gap * (spent + now)))
    if now - bound <= small:
        return layout
    for gain in Neighbourhoods("value", layout, shared, chain, tally).lower_regret():
        now -= gain.amount
        slow = 0 if gain.amount > WORTHWHILE * (spent + now) else slow + 1
        if now - bound <= small or gain.is_whole or slow == SLOW:
            break
    return layout


def _cells(grid: Grid, binds: Ints) -> list[Cell]:
    """Return machines alike together, and each offering by itself."""
    machines = [c for c in merged(grid, binds, finer="least") if c.instances is None]
    there = {host for own in grid.where for host in own.tolist() if grid.offered[host]}
    return [*machines, *apart(grid, sorted(there))]
