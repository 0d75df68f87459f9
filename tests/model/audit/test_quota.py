from __future__ import annotations

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import broken, decided, machine, run, running, snapshot
from tests.model.audit.bought import by_rate, market, offering, priced, work


def _fleet(quota: int, other: str = "vision") -> Snapshot:
    runs = [
        running("r", ("m", 2), workspace="vision"),
        run("a", 1, workspace="vision"),
        run("b", 1, workspace=other),
        run("c", workspace="vision"),
    ]
    policy = {"workspaces": [{"name": "vision", "gpu_quota": quota}]}
    return snapshot([machine("m", 8)], runs, policy=policy)


A, B = ("m", ["m/4"]), ("m", ["m/5"])


def test_a_workspace_fills_its_quota_with_what_runs_and_what_starts() -> None:
    s = _fleet(4)
    assert audit(s, decided(s, {"a": [A], "b": [B]})) == ()


def test_a_gpu_beyond_the_quota_is_refused() -> None:
    s = _fleet(3)
    assert audit(s, decided(s, {"a": [A]})) == ()
    assert broken(s, decided(s, {"a": [A], "b": [B]})) == {"quota"}


def test_another_workspace_has_its_own_limit() -> None:
    s = _fleet(3, other="speech")
    assert audit(s, decided(s, {"a": [A], "b": [B]})) == ()


def test_a_run_without_gpus_starts_in_a_workspace_beyond_its_quota() -> None:
    s = _fleet(1)
    assert audit(s, decided(s, {"c": [("m", 0)]})) == ()
    assert broken(s, decided(s, {"a": [A]})) == {"quota"}


def test_what_a_stopped_run_had_is_not_held() -> None:
    runs = [running("r", ("m", 2), state="stopped"), run("a", 1)]
    s = snapshot(
        [machine("m", 4)], runs, policy={"workspaces": [{"name": "default", "gpu_quota": 1}]}
    )
    assert audit(s, decided(s, {"a": [("m", ["m/3"])]})) == ()


def test_gpus_that_are_bought_count_as_others() -> None:
    for quota, rules in ((3, set()), (2, {"quota"})):
        policy = {"workspaces": [{"name": "default", "gpu_quota": quota}]}
        s = market([offering()], [work("a", 2), work("b")], [machine("m", 1)], policy=policy)
        values = {"a": by_rate("3.60"), "b": by_rate("0")}
        places = {"a": [("a100#1", 2)], "b": [("m", 1)]}
        assert broken(s, priced(s, places, "3.60", values=values)) == rules
