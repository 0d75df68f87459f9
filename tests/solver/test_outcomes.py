from __future__ import annotations

from stowplan.model.decision import ArrayCount, StayingRun
from stowplan.model.reasons import Code
from stowplan.solver.cycle import solve
from stowplan.solver.outcomes import cycle_id
from stowplan.solver.settings import Settings
from tests.build import Document, after, machine, run, running, snapshot
from tests.solver.cycles import outcome_of, placed, told, waits


def test_each_run_has_one_outcome_in_the_order_of_the_line() -> None:
    runs = [
        run("new"),
        run("old", submitted_at=after(-9)),
        run("b-new"),
        run("high", priority=3),
        running("running", ("m", 0), submitted_at=after(-99)),
        run("refused", 3, machines=2, priority=-1),
    ]
    decision = solve(snapshot([machine("m")], runs))
    names = ["high", "running", "old", "b-new", "new", "refused"]
    assert [outcome.run for outcome in decision.outcomes] == names


def test_the_summary_counts_outcomes_and_the_gpus_of_this_cycle() -> None:
    runs = [
        run("a", 2),
        run("b", 1, array={"size": 2}),
        run("c", 99),
        run("d", 3, machines=2),
        running("kept", ("m", 1)),
        running("held", ("n", 1)),
        running("withdrawn", ("m", 0), state="stopped"),
    ]
    summary = solve(snapshot([machine("m", 8), machine("n", 1, state="down")], runs)).summary
    counts = summary.model_dump(exclude={"usd_per_hour"})
    assert counts == {
        "placed": 2,
        "kept": 1,
        "held": 1,
        "waiting": 1,
        "refused": 1,
        "withdrawn": 1,
        "gpus_placed": 4,
    }


def test_a_decision_says_what_it_was_made_on() -> None:
    document: Document = {"name": "night", "now": after(0), "fleet": {"generation": 7}}
    s = type(snapshot([], [])).read(document)
    decision = solve(s)
    assert (decision.snapshot, decision.now, decision.generation) == ("night", s.now, 7)
    assert decision.warnings == ("the fleet has no machines: every run waits",)


def test_what_stays_is_told_as_it_was_placed() -> None:
    s = snapshot([machine("m", 4)], [running("a", ("m", ["m/2", "m/1"]))])
    outcome = outcome_of(s, "a")
    assert isinstance(outcome, StayingRun)
    assert (outcome.outcome, outcome.reason.code) == ("kept", Code.OK)
    assert [(w.index, w.host, w.devices) for w in outcome.workers] == [(0, "m", ("m/2", "m/1"))]


def test_runs_alike_share_the_table_of_the_first_that_waits() -> None:
    s = snapshot([machine("m", 2), machine("n", 1)], [run(name, 2) for name in "abc"])
    decision = solve(s)
    first, second = waits(decision, "b"), waits(decision, "c")
    assert (first.same_as, second.same_as) == (None, "b")
    assert first.hosts
    assert second.hosts == ()
    assert (second.closest, second.hosts_checked) == (first.closest, first.hosts_checked)


def test_runs_that_ask_otherwise_have_tables_of_their_own() -> None:
    decision = solve(snapshot([machine("m", 2)], [run("a", 3), run("b", 4)]))
    assert waits(decision, "a").same_as is waits(decision, "b").same_as is None


def test_an_array_counts_what_runs_starts_and_waits() -> None:
    array = {"size": 9, "finished": [0, 1], "max_parallel": 4}
    held = running("a", ("m", ["m/0"], 5), array=array)
    outcome = placed(snapshot([machine("m", 8)], [held]), "a")
    assert outcome.array == ArrayCount(running=1, placed=3, waiting=3)
    assert [worker.element for worker in outcome.workers] == [2, 3, 4]
    assert [worker.index for worker in outcome.workers] == [0, 1, 2]
    assert told(outcome.reason).code == Code.ARRAY_LIMIT


def test_an_array_that_starts_no_more_is_kept_with_its_count() -> None:
    held = running("a", ("m", ["m/0"], 0), array={"size": 3})
    outcome = outcome_of(snapshot([machine("m", 1)], [held]), "a")
    assert isinstance(outcome, StayingRun)
    assert (outcome.outcome, outcome.array) == (
        "kept",
        ArrayCount(running=1, placed=0, waiting=2),
    )


def test_an_array_whose_elements_have_all_ended_is_kept() -> None:
    s = snapshot([machine("m")], [run("a", array={"size": 2, "finished": [0, 1]})])
    outcome = outcome_of(s, "a")
    assert (outcome.outcome, outcome.reason) == ("kept", outcome.reason)
    assert told(outcome.reason) == (Code.OK, "every element has ended", {})


def test_a_cycle_is_named_by_its_content_and_settings() -> None:
    s = snapshot([machine("m"), machine("n")], [run("a"), run("b")])
    again = snapshot([machine("m"), machine("n")], [run("a"), run("b")])
    other = snapshot([machine("m"), machine("n")], [run("a"), run("b", cpu_cores=1)])
    name = cycle_id(s, Settings())
    assert name.startswith("c-")
    assert name == cycle_id(again, Settings()) == solve(s, Settings()).cycle
    assert name != cycle_id(other, Settings())
    assert name != cycle_id(s, Settings(gap=0))


def test_the_order_of_named_things_says_nothing_about_a_cycle() -> None:
    drives = [{"name": "x"}, {"name": "y"}]
    booked = {"machines": ["m"], "workspace": "v", "from": after(9), "to": after(10)}
    kept = [{**booked, "name": name} for name in "pq"]
    spaces = [{"name": "v"}, {"name": "w"}]
    machines, runs = [machine("m"), machine("n")], [run("a"), run("b")]
    first, second = (
        snapshot(
            machines[::order],
            runs[::order],
            drives=drives[::order],
            reservations=kept[::order],
            policy={"workspaces": spaces[::order]},
        )
        for order in (1, -1)
    )
    assert cycle_id(first, Settings()) == cycle_id(second, Settings())
