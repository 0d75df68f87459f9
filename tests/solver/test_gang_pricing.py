from __future__ import annotations

from decimal import Decimal

import pytest

from stowplan.model.reasons import Code, Reason
from stowplan.model.snapshot import Snapshot
from stowplan.solver.gang_pricing import GangRanking
from stowplan.solver.pricing import ranked
from tests.build import Document, machine, market, offering


def ranking(s: Snapshot) -> GangRanking:
    found = ranked(s, "g")
    assert isinstance(found, GangRanking)
    return found


def gang(workers: int = 2, **more: object) -> Document:
    asked = {"name": "g", "gpus": {"count": 8 * workers}, "machines": workers}
    return asked | {"expected_duration_s": 3600} | more


def at(name: str, rate: str, available: int = 1, location: str = "x") -> Document:
    return offering(name, rate, available=available, location=location)


def test_the_best_set_of_each_group_is_ranked_and_priced_as_a_whole() -> None:
    s = market(at("a", "3"), at("b", "2"), at("c", "4", 2, "y"), runs=[gang()])
    found = ranking(s)
    assert [(each.name, each.rate) for each in found.hosts] == [
        ("1 x a, 1 x b", 5_000_000), ("2 x c", 8_000_000),
    ]  # fmt: skip
    assert [each.is_as_good for each in found.hosts] == [True, False]
    told = found.estimate("2 x c")
    assert (told.rate_usd_per_hour, told.assembly_bound_usd) == (Decimal(8), Decimal(2))
    assert found.estimate("c") == told
    with pytest.raises(KeyError):
        found.estimate("a")


def test_machines_of_your_own_come_before_what_is_bought() -> None:
    own = [machine("m", 8), machine("n", 8)]
    found = ranking(market(at("a", "3", 2), runs=[gang()], machines=own))
    assert [(each.name, each.kind) for each in found.hosts] == [
        ("1 x m, 1 x n", "machine"), ("2 x a", "offering"),
    ]  # fmt: skip


def test_where_no_set_keeps_its_rules_the_one_that_is_in_the_way_is_told() -> None:
    found = ranked(market(at("a", "3"), at("b", "2", 1, "y"), runs=[gang()]), "g")
    assert isinstance(found, Reason)
    assert (found.code, found.numbers["rule"]) == (Code.GANG_INFEASIBLE, "scope")
    assert ranking(market(at("a", "3"), runs=[gang()])).hosts == []
