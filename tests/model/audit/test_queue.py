from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import (
    Document,
    after,
    broken,
    card,
    decided,
    machine,
    run,
    running,
    snapshot,
)
from tests.model.audit.bought import by_rate, market, offering, priced, work

STRICT = {"queue": "strict"}


def _queue(*runs: Document, machines: list[Document] | None = None, **policy: Any) -> Snapshot:
    fleet = [machine("m", 4)] if machines is None else machines
    return snapshot(fleet, runs, policy=STRICT | policy)


def test_runs_start_in_the_order_of_their_queue() -> None:
    s = _queue(run("a", 1, submitted_at=after(-20)), run("b", 1, submitted_at=after(-10)))
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()
    assert broken(s, decided(s, {"b": [("m", 1)]})) == {"queue"}


def test_an_earlier_run_that_is_merely_short_of_room_holds_the_later_ones() -> None:
    s = _queue(running("r", ("m", 1)), run("a", 4), run("b", 1))
    assert audit(s, decided(s)) == ()
    assert broken(s, decided(s, {"b": [("m", ["m/1"])]})) == {"queue"}


def test_priority_comes_before_time_and_time_before_name() -> None:
    early = run("z", 1, submitted_at=after(-20))
    urgent = run("y", 1, priority=1)
    now = run("a", 1)
    s = _queue(now, early, urgent)
    assert audit(s, decided(s, {"y": [("m", 1)]})) == ()
    assert audit(s, decided(s, {"y": [("m", 1)], "z": [("m", ["m/1"])]})) == ()
    assert broken(s, decided(s, {"z": [("m", 1)]})) == {"queue"}
    assert broken(s, decided(s, {"y": [("m", 1)], "a": [("m", ["m/1"])]})) == {"queue"}
    alike = _queue(run("b", 1), run("a", 1))
    assert broken(alike, decided(alike, {"b": [("m", 1)]})) == {"queue"}


def test_another_workspace_has_its_own_queue() -> None:
    s = _queue(run("a", 1, priority=9), run("b", 1, workspace="vision"))
    assert audit(s, decided(s, {"b": [("m", 1)]})) == ()


def test_nothing_holds_the_later_ones_where_the_policy_is_not_strict() -> None:
    s = snapshot([machine("m", 4)], [run("a", 1, priority=9), run("b", 1)])
    assert audit(s, decided(s, {"b": [("m", 1)]})) == ()


_NEVER = [
    run("a", 5, priority=9),
    run("a", {"count": 1, "models": ["B200"]}, priority=9),
    run("a", {"count": 1, "vendor": "amd"}, priority=9),
    run("a", {"count": 1, "min_memory_gb": 200}, priority=9),
    run("a", {"count": 4, "healthy_only": True}, priority=9),
    run("a", {"ids": ["m/0", "n/0"]}, priority=9),
    run("a", cpu_cores=65, priority=9),
    run("a", memory_bytes=2**40, priority=9),
    run("a", 1, per_gpu={"cpu_cores": 65}, priority=9),
    run("a", needs=["sandbox"], priority=9),
    run("a", node_selection={"match_labels": {"zone": "a"}}, priority=9),
    run("a", machines=2, priority=9),
    run("a", cpu_cores=33, node_selection={"count": 2, "mode": "any"}, priority=9),
    run("a", cpu_cores=65, node_selection={"mode": "all"}, priority=9),
    run("a", drives=["data"], priority=9),
    run("a", 5, array={"size": 2}, priority=9),
    run("a", {"count": 2}, workspace="tiny", priority=9),
]


@pytest.mark.parametrize("never", _NEVER)
def test_an_earlier_run_that_could_never_start_holds_nobody(never: Document) -> None:
    cards = [card(), card(), card(), card(health="at_risk")]
    later = run("b", 1, workspace=never.get("workspace", "default"))
    tiny = {"name": "tiny", "gpu_quota": 1}
    s = _queue(never, later, machines=[machine("m", cards)], workspaces=[tiny])
    assert audit(s, decided(s, {"b": [("m", 1)]})) == ()


_SOME_DAY = [
    run("a", 4, priority=9),
    run("a", {"count": 3, "healthy_only": True}, priority=9),
    run("a", cpu_cores=64, priority=9),
    run("a", cpu_cores=32, node_selection={"count": 2, "mode": "any"}, priority=9),
    run("a", node_selection={"count": 1000, "mode": "any"}, priority=9),
    run("a", node_selection={"mode": "all"}, cpu_cores=64, priority=9),
    run("a", 4, array={"size": 2}, priority=9),
    run("a", 1, workspace="tiny", priority=9),
]


@pytest.mark.parametrize("some_day", _SOME_DAY)
def test_an_earlier_run_that_could_start_on_the_empty_fleet_holds_the_later(
    some_day: Document,
) -> None:
    cards = [card(), card(), card(), card(health="at_risk")]
    workspace = some_day.get("workspace", "default")
    full = machine("m", cards, used={"cpu_cores": 60})
    held = running("r", ("m", 1), workspace=workspace)
    s = _queue(held, some_day, run("b", workspace=workspace), machines=[full])
    assert broken(s, decided(s, {"b": [("m", 0)]})) == {"queue"}


def test_an_earlier_array_that_runs_or_starts_an_element_holds_nobody() -> None:
    runs = running("a", ("m", ["m/0"], 0), array={"size": 9}, priority=9)
    s = _queue(runs, run("b", 1))
    assert audit(s, decided(s, {"b": [("m", ["m/1"])]})) == ()
    s = _queue(run("a", 1, array={"size": 9}, priority=9), run("b", 1))
    assert audit(s, decided(s, {"a": [("m", 1)], "b": [("m", ["m/1"])]})) == ()
    assert broken(s, decided(s, {"b": [("m", ["m/1"])]})) == {"queue"}


