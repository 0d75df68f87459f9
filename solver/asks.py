"""What runs ask of a host, and the classes of runs that ask the same."""

from __future__ import annotations

import datetime as dt
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from stowplan.model.estimating.parts import needs_of
from stowplan.model.fleet import Vendor
from stowplan.model.runs import Profile, Run
from stowplan.model.shape import Shape, demand_of
from stowplan.model.snapshot import Snapshot
from stowplan.model.topology import Unit
from stowplan.model.vicinity import Scope, Transport

if TYPE_CHECKING:
    from stowplan.solver.ladder import Group
    from stowplan.solver.money.appraisal import Own
    from stowplan.solver.money.deals import Deal

AGEING_STEPS = 8
"""Steps to an `ageing_s`: a run's weight grows by an eighth of its units with each."""
MOST_STEPS = 64


_AMOUNTS = {
    "priority", "tasks", "may_share", "millicores", "memory_bytes", "profile", "array", "work",
    "is_patient",
}  # fmt: skip


@dataclass(frozen=True)
class Work:
    """What of a run decides its costs, its end, and how it may choose by them."""

    key: Hashable
    """Equal for runs in which all of that is."""
    run: Run = field(compare=False)
    """One of them."""


@dataclass(frozen=True)
class Ask:
    """What each worker of a run asks of its host, and how many workers there are."""

    workspace: str
    priority: int
    pools: tuple[str, ...] | None
    tasks: int | None
    """None until it is known which machines `mode: all` means."""
    may_share: bool
    gpus: int
    millicores: int
    memory_bytes: int
    models: tuple[str, ...]
    vendor: Vendor | None
    min_memory_gb: float | None
    healthy_only: bool
    ids: frozenset[str]
    names: frozenset[str]
    match_labels: tuple[tuple[str, str], ...]
    needs: frozenset[str]
    drives: tuple[tuple[str, int], ...]
    time_limit_s: int | None
    profile: Profile
    array: str | None
    """The array's name: its elements make a class of their own."""
    keep_within: Unit | None = None
    spread: Unit | None = None
    interconnect: Literal["rdma", "infiniband", "nvlink"] | None = None
    min_gbps: float | None = None
    scope: Scope | None = None
    """How far apart the instances may be on which a run of several workers is; None: on none."""
    transport: Transport = "auto"
    """Of these: whether a relayed mesh may join them."""
    is_on_all: bool = False
    """Whether it is for every machine that could take it, and so for nothing that is bought."""
    is_patient: bool = False
    """Whether it still waits for the tightest rung that it could ever get."""
    work: Work | None = None
    """None where nothing costs anything, and no time is set: then no host is dearer or slower."""

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Worked out once: asks are looked up for every host."""
        return hash(tuple(getattr(self, each.name) for each in fields(self)))

    @cached_property
    def standing(self) -> Hashable:
        """What rules read of it that don't read room: asks that share it may be on the same hosts,
        as far as room and prices go. How much of it is asked, by how many and how urgently, is left
        out."""
        asked = (getattr(self, each.name) for each in fields(self) if each.name not in _AMOUNTS)
        return (self.tasks == 1, *asked)

    @property
    def keeps_apart(self) -> bool:
        """Whether no two workers of one run may be on one host."""
        return (self.tasks or 0) > 1 and not self.may_share

    @property
    def units(self) -> int:
        """What one run of the class weighs, before its age: its GPUs, else its workers."""
        return self.all_gpus or self.tasks or 1

    @property
    def all_gpus(self) -> int:
        """The GPUs of all its workers; of an array, of one element."""
        return self.gpus * (self.tasks or 0)


@dataclass(frozen=True)
class Cohort:
    """Runs of a class that weigh the same: `count` of them can start."""

    runs: tuple[Run, ...]
    """Oldest first; of an array, the array itself."""
    count: int
    weight: int
    """Of one of them."""


@dataclass(frozen=True)
class RunClass:
    """Runs that ask the same, in cohorts from the oldest to the youngest.

    Where they may be cut in several ways, or be on several groups of machines, each is an option:
    a class of the same runs. `solver.options` makes them.
    """

    ask: Ask
    """In the shape for which it is explained, where several are open; of an option, its own."""
    cohorts: tuple[Cohort, ...]
    elements: tuple[int, ...] = ()
    """Of an array: the elements that can still start, in the order they would."""
    ways: tuple[Ask, ...] = ()
    """What its workers ask in each shape that is open; the fewest workers first."""
    group: Group | None = None
    """Of an option: the machines that all workers of a run are on."""
    deal: Deal | None = None
    """Of an option that is priced as a whole: what its hosts come to together."""
    own: Own | None = None
    """Of an option of one worker: the best that there is for the run, in any shape."""
    copy: int | None = None
    """Of an option that is open to one run at a time: of which of the class's runs."""
    option: int | None = None
    """Of an option: its number among those of the same runs, the best first."""

    @property
    def runs(self) -> tuple[Run, ...]:
        """Its runs, oldest first."""
        return tuple(run for cohort in self.cohorts for run in cohort.runs)

    @property
    def count(self) -> int:
        """How many could start at most: runs, or elements of an array."""
        return sum(cohort.count for cohort in self.cohorts)

    @property
    def first(self) -> str:
        """The name of its oldest run: options of the same runs share it."""
        return self.cohorts[0].runs[0].name

    @property
    def name(self) -> str:
        """Its own name: that of its oldest run, and which option it is of several."""
        return self.first if self.option is None else f"{self.first}\0{self.option}"


