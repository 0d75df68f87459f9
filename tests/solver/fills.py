"""Layouts that hosts can hold, whatever rows say of them."""

from __future__ import annotations

import random

import numpy as np

from stowplan.solver.grid import Grid
from stowplan.solver.layout import Layout


def filled_at_random(grid: Grid, draw: random.Random) -> Layout:
    """Start runs in any order on any hosts until most of what would fit is there."""
    layout = Layout(grid)
    waiting = [index for index, each in enumerate(grid.classes) for _ in range(each.count)]
    draw.shuffle(waiting)
    for index in waiting:
        if draw.random() < 0.9:
            _start(layout, index, draw)
    return layout


def _start(layout: Layout, index: int, draw: random.Random) -> None:
    """Start one run of a class, the oldest that waits, if it fits."""
    ask = layout.grid.classes[index].ask
    most = (ask.tasks or 0) if ask.may_share else 1
    room = np.minimum(layout.slots(index), most).tolist()
    seats = [place for place, count in enumerate(room) for _ in range(count)]
    if not ask.tasks or len(seats) < ask.tasks:
        return
    drawn = draw.sample(seats, ask.tasks)
    counts = np.bincount(drawn, minlength=len(room))
    layout.put(index, np.arange(len(room)), counts)
    layout.start_oldest(index, sum(layout.started[index]) + 1)
