"""The benches of money, on markets small enough to look at."""

import datetime as dt
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import stowplan
from stowplan.model.audit import audit
from stowplan.model.estimating.duration import Likely
from stowplan.model.fleet import Fleet, Offering
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from stowplan.solver.pricing import Market, Ranking
from tests.bench.money import cheapest, instance, market, ranking, skypilot, tables
from tests.bench.money.baselines import Placed, cheapest_rate, one_by_one
from tests.bench.money.instance import is_here, small_market
from tests.bench.money.regret import Worth


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


@pytest.fixture(scope="module")
def measured() -> market.Measured:
    return market.measure(small_market(1), 1)


def test_the_tables_hold_every_figure(measured: market.Measured) -> None:
    cells = market.row(measured)
    assert len(cells) == len(market.COLUMNS)
    assert cells[3:5] == ("0.000%", "0.000%")
    told = market.told([measured, measured])
    assert told.count("| 1 | ") == 2
    for way in market.WAYS:
        (line,) = (line for line in told.splitlines() if line.startswith(f"| {way} |"))
        assert line.count("|") == len(market.OTHERS) + 1


def test_a_way_that_does_what_we_do_comes_to_what_we_come_to(measured: market.Measured) -> None:
    found, same = Market(measured.snapshot), Placed()
    runs = {run.name: run for run in measured.snapshot.runs}
    for name, host in measured.hosts.items():
        ranking = found.ranked(runs[name])
        assert isinstance(ranking, Ranking)
        same.hosts[name] = next(one for one in ranking.hosts if one.name == host)
    assert len(same.hosts) > 5
    # Figures in decisions are rounded up: to the second, and to a millionth of a dollar.
    assert measured.ratios(same) == pytest.approx([1] * 5, rel=1e-3)


def test_regret_is_the_rate_above_the_lowest_for_as_long_as_it_runs() -> None:
    offerings = [_offering("low", "1.00", 0), _offering("high", "1.50", 0)]
    now = dt.datetime(2026, 7, 20, tzinfo=dt.UTC)
    run = Run(name="r", expected_duration_s=4 * 3600)
    worth = Worth(Snapshot(now=now, fleet=Fleet(offerings=tuple(offerings)), runs=(run,)))
    assert worth.regret({"r": "low"}, ["r"]) == 0
    assert worth.regret({"r": "high"}, ["r"]) == pytest.approx(4 * 0.50)


def test_dearer_hosts_give_a_ratio_above_1(measured: market.Measured) -> None:
    (name, estimate), *_ = measured.placed.items()
    (other,) = (each for each in measured.ways["one by one"].hosts.items() if each[0] == name)
    rate, cost = int(estimate.rate_usd_per_hour * 10**6), int(market.usd(estimate) * 10**6)
    dearer = other[1]._replace(rate=2 * rate, cost=Likely(3 * cost, 3 * cost))
    ratios = measured.ratios(Placed({name: dearer}))
    assert ratios[0] == 1 / measured.decision.summary.placed
    assert ratios[2:4] == pytest.approx([2, 3], rel=1e-3)


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
    assert line.cells() == ("both", "8", "nothing", "4", "2 (50%)", "30.0%", "50.0%")
    kinds = list(cheapest.lines(small_market(1)))
    assert len(kinds) == len(cheapest.HOURS) * 3


def test_without_skypilot_it_is_said_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    skypilot.main(["--python", "/nowhere/python"])
    assert "To get it: uv venv" in capsys.readouterr().out


FAKE = """
class Dag:
    def __enter__(self): return self
    def __exit__(self, *_): pass
class Resources:
    def __init__(self, accelerators): self.rate = 0.5 * sum(accelerators.values())
    def get_cost(self, seconds): return self.rate * seconds / 3600
class Task:
    def __init__(self, name): pass
    def set_resources(self, resources): self.best_resources = resources
    def set_time_estimator(self, hours): pass
class Optimizer:
    def optimize(dag, quiet): pass
"""


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Lay a package where Python finds it that has what is used of SkyPilot."""
    package = tmp_path / "sky"
    package.mkdir()
    (package / "__init__.py").write_text(FAKE)
    (package / "check.py").touch()
    (package / "clouds.py").write_text("Lambda = Nebius = Vast = object\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    yield
    for name in ("sky", "sky.check", "sky.clouds"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("fake")
def test_every_task_is_given_to_skypilot_but_the_first_isn_t_counted() -> None:
    assert [rate for _, rate in skypilot.theirs(6)] == [0.5, 0.5, 0.5, 4.0, 4.0, 0.5]


@pytest.mark.usefixtures("fake")
@pytest.mark.skipif(not skypilot.ROWS.exists(), reason="the catalogs in its form aren't here")
def test_skypilot_runs_in_an_environment_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    skypilot.main(["--python", sys.executable, "--tasks", "2"])
    assert "the same rate in 0 of 2" in capsys.readouterr().out


def test_skypilot_s_times_and_choices_stand_beside_ours() -> None:
    theirs, ours = [(0.2, 1.0), (0.4, 1.0), (0.3, 2.0)], [(0.002, 1.0), (0.003, 1.0), (0.0025, 1.5)]
    assert skypilot.told(theirs, ours) == (
        "SkyPilot 300 ms a task, stowplan 2.5 ms: x 120 (medians of processor time, 3 tasks); "
        "the same rate in 2 of 3"
    )


def test_reclaims_and_dates_can_be_others() -> None:
    snapshot = small_market(1)
    often, seldom = (
        [line.dearer for line in cheapest.lines(snapshot, reclaims=each)] for each in (5, 0)
    )
    assert often != seldom
    assert cheapest.groups_of(snapshot, spot=True, since=2026) == []  # their prices have no date


def test_without_the_catalog_a_bench_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(instance, "CATALOG", tmp_path)
    market.main(["--tight"])
    ranking.main()
    cheapest.main([])
    said = capsys.readouterr()
    assert said.out == ""
    assert [line.partition(":")[0] for line in said.err.splitlines()] == [
        "market-tight",
        "ranking",
        "cheapest",
    ]


def test_a_page_keeps_all_but_its_table(tmp_path: Path) -> None:
    begin, end = tables.marks("one")
    page = tmp_path / "page.md"
    page.write_text(f"before\n\n{begin}{end}\n\nafter\n")
    for text in ("| a |\n", "| b |\n"):
        tables.put(page, "one", text)
        assert page.read_text() == f"before\n\n{begin}\n{text}\n{end}\n\nafter\n"
        assert tables.kept(page.read_text(), "one") == text
    with pytest.raises(ValueError, match="lacks its marks"):
        tables.put(page, "two", "")


@pytest.mark.skipif(not is_here(), reason="the catalog isn't here")
def test_the_page_has_the_table_that_the_catalog_gives() -> None:
    page = cheapest.PAGE.read_text(encoding="utf-8")
    found = cheapest.told(instance.market(1, runs=0))
    assert tables.kept(page, "cheapest") == found, (
        "run: python -m tests.bench.money.cheapest --markdown"
    )


@pytest.mark.skipif(not is_here(), reason="the catalog isn't here")
def test_the_real_market_has_every_offering() -> None:
    snapshot = instance.market(1, runs=3)
    assert len(snapshot.fleet.offerings) == 7544
    assert json.loads(snapshot.model_dump_json())
