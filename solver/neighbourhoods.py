"""Large neighbourhoods: solve again for a few hosts at a time, all others as they are.

For objectives that the whole model is too large to search: CP-SAT finds the best for a few hosts
in a fraction of a second. Which hosts are taken together is drawn with the seed.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from stowplan.solver.asks import RunClass
from stowplan.solver.choices import Choices
from stowplan.solver.hosts import Host
from stowplan.solver.interrupt import Interrupt
from stowplan.solver.linear import narrowed
from stowplan.solver.search import Found, Goal, Limits, search

HOSTS = 8
"""How many hosts are solved together."""
JOINING = 24
"""How many classes of which runs still wait may join in one neighbourhood."""
EACH = 0.02
"""Deterministic time for one neighbourhood."""


def improved(
    choices: Choices,
    goal: Goal,
    values: Sequence[int],
    limits: Limits,
    fixed: Mapping[int, int],
    joining: Sequence[RunClass] = (),
    interrupt: Interrupt | None = None,
) -> Iterator[Found]:
    """Yield what each neighbourhood came to, with the values of the whole program.

    The caller stops when it has had enough. As many runs of a class start as before, except of
    the classes that are `joining`; `fixed` variables stay as they are.
    """
    draw = random.Random(limits.seed)
    current = list(values)
    hosts = [host for host in choices.hosts if choices.classes_on(host)]
    while True:
        for group in _groups(hosts, draw):
            waiting = [each for each in joining if choices.starts(each).at(current) < each.count]
            drawn = draw.sample(waiting, min(JOINING, len(waiting)))
            free = _columns(choices, group, current, drawn) - fixed.keys()
            part, order = choices.program.restricted(current, free)
            index = {column: position for position, column in enumerate(order)}
            own = Goal(narrowed(goal.terms, current, index), goal.maximise)
            found = search(
                part,
                own,
                [current[column] for column in order],
                replace(limits, deterministic=EACH),
                trivial=part.range(own.terms)[1 if goal.maximise else 0],
                interrupt=interrupt,
            )
            for column, value in zip(order, found.values, strict=True):
                current[column] = value
            yield replace(found, values=list(current))


def _groups(hosts: Sequence[Host], draw: random.Random) -> Iterator[Sequence[Host]]:
    """Yield every host once, in groups: by turns at random, and beside its like."""
    shuffled = list(hosts)
    draw.shuffle(shuffled)
    if draw.random() < 0.5:
        shuffled.sort(key=_kind)
    for start in range(0, len(shuffled), HOSTS):
        yield shuffled[start : start + HOSTS]


def _kind(host: Host) -> tuple[str, int, int]:
    model = host.lots[0].model if host.lots else ""
    return (model, len(host.empty.devices), host.empty.millicores)


def _columns(
    choices: Choices, group: Sequence[Host], values: Sequence[int], joining: Sequence[RunClass]
) -> set[int]:
    """Return the variables of a group of hosts, for the classes that have workers there.

    As many of a class stay there as are there; of the others there are none, unless they join.
    """
    there = {each.name for each in joining} | {
        each.name
        for host in group
        for each in choices.classes_on(host)
        if choices.workers_on(each, host).at(values)
    }
    columns: set[int] = set().union(*(choices.starts(each).terms for each in joining))
    for host in group:
        for each in choices.classes_on(host):
            if each.name in there:
                columns.update(choices.workers_on(each, host).terms)
                for kind in choices.kinds_for(each, host):
                    columns.update(choices.gpus_on(each, kind).terms)
    targets = (p.target for p in choices.program.products if columns & p.left.terms.keys())
    return columns.union(targets)