def ask_of(
    run: Run, shape: Shape, snapshot: Snapshot, profile: Profile, *, is_priced: bool = False
) -> Ask:
    """Return what each worker of a run asks; `is_priced`: some host costs something."""
    demand = demand_of(run, shape.gpus_each)
    pools = snapshot.workspaces[run.workspace].pools
    return Ask(
        workspace=run.workspace,
        priority=run.priority,
        pools=None if pools is None else tuple(sorted(pools)),
        tasks=shape.tasks,
        may_share=shape.may_share,
        gpus=shape.gpus_each,
        millicores=demand.millicores,
        memory_bytes=demand.memory_bytes,
        models=tuple(sorted(term.lower() for term in run.gpus.models)),
        vendor=run.gpus.vendor,
        min_memory_gb=run.gpus.min_memory_gb,
        healthy_only=run.gpus.healthy_only,
        ids=frozenset(run.gpus.ids),
        names=frozenset(run.node_selection.names),
        match_labels=tuple(sorted(run.node_selection.match_labels.items())),
        needs=frozenset(run.needs),
        drives=tuple(sorted((drive.name, drive.need_bytes) for drive in run.drives)),
        time_limit_s=run.time_limit_s,
        profile=run.placement.profile or profile,
        array=run.name if run.array else None,
        keep_within=run.topology.keep_within,
        spread=run.topology.spread,
        interconnect=None if run.network.interconnect == "auto" else run.network.interconnect,
        min_gbps=run.network.min_gbps or None,
        scope=_scope(run, shape),
        transport=run.network.transport if _scope(run, shape) else "auto",
        is_on_all=_is_on_all(run),
        is_patient=_is_patient(run, snapshot),
        work=_work(run, snapshot, profile, is_priced),
    )


def _scope(run: Run, shape: Shape) -> Scope | None:
    """Return how far apart its instances may be; one that is on every machine has none."""
    return None if shape.tasks in (None, 1) or _is_on_all(run) else run.network.scope


def _is_on_all(run: Run) -> bool:
    return run.node_selection.mode == "all" and not run.array


def _is_patient(run: Run, snapshot: Snapshot) -> bool:
    patience = dt.timedelta(seconds=run.topology.patience_s)
    return snapshot.now < (run.submitted_at or snapshot.now) + patience


def _work(run: Run, snapshot: Snapshot, profile: Profile, is_priced: bool) -> Work | None:
    wanted, durations = run.placement, snapshot.knowledge.durations
    is_told = run.expected_duration_s is not None or run.measured_duration_s is not None
    differs = bool(durations) and not is_told
    is_fast = (wanted.profile or profile) == "speed"
    is_bound = wanted.complete_by or wanted.interruptible == "require"
    if not (is_priced or is_bound or (is_fast and (is_told or differs))):
        return None
    key = (
        needs_of(run),
        run.expected_duration_s,
        run.measured_duration_s,
        tuple(sorted(run.labels.items())) if differs else (),
        wanted.complete_by,
        wanted.max_cost_usd,
        wanted.max_rate_usd_per_hour,
        wanted.interruptible,
        wanted.pool,
        wanted.if_match,
    )
    return Work(key, run)


def queue_order(run: Run, snapshot: Snapshot) -> tuple[int, dt.datetime, str]:
    """Return the key by which runs stand in line: priority, submission, name."""
    return (-run.priority, run.submitted_at or snapshot.now, run.name)


def age_steps(run: Run, snapshot: Snapshot) -> int:
    """Return how many steps a run has aged: an eighth of `ageing_s` each, 64 at most."""
    waited = int((snapshot.now - (run.submitted_at or snapshot.now)).total_seconds())
    return min(MOST_STEPS, max(0, waited) * AGEING_STEPS // snapshot.policy.ageing_s)


def waiting_elements(run: Run) -> tuple[int, ...]:
    """Return the elements of an array that neither run nor have ended, lowest first."""
    assert run.array is not None
    taken = set(run.array.finished)
    if run.placed and run.state != "stopped":
        taken.update(worker.element for worker in run.placed.workers if worker.element is not None)
    return tuple(element for element in range(run.array.size) if element not in taken)


@dataclass(frozen=True)
class Asked:
    """A run that asks for a place: what each worker asks, in each shape that is open to it."""

    run: Run
    ask: Ask
    """In the shape for which it is explained."""
    ways: tuple[Ask, ...]


def classes_of(asked: Iterable[Asked], snapshot: Snapshot) -> tuple[RunClass, ...]:
    """Return the classes of runs that ask the same, in the order in which their oldest stand.

    Where the queue reads single runs (strict), each is a cohort of its own.
    """
    one_by_one = snapshot.policy.queue != "throughput"
    members: dict[tuple[Ask, tuple[Ask, ...]], list[Run]] = {}
    for each in asked:
        members.setdefault((each.ask, each.ways), []).append(each.run)
    classes = []
    for (ask, ways), runs in members.items():
        runs.sort(key=lambda run: queue_order(run, snapshot))
        elements = waiting_elements(runs[0]) if ask.array else ()
        cohorts: dict[object, list[Run]] = {}
        for run in runs:
            cohorts.setdefault(run.name if one_by_one else age_steps(run, snapshot), []).append(run)
        classes.append(
            RunClass(
                ask,
                tuple(
                    Cohort(
                        tuple(alike),
                        len(elements) if ask.array else len(alike),
                        ask.units * (AGEING_STEPS + age_steps(alike[0], snapshot)),
                    )
                    for alike in cohorts.values()
                ),
                elements,
                ways,
            )
        )
    return tuple(sorted(classes, key=lambda each: queue_order(each.runs[0], snapshot)))
