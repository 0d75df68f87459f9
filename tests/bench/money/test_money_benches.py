"""The benches of money, on markets small enough to look at."""

import json

import pytest

import stowplan
from stowplan.model.audit import audit
from stowplan.model.fleet import Offering
from stowplan.model.runs import Run
from tests.bench.money import cheapest, market, ranking, skypilot
from tests.bench.money.baselines import cheapest_rate, one_by_one
from tests.bench.money.instance import is_here, small_market


def test_a_market_is_the_same_for_a_seed_and_another_for_another() -> None:
    one, again, other = small_market(1), small_market(1), small_market(2)
    assert one == again
    assert one.fleet.offerings != other.fleet.offerings


@pytest.mark.parametrize("budget", ["100000", "8"])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_plain_ways_keep_to_what_is_available_and_to_budgets(seed: int, budget: str) -> None:
    snapshot = small_market(seed, budget=budget)
    available = {each.name: each.available for each in snapshot.fleet.offerings}
    workspaces = {run.name: run.workspace for run in snapshot.runs}
    for placed in (one_by_one(snapshot), cheapest_rate(snapshot)):
        assert placed.hosts
        taken = [host.name for host in placed.hosts.values()]
        assert all(taken.count(name) <= (available[name] or 0) for name in taken)
        for own in snapshot.policy.budgets:
            spent = sum(
                host.cost.p50
                for run, host in placed.hosts.items()
                if workspaces[run] in own.workspaces
            )
            assert spent <= own.remaining_usd * 10**6


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_plain_way_places_more_than_the_joint_decision(seed: int) -> None:
    snapshot = small_market(seed, budget="20")
    gpus = {run.name: run.gpus.count or 1 for run in snapshot.runs}
    decision = stowplan.solve(snapshot)
    assert audit(snapshot, decision) == ()
    placed = {outcome.run for outcome in decision.outcomes if outcome.outcome == "placed"}
    for other in (one_by_one(snapshot), cheapest_rate(snapshot)):
        # Every run is as old as the others but for seconds: weights are GPUs.
        assert sum(gpus[name] for name in other.hosts) <= sum(gpus[name] for name in placed)


def test_a_row_holds_gaps_totals_and_ratios() -> None:
    each = market.measure(small_market(1), 1)
    cells = market.row(each)
    assert len(cells) == len(market.COLUMNS)
    assert cells[2:4] == ("0.000%", "0.000%")
    assert cells[8].startswith("x ")


def test_times_are_of_each_run() -> None:
    rankings, reasons = ranking.times(small_market(1))
    assert len(rankings) == len(reasons) == 12
    assert ranking.told("x", [1, 2, 10]) == "x: median 2.0 ms, p90 10.0 ms, worst 10.0 ms of 3 runs"


def _offering(name: str, rate: str, boot_s: int) -> Offering:
    terms = {"increment_s": 1, "minimum_s": 0, "starts": "creation"}
    return Offering.model_validate(
        {
            "name": name, "provider": "acme", "region": "here", "rate_usd_per_hour": rate,
            "accelerator": {"model": "L4", "memory_gb": 24, "count": 1}, "billing": terms,
            "startup": {"boot_p50_s": boot_s, "boot_p90_s": boot_s}, "teardown_s": 0,
        }
    )  # fmt: skip


def test_the_lowest_rate_costs_more_where_it_boots_longer() -> None:
    # One hour of work: 2 h at 1.00 are 2.00 USD; 1 h at 1.60 are 1.60: 25 % dearer.
    run = Run(name="r", expected_duration_s=3600)
    group = [_offering("slow", "1.00", 3600), _offering("quick", "1.60", 0)]
    assert cheapest.dearer_by(run, group, small_market(1)) == pytest.approx(0.25)
    # Nine hours: 10.00 against 14.40: the lowest rate is the cheapest.
    longer = Run(name="r", expected_duration_s=9 * 3600)
    assert cheapest.dearer_by(longer, group, small_market(1)) == 0


def test_lines_count_the_groups_that_differ() -> None:
    line = cheapest.Line(8, saves=False, sold="both", dearer=[0, 0.5, 0.1, 0])
    assert line.cells() == ("8", "nothing", "both", "4", "2 (50%)", "30.0%", "50%")
    kinds = list(cheapest.lines(small_market(1)))
    assert len(kinds) == len(cheapest.HOURS) * 3


def test_without_skypilot_it_is_said_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    skypilot.main(["--python", "/nowhere/python"])
    assert "To get it: uv venv" in capsys.readouterr().out


def test_skypilot_s_times_stand_beside_ours() -> None:
    assert skypilot.told([0.2, 0.4, 0.3], [0.003, 0.002]) == (
        "SkyPilot 300 ms a task, stowplan 2.5 ms: x 120 (medians of processor time, 3 tasks)"
    )


@pytest.mark.skipif(not is_here(), reason="the catalog isn't here")
def test_the_real_market_has_every_offering() -> None:
    from tests.bench.money.instance import market as real

    snapshot = real(1, runs=3)
    assert len(snapshot.fleet.offerings) == 7544
    assert json.loads(snapshot.model_dump_json())
