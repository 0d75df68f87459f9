"""Points: which of the hosts that would do equally well suits a worker best.

All figures are thousandths of a point, and whole; an offering has none. They hold for the state
after the whole decision, so that runs which share a machine earn what they leave of it together:

    a machine kept for labels the run selects   +100, -5 for each label
    GPUs packed                                 up to +50: the share of the machine's GPUs in use
    a worker without GPUs on a GPU machine      -30
    cores left free, memory left free           up to +25 each: the share of the whole
    each GPU at risk                            -60
    the machine's CPU is under pressure         -20
    a mounted drive is on the machine           +40 each
    else it is near; else RDMA at both ends     +15; +10 each
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from stowplan.solver.asks import Ask
from stowplan.solver.cells import Cell
from stowplan.solver.choices import Choices
from stowplan.solver.grid import Grid
from stowplan.solver.handout import handed_out
from stowplan.solver.hosts import Host
from stowplan.solver.layout import Layout
from stowplan.solver.program.linear import Sum, total

POINT = 1000
RESERVED, EACH_LABEL = 100 * POINT, 5 * POINT
PACKED = 50 * POINT
CPU_ON_GPU_MACHINE = -30 * POINT
LEFT_FREE = 25 * POINT
AT_RISK = -60 * POINT
PRESSURE = -20 * POINT
DRIVE_HERE, DRIVE_NEAR, DRIVE_RDMA = 40 * POINT, 15 * POINT, 10 * POINT


def standing(ask: Ask, host: Host) -> int:
    """Return the points of a worker that don't depend on what else is placed."""
    if host.offering:
        return 0
    machine = host.machine
    points = 0
    if machine.reserved_for:
        points += RESERVED - EACH_LABEL * len(machine.reserved_for)
    if not ask.gpus and machine.devices:
        points += CPU_ON_GPU_MACHINE
    if machine.cpu_pressure:
        points += PRESSURE
    for name, _ in ask.drives:
        reach = host.drives[name]
        if reach.here:
            points += DRIVE_HERE
        elif reach.near:
            points += DRIVE_NEAR
        elif reach.rdma:
            points += DRIVE_RDMA
    return points


def packed(host: Host) -> int:
    """Return what each GPU in use is worth to a worker with GPUs there."""
    devices = 0 if host.offering else len(host.machine.devices)
    return PACKED // devices if devices else 0


def left_free(host: Host) -> int:
    """Return what the room at the start is worth to a worker: cores and memory."""
    if host.offering:
        return 0
    return _share(host.start.millicores, host.empty.millicores) + _share(
        host.start.memory_bytes, host.empty.memory_bytes
    )


def worth_of(ask: Ask, host: Host) -> int:
    """Return what the room that a worker takes is worth, to each worker there."""
    if host.offering:
        return 0
    return _share(ask.millicores, host.empty.millicores) + _share(
        ask.memory_bytes, host.empty.memory_bytes
    )


def _share(part: int, whole: int) -> int:
    return LEFT_FREE * max(0, part) // whole if whole else 0


@dataclass(frozen=True)
class Load:
    """What this cycle places on one host."""

    workers: int = 0
    gpu_workers: int = 0
    gpus: int = 0
    worth: int = 0
    """The sum of `worth_of` over its workers."""
    standing: int = 0
    """The sum of `standing` over its workers."""
    at_risk: int = 0

    def plus(self, ask: Ask, host: Host, at_risk: int, times: int = 1) -> Load:
        """Return the load with workers more (or, times -1, less)."""
        return Load(
            self.workers + times,
            self.gpu_workers + times * bool(ask.gpus),
            self.gpus + times * ask.gpus,
            self.worth + times * worth_of(ask, host),
            self.standing + times * standing(ask, host),
            self.at_risk + times * at_risk,
        )


def shared(host: Host, load: Load) -> int:
    """Return what each worker with GPUs earns by how full the host's GPUs are."""
    held = len(host.empty.devices) - len(host.start.devices)
    return packed(host) * (held + load.gpus)


def of_worker(ask: Ask, host: Host, load: Load, at_risk: int) -> int:
    """Return the points of one worker on a host that carries this load, itself included."""
    points = standing(ask, host) + left_free(host) - load.worth + AT_RISK * at_risk
    return points + (shared(host, load) if ask.gpus else 0)


def of_host(host: Host, load: Load) -> int:
    """Return the points of all the workers that this cycle places on a host."""
    return (
        load.standing
        + AT_RISK * load.at_risk
        + load.workers * (left_free(host) - load.worth)
        + load.gpu_workers * shared(host, load)
    )


def earned(layout: Layout) -> int:
    """Return the points of all that a layout places."""
    grid, points = layout.grid, 0
    for position, there in enumerate(layout.by_host()):
        if there:
            host, load = grid.hosts[position], Load()
            for index, workers in there:
                load = load.plus(grid.classes[index].ask, host, 0, workers)
            risk = sum(part.amount for part in handed_out(grid, position, there) if part.at_risk)
            points += of_host(host, replace(load, at_risk=risk))
    return points


def objective(choices: Choices) -> Sum:
    """Return the points of all that is placed, each cell a host; adds the products it takes."""
    return total(_objective_of(choices, cell) for cell in choices.cells)


def most(grid: Grid, started: Mapping[str, int]) -> int:
    """Return a bound: every worker alone on its best host, with all GPUs there in use, and every
    run in its best option.

    `started` says how many runs of each class start, by the class's name.
    """
    free = np.array([left_free(host) for host in grid.hosts], np.int64)
    best: dict[str, int] = {}
    runs: dict[str, int] = {}
    for each, there in zip(grid.classes, grid.where, strict=True):
        if not len(there):
            continue
        of_sort = np.array([_at_best(each.ask, host) for host in grid.families], np.int64)
        own = int((of_sort[grid.family_of[there]] + free[there]).max()) * (each.ask.tasks or 0)
        best[each.first] = max(own, best.get(each.first, own))
        runs[each.first] = runs.get(each.first, 0) + started[each.name]
    return sum(best[first] * count for first, count in runs.items())


def _at_best(ask: Ask, host: Host) -> int:
    """Return a worker's points alone on a host with all GPUs in use, but for the room left free."""
    full = packed(host) * len(host.empty.devices) if ask.gpus else 0
    return standing(ask, host) - worth_of(ask, host) + full


def _objective_of(choices: Choices, cell: Cell) -> Sum:
    here, host = choices.signatures_in(cell), choices.host_of(cell)
    if not here or host.offering:
        return total(())
    program = choices.program
    workers = choices.over(cell, lambda each: 1)
    gpu_workers = choices.over(cell, lambda each: bool(each.ask.gpus))
    gpus = choices.over(cell, lambda each: each.ask.gpus)
    worth = choices.over(cell, lambda each: worth_of(each.ask, host))
    risk = total(choices.gpus_taken(kind, cell) for kind in cell.kinds if kind.at_risk)
    held = len(host.empty.devices) - len(host.start.devices)
    points = choices.over(cell, lambda each: standing(each.ask, host)) + risk * AT_RISK
    points += workers * left_free(host)
    if worth:
        points += program.product(workers, worth) * -1
    if gpu_workers:
        points += (gpu_workers * held + program.product(gpu_workers, gpus)) * packed(host)
    return points
