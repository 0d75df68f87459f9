from __future__ import annotations

from unittest import mock

import numpy as np
from hypothesis import given

import stowplan
from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from stowplan.solver.money import dealer
from tests.bought_gang_oracle import best_of
from tests.build import Document, market, offering
from tests.solver.cycles import asked_of, placed
from tests.strategies import examples
from tests.test_bought_gangs import catalogs, chosen_in


@examples(150)
@given(catalogs())
def test_a_run_gets_as_good_a_set_of_what_is_kept(s: Snapshot) -> None:
    with mock.patch.object(dealer, "FEW", 0):
        decision = stowplan.solve(s)
    assert audit(s, decision) == ()
    [asked], [outcome] = s.runs, decision.outcomes
    best = best_of(s, asked)
    assert (outcome.outcome == "placed") == (best is not None)
    if best is not None and outcome.outcome == "placed":
        assert best.within(s, asked, chosen_in(s, outcome))


def test_of_offerings_that_are_worse_in_all_as_many_are_kept_as_are_needed() -> None:
    def at(name: str, rate: str, **more: object) -> Document:
        return offering(name, rate, available=1, location="x") | more

    slow = {"startup": {"boot_p50_s": 60, "boot_p90_s": 60, "warm_s": 0}}
    offered = [at(f"o{n}", str(1 + n)) for n in range(8)] + [at("slow", "0.5", **slow)]
    gang = {"name": "g", "gpus": {"count": 16}, "machines": 2, "expected_duration_s": 3600}
    s = market(*offered, runs=[gang])
    eligibility, requests = asked_of(s)
    [asked] = requests.asked
    priced = eligibility.prices.of(asked.ask)
    assert priced is not None
    [group] = eligibility.offers.groups("colocated", "auto")
    slots = np.ones(len(eligibility.hosts), np.int64)
    with mock.patch.object(dealer, "FEW", 0):
        made = dealer.Dealer(eligibility.prices, eligibility.ladder)
        deals = list(made.deals(asked.ask, group, slots, priced))
    kept = {eligibility.hosts[place].name for deal in deals for place in deal.hosts.tolist()}
    assert kept == {"o0", "o1", "slow"}
    assert {worker.host for worker in placed(s, "g").workers} == {"slow#1", "o0#1"}
