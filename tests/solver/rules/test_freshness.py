from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import after, machine, run, snapshot
from tests.solver.cycles import blames, headline, says, starts, waits


def test_a_report_of_exactly_the_stale_age_is_fresh() -> None:
    s = snapshot([machine("m", reported_at=after(-120))], [run("a")])
    assert starts(s) == {"a"}


def test_a_report_one_second_older_is_stale() -> None:
    s = snapshot([machine("m", reported_at=after(-121))], [run("a")])
    assert blames(s, "a", "m") == (
        Code.HARDWARE_STALE,
        "last reported 121 s ago (stale after 120 s)",
        {"age_s": 121, "stale_after_s": 120},
    )
    assert (waits(s, "a").hosts_ready, waits(s, "a").hosts_down) == (0, 0)


def test_a_report_a_millisecond_older_is_stale() -> None:
    s = snapshot([machine("m", reported_at=after(-120.001))], [run("a")])
    assert headline(s, "a").code == Code.HARDWARE_STALE


def test_the_policy_says_what_is_stale() -> None:
    machines = [machine("m", reported_at=after(-30)), machine("n", reported_at=after(-31))]
    s = snapshot(machines, [run("a", cpu_cores=65)], policy={"stale_after_s": 30})
    assert says(s, "a", "m").code == Code.INSUFFICIENT_CPU
    assert waits(s, "a").hosts_ready == 1


def test_a_machine_without_a_time_of_report_reported_now() -> None:
    s = snapshot([machine("m")], [run("a")], policy={"stale_after_s": 0})
    assert starts(s) == {"a"}


def test_a_report_from_the_future_is_fresh() -> None:
    s = snapshot([machine("m", reported_at=after(3600))], [run("a")])
    assert starts(s) == {"a"}
