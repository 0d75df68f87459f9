"""Print the openb table: GPUs placed and seconds, each policy on the same instance.

Run as `python -m tests.bench` from the project's root.
"""

from __future__ import annotations

import time

from stowplan.solver.cycle import solve
from tests.bench.baselines import best_fit, fgd, first_fit, gpus_placed
from tests.bench.instances import openb


def main() -> None:
    """Solve the first 200 machines and 1,200 runs, and the same with 20 % more runs than room."""
    everything = openb.pods()
    for machines, runs in (
        (openb.nodes()[:200], everything[:1200]),
        (openb.nodes()[:200], everything[:1500]),
    ):
        whole = sum(node.gpus for node in machines)
        asked = sum(pod.gpus for pod in runs)
        print(f"{len(machines)} machines, {whole} GPUs; {len(runs)} runs ask for {asked} GPUs")
        policies = {"first-fit": first_fit, "best-fit": best_fit, "fgd": fgd(everything)}
        for name, policy in policies.items():
            began = time.perf_counter()
            placed = gpus_placed(machines, runs, policy)
            print(f"  {name:10} {placed:6} GPUs  {time.perf_counter() - began:6.2f} s")
        snapshot = openb.snapshot(machines, runs)
        began = time.perf_counter()
        decision = solve(snapshot)
        seconds = time.perf_counter() - began
        stage = decision.solver.stages[0]
        print(
            f"  {'stowplan':10} {decision.summary.gpus_placed:6} GPUs  {seconds:6.2f} s  "
            f"place gap {stage.gap:.3%} ({stage.status})"
        )


if __name__ == "__main__":
    main()
