"""An instance in plain form, read off its snapshot: what every baseline is given.

Runs of one kind go to hosts, and what they ask of a host must fit beside each other in four
figures: GPUs, sound GPUs, cores, memory. Which GPUs is no question: a run that may use a GPU at
risk takes those first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from stowplan.model.fleet import Machine
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot

type Ints = NDArray[np.int64]
type Flags = NDArray[np.bool_]

GPUS, SOUND, MILLICORES, MIB = range(4)
UNIT = 8
"""The weight of a GPU that a new run asks for; it grows by one with each eighth of `ageing_s`."""
MOST_STEPS = 64


@dataclass(frozen=True)
class Traits:
    """What runs choose machines by."""

    model: str
    labels: frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Kind:
    """Runs that ask the same and weigh the same."""

    asks: tuple[int, int, int, int]
    models: tuple[str, ...]
    labels: frozenset[tuple[str, str]]
    priority: int
    weight: int

    def accepts(self, traits: Traits) -> bool:
        """Whether a run of this kind may go to a machine with these traits."""
        model = traits.model.lower()
        any_model = not self.models or any(term.lower() in model for term in self.models)
        return self.labels <= traits.labels and any_model


@dataclass(frozen=True, eq=False)
class Problem:
    """Hosts with what is free on them, kinds of runs, and the queue they stand in."""

    hosts: tuple[str, ...]
    room: Ints
    """Of each host, what is free: hosts x 4."""
    traits: tuple[Traits, ...]
    trait: Ints
    """Of each host, the index of its traits."""
    kinds: tuple[Kind, ...]
    queue: tuple[int, ...]
    """The kind of each run that waits: by priority, then age, then the order of the file."""
    kind_of: Mapping[str, int]
    """The kind of a run, by its name."""

    @cached_property
    def asks(self) -> Ints:
        """What a run of each kind asks: kinds x 4."""
        return np.array([kind.asks for kind in self.kinds], np.int64)

    @cached_property
    def weights(self) -> Ints:
        """What a run of each kind weighs."""
        return np.array([kind.weight for kind in self.kinds], np.int64)

    @cached_property
    def counts(self) -> Ints:
        """How many runs of each kind wait."""
        return np.bincount(np.array(self.queue, np.int64), minlength=len(self.kinds))

    @cached_property
    def accepts(self) -> Flags:
        """Whether a kind accepts hosts with these traits: kinds x traits."""
        return np.array([[kind.accepts(each) for each in self.traits] for kind in self.kinds])

    @cached_property
    def tiers(self) -> tuple[int, ...]:
        """The priorities, highest first."""
        return tuple(sorted({kind.priority for kind in self.kinds}, reverse=True))

    def in_tier(self, tier: int) -> Flags:
        """Return which kinds have this priority."""
        return np.array([kind.priority == tier for kind in self.kinds])

    def nothing(self) -> Ints:
        """Return an answer that places no run: kinds x hosts."""
        return np.zeros((len(self.kinds), len(self.hosts)), np.int64)

    def check(self, answer: Ints) -> None:
        """Raise AssertionError where an answer doesn't fit."""
        assert (answer >= 0).all(), "fewer than none"
        assert (answer.sum(1) <= self.counts).all(), "more runs than there are"
        assert (answer.T @ self.asks <= self.room).all(), "more than a host has"
        assert not answer[~self.accepts[:, self.trait]].any(), "a host that the runs don't accept"

    def weight_by_tier(self, answer: Ints) -> tuple[int, ...]:
        """Return the weight that an answer places of each priority, highest first."""
        each = answer.sum(1) * self.weights
        return tuple(int(each[self.in_tier(tier)].sum()) for tier in self.tiers)


def taken(room: Ints, asks: Ints) -> Ints:
    """Return what runs leave of a room: GPUs at risk go first to those that may use them."""
    left: Ints = room - asks
    left[..., SOUND] = np.minimum(left[..., SOUND], left[..., GPUS])
    return left


def problem_of(snapshot: Snapshot) -> Problem:
    """Return the plain form of a snapshot, which holds nothing but what a `Problem` can say."""
    machines, runs = snapshot.fleet.machines, _in_line(snapshot)
    known = [_traits(machine) for machine in machines]
    traits = tuple(dict.fromkeys(known))
    index = {each: number for number, each in enumerate(traits)}
    asking = [_kind(run, snapshot) for run in runs]
    kinds = tuple(dict.fromkeys(asking))
    number_of = {kind: number for number, kind in enumerate(kinds)}
    return Problem(
        hosts=tuple(machine.name for machine in machines),
        room=_room(snapshot),
        traits=traits,
        trait=np.array([index[each] for each in known], np.int64),
        kinds=kinds,
        queue=tuple(number_of[kind] for kind in asking),
        kind_of={run.name: number_of[kind] for run, kind in zip(runs, asking, strict=True)},
    )


def _in_line(snapshot: Snapshot) -> Sequence[Run]:
    waiting = [run for run in snapshot.runs if run.state == "pending"]
    return sorted(waiting, key=lambda run: (-run.priority, run.submitted_at or snapshot.now))


def _room(snapshot: Snapshot) -> Ints:
    busy: set[tuple[str, str]] = set()
    used: Counter[tuple[str, int]] = Counter()
    for run in snapshot.runs:
        for worker in run.placed.workers if run.placed else ():
            busy.update((worker.host, device) for device in worker.devices)
            for figure in (MILLICORES, MIB):
                used[worker.host, figure] += _asks(run)[figure]
    rows = []
    for machine in snapshot.fleet.machines:
        free = [each for each in machine.devices if (machine.name, each.id) not in busy]
        cores = round(1000 * (machine.cpu_cores - machine.used.cpu_cores))
        memory = (machine.memory_bytes - machine.used.memory_bytes) // 2**20
        rows.append(
            (
                len(free),
                sum(device.health == "healthy" for device in free),
                cores - used[machine.name, MILLICORES],
                memory - used[machine.name, MIB],
            )
        )
    return np.array(rows, np.int64)


def _traits(machine: Machine) -> Traits:
    model = machine.devices[0].model if machine.devices else ""
    return Traits(model, frozenset(machine.labels.items()))


def _kind(run: Run, snapshot: Snapshot) -> Kind:
    waited = int((snapshot.now - (run.submitted_at or snapshot.now)).total_seconds())
    steps = min(MOST_STEPS, waited * UNIT // snapshot.policy.ageing_s)
    return Kind(
        asks=_asks(run),
        models=run.gpus.models,
        labels=frozenset(run.node_selection.match_labels.items()),
        priority=run.priority,
        weight=(run.gpus.count or 1) * (UNIT + steps),
    )


def _asks(run: Run) -> tuple[int, int, int, int]:
    """Return what the one worker of a run asks, memory rounded up to whole MiB."""
    gpus = run.gpus.count
    memory = run.memory_bytes + gpus * run.per_gpu.memory_bytes
    return (
        gpus,
        gpus if run.gpus.healthy_only else 0,
        round(1000 * run.cpu_cores) + gpus * round(1000 * run.per_gpu.cpu_cores),
        -(-memory // 2**20),
    )
