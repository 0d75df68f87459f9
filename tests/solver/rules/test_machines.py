from __future__ import annotations

from typing import Any

from stowplan.model.reasons import Code
from tests.build import Document, machine, market, offering, run, snapshot, wants
from tests.model.audit.standing import stands
from tests.solver.cycles import headline, outcome_of, placed, places, starts, told, waits


def _count(count: int, mode: str = "exact", **more: Any) -> Document:
    return run("a", node_selection={"count": count, "mode": mode}, **more)


def test_a_run_starts_with_all_its_workers() -> None:
    s = snapshot([machine(name) for name in "mno"], [_count(3, cpu_cores=64)])
    assert sorted(places(s)["a"]) == ["m", "n", "o"]
    assert (placed(s, "a").shape.tasks, placed(s, "a").shape.gpus_each) == (3, 0)


def test_a_run_with_room_for_all_workers_but_one_waits() -> None:
    machines = [machine("m"), machine("n"), machine("o", used={"cpu_cores": 0.001})]
    s = snapshot(machines, [_count(3, cpu_cores=64)])
    assert starts(s) == set()
    assert headline(s, "a") == (
        Code.INSUFFICIENT_CPU,
        "needs room for 3 workers at once, and 2 fit; "
        "the closest, o: needs 64 cores, 63.999 of 64 free",
        {"workers": 3, "fit": 2, "closest": "o"},
    )


def test_workers_that_may_share_are_counted_over_all_machines() -> None:
    machines = [machine("m", cpu_cores=5), machine("n", cpu_cores=3)]
    assert sorted(places(snapshot(machines, [_count(4, "any", cpu_cores=2)])).get("a", [])) == []
    machines = [machine("m", cpu_cores=5), machine("n", cpu_cores=4)]
    s = snapshot(machines, [_count(4, "any", cpu_cores=2)])
    assert sorted(places(s)["a"]) == ["m", "m", "n", "n"]


def test_two_runs_of_all_workers_or_none_do_not_share_out_what_one_needs() -> None:
    # Four places for 3 + 3 workers: one run starts whole, and none of the other's workers.
    runs = [{**_count(3, "any", cpu_cores=1), "name": name} for name in "ab"]
    s = snapshot([machine("m", cpu_cores=4)], runs)
    assert [len(hosts) for hosts in places(s).values()] == [3]


def test_mode_all_asks_for_a_worker_on_every_machine_that_could() -> None:
    machines = [
        machine("m"),
        machine("n"),
        machine("o", state="cordoned"),
        machine("p", cpu_cores=1),
    ]
    everywhere = run("a", cpu_cores=2, node_selection={"mode": "all"})
    assert sorted(places(snapshot(machines, [everywhere]))["a"]) == ["m", "n"]


def test_mode_all_waits_while_one_machine_that_could_is_full() -> None:
    machines = [machine("m"), machine("n", used={"cpu_cores": 63})]
    s = snapshot(machines, [run("a", cpu_cores=2, node_selection={"mode": "all"})])
    assert headline(s, "a") == (
        Code.INSUFFICIENT_CPU,
        "needs room for 2 workers at once, and 1 fit; the closest, n: needs 2 cores, 1 of 64 free",
        {"workers": 2, "fit": 1, "closest": "n"},
    )


def test_mode_all_with_no_machine_that_could_waits() -> None:
    s = snapshot([machine("m")], [run("a", cpu_cores=65, node_selection={"mode": "all"})])
    assert headline(s, "a").code == Code.INSUFFICIENT_CPU
    assert waits(s, "a").closest is None


def test_gpus_that_do_not_divide_are_refused() -> None:
    s = snapshot([machine("m", 8)], [run("a", 3, machines=2)])
    outcome = outcome_of(s, "a")
    assert outcome.outcome == "refused"
    assert told(outcome.reason) == (
        Code.UNEVEN_SHAPE,
        "3 GPUs don't divide evenly over 2 machines",
        {"gpus": 3, "machines": 2},
    )


