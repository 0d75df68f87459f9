"""The one reason why a run waits: the first that is true, in the order of these tests."""

from __future__ import annotations

from stowplan.model.reasons import Action, Code
from stowplan.solver.cycle import solve
from tests.build import Document, after, card, machine, run, running, snapshot
from tests.solver.cycles import headline, placed, told

QUOTA_2: Document = {"workspaces": [{"name": "default", "gpu_quota": 2}]}


def test_a_fleet_without_machines_is_short_of_what_is_asked() -> None:
    s = snapshot([], [run("a"), run("b", 1)])
    assert headline(s, "a") == (
        Code.INSUFFICIENT_CPU,
        "the fleet has no machines",
        {"need": 1, "whole": 0},
    )
    assert headline(s, "b") == (
        Code.INSUFFICIENT_GPUS,
        "the fleet has no machines",
        {"need": 1, "whole": 0},
    )


# One and the same reason on every host, that isn't room.


def test_a_reason_that_every_host_gives_in_the_same_words_is_said_once() -> None:
    machines = [machine("m", state="cordoned"), machine("n", state="cordoned")]
    s = snapshot(machines, [run("a")])
    assert headline(s, "a") == (Code.MACHINE_CORDONED, "on all 2 machines: cordoned", {})


def test_a_reason_that_every_host_gives_with_other_numbers_is_that_of_the_nearest() -> None:
    machines = [machine("m", 2), machine("n", 4), machine("o", 3)]
    s = snapshot(machines, [run("a", 5)])
    assert headline(s, "a") == (
        Code.INSUFFICIENT_GPUS,
        "on all 3 machines; the nearest, n: needs 5 GPUs, 4 of 4 free",
        {"need": 5, "free": 4, "whole": 4},
    )


def test_machines_that_are_all_down_say_the_same_of_every_run() -> None:
    why = {"m": "power", "n": "fan", "o": "power"}
    machines = [
        machine(name, size, state="down", state_reason=why[name])
        for name, size in (("m", 2), ("n", 8), ("o", 4))
    ]
    s = snapshot(machines, [run("a", 1), run("b", 4), run("c", 8)])
    told = {headline(s, name).message for name in ("a", "b", "c")}
    assert told == {"on all 3 machines; e.g. m: down: power"}


def test_figures_of_thousands_have_a_comma() -> None:
    machines = [machine(f"m{index}", labels={"zone": "b"}) for index in range(1200)]
    s = snapshot([*machines, machine("n")], [run("a", needs=["net"]), run("b", 3000)])
    assert headline(s, "a").message == "on all 1,201 machines: without net"
    policy: Document = {"workspaces": [{"name": "default", "gpu_quota": 5000}]}
    many = [run("a", array={"size": 2000, "max_parallel": 1000})]
    told_of = (
        solve(snapshot([machine("m", cpu_cores=4000)], many, policy=policy)).outcomes[0].reason
    )
    assert told_of and told_of.message.startswith("runs 1,000 elements at once")


def test_one_host_is_named() -> None:
    s = snapshot([machine("m", labels={"zone": "b"})], [run("a", needs=["net"])])
    assert headline(s, "a").message == "m: without net"


def test_a_code_that_all_hosts_share_counts_though_others_come_before_it_on_some() -> None:
    machines = [machine("m", state="cordoned"), machine("n")]
    s = snapshot(machines, [run("a", needs=["net"])])
    assert headline(s, "a") == (
        Code.CAPABILITY_MISSING,
        "on all 2 machines: without net",
        {"missing": ("net",)},
    )


def test_a_run_that_nothing_could_ever_take_is_not_said_to_be_over_its_quota() -> None:
    s = snapshot([machine("m", 2)], [run("a", 3)], policy=QUOTA_2)
    assert headline(s, "a").code == Code.INSUFFICIENT_GPUS


# A shared limit that is used up.


def test_the_quota_comes_before_the_room() -> None:
    s = snapshot([machine("m", 2)], [running("r", ("m", 2)), run("a", 1)], policy=QUOTA_2)
    assert headline(s, "a").code == Code.QUOTA_EXCEEDED
    assert solve(s).outcomes[0].reason is not None


def test_the_quota_comes_before_the_array_limit() -> None:
    array = run("a", 1, array={"size": 5, "max_parallel": 2})
    outcome = placed(snapshot([machine("m", 8)], [array], policy=QUOTA_2), "a")
    assert told(outcome.reason).code == Code.QUOTA_EXCEEDED


def test_the_array_limit_comes_before_the_room() -> None:
    array = run("a", 1, array={"size": 5, "max_parallel": 2})
    assert told(placed(snapshot([machine("m", 2)], [array]), "a").reason).code == Code.ARRAY_LIMIT


# The queue, where there is room.


def test_the_queue_comes_before_those_that_took_the_room() -> None:
    runs = [running("r", ("m", 2)), run("a", 4), run("b", 2)]
    s = snapshot([machine("m", 4)], runs, policy={"queue": "strict"})
    assert headline(s, "b").code == Code.QUEUED_BEHIND


