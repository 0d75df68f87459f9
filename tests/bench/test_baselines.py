"""The online baselines against the reference script, run after run and node by node."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bench.instances import openb
from tests.bench.plain import Problem, problem_of
from tests.bench.policies.fgd import fgd, typical
from tests.bench.policies.online import Score, best_fit, first_fit, placements

SCRIPT = openb.FOLDER.parents[1] / "bench" / "openb_baselines.py"
NODES, RUNS = 200, 1500

pytestmark = pytest.mark.skipif(
    not (SCRIPT.exists() and openb.FOLDER.exists()),
    reason="the reference script and its trace aren't here (../shared/bench, ../shared/data/openb)",
)


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the script that takes the first nodes and runs, and says what goes where."""
    folder = tmp_path_factory.mktemp("reference")
    data = folder / "data" / "openb"
    data.mkdir(parents=True)
    pods, nodes = "openb_pod_list_default.csv", "openb_node_list_gpu_node.csv"
    (data / pods).symlink_to((openb.FOLDER / pods).resolve())
    lines = (openb.FOLDER / nodes).read_text().splitlines(keepends=True)
    (data / nodes).write_text("".join(lines[: NODES + 1]))
    text = SCRIPT.read_text()
    resampling = text[text.index("L=list(P)") : text.index("shapes=sorted(set(L))")]
    for old, new in (
        (resampling, f"L=P[:{RUNS}]\n"),
        ("failed+=1", "failed+=1; print('at -1')"),
        ("M[i]=score_node(i)\n", "M[i]=score_node(i); print('at',i)\n"),
    ):
        assert text.count(old) == 1, f"the script has changed: {old!r}"
        text = text.replace(old, new)
    copy = folder / "bench" / SCRIPT.name
    copy.parent.mkdir()
    copy.write_text(text)
    return copy


def fgd_of_the_trace(problem: Problem) -> Score:
    """Return the score for runs like those of the whole list, as in the script."""
    return fgd(problem, typical(problem_of(openb.snapshot(openb.nodes()[:NODES], openb.pods()))))


@pytest.mark.parametrize(
    ("name", "policy"),
    [("firstfit", first_fit), ("bestfit", best_fit), ("fgd", fgd_of_the_trace)],
)
def test_every_run_goes_where_the_reference_puts_it(
    script: Path, name: str, policy: Callable[[Problem], Score]
) -> None:
    told = subprocess.run(
        [sys.executable, str(script), name, "1", "--whole"],
        capture_output=True,
        text=True,
        check=True,
    )
    expected = [int(line.split()[1]) for line in told.stdout.splitlines() if line[:3] == "at "]
    problem = problem_of(openb.snapshot(openb.nodes()[:NODES], openb.pods()[:RUNS]))
    ours = placements(problem, policy(problem), problem.queue)
    assert [host for _, host in ours] == expected
