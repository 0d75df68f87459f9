from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, machine, run, snapshot
from tests.solver.cycles import headline, placed, places, starts, waits

TWO: Document = {"node_selection": {"count": 2}}


def test_workers_of_a_run_are_on_different_machines() -> None:
    s = snapshot([machine("m"), machine("n")], [run("a", cpu_cores=1, **TWO)])
    assert sorted(places(s)["a"]) == ["m", "n"]


def test_one_machine_is_too_few_for_workers_that_never_share() -> None:
    s = snapshot([machine("m"), machine("n", state="down")], [run("a", cpu_cores=1, **TWO)])
    assert headline(s, "a") == (
        Code.MACHINE_DOWN,
        "needs 2 different machines, and 1 could take a worker; the nearest other, n: down",
        {"workers": 2, "machines": 1},
    )
    assert waits(s, "a").closest is None  # no room would be enough


def test_workers_of_mode_any_share_a_machine() -> None:
    asked = run("a", cpu_cores=32, node_selection={"count": 2, "mode": "any"})
    assert places(snapshot([machine("m")], [asked])) == {"a": ["m", "m"]}


def test_machines_asked_for_are_different_ones_in_mode_any_too() -> None:
    asked = run("a", machines=2, node_selection={"mode": "any"})
    assert headline(snapshot([machine("m")], [asked]), "a").code == Code.SPREAD_CONFLICT
    s = snapshot([machine("m"), machine("n")], [asked])
    assert sorted(places(s)["a"]) == ["m", "n"]


def test_workers_of_other_runs_share_a_machine() -> None:
    runs = [run(name, cpu_cores=1, **TWO) for name in "abc"]
    s = snapshot([machine("m"), machine("n")], runs)
    assert [sorted(hosts) for hosts in places(s).values()] == [["m", "n"]] * 3


def test_elements_of_an_array_share_a_machine() -> None:
    s = snapshot([machine("m")], [run("a", cpu_cores=1, array={"size": 3})])
    assert places(s) == {"a": ["m", "m", "m"]}


def test_a_machine_that_could_hold_many_workers_counts_once() -> None:
    # Room for 64 workers on m and none on n: the second worker has nowhere to go.
    machines = [machine("m"), machine("n", used={"cpu_cores": 64})]
    s = snapshot(machines, [run("a", cpu_cores=1, **TWO)])
    assert headline(s, "a") == (
        Code.INSUFFICIENT_CPU,
        "needs room for 2 workers at once, and 1 fit; the closest, n: needs 1 cores, 0 of 64 free",
        {"workers": 2, "fit": 1, "closest": "n"},
    )


def test_two_runs_that_each_spread_alone_do_not_both_fit() -> None:
    asked: Document = {"cpu_cores": 40, **TWO}
    s = snapshot([machine("m"), machine("n")], [run("a", **asked), run("b", **asked)])
    assert len(starts(s)) == 1
    assert [worker.index for worker in placed(s, next(iter(starts(s)))).workers] == [0, 1]
