"""Rank the same tasks by SkyPilot's optimizer and by ours: `python -m tests.bench.money.skypilot`.

SkyPilot isn't a dependency: it runs in an environment of its own, with this file as its script.
Both read the same rows: the vms.csv of three clouds that lie beside the catalog here, in SkyPilot's
own form. Compared are the processor time a task, and the rate of what is chosen: both choose the
least to pay among on-demand offerings. What each leaves out:

- SkyPilot looks at each task alone, by the hourly price times a running time that is the same
  everywhere. It knows no startup, rounding, reclaims, chance of being late, nor what is left for
  others. It checks for which clouds one has credentials, which is switched off here.
- Ours knows no data egress between the tasks of a pipeline, no storage, and launches nothing.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROWS = Path(__file__).parents[3] / "../shared/data/catalog/skypilot-format"
AS_OF = dt.datetime(2026, 7, 20, tzinfo=dt.UTC)
CLOUDS = {"lambda": "Lambda", "nebius": "Nebius", "vast": "Vast"}
TASKS = (("A100", 1), ("H100", 1), ("A10", 1), ("RTX4090", 1), ("H100", 8), ("A100-80GB", 8))
"""A GPU and how many of it, one task each, over and over."""
INSTALL = "uv venv sky && uv pip install -p sky skypilot"

Choice = tuple[float, float]
"""Of one task: seconds of processor time, and USD an hour of what is chosen."""


def theirs(count: int) -> list[Choice]:
    """Return what SkyPilot's optimizer takes for each task, and what it chooses."""
    import sky  # type: ignore[import-not-found]  # only in an environment of its own
    from sky import check, clouds

    enabled = [getattr(clouds, name)() for name in CLOUDS.values()]
    check.get_cached_enabled_clouds_or_refresh = lambda *_, **__: list(enabled)
    found = []
    for number in range(count + 1):
        gpu, amount = TASKS[number % len(TASKS)]
        with sky.Dag() as dag:
            task = sky.Task(name=f"task-{number}")
            task.set_resources(sky.Resources(accelerators={gpu: amount}))
            task.set_time_estimator(lambda _: 4 * 3600)
        began = time.process_time()
        sky.Optimizer.optimize(dag, quiet=True)
        took = time.process_time() - began
        found.append((took, float(task.best_resources.get_cost(3600))))
    return found[1:]  # the first loads the catalogs


def ours(count: int) -> list[Choice]:
    """Return what our ranking takes for each task, and what it chooses."""
    from stowplan.adapters.catalog.reading import read_catalog
    from stowplan.model.snapshot import Snapshot
    from stowplan.solver.pricing import Market
    from tests.bench.money.ranking import ranked

    files = [ROWS / cloud / "vms.csv" for cloud in CLOUDS]
    read = read_catalog(files, defaults=None, provider=None, as_of=AS_OF, now=AS_OF)
    runs = [
        {
            "name": f"task-{number}",
            "gpus": {"count": amount, "models": [gpu]},
            "expected_duration_s": 4 * 3600,
            "placement": {"profile": "cost", "interruptible": "never"},
        }
        for number in range(count + 1)
        for gpu, amount in (TASKS[number % len(TASKS)],)
    ]
    snapshot = Snapshot.read({**read.document(), "runs": runs})
    loaded, found = Market(snapshot), []
    for run in snapshot.runs:
        began = time.process_time()
        best = ranked(loaded, run).best(1)
        found.append((time.process_time() - began, best[0].rate / 1e6))
    return found[1:]  # the first works out what the catalog alone needs


def _home(folder: Path) -> Path:
    """Fill a home folder with the catalogs that SkyPilot would else download; return it."""
    catalogs = folder / ".sky" / "catalogs" / "v8"
    for cloud in CLOUDS:
        (catalogs / cloud).mkdir(parents=True)
        shutil.copy(ROWS / cloud / "vms.csv", catalogs / cloud / "vms.csv")
    (catalogs / "common").mkdir()
    clouds = " ".join(CLOUDS.values())
    names = "".join(f"{gpu},{clouds}\n" for gpu in sorted({gpu for gpu, _ in TASKS}))
    (catalogs / "common" / "accelerators.csv").write_text(f"AcceleratorName,Clouds\n{names}")
    return folder


def main(arguments: Sequence[str] | None = None) -> None:
    """Print both medians, or how to get SkyPilot."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.money.skypilot")
    parser.add_argument("--tasks", type=int, default=30)
    parser.add_argument("--python", default="sky/bin/python", help="of SkyPilot's environment")
    parser.add_argument("--theirs", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.theirs:
        print(json.dumps(theirs(asked.tasks)))
        return
    if not ROWS.exists():
        print("left out: the catalogs in SkyPilot's form aren't here")
        return
    if not shutil.which(asked.python):
        print(f"SkyPilot isn't here ({asked.python}). To get it: {INSTALL}")
        return
    command = [asked.python, str(Path(__file__)), "--theirs", "--tasks", str(asked.tasks)]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "HOME": str(_home(Path(folder)))}
        answer = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
    if answer.returncode:
        print(f"SkyPilot failed:\n{answer.stderr[-2000:]}", file=sys.stderr)
        sys.exit(1)
    print(told(json.loads(answer.stdout.splitlines()[-1]), ours(asked.tasks)))


def told(their: Sequence[Choice], our: Sequence[Choice]) -> str:
    """Return both medians and their ratio, and how often both choose the same rate."""
    they_s, we_s = (statistics.median(each[0] for each in found) for found in (their, our))
    same = sum(abs(one[1] - other[1]) < 1e-6 for one, other in zip(their, our, strict=True))
    return (
        f"SkyPilot {they_s * 1000:.0f} ms a task, stowplan {we_s * 1000:.1f} ms: "
        f"x {they_s / we_s:.0f} (medians of processor time, {len(their)} tasks); "
        f"the same rate in {same} of {len(their)}"
    )


if __name__ == "__main__":
    main()
