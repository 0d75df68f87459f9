from __future__ import annotations

from stowplan.model.room import Room
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask
from stowplan.solver.eligibility import PLENTY, Eligibility
from tests.build import GIB, Document, card, machine, run, running, snapshot
from tests.solver.cycles import ask_in, asked_of


def _of(s: Snapshot, name: str = "a") -> tuple[Eligibility, Ask]:
    """The rules over the hosts, and what a run asks."""
    eligibility, requests = asked_of(s)
    return eligibility, ask_in(requests, name)


def _slots(home: Document, asked: Document, *more: Document) -> int:
    eligibility, ask = _of(snapshot([home], [asked, *more]))
    [host] = eligibility.hosts
    return eligibility.slots(ask, host, host.start)


def test_hosts_are_in_the_order_of_their_names() -> None:
    eligibility, _ = _of(snapshot([machine("n"), machine("m"), machine("a")], [run("a")]))
    assert [host.name for host in eligibility.hosts] == ["a", "m", "n"]


def test_failing_rules_are_in_the_order_of_the_filters() -> None:
    # The machine fails at everything; rules that read room stand between those that don't.
    home = machine("m", 1, state="cordoned", cpu_cores=1, memory_bytes=1)
    asked = run(
        "a",
        2,
        machines=1,
        needs=["net"],
        cpu_cores=2,
        memory_bytes=2,
        drives=["none"],
        node_selection={"match_labels": {"zone": "a"}},
    )
    eligibility, ask = _of(snapshot([home], [asked]))
    [host] = eligibility.hosts
    assert [each.rule.name for each in eligibility.failing(ask, host, host.start)] == [
        "accepting",
        "capabilities",
        "match_labels",
        "cpu",
        "memory",
        "room",
        "drives",
    ]
    assert not eligibility.admits(ask, host, host.start)


def test_more_room_never_makes_more_rules_fail() -> None:
    held = running("r", ("m", 2), cpu_cores=60)
    eligibility, ask = _of(snapshot([machine("m", 4)], [held, run("a", 3, cpu_cores=5)]))
    [host] = eligibility.hosts
    assert [each.rule.name for each in eligibility.failing(ask, host, host.start)] == [
        "cpu",
        "room",
    ]
    assert eligibility.failing(ask, host, host.empty) == ()


def test_slots_are_as_many_as_the_scarcest_lets() -> None:
    home = machine("m", 8, cpu_cores=10, memory_bytes=10 * GIB)
    assert _slots(home, run("a", 2)) == 4
    assert _slots(home, run("a", 2, cpu_cores=3)) == 3
    assert _slots(home, run("a", 2, cpu_cores=3, memory_bytes=5 * GIB)) == 2
    assert _slots(home, run("a", 2, cpu_cores=3), running("r", ("m", 1), cpu_cores=5)) == 1
    assert _slots(home, run("a", 9)) == 0


def test_slots_count_only_gpus_that_would_do() -> None:
    cards = [card(), card(), card(health="at_risk"), card(health="faulted"), card(model="L4")]
    home = machine("m", cards)
    assert _slots(home, run("a", 1)) == 4
    assert _slots(home, run("a", {"count": 1, "models": ["H100"]})) == 3
    assert _slots(home, run("a", {"count": 1, "models": ["H100"], "healthy_only": True})) == 2


def test_slots_of_a_run_that_asks_for_nothing_are_plenty() -> None:
    assert _slots(machine("m"), run("a")) == PLENTY


def test_slots_are_none_where_a_rule_is_broken() -> None:
    assert _slots(machine("m", state="draining"), run("a")) == 0


def test_workers_that_never_share_count_once_a_host() -> None:
    machines = [machine("m", cpu_cores=4), machine("n", cpu_cores=2)]
    for mode, fit in (("exact", 2), ("any", 3)):
        selection = {"count": 3, "mode": mode}
        asked = run("a", cpu_cores=2, node_selection=selection)
        eligibility, ask = _of(snapshot(machines, [asked]))
        assert eligibility.workers_that_fit(ask, lambda host: host.start) == fit
        assert eligibility.fits(ask, lambda host: host.start) is (fit == 3)


def test_no_more_workers_fit_than_there_are() -> None:
    eligibility, ask = _of(snapshot([machine("m")], [run("a")]))
    assert eligibility.workers_that_fit(ask, lambda host: host.start) == 1


def test_a_run_of_no_workers_never_fits() -> None:
    asked = run("a", cpu_cores=65, node_selection={"mode": "all"})
    eligibility, ask = _of(snapshot([machine("m")], [asked]))
    assert ask.tasks == 0
    assert not eligibility.fits(ask, lambda host: host.empty)


def test_room_is_what_is_asked_about_not_what_is_there() -> None:
    eligibility, ask = _of(snapshot([machine("m")], [run("a", cpu_cores=1)]))
    [host] = eligibility.hosts
    full = Room(0, 0, frozenset())
    assert eligibility.admits(ask, host, host.start)
    assert not eligibility.admits(ask, host, full)
    assert eligibility.admits(ask, host, host.start)


def test_only_hosts_of_the_pools_and_those_named_are_listed() -> None:
    machines = [machine("m", labels={"pool": "x"}), machine("n"), machine("o")]
    policy = {"workspaces": [{"name": "w", "pools": ["x"]}]}
    named = {"names": ["m", "n"], "mode": "any"}
    runs = [run("a", workspace="w"), run("b", workspace="w", node_selection=named), run("c")]
    s = snapshot(machines, runs, policy=policy)
    for name, hosts in (("a", "m"), ("b", "mn"), ("c", "mno")):
        eligibility, ask = _of(s, name)
        assert [host.name for host in eligibility.listed(ask)] == list(hosts)


def test_a_host_of_no_pool_is_not_listed_for_a_workspace_without_pools() -> None:
    policy = {"workspaces": [{"name": "w", "pools": []}]}
    s = snapshot([], [run("a", workspace="w")], policy=policy)
    eligibility, ask = _of(s)
    assert eligibility.listed(ask) == []
