from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from stowplan.solver.money.caps import Cap, best_set
from stowplan.solver.money.dealer import Dealer, mixed
from stowplan.solver.money.deals import Deal
from tests.build import market, offering
from tests.solver.cycles import asked_of
from tests.strategies import examples


def deal_of(rates: list[int], most: list[int], workers: int) -> Deal:
    """Return the deal of offerings at these rates (dollars), with so many instances of each."""
    offered = [
        offering(f"o{n}", str(rate), available=count, location="x")
        for n, (rate, count) in enumerate(zip(rates, most, strict=True))
    ]
    gang = {"name": "g", "gpus": {"count": workers}, "machines": workers}
    s = market(*offered, runs=[gang | {"expected_duration_s": 3600}])
    eligibility, requests = asked_of(s)
    ask = requests.asked[0].ask
    priced = eligibility.prices.of(ask)
    [group] = eligibility.offers.groups("colocated", "auto")
    assert priced is not None
    dealer = Dealer(eligibility.prices, eligibility.ladder)
    [deal] = dealer.deals(ask, group, np.array(most, np.int64), priced)
    return deal


@examples(200)
@given(
    st.lists(st.tuples(st.integers(1, 5), st.integers(1, 3), st.integers(0, 5)), min_size=2,
             max_size=4),
    st.integers(2, 4), st.integers(2, 16), st.integers(0, 16),
)  # fmt: skip
def test_the_best_set_within_caps_is_found(
    hosts: list[tuple[int, int, int]], workers: int, most_rate: int, most_cost: int
) -> None:
    rates, most, figures = (list(each) for each in zip(*hosts, strict=True))
    if sum(most) < workers:
        return
    deal, figure = deal_of(rates, most, workers), np.array(figures, np.int64)
    caps = [Cap("max_rate", "rate", most_rate * 10**6), Cap("max_cost", "cost", most_cost * 10**6)]
    chosen = best_set(deal, figure, caps)
    ways = [
        way
        for way in itertools.product(*(range(min(n, workers) + 1) for n in most))
        if sum(way) == workers
        and sum(n * rate for n, rate in zip(way, rates, strict=True)) <= min(most_rate, most_cost)
    ]
    assert (chosen is None) == (not ways)
    if chosen is not None:
        assert tuple(chosen.tolist()) in ways
        assert int((figure * chosen).sum()) == min(
            sum(n * own for n, own in zip(way, figures, strict=True)) for way in ways
        )


def test_ways_to_mix_take_no_more_than_there_is() -> None:
    assert mixed(2, [2, 1, 0]) == [(2, 0, 0), (1, 1, 0)]
    assert mixed(3, [1, 1]) == []
    assert all(sum(n > 0 for n in way) <= 2 for way in mixed(8, [8] * 9))
