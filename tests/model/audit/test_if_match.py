from __future__ import annotations

import datetime as dt
from typing import Any

from stowplan.model.audit import audit
from stowplan.model.estimating.token import token_of
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.build import after, broken
from tests.model.audit.bought import market, offering, priced, rented, work

UNTIL = dt.datetime.fromisoformat(after(600))


def _from(rate: int, offered: str, policy: Any = None, **placement: Any) -> Snapshot:
    """Return a run made from an estimate at so many micro-dollars an hour, and what is offered."""
    token = token_of(Run(name="a"), "a100", rate, UNTIL)
    asked = work("a", placement={"if_match": token, **placement})
    return market([offering(rate=offered)], [asked], [rented(rate=offered)], policy=policy)


def test_a_host_a_tenth_above_the_estimate_will_do() -> None:
    s = _from(3_000_000, "3.30")
    for host in ("a100#1", "m"):
        assert audit(s, priced(s, {"a": [(host, 1)]}, "3.30")) == ()


def test_a_host_more_than_a_tenth_above_the_estimate_is_refused() -> None:
    s = _from(3_000_000, "3.300001")
    for host in ("a100#1", "m"):
        assert broken(s, priced(s, {"a": [(host, 1)]}, "3.300001")) == {"if_match"}


def test_a_policy_may_set_how_far_above_it() -> None:
    s = _from(3_000_000, "3.30", policy={"bands": {"if_match": 0.05}})
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.30")) == {"if_match"}


def test_a_highest_rate_of_its_own_counts_instead() -> None:
    s = _from(3_000_000, "4", max_rate_usd_per_hour="4")
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "4")) == ()


def test_an_estimate_of_nothing_allows_nothing() -> None:
    s = _from(0, "0.000001")
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "0.000001")) == {"if_match"}
