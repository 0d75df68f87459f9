"""One measurement: an instance, a seed and a policy, in a process of its own.

`python -m tests.bench.measure INSTANCE SEED POLICY SECONDS GAP` prints it as a line of JSON. The
clock starts at a loaded snapshot and stops at an answer: building the model, decoding and the audit
count. The memory is the most that the process held, which includes the snapshot.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

from tests.bench.catalogue import INSTANCES, policy

FAILED, GIVEN_UP = "FAILED", "GIVEN UP"
PATIENCE = 10
"""A measurement is given up after this many time limits, and a quarter of an hour."""


@dataclass(frozen=True)
class Measured:
    """What one policy came to on one instance. Weight is in GPUs that a new run asks for."""

    instance: str
    seed: int
    policy: str
    machines: int = 0
    runs: int = 0
    kinds: int = 0
    gpus_free: int = 0
    gpus_asked: int = 0
    gpus_placed: int = 0
    runs_placed: int = 0
    weight: float | None = None
    """Of all placed runs."""
    by_priority: tuple[float, ...] = ()
    """The same, highest priority first: a higher one counts before all below."""
    bound: float | None = None
    gap: float | None = None
    status: str = ""
    place_s: float | None = None
    stages_s: float | None = None
    seconds: float = 0.0
    deterministic: float | None = None
    variables: int | None = None
    constraints: int | None = None
    peak_mib: float = 0.0

    def is_failed(self) -> bool:
        """Whether there is no measurement: the policy failed, or had to be given up."""
        return self.status.startswith((FAILED, GIVEN_UP))


def measured(instance: str, seed: int, name: str, seconds: float, gap: float) -> Measured:
    """Return the measurement made in a fresh process."""
    command = [sys.executable, "-m", "tests.bench.measure", instance, str(seed), name]
    try:
        done = subprocess.run(
            [*command, str(seconds), str(gap)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE * seconds + 900,
        )
    except subprocess.TimeoutExpired:
        return Measured(instance, seed, name, status=GIVEN_UP)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended with {done.returncode}"])[-1]
        return Measured(instance, seed, name, status=f"{FAILED}: {last}")
    lines = (line for line in done.stdout.splitlines() if line.startswith("{"))  # HiGHS talks too
    return Measured(**json.loads(next(lines)))


def measure(instance: str, seed: int, name: str, seconds: float, gap: float) -> Measured:
    """Return the measurement, made in this process."""
    from tests.bench.plain import GPUS, UNIT, problem_of
    from tests.bench.policies.answer import Task

    answer_to = policy(name)
    snapshot = INSTANCES[instance].build(seed)
    problem = problem_of(snapshot)
    began = time.perf_counter()
    answer = answer_to(Task(snapshot, problem, seconds, gap))
    took = time.perf_counter() - began
    problem.check(answer.placed)
    weights = [weight / UNIT for weight in problem.weight_by_tier(answer.placed)]
    weight = sum(weights)
    bound = None
    if answer.bound is not None and math.isfinite(answer.bound):  # HiGHS starts from infinity
        bound = answer.bound / UNIT
    return Measured(
        instance=instance,
        seed=seed,
        policy=name,
        machines=len(problem.hosts),
        runs=len(problem.queue),
        kinds=len(problem.kinds),
        gpus_free=int(problem.room[:, GPUS].sum()),
        gpus_asked=int(problem.counts @ problem.asks[:, GPUS]),
        gpus_placed=int(answer.placed.sum(1) @ problem.asks[:, GPUS]),
        runs_placed=int(answer.placed.sum()),
        weight=weight,
        by_priority=tuple(weights),
        bound=bound,
        gap=None if bound is None else max(0.0, bound - weight) / max(bound, 1),
        status=answer.status,
        place_s=answer.place_s,
        stages_s=answer.stages_s,
        seconds=took,
        deterministic=answer.deterministic,
        variables=answer.variables,
        constraints=answer.constraints,
        peak_mib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


if __name__ == "__main__":
    told = measure(sys.argv[1], int(sys.argv[2]), sys.argv[3], *map(float, sys.argv[4:6]))
    print(json.dumps(asdict(told)))
