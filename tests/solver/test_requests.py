from __future__ import annotations

from stowplan.model.decision import StayingRun
from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import Document, machine, run, running, snapshot
from tests.solver.cycles import asked_of, headline, outcome_of, told


def _asked(s: Snapshot) -> list[str]:
    return [each.run.name for each in asked_of(s)[1].asked]


def _refused(s: Snapshot) -> dict[str, Code]:
    return {name: reason.code for name, reason in asked_of(s)[1].refused.items()}


def _array(state: str, *elements: int, **array: object) -> Document:
    places = [("m", 0, element) for element in elements]
    return running("a", *places, state=state, array={"size": 3, **array})


def test_pending_runs_ask_and_those_in_place_do_not() -> None:
    states = ["running", "starting", "stopped"]
    there = [running(state, ("m", 0), state=state) for state in states]
    assert _asked(snapshot([machine("m")], [*there, run("pending")])) == ["pending"]


def test_an_array_asks_while_elements_are_left() -> None:
    for state, asks in (("pending", True), ("running", True), ("starting", True)):
        assert bool(_asked(snapshot([machine("m")], [_array(state, 0)]))) is asks
    assert _asked(snapshot([machine("m")], [_array("stopped", 0)])) == []
    assert _asked(snapshot([machine("m")], [_array("running", 0, finished=[1, 2])])) == []


def test_an_array_that_starts_by_a_void_decision_asks_for_nothing() -> None:
    passed = {**_array("starting", 0)}
    passed["placed"] = {**passed["placed"], "generation": 1}
    assert _asked(snapshot([machine("m")], [passed], generation=2)) == []
    assert _asked(snapshot([machine("m")], [passed], generation=1)) == ["a"]


def test_what_no_change_of_the_fleet_helps_is_refused() -> None:
    policy = {"workspaces": [{"name": "w", "pools": ["x"]}]}
    runs = [
        run("uneven", 3, machines=2),
        run("unknown", node_selection={"names": ["n"]}),
        run("poolless", workspace="w"),
        run("fine"),
    ]
    s = snapshot([machine("m")], runs, policy=policy)
    assert _refused(s) == {
        "uneven": Code.UNEVEN_SHAPE,
        "unknown": Code.NOT_SELECTED,
        "poolless": Code.POOL_RESTRICTED,
    }
    assert _asked(s) == ["fine"]


def test_the_shape_is_refused_before_the_name_and_the_name_before_the_pool() -> None:
    policy = {"workspaces": [{"name": "w", "pools": ["x"]}]}
    named: Document = {"workspace": "w", "node_selection": {"names": ["n"], "mode": "any"}}
    uneven = {"count": 1, "min_per_machine": 2}
    runs = [run("a", uneven, **named), run("b", **named), run("c", workspace="w")]
    assert _refused(snapshot([machine("m")], runs, policy=policy)) == {
        "a": Code.UNEVEN_SHAPE,
        "b": Code.NOT_SELECTED,
        "c": Code.POOL_RESTRICTED,
    }


def test_an_empty_fleet_refuses_no_name_and_no_pool() -> None:
    policy = {"workspaces": [{"name": "w", "pools": ["x"]}]}
    named = {"names": ["n"]}
    s = snapshot([], [run("a", workspace="w", node_selection=named)], policy=policy)
    assert (_refused(s), _asked(s)) == ({}, ["a"])


def test_the_house_may_say_in_its_own_words_why_a_pool_is_closed() -> None:
    workspace = {"name": "w", "pools": ["x", "y"], "terms": {"pool": "see go/pools"}}
    s = snapshot([machine("m")], [run("a", workspace="w")], policy={"workspaces": [workspace]})
    assert told(asked_of(s)[1].refused["a"]) == (
        Code.POOL_RESTRICTED,
        "workspace w may use x, y only, and no machine is in it; see go/pools",
        {"pools": ("x", "y")},
    )


def test_a_workspace_with_an_empty_list_of_pools_may_use_none() -> None:
    policy: Document = {"workspaces": [{"name": "w", "pools": []}]}
    s = snapshot([machine("m")], [run("a", workspace="w")], policy=policy)
    assert "may use no pool only" in asked_of(s)[1].refused["a"].message


def test_an_array_with_elements_in_place_is_never_refused() -> None:
    held = {**_array("running", 0), "node_selection": {"names": ["n"]}}
    s = snapshot([machine("m")], [held])
    outcome = outcome_of(s, "a")
    assert isinstance(outcome, StayingRun)
    assert (outcome.outcome, outcome.rest and outcome.rest.code) == ("kept", Code.NOT_SELECTED)


def test_mode_all_asks_for_as_many_workers_as_machines_could_take_one_when_empty() -> None:
    machines = [
        machine("m", used={"cpu_cores": 64}),
        machine("n"),
        machine("o", state="cordoned"),
        machine("p", cpu_cores=1),
    ]
    s = snapshot(machines, [run("a", cpu_cores=2, node_selection={"mode": "all"})])
    [ask] = [each.ask for each in asked_of(s)[1].asked]
    assert (ask.tasks, ask.may_share) == (2, False)


def test_mode_all_counts_only_machines_of_the_pools() -> None:
    policy = {"workspaces": [{"name": "w", "pools": ["x"]}]}
    machines = [
        machine(name, labels={"pool": pool}) for name, pool in zip("mno", "xxy", strict=True)
    ]
    s = snapshot(machines, [run("a", workspace="w", node_selection={"mode": "all"})], policy=policy)
    [ask] = [each.ask for each in asked_of(s)[1].asked]
    assert ask.tasks == 2


def _explained(s: Snapshot) -> tuple[int | None, int]:
    """The shape for which reasons are told of the only run."""
    [asked] = asked_of(s)[1].asked
    return asked.ask.tasks, asked.ask.gpus


def test_reasons_are_told_for_the_fewest_workers_that_fit_the_empty_fleet() -> None:
    homes = [machine(name, 2) for name in "mno"]
    assert _explained(snapshot(homes, [run("a", 6, topology={})])) == (3, 2)
    held = [running("x", ("m", 2)), running("y", ("n", 2))]
    s = snapshot(homes, [*held, run("a", 4, topology={})])
    assert _explained(s) == (2, 2)


def test_reasons_are_told_for_a_shape_that_is_open_where_none_fits() -> None:
    # All of it would be on m, but the run wants two machines at least, in one rack.
    asked = run("a", 4, topology={"min_nodes": 2, "keep_within": "rack"})
    s = snapshot([machine("m", 4), machine("n", 2)], [asked])
    assert _explained(s) == (2, 2)
    assert headline(s, "a") == (
        Code.TOPOLOGY_UNLABELLED,
        "on all 2 machines: not known in which rack it is, for keep_within: rack",
        {"rule": "keep_within", "unit": "rack"},
    )
