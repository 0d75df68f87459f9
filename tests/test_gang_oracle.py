"""The oracle of gangs on snapshots small enough to work out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.snapshot import Snapshot
from tests import gang_oracle
from tests.build import after, card, decided, machine, run, running, snapshot
from tests.gang_oracle import Figures, TooLarge, best, could_ever_start, figures, fits_beside
from tests.witness.asked import run_named

type Document = dict[str, Any]  # Any: what a YAML file could hold

ALONE = 100_000
"""The points of a worker that asks no cores or memory, on a machine whose GPUs are all taken."""


def gang(name: str, gpus: int, **more: Any) -> Document:
    """A run that may be cut in any way."""
    return {"name": name, "gpus": {"count": gpus}, **more}


def linked(name: str, gpus: int, clique: str = "c", **more: Any) -> Document:
    return machine(name, [card(nvlink_clique=clique) for _ in range(gpus)], **more)


def test_a_run_is_split_where_no_machine_holds_it() -> None:
    there = snapshot([machine("a", 2), machine("b", 2)], [gang("r", 4)])
    assert best(there) == ((32,), 0, 8, 2, 0, 2 * ALONE)
    assert figures(there, decided(there, {"r": [("a", 2), ("b", 2)]})) == best(there)
    assert figures(there, decided(there)) == ((0,), 0, 0, 0, 0, 0)


def test_a_run_is_whole_where_a_machine_holds_it() -> None:
    there = snapshot([machine("a", 2), machine("b", 2), machine("c", 4)], [gang("r", 4)])
    assert best(there) == ((32,), 0, 1, 1, 0, ALONE)


def test_a_rung_goes_before_the_number_of_machines() -> None:
    domain = [linked(name, 1) for name in "abcd"]
    there = snapshot([*domain, machine("e", 2), machine("f", 2)], [gang("r", 4)])
    assert best(there) == ((32,), 0, 2, 4, 0, 4 * ALONE)


def test_the_number_of_machines_goes_before_room() -> None:
    domain = [linked(name, 2) for name in "ab"] + [linked(name, 1, "d") for name in "efgh"]
    more = linked("c", 2)
    # on a, b and c 4 of 6 GPUs as 2 x 2; on e, f, g and h all 4 as 4 x 1
    assert best(snapshot([*domain, more], [gang("r", 4)])) == ((32,), 0, 2, 2, 2, 2 * ALONE)


def test_gpus_at_risk_go_before_rungs() -> None:
    risky = [card(), card(), card(), card(health="at_risk")]
    there = snapshot([machine("a", risky), machine("b", 2), machine("c", 2)], [gang("r", 4)])
    # 2 x 2 on b and c; all GPUs but none of its own are free: 8 - 4
    assert best(there) == ((32,), 0, 8, 2, 4, 2 * ALONE)
    whole = snapshot([machine("a", risky), machine("b", 1)], [gang("r", 4)])
    assert best(whole) == ((32,), 1, 1, 1, 0, ALONE - 60_000)


def test_a_small_run_leaves_the_domain_to_a_large_one() -> None:
    there = snapshot([linked("a", 2), linked("b", 2), machine("c", 4)], [gang("r", 2)])
    # c: 2 of 4 GPUs are taken, for 25 of 50 points; a or b: 4 - 2 GPUs are left of the domain
    assert best(there) == ((16,), 0, 1, 1, 0, ALONE - 25_000)
    assert figures(there, decided(there, {"r": [("a", 2)]})) == ((16,), 0, 1, 1, 2, ALONE)


def test_what_runs_is_not_free() -> None:
    held = [running("x", ("a", 1)), running("y", ("b", 1))]
    there = snapshot([machine("a", 2), machine("b", 3)], [*held, gang("r", 3)])
    # 3 x 1 has no third machine, and 1 x 3 no machine: the run waits
    assert best(there) == ((0,), 0, 0, 0, 0, 0)
    two = snapshot([machine("a", 2), machine("b", 3)], [*held, gang("r", 2)])
    # both on b, of which one is held: 16,666 for each of 3 GPUs taken
    assert best(two) == ((16,), 0, 1, 1, 0, 3 * 16_666 + 50_000)


def test_a_higher_tier_goes_first() -> None:
    runs = [gang("low", 4), gang("high", 2, priority=1)]
    there = snapshot([machine("a", 2), machine("b", 2)], runs)
    assert best(there)[:3] == ((16, 0), 0, 1)


def test_cores_bind_several_runs_together() -> None:
    runs = [gang(name, 2, cpu_cores=40) for name in "rs"]
    there = snapshot([machine("a", 4), machine("b", 4)], runs)
    assert best(there)[:4] == ((32,), 0, 2, 2)
    one = snapshot([machine("a", 4)], runs)
    assert best(one)[:4] == ((16,), 0, 1, 1)


def test_a_quota_bounds_what_a_workspace_starts() -> None:
    there = snapshot(
        [machine("a", 4)],
        [gang("r", 2), gang("s", 2), gang("t", 1)],
        policy={"workspaces": [{"name": "default", "gpu_quota": 3}]},
    )
    assert best(there).weight == (24,)
    assert not fits_beside(there, decided(there, {"r": [("a", 2)]}), "s")
    assert fits_beside(there, decided(there, {"r": [("a", 2)]}), "t")


def test_a_strict_queue_waits_for_a_gang_that_could_ever_start() -> None:
    machines = [machine("a", 2), machine("b", 2)]
    runs = [running("x", ("a", 1)), gang("r", 4, submitted_at=after(-60)), gang("s", 1)]
    there = snapshot(machines, runs, policy={"queue": "strict"})
    assert could_ever_start(there, run_named(there, "r"))
    assert best(there).weight == (0,)
    runs[1] = gang("r", 5, submitted_at=after(-60))  # never
    assert best(snapshot(machines, runs, policy={"queue": "strict"})).weight == (8,)


def test_runs_without_gpus_climb_the_ladder_too() -> None:
    racks = [{"topology/rack": name} for name in ("r", "q", "q")]
    machines = [machine(name, labels=rack) for name, rack in zip("abc", racks, strict=True)]
    there = snapshot(machines, [run("r", machines=2, cpu_cores=64)])
    # b and c, with all their cores and none of their memory taken
    assert best(there) == ((16,), 0, 7, 2, 0, 2 * 25_000)


def test_as_many_as_the_runs_fall_short_are_at_risk() -> None:
    cards = [card(), card(model="NVIDIA L4", health="at_risk"), card(model="NVIDIA L4")]
    picky = gang("p", 1) | {"gpus": {"count": 1, "models": ["L4"]}}
    assert best(snapshot([machine("a", cards)], [gang("r", 1), picky])).at_risk == 0
    assert best(snapshot([machine("a", cards)], [gang("r", 2), picky])).at_risk == 1


def test_where_there_are_too_many_ways_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    there: Snapshot = snapshot([machine(name, 2) for name in "abcde"], [gang("r", 4)])
    assert isinstance(best(there), Figures)
    monkeypatch.setattr(gang_oracle, "LIMIT", 5)
    with pytest.raises(TooLarge):
        best(there)