def test_more_elements_of_an_array_wait_for_earlier_runs_too() -> None:
    array = running("b", ("m", ["m/0"], 0), array={"size": 9})
    s = _queue(run("a", 4, priority=9), array)
    assert broken(s, decided(s, {"b": [("m", ["m/1"])]})) == {"queue"}


def test_an_array_whose_elements_all_ended_holds_nobody() -> None:
    s = _queue(run("a", 1, array={"size": 1, "finished": [0]}, priority=9), run("b", 1))
    assert audit(s, decided(s, {"b": [("m", 1)]})) == ()


def _sold(ahead: Document, *offerings: Document, **policy: Any) -> set[str]:
    """Return what a strict queue says where `b` starts on a machine before the run given."""
    behind = run("b", workspace=ahead.get("workspace", "default"))
    s = market(offerings, [ahead, behind], [machine("m")], policy=STRICT | policy)
    return broken(s, priced(s, {"b": [("m", 0)]}, values={"b": by_rate("0")}))


def _ahead(gpus: Any = 1, **more: Any) -> Document:
    return work("a", gpus, priority=9, **more)


def test_an_earlier_run_that_could_be_bought_for_holds_the_later_ones() -> None:
    assert _sold(_ahead()) == set()
    assert _sold(_ahead(), offering()) == {"queue"}
    assert _sold(_ahead(array={"size": 3}), offering()) == {"queue"}


def test_that_an_offering_is_sold_out_changes_nothing() -> None:
    assert _sold(_ahead(), offering(available=0)) == {"queue"}
    assert _sold(_ahead(), offering(available=None), assumed_available=0) == {"queue"}


@pytest.mark.parametrize(
    "ahead",
    [
        _ahead(9),
        _ahead({"count": 1, "models": ["B200"]}),
        _ahead({"count": 1, "vendor": "amd"}),
        _ahead({"count": 1, "min_memory_gb": 80.1}),
        _ahead({"ids": ["a100#1/0"]}),
        _ahead(cpu_cores=65),
        _ahead(memory_bytes=2**40),
        _ahead(needs=["sandbox"]),
        _ahead(node_selection={"match_labels": {"zone": "a"}}),
        _ahead(node_selection={"names": ["m"]}),
        _ahead(drives=["data"]),
        _ahead(0, cpu_cores=65, node_selection={"count": 2, "mode": "any"}),
        _ahead(0, cpu_cores=1, node_selection={"count": 10}),
        _ahead(0, cpu_cores=1, machines=2, topology={"keep_within": "rack"}),
        _ahead(0, cpu_cores=1, machines=2, network={"transport": "direct"}),
        _ahead(0, cpu_cores=1, machines=2, placement={"max_rate_usd_per_hour": "7.19"}),
        _ahead(0, cpu_cores=65, node_selection={"mode": "all"}),
        _ahead(2, workspace="tiny"),
    ],
)
def test_an_earlier_run_that_no_instance_could_take_holds_nobody(ahead: Document) -> None:
    tiny = {"name": "tiny", "gpu_quota": 1}
    assert _sold(ahead, offering(available=9), workspaces=[tiny]) == set()


def test_an_earlier_run_of_several_that_instances_could_take_together_holds_others() -> None:
    for more in ({}, {"placement": {"max_rate_usd_per_hour": "7.20"}}):
        ahead = _ahead(0, cpu_cores=33, node_selection={"count": 2, "mode": "any"}, **more)
        assert _sold(ahead, offering(available=9)) == {"queue"}


@pytest.mark.parametrize(
    ("placement", "rules"),
    [
        # 3.60 USD an hour; 3730 s in all; it ends after 4700 s at worst.
        ({"max_rate_usd_per_hour": "3.60"}, {"queue"}),
        ({"max_rate_usd_per_hour": "3.59"}, set()),
        ({"max_cost_usd": "3.73"}, {"queue"}),
        ({"max_cost_usd": "3.72"}, set()),
        ({"complete_by": after(4700)}, {"queue"}),
        ({"complete_by": after(4699)}, set()),
        ({"interruptible": "never"}, {"queue"}),
        ({"interruptible": "require"}, set()),
    ],
)
def test_an_earlier_run_that_no_host_may_take_for_its_limits_holds_nobody(
    placement: Document, rules: set[str]
) -> None:
    assert _sold(_ahead(placement=placement), offering()) == rules


def test_a_warm_instance_may_keep_limits_that_a_new_one_does_not() -> None:
    # 3640 s in all.
    asked = _ahead(placement={"max_cost_usd": "3.64"})
    assert _sold(asked, offering()) == set()
    assert _sold(asked, offering(warm=1)) == {"queue"}


def test_the_whole_of_what_is_left_counts_for_an_earlier_run() -> None:
    for usd, rules in (("3.73", {"queue"}), ("3.72", set())):
        budget = {"name": "q3", "workspaces": ["default"], "remaining_usd": usd}
        assert _sold(_ahead(), offering(), budgets=[budget]) == rules
        purse = {"name": "default", "balance_usd": usd}
        assert _sold(_ahead(), offering(), workspaces=[purse]) == rules


def test_limits_bind_on_machines_too() -> None:
    # An hour of it costs 3.60 USD.
    for usd, rules in (("3.60", {"queue"}), ("3.59", set())):
        ahead = _ahead(placement={"max_cost_usd": usd})
        dear = machine("n", 1, rate_usd_per_hour="3.60", state="up", used={"cpu_cores": 64})
        s = market([], [ahead, run("b")], [machine("m"), dear], policy=STRICT)
        assert broken(s, priced(s, {"b": [("m", 0)]}, values={"b": by_rate("0")})) == rules
