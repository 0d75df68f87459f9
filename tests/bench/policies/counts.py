"""The counts model: how many runs of each kind go into each bin, as arrays for any solver.

A bin is a host, or hosts that are free alike taken together. For one host the rows are the whole
law; for several together they allow a little more than fits, so that a bound still holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tests.bench.plain import GPUS, Flags, Ints, Problem

LEVELS = (2, 4, 8)
"""Of GPUs: a host with 7 free takes one run of 4, whatever its neighbour has free."""


@dataclass(frozen=True)
class Bins:
    """Hosts by how much is free on them and what they are."""

    members: tuple[Ints, ...]
    """The hosts of each bin."""
    room: Ints
    """Of each host of the bin: bins x 4."""
    trait: Ints


@dataclass(frozen=True)
class Counts:
    """Maximise `weight x` under `matrix x <= at_most` and `0 <= x <= upper`, x whole numbers."""

    kind: Ints
    """Of each column."""
    bin: Ints
    """Of each column."""
    upper: Ints
    weight: Ints
    row: Ints
    """Of each entry of the matrix, sorted."""
    column: Ints
    entry: Ints
    at_most: Ints


def each_host(problem: Problem) -> Bins:
    """Return a bin for each host with anything free."""
    hosts = np.flatnonzero(problem.room.any(1))
    members = tuple(np.array([host]) for host in hosts)
    return Bins(members, problem.room[hosts], problem.trait[hosts])


def alike(problem: Problem) -> Bins:
    """Return a bin for all hosts with the same free and the same traits, as kinds read them."""
    read = problem.accepts.T[problem.trait]
    rows = np.column_stack([problem.room, read])
    firsts, of = np.unique(rows, axis=0, return_index=True, return_inverse=True)[1:]
    members = tuple(np.flatnonzero(of.reshape(-1) == number) for number in range(len(firsts)))
    return Bins(members, problem.room[firsts], problem.trait[firsts])


def counts_model(problem: Problem, bins: Bins, *, levels: bool) -> Counts:
    """Return the model; with `levels` also the rows that tell GPUs on one host from GPUs on two."""
    asks, hosts = problem.asks, np.array([len(each) for each in bins.members])
    per_host = _most(asks, bins.room)
    per_host[~problem.accepts[:, bins.trait]] = 0
    upper = np.minimum(problem.counts[:, None], per_host * hosts)
    kind, where = np.nonzero(upper)
    rows: list[tuple[Ints, Ints, Ints]] = []  # row of each column, coefficient, limits
    for figure in range(asks.shape[1]):
        rows.append((where, asks[kind, figure], bins.room[:, figure] * hosts))
    for size in LEVELS if levels else ():
        rows.append((where, asks[kind, GPUS] // size, bins.room[:, GPUS] // size * hosts))
    rows.append((kind, np.ones_like(kind), problem.counts))
    return _assembled(rows, kind, where, upper[kind, where], problem.weights[kind])


def _most(asks: Ints, room: Ints) -> Ints:
    """Return how many runs of each kind fit on one host of each bin: kinds x bins."""
    most = np.full((len(asks), len(room)), np.iinfo(np.int64).max)
    for figure in range(asks.shape[1]):
        needs = asks[:, figure] > 0
        fit = room[:, figure] // np.maximum(1, asks[:, figure, None])
        most[needs] = np.minimum(most[needs], fit[needs])
    return most


def _assembled(
    rows: list[tuple[Ints, Ints, Ints]], kind: Ints, where: Ints, upper: Ints, weight: Ints
) -> Counts:
    row, column, entry, at_most = [], [], [], []
    before = 0
    for of_column, coefficient, limits in rows:
        used = np.flatnonzero(coefficient)
        row.append(of_column[used] + before)
        column.append(used)
        entry.append(coefficient[used])
        at_most.append(limits)
        before += len(limits)
    all_rows = np.concatenate(row)
    order = np.argsort(all_rows, kind="stable")
    return Counts(
        kind,
        where,
        upper,
        weight,
        all_rows[order],
        np.concatenate(column)[order],
        np.concatenate(entry)[order],
        np.concatenate(at_most),
    )


def handed_out(problem: Problem, bins: Bins, model: Counts, values: Ints) -> Ints:
    """Return the answer (kinds x hosts) of columns' values, for bins of one host each."""
    answer = problem.nothing()
    hosts = np.array([each[0] for each in bins.members])
    answer[model.kind, hosts[model.bin]] = values
    return answer


def of_tier(problem: Problem, model: Counts, tier: int) -> NDArray[np.int64]:
    """Return the weight of each column, or 0 where it isn't of this priority."""
    wanted: Flags = problem.in_tier(tier)[model.kind]
    return np.where(wanted, model.weight, 0)
