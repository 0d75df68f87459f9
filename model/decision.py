"""What one cycle decided: an outcome for each run, and the account of the solve."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from stowplan.model.money import micro_of, written
from stowplan.model.reasons import Figure, Reason
from stowplan.model.runs import Profile
from stowplan.model.types import Frozen, Timestamp

if TYPE_CHECKING:
    import pandas as pd

HostKind = Literal["machine", "offering"]


class Access(Frozen):
    """What a worker's container gets of its host, beside its GPUs and environment."""

    imex_channel: int | None = None
    """The channel on which GPUs share memory with those of other machines in an NVLink domain."""
    rdma_devices: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    """Linux capabilities, such as IPC_LOCK."""
    large_shm: bool = False
    """A larger /dev/shm than containers usually have."""
    unlimited_memlock: bool = False
    """No limit on locked memory."""


class Span(Frozen):
    """A figure as likely (p50) and at worst but one time in ten (p90)."""

    p50: str
    p90: str


class Worker(Frozen):
    """One worker of a run, and what it gets on its host."""

    index: int
    host: str
    kind: HostKind = "machine"
    devices: tuple[str, ...] = ()
    environment: Mapping[str, str] = {}
    access: Access | None = None
    """What else it gets of its host; null: nothing."""
    element: int | None = None
    rate_usd_per_hour: Decimal | None = None
    """What its host asks; null of what an earlier cycle placed, and where nothing costs anything.
    """
    cost_usd: Span | None = None
    """What it comes to there, as if no other worker used the host; null where no time is known.

    Of several workers that work together, its part of what they come to.
    """


class ChosenShape(Frozen):
    """How a run was cut, and why so."""

    tasks: int
    gpus_each: int
    why: str


class Value(Frozen):
    """What the run's profile optimises, beside the best that the cycle left it."""

    measure: Literal["usd_per_hour", "cost_usd", "finish_s"]
    chosen: Decimal
    reference: Decimal
    band: Decimal


class StartupTime(Frozen):
    """Seconds until useful work, from nothing and from an idle instance."""

    cold: int
    warm: int


class Duration(Frozen):
    """How long the work is taken to run, and where that comes from."""

    seconds: int
    source: Literal["declared", "measured", "history"]


class CostLine(Frozen):
    """One line of an estimate."""

    what: str
    usd: Decimal
    usd_p90: Decimal | None = None
    seconds: int | None = None
    seconds_p90: int | None = None
    source: str | None = None


class Estimate(Frozen):
    """What a run costs to completion, and when it ends."""

    cost_usd: Span | None
    finish: Span | None
    startup_s: StartupTime
    duration: Duration | None
    breakdown: tuple[CostLine, ...]
    first_hold_usd: Decimal
    minimum_usd: Decimal
    valid_until: Timestamp
    rate_usd_per_hour: Decimal
    startup_teardown_usd: Decimal
    assembly_bound_usd: Decimal
    unverified: tuple[str, ...]
    sources: Mapping[str, str] = {}
    """Where the host's rate, billing, startup and reclaims come from, each where that is told; of
    several hosts, all sources of each."""


class Scores(Frozen):
    """How well the host suits the run: each from 0 to 1, and points."""

    fit: float
    time_to_result: float
    cost_to_complete: float
    recovery_value: float
    health: float
    points: float
    """The mean over its workers, in points (30-hosts: packing, reservation, drives ...)."""


class Rejected(Frozen):
    """Hosts that were not chosen for the same reasons, the deciding one first.

    Where there are very many, hosts share a row that differ in figures only: the sentence gives
    the span, the figure is the largest, and `least_` before its name the smallest.
    """

    hosts: tuple[str, ...]
    reasons: tuple[Reason, ...]


class HostRow(Frozen):
    """Hosts that can't take a waiting run, for the same reasons, the deciding one first.

    Where there are very many, hosts share a row that differ in figures only: the sentence gives
    the span, the figure is the largest, and `least_` before its name the smallest.
    """

    hosts: tuple[str, ...]
    kind: HostKind = "machine"
    state: str
    reasons: tuple[Reason, ...]


class Got(Frozen):
    """A rule of the run's own, what it asked, and what it got."""

    rule: str
    asked: str
    got: str


class ArrayCount(Frozen):
    """How many of an array's elements run, start in this cycle, and wait."""

    running: int
    placed: int
    waiting: int


class Change(Frozen):
    """One thing to change so that a run could start."""

    rule: str
    host: str | None = None
    change: str


class Repair(Frozen):
    """A smallest set of changes with which a run would start."""

    changes: tuple[Change, ...]
    cost: int
    starts: Mapping[str, str]
    verified: bool


class Eta(Frozen):
    """The earliest start to expect; null with `unknown_because` where none can be told."""

    p50: Timestamp | None
    p90: Timestamp | None
    after: tuple[str, ...] = ()
    unknown_because: tuple[str, ...] = ()


