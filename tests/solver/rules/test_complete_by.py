from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import after, machine, market, offering, run, wants
from tests.solver.cycles import blames, places, row, starts

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


def test_a_warm_instance_may_be_in_time_where_a_new_one_is_not() -> None:
    late = offering("a", startup=SLOW, available=2, warm=1)
    s = market(late, runs=[wants(name, complete_by=after(4500)) for name in "xy"])
    assert list(places(s).values()) == [["a#1"]]


def test_of_many_offerings_the_span_is_told() -> None:
    many = [
        offering(f"a{n:03}", startup={"boot_p50_s": 0, "boot_p90_s": 3600 * (n + 1), "warm_s": 0})
        for n in range(40)
    ]
    # At worst 4500 s of work, done an hour late and more.
    [told] = row(market(*many, runs=[wants("r", complete_by=after(4500))]), "r", "a007")
    assert told.message == "ends 1 to 40 h too late at worst (p90)"
    assert (told.numbers["least_late_s"], told.numbers["late_s"]) == (3600, 144_000)


def test_every_profile_takes_the_dearer_host_that_is_in_time() -> None:
    for profile in ("balanced", "cost", "speed"):
        s = market(
            offering("late", "1", startup=SLOW), offering("soon", "9"),
            runs=[wants("r", profile=profile, complete_by=after(4500))],
        )  # fmt: skip
        assert places(s) == {"r": ["soon#1"]}
