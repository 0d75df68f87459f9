from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import Document, broken
from tests.model.audit.bought import by_rate, market, offering, priced, rented, work


def _at_most(rate: str) -> Document:
    return work("a", placement={"max_rate_usd_per_hour": rate})


def test_a_host_at_the_most_allowed_will_do() -> None:
    s = market([offering()], [_at_most("3.60")])
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()


def test_a_host_dearer_by_the_hour_is_refused() -> None:
    s = market([offering()], [_at_most("3.599999")])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"max_rate"}


def test_a_rented_machine_has_its_whole_rate_even_while_it_is_paid_for() -> None:
    paid = rented(paid_until="2026-09-21T07:00:00Z")
    values = {"a": by_rate("0")}  # it ranks at nothing, and costs 3.60 an hour all the same
    s = market([], [_at_most("3.60")], [paid])
    assert audit(s, priced(s, {"a": [("m", 1)]}, "3.60", values=values)) == ()
    s = market([], [_at_most("3.59")], [paid])
    assert broken(s, priced(s, {"a": [("m", 1)]}, "3.60", values=values)) == {"max_rate"}


def test_a_machine_of_your_own_pool_costs_nothing() -> None:
    s = market([], [_at_most("0")], [rented(byoc_pool="lab")])
    assert audit(s, priced(s, {"a": [("m", 1)]})) == ()