class PlacedRun(Frozen):
    """A run that starts in this cycle."""

    run: str
    outcome: Literal["placed"] = "placed"
    shape: ChosenShape
    rung: int | None = None
    group: str | None = None
    workers: tuple[Worker, ...]
    profile: Profile
    value: Value | None = None
    estimate: Estimate | None = None
    scores: Scores
    fallbacks: tuple[str, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    """Every other host that counts for the run, and why it isn't there.

    With `same_as`, only what that run's table can't say: of the hosts that that run is on.
    """
    same_as: str | None = None
    """The run whose table holds for this one too, but for the hosts that this one is on.

    They ask the same, and take as many GPUs at risk. `reference` is then the least that a worker
    of these runs earns.
    """
    asked_and_got: tuple[Got, ...] = ()
    array: ArrayCount | None = None
    reason: Reason | None = None
    """Of an array: why the rest of its elements waits."""

    @property
    def cost_usd(self) -> Span | None:
        """What its workers come to, each on its own host; None where that isn't known of one."""
        costs = [worker.cost_usd for worker in self.workers if worker.cost_usd]
        if not costs or len(costs) < len(self.workers):
            return None
        likely, worst = (
            sum(micro_of(Decimal(amount)) for amount in amounts)
            for amounts in zip(*((cost.p50, cost.p90) for cost in costs), strict=True)
        )
        return Span(p50=written(likely), p90=written(worst))


class StayingRun(Frozen):
    """A run that an earlier cycle placed: it is kept, held, or withdrawn."""

    run: str
    outcome: Literal["kept", "held", "withdrawn"]
    reason: Reason
    rest: Reason | None = None
    """Of an array: why the rest of its elements waits."""
    workers: tuple[Worker, ...] = ()
    """Where it is and what it holds; of a withdrawn run: what it held before."""
    array: ArrayCount | None = None


class WaitingRun(Frozen):
    """A run that can't start now, and why."""

    run: str
    outcome: Literal["waiting"] = "waiting"
    reason: Reason
    hosts_checked: int
    hosts_ready: int
    hosts_down: int
    closest: str | None = None
    """The host that would take it were it empty, and lacks the least now.

    It lacks nothing where the run waits for something else than room: its queue, a quota. Null:
    no host could ever take it.
    """
    hosts: tuple[HostRow, ...] = ()
    same_as: str | None = None
    """The run whose table of hosts this one shares."""
    conflict: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    eta: Eta | None = None
    evaluated_at: Timestamp
    array: ArrayCount | None = None


class RefusedRun(Frozen):
    """A run that nothing but a change of the request, the plan or the policy helps."""

    run: str
    outcome: Literal["refused"] = "refused"
    reason: Reason


type Outcome = Annotated[
    PlacedRun | StayingRun | WaitingRun | RefusedRun, Field(discriminator="outcome")
]


class Summary(Frozen):
    """How many runs came out how, and what the placed ones take."""

    placed: int = 0
    kept: int = 0
    held: int = 0
    waiting: int = 0
    refused: int = 0
    withdrawn: int = 0
    gpus_placed: int = 0
    """GPUs of the runs placed in this cycle."""
    usd_per_hour: Decimal = Decimal("0.00")


class Stage(Frozen):
    """One objective of the chain: how far it came, and how far it could come."""

    name: str
    status: Literal["OPTIMAL", "FEASIBLE", "GREEDY"] = "FEASIBLE"
    """OPTIMAL: proven within the gap asked; FEASIBLE: stopped by a limit; GREEDY: not searched.

    A record that doesn't say claims no proof.
    """
    objective: float
    bound: float
    gap: float
    wall_s: float
    deterministic: float
    price: float = 0
    """How much more than the bound there could be at most, had other runs of the same weight been
    chosen in the tiers above: what it may cost that a large model keeps the choice itself."""


class ModelSize(Frozen):
    """How large the model was, and which rule made how many of its rows."""

    variables: int
    constraints: int
    by_rule: Mapping[str, int]


class SolverAccount(Frozen):
    """What the solver did."""

    status: Literal["OPTIMAL", "FEASIBLE"]
    stages: tuple[Stage, ...]
    model: ModelSize
    seed: int
    version: str
    limit_hit: str | None = None
    """Which limit ended the search before its proof, or none."""
    parameters: Mapping[str, Figure] = {}
    log: str = ""
    """The CP-SAT log, stage after stage."""


class Decision(Frozen):
    """One cycle's output. `model_dump_json` and `model_validate_json` are exact inverses."""

    version: Literal[1] = 1
    cycle: str
    """A hash of snapshot and settings: the same input has the same id."""
    snapshot: str
    now: Timestamp
    summary: Summary
    outcomes: tuple[Outcome, ...]
    solver: SolverAccount
    generation: int
    hardware_data: str | None = None
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row a run, in the order of the outcomes.

        Columns: run, outcome, code, message, hosts (list), gpus, workers, points, closest,
        usd_per_hour, cost_usd, cost_usd_p90. A withdrawn run has its hosts of before, and neither
        GPUs nor workers any more. Money is that of a run that starts: what its hosts ask an hour,
        each counted once, and what its workers come to, each on its own host. None where nothing
        costs anything, or where no time is known.
        """
        import pandas as pd  # heavy, and needed here only

        from stowplan.model.frame import COLUMNS, row

        rows = [row(outcome) for outcome in self.outcomes]
        return pd.DataFrame(rows, columns=list(COLUMNS))
