from __future__ import annotations

from typing import Any

from stowplan.model.audit import audit
from tests.build import Document, Place, broken, run
from tests.model.audit.bought import by_rate, market, offering, priced, rented, work


def _at_most(usd: str, **more: Any) -> Document:
    return work("a", placement={"max_cost_usd": usd}, **more)


def test_a_run_that_costs_no_more_than_it_may_is_fine() -> None:
    # 100 s of boot, an hour, 30 s of teardown: 3730 s at a tenth of a cent.
    s = market([offering()], [_at_most("3.73")])
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()


def test_a_run_that_costs_more_than_it_may_is_refused() -> None:
    s = market([offering()], [_at_most("3.729999")])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"max_cost"}


def test_a_warm_instance_costs_what_it_costs_warm() -> None:
    # 10 s to start, an hour, 30 s of teardown: 3640 s.
    s = market([offering(warm=1)], [_at_most("3.64")])
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()
    s = market([offering(available=2, warm=1)], [_at_most("3.64")])
    assert broken(s, priced(s, {"a": [("a100#2", 1)]}, "3.60")) == {"max_cost"}


def test_an_unknown_running_time_is_held_against_what_is_certain() -> None:
    # 100 s of boot and 30 s of teardown: 13 cents.
    for usd, rules in (("0.13", set()), ("0.129999", {"max_cost"})):
        s = market([offering()], [run("a", 1, placement={"max_cost_usd": usd})])
        assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == rules


def test_what_is_billed_for_other_work_is_free() -> None:
    # The other run ends in half an hour, so half an hour of this one is paid.
    other = {
        "name": "r",
        "state": "running",
        "gpus": {"count": 1},
        "expected_duration_s": 1800,
        "placed": {"workers": [{"host": "m", "devices": ["m/0"]}]},
    }
    for usd, rules in (("1.80", set()), ("1.799999", {"max_cost"})):
        s = market([], [other, _at_most(usd)], [rented()])
        places = {"a": [("m", ["m/1"])]}
        assert broken(s, priced(s, places, values={"a": by_rate("0")})) == rules


def test_a_run_of_several_workers_costs_that_on_each_of_its_machines() -> None:
    for usd, rules in (("7.20", set()), ("7.199999", {"max_cost"})):
        asked = _at_most(usd, machines=2)
        s = market([], [asked | {"gpus": {"count": 0}}], [rented("m"), rented("n")])
        places = {"a": [("m", 0), ("n", 0)]}
        decision = priced(s, places, "7.20", values={"a": by_rate("7.20")})
        assert broken(s, decision) == rules


def test_a_run_on_several_instances_costs_what_they_do_together() -> None:
    # 3730 s each at a tenth of a cent, and 4.48 for the dearer: never twice the dearer.
    both = [each | {"location": "x"} for each in (offering(), offering("b", rate="4.32"))]
    for usd, rules in (("8.206", set()), ("8.205999", {"max_cost"})):
        s = market(both, [_at_most(usd, machines=2) | {"gpus": {"count": 0}}])
        places: dict[str, list[Place]] = {"a": [("a100#1", 0), ("b#1", 0)]}
        decision = priced(s, places, "7.92", values={"a": by_rate("7.92")})
        assert broken(s, decision) == rules