# Those that took the room.


def test_a_run_that_fits_alone_is_told_who_took_its_room() -> None:
    s = snapshot([machine("m", 4)], [run("a", 3), run("b", 2)])
    assert headline(s, "b") == (
        Code.OUTCOMPETED,
        "fits alone; the room went to a",
        {"runs": ("a",)},
    )


# Too little room.


def test_a_run_that_does_not_fit_beside_what_runs_is_told_of_the_closest_host() -> None:
    machines = [machine("m", 4), machine("n", 4)]
    s = snapshot(machines, [running("r", ("m", 3)), running("s", ("n", 2)), run("a", 4)])
    assert headline(s, "a") == (
        Code.INSUFFICIENT_GPUS,
        "the closest, n: needs 4 GPUs, 2 of 4 free",
        {"need": 4, "free": 2, "whole": 4, "closest": "n"},
    )


def test_what_a_run_needs_more_than_a_host_has_in_all_is_not_room() -> None:
    # m could never take it; n could, and is the closest though it lacks more.
    machines = [machine("m", 3), machine("n", 4)]
    s = snapshot(machines, [running("r", ("n", 4)), run("a", 4)])
    assert headline(s, "a").numbers["closest"] == "n"


def test_what_no_room_helps_is_not_told_as_free_where_it_is_taken() -> None:
    s = snapshot([machine("m", 4)], [running("r", ("m", 3)), run("a", 8)])
    message = headline(s, "a").message
    assert message == "m: needs 8 GPUs, has 4"


def test_workers_that_do_not_all_fit_are_told_how_many_do() -> None:
    machines = [machine("m"), machine("n", used={"cpu_cores": 63}), machine("o", state="down")]
    s = snapshot(machines, [run("a", cpu_cores=2, machines=2)])
    assert headline(s, "a") == (
        Code.INSUFFICIENT_CPU,
        "needs room for 2 workers at once, and 1 fit; the closest, n: needs 2 cores, 1 of 64 free",
        {"workers": 2, "fit": 1, "closest": "n"},
    )


def test_more_workers_than_machines_that_could_is_a_conflict() -> None:
    machines = [machine("m"), machine("n", cpu_cores=1)]
    s = snapshot(machines, [run("a", cpu_cores=2, machines=2)])
    assert headline(s, "a") == (
        Code.SPREAD_CONFLICT,
        "needs 2 different machines, and 1 could take a worker",
        {"workers": 2, "machines": 1},
    )


# The host that comes nearest.


def test_the_nearest_host_is_the_one_that_only_its_operator_keeps_closed() -> None:
    # The label is what the run asks for; a machine that is down can't be opened by a word.
    machines = [
        machine("cordoned", labels={"zone": "a"}, state="cordoned"),
        machine("down", labels={"zone": "a"}, state="down"),
        machine("unlabelled"),
    ]
    s = snapshot(machines, [run("a", node_selection={"match_labels": {"zone": "a"}})])
    assert headline(s, "a") == (
        Code.MACHINE_CORDONED,
        "the nearest, cordoned: cordoned (2 more won't do either)",
        {},
    )


def test_the_host_with_the_most_of_the_pinned_gpus_is_the_nearest() -> None:
    machines = [machine(name, 4) for name in ("a", "b", "c")]
    s = snapshot(machines, [run("x", {"ids": ["a/0", "b/0", "b/1"]}, topology={})])
    assert headline(s, "x") == (
        Code.NO_MATCHING_GPU,
        "on all 3 machines; the nearest, b: without the pinned GPU a/0",
        {"missing": ("a/0",)},
    )


def test_a_host_with_too_few_gpus_is_farther_than_one_that_is_closed() -> None:
    machines = [machine("closed", 4, state="cordoned"), machine("small", 2)]
    s = snapshot(machines, [run("a", 4)])
    assert headline(s, "a").code == Code.MACHINE_CORDONED


def test_the_reason_carries_what_to_do() -> None:
    machines = [machine("m", [card(health="faulted")]), machine("n", state="cordoned")]
    s = snapshot(machines, [run("a", 1)])
    outcome = next(each for each in solve(s).outcomes if each.run == "a")
    assert outcome.reason is not None
    assert outcome.reason.action in (Action.CHECK_NODE, Action.REVIEW_POLICY)


def test_runs_alike_have_headlines_of_their_own_place_in_line() -> None:
    ages = {"a": -30, "b": -20, "c": -10}
    runs = [run(name, 3, submitted_at=after(age)) for name, age in ages.items()]
    runs += [running("r", ("m", 2)), run("d", 1)]
    s = snapshot([machine("m", 4)], runs, policy={"queue": "strict"})
    assert headline(s, "d").numbers["behind"] == "a"
    assert headline(s, "b").code == Code.INSUFFICIENT_GPUS
