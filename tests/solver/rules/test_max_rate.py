from __future__ import annotations

from typing import Any

from stowplan.model.reasons import Code
from tests.build import Document, after, machine, market, offering, run, wants
from tests.solver.cycles import blames, headline, places, row, starts


def test_a_rate_that_is_exactly_the_most_is_allowed() -> None:
    assert starts(market(offering("a", "2.10"), runs=[wants("r", max_rate_usd_per_hour="2.10")]))


def test_a_millionth_more_is_too_much_and_told_exactly() -> None:
    s = market(offering("a", "2.100001"), runs=[wants("r", max_rate_usd_per_hour="2.10")])
    assert blames(s, "r", "a") == (
        Code.EXCEEDS_MAX_RATE,
        "2.11 USD an hour, and at most 2.10 allowed",
        {"rate_usd_per_hour": 2.100001, "max_usd_per_hour": 2.1},
    )
    s = market(offering("a", "2.100001"), runs=[wants("r", max_rate_usd_per_hour="2.100000")])
    assert not starts(s)


def test_an_owned_machine_is_never_too_dear() -> None:
    assert starts(market(runs=[wants("r", max_rate_usd_per_hour="0")], machines=[machine("m", 1)]))


def test_of_many_offerings_the_span_is_told() -> None:
    many = [offering(f"a{n:03}", f"{3 + n / 100:.2f}") for n in range(40)]
    s = market(*many, runs=[wants("r", max_rate_usd_per_hour="2")])
    [told] = row(s, "r", "a007")
    assert told.message == "3.00 to 3.39 USD an hour, and at most 2.00 allowed"
    assert told.numbers["rate_usd_per_hour"] == 3.39
    assert told.numbers["least_rate_usd_per_hour"] == 3.0


def _gang(**placement: Any) -> Document:
    """Return a run of two workers, an hour each."""
    two = run("r", cpu_cores=1, node_selection={"count": 2}, expected_duration_s=3600)
    return two | {"placement": placement}


def _rented(usd: str) -> list[Document]:
    return [machine(name, rate_usd_per_hour=usd) for name in "mn"]


def test_the_workers_of_a_run_are_counted_together() -> None:
    asked = _gang(max_rate_usd_per_hour="3")
    assert len(places(market(runs=[asked], machines=_rented("1.50")))["r"]) == 2
    s = market(runs=[asked], machines=_rented("1.500001"))
    assert blames(s, "r", "m") == (
        Code.EXCEEDS_MAX_RATE,
        "3.01 USD an hour, and at most 3.00 allowed",
        {"rate_usd_per_hour": 3.000002, "max_usd_per_hour": 3.0},
    )


def test_a_machine_that_is_paid_for_still_has_its_rate() -> None:
    paid = machine("m", 1, rate_usd_per_hour="3", paid_until=after(9000))
    s = market(runs=[wants("r", max_rate_usd_per_hour="2")], machines=[paid])
    assert headline(s, "r").code == Code.EXCEEDS_MAX_RATE
    own = machine("m", 1, rate_usd_per_hour="3", byoc_pool="lab")
    assert starts(market(runs=[wants("r", max_rate_usd_per_hour="2")], machines=[own]))