def test_fewer_gpus_on_a_machine_than_the_least_are_refused() -> None:
    least = {"count": 2, "min_per_machine": 3}
    outcome = outcome_of(snapshot([machine("m", 8)], [run("a", least)]), "a")
    assert outcome.outcome == "refused"
    assert outcome.reason.numbers == {"gpus": 2, "machines": 1, "min_per_machine": 3}
    exact = {"count": 3, "min_per_machine": 3}
    assert starts(snapshot([machine("m", 8)], [run("a", exact)])) == {"a"}


def test_a_run_of_several_workers_is_on_machines_or_on_offerings_and_never_on_both() -> None:
    both = [machine("m"), machine("n")]
    s = market(offering("o", available=9), runs=[_count(2, cpu_cores=1)], machines=both)
    assert sorted(places(s)["a"]) == ["m", "n"]
    s = market(offering("o", available=9), runs=[_count(3, cpu_cores=1)], machines=both)
    assert places(s)["a"] == ["o#1", "o#2", "o#3"]
    s = market(offering("o", available=2), runs=[_count(3, cpu_cores=1)], machines=both)
    assert not starts(s)


def test_mode_all_means_machines_and_never_offerings() -> None:
    everywhere = run("a", cpu_cores=1, node_selection={"mode": "all"})
    both = [machine("m"), machine("n")]
    s = market(offering("o", "0", available=9), runs=[everywhere], machines=both)
    assert sorted(places(s)["a"]) == ["m", "n"]
    assert places(market(offering("o", "0"), runs=[everywhere], machines=both[:1]))["a"] == ["m"]
    taken = [machine("m", used={"cpu_cores": 64})]
    assert not starts(market(offering("o", "0"), runs=[everywhere], machines=taken))
    s = market(offering("o", "0", available=9), runs=[everywhere])
    assert not starts(s)


def test_an_array_of_single_workers_is_on_offerings() -> None:
    s = market(offering("o", available=9), runs=[wants("a") | {"array": {"size": 3}}])
    assert places(s) == {"a": ["o#1", "o#2", "o#3"]}


def _wide(name: str, gpus: int, **topology: Any) -> Document:
    return run(name, gpus, topology=topology)


def test_a_run_starts_in_one_shape_on_one_group() -> None:
    # 8 GPUs: 4 + 4 in a rack, or 8 x 1 over the site; never some of both.
    machines = [stands(name, gpus=4, rack="r") for name in "ab"]
    machines += [stands(name, gpus=1) for name in "cdefghij"]
    s = snapshot(machines, [_wide("r", 8)])
    assert (sorted(places(s)["r"]), placed(s, "r").shape.gpus_each) == (["a", "b"], 4)


def test_two_gangs_that_each_fit_and_do_not_fit_together_are_none_half_placed() -> None:
    machines = [stands(name, rack="r") for name in "abd"]
    s = snapshot(machines, [_wide("p", 16, min_nodes=2), _wide("q", 16, min_nodes=2)])
    assert [len(hosts) for hosts in places(s).values()] == [2]


def test_a_run_is_cut_smaller_where_larger_workers_find_no_room() -> None:
    machines = [stands(name, gpus=2) for name in "abde"]
    s = snapshot(machines, [_wide("r", 8)])
    assert (placed(s, "r").shape.tasks, placed(s, "r").shape.gpus_each) == (4, 2)
    s = snapshot(machines, [_wide("r", 6, max_nodes=2)])
    assert starts(s) == set()


def test_runs_alike_may_be_cut_each_in_its_own_way() -> None:
    machines = [stands("a", gpus=4), stands("b", gpus=2), stands("d", gpus=2)]
    found = places(snapshot(machines, [_wide("p", 4), _wide("q", 4)]))
    assert sorted(sorted(hosts) for hosts in found.values()) == [["a"], ["b", "d"]]
