from __future__ import annotations

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import broken, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work


def _fleet(pools: list[str] | None) -> Snapshot:
    machines = [
        machine("ours", labels={"pool": "h100"}),
        machine("theirs", labels={"pool": "a100"}),
        machine("nobodys"),
    ]
    policy = {"workspaces": [{"name": "vision", "pools": pools}]}
    return snapshot(machines, [run("a", workspace="vision"), run("b")], policy=policy)


def test_a_workspace_uses_its_pools() -> None:
    s = _fleet(["h100", "b200"])
    assert audit(s, decided(s, {"a": [("ours", 0)]})) == ()


def test_a_machine_in_another_pool_or_in_none_is_refused() -> None:
    s = _fleet(["h100"])
    assert broken(s, decided(s, {"a": [("theirs", 0)]})) == {"pools"}
    assert broken(s, decided(s, {"a": [("nobodys", 0)]})) == {"pools"}


def test_a_workspace_without_a_list_uses_every_machine() -> None:
    s = _fleet(None)
    assert audit(s, decided(s, {"a": [("theirs", 0)], "b": [("nobodys", 0)]})) == ()


def test_a_workspace_with_an_empty_list_uses_none() -> None:
    s = _fleet([])
    assert "pools" in broken(s, decided(s, {"a": [("ours", 0)]}))


def test_pools_bind_machines_only() -> None:
    policy = {"workspaces": [{"name": "default", "pools": ["h100"]}]}
    s = market([offering()], [work("a")], policy=policy)
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()
