from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import after, machine, market, offering, run, wants
from tests.solver.cycles import blames, starts

SLOW = {"boot_p50_s": 100, "boot_p90_s": 900, "warm_s": 0}


def test_a_run_may_end_at_the_last_second_at_worst() -> None:
    # At worst 900 s to boot and 1.25 x 3600 = 4500 s of work.
    slow = offering("a", startup=SLOW)
    assert starts(market(slow, runs=[wants("r", complete_by=after(5400))]))
    assert not starts(market(slow, runs=[wants("r", complete_by=after(5399))]))


def test_how_late_it_would_be_is_told() -> None:
    s = market(offering("a", startup=SLOW), runs=[wants("r", complete_by=after(3600))])
    assert blames(s, "r", "a") == (
        Code.MISSES_DEADLINE, "ends 0.5 h too late at worst (p90)", {"late_s": 1800},
    )  # fmt: skip


def test_without_a_running_time_the_start_counts() -> None:
    late = run("r", 1, placement={"complete_by": after(899)})
    s = market(offering("a", startup=SLOW), runs=[late])
    assert blames(s, "r", "a").message == "starts 0.01 h too late at worst (p90)"
    s = market(
        offering("a", startup=SLOW), runs=[run("r", 1, placement={"complete_by": after(900)})]
    )
    assert starts(s)


def test_an_owned_machine_has_to_be_in_time_too() -> None:
    m = machine("m", 1)
    assert starts(market(machines=[m], runs=[wants("r", complete_by=after(4500))]))
    assert not starts(market(machines=[m], runs=[wants("r", complete_by=after(4499))]))
