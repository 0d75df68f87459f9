from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import GIB, after, card, machine, run, running, snapshot
from tests.solver.cycles import row, says, waits


def test_hosts_are_counted_as_checked_ready_and_down() -> None:
    machines = [
        machine("up", 1),
        machine("full", 1, used={"cpu_cores": 64}),
        machine("down", 1, state="down"),
        machine("stale", 1, reported_at=after(-999)),
        machine("cordoned", 1, state="cordoned"),
        machine("kept", 1, reserved_for={"team": "v"}),
    ]
    outcome = waits(snapshot(machines, [run("a", 2, cpu_cores=1)]), "a")
    assert (outcome.hosts_checked, outcome.hosts_ready, outcome.hosts_down) == (6, 2, 1)


def test_hosts_of_the_same_state_and_reasons_share_a_row() -> None:
    closed = machine("p", 1, state="draining")
    machines = [machine("m", 1), machine("n", 1), machine("o", 3), closed]
    outcome = waits(snapshot(machines, [run("a", 4)]), "a")
    assert [(each.hosts, each.state) for each in outcome.hosts] == [
        (("m", "n"), "up"),
        (("o",), "up"),
        (("p",), "draining"),
    ]


def test_a_host_says_all_its_reasons_with_the_room_that_the_cycle_leaves() -> None:
    home = machine("m", 4, cpu_cores=8, memory_bytes=4 * GIB)
    winner = run("b", 4, cpu_cores=6, memory_bytes=2 * GIB, priority=1)
    s = snapshot([home], [winner, run("a", 1, cpu_cores=3, memory_bytes=3 * GIB)])
    assert [(reason.code, dict(reason.numbers)) for reason in row(s, "a", "m")] == [
        (Code.INSUFFICIENT_CPU, {"need": 3, "free": 2, "whole": 8}),
        (
            Code.INSUFFICIENT_MEMORY,
            {"need_bytes": 3 * GIB, "free_bytes": 2 * GIB, "whole_bytes": 4 * GIB},
        ),
        (Code.INSUFFICIENT_GPUS, {"need": 1, "free": 0, "whole": 4}),
    ]


def test_a_host_with_room_for_a_worker_says_so() -> None:
    machines = [machine("m", cpu_cores=4), machine("n", cpu_cores=2, used={"cpu_cores": 1})]
    s = snapshot(machines, [run("a", cpu_cores=2, machines=2)])
    assert says(s, "a", "m") == (Code.OK, "has room for one of its workers", {})


def test_the_closest_host_lacks_the_fewest_gpus() -> None:
    runs = [running("r", ("m", 6)), running("s", ("n", 5)), run("a", 4)]
    outcome = waits(snapshot([machine("m", 8), machine("n", 8)], runs), "a")
    assert outcome.closest == "n"


def test_among_hosts_with_gpus_enough_the_closest_lacks_the_least_share_of_the_rest() -> None:
    # m lacks 4 of 8 cores; n lacks 1 of 8 cores and a quarter of the memory.
    machines = [
        machine("m", 4, used={"cpu_cores": 60}),
        machine("n", 4, used={"cpu_cores": 57, "memory_bytes": 254 * GIB + GIB // 2}),
    ]
    s = snapshot(machines, [run("a", 1, cpu_cores=8, memory_bytes=2 * GIB)])
    assert waits(s, "a").closest == "n"


def test_a_host_that_would_not_take_it_empty_is_never_the_closest() -> None:
    machines = [
        machine("m", 3),  # too small whatever runs there
        machine("n", 8, state="cordoned"),
        machine("o", [card(health="faulted")] * 4),
        machine("p", 4),
    ]
    s = snapshot(machines, [running("r", ("p", 4)), run("a", 4)])
    assert waits(s, "a").closest == "p"
    s = snapshot(machines[:3], [run("a", 4)])
    assert waits(s, "a").closest is None


def test_of_hosts_that_lack_as_much_the_first_by_name_is_the_closest() -> None:
    machines = [machine(name, 2) for name in "nmo"]
    there = [running(f"on-{name}", (name, 1)) for name in "mno"]
    assert waits(snapshot(machines, [*there, run("a", 2)]), "a").closest == "m"


def test_a_fleet_without_machines_has_nothing_to_list() -> None:
    outcome = waits(snapshot([], [run("a")]), "a")
    assert (outcome.hosts, outcome.closest, outcome.hosts_checked) == ((), None, 0)
    assert outcome.evaluated_at.isoformat() == after(0)
