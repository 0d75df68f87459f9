"""What profiles prefer, in figures; and how runs alike are spread."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.audit import audit
from stowplan.model.decision import PlacedRun
from stowplan.model.errors import InvalidInput
from stowplan.solver.cycle import solve
from stowplan.solver.money.profiles import even_level, fit, steps_up, wishes
from stowplan.solver.pricing import Ranking, ranked
from tests.build import after, card, machine, market, offering, run, wants
from tests.solver.cycles import grid_of, places

upper = st.lists(st.integers(0, 40), min_size=1, max_size=5)


@given(upper, st.integers(0, 120))
def test_the_even_level_holds_all_and_one_less_does_not(most: list[int], workers: int) -> None:
    level, all_there = even_level(most, workers), min(workers, sum(most))
    assert sum(min(each, level) for each in most) >= all_there
    if level:
        assert sum(min(each, level - 1) for each in most) < all_there


@given(st.integers(0, 200), st.integers(0, 200))
def test_steps_add_up_to_the_square_and_never_get_cheaper(most: int, level: int) -> None:
    steps = list(steps_up(most, level))
    assert sum(size for size, _ in steps) == most
    assert sum(size * cost for size, cost in steps) == most * most
    costs = [cost for _, cost in steps]
    assert costs == sorted(costs)
    assert len(steps) <= 18


@pytest.mark.parametrize("size", [7, 700])
def test_an_array_is_spread_evenly_over_offerings_at_one_price(size: int) -> None:
    # Of b there are only two (or 100): the rest is halved between a and c.
    few = 2 if size == 7 else 100
    s = market(
        offering("a", available=9999),
        offering("b", available=few),
        offering("c", available=9999),
        offering("dear", "1.03", available=9999),
        runs=[run("r", 1, array={"size": size}, expected_duration_s=60)],
    )
    [outcome] = solve(s).outcomes
    assert isinstance(outcome, PlacedRun)
    hosts = [worker.host.rpartition("#")[0] for worker in outcome.workers]
    rest = size - few
    assert hosts.count("b") == few
    assert sorted((hosts.count("a"), hosts.count("c"))) == [rest // 2, rest - rest // 2]


def test_cost_takes_the_warm_one_before_the_better_fit_and_balanced_the_better_fit() -> None:
    # Both cost the same: one has two GPUs and is idle, the other has one and is to be created.
    warm = offering("warm", gpus=2, available=1, warm=1)
    fit = offering("fit", gpus=1)
    assert places(market(warm, fit, runs=[wants("r", profile="cost")])) == {"r": ["warm#1"]}
    assert places(market(warm, fit, runs=[wants("r")])) == {"r": ["fit#1"]}


def test_the_sooner_start_counts_the_image_and_what_is_read_back() -> None:
    # 10,000 MiB: a boots in 100 s and pulls in 200 s; b boots in 200 s and pulls in 20 s.
    def startup(boot: int, pull: int) -> dict[str, int]:
        return {"boot_p50_s": boot, "boot_p90_s": boot, "pull_mib_per_s": pull, "warm_s": 0}

    quick_boot = offering("a", startup=startup(100, 50))
    quick_pull = offering("b", startup=startup(200, 500))
    large = run("r", 1, expected_duration_s=3600, image_mib=10_000)
    assert places(market(quick_boot, quick_pull, runs=[large])) == {"r": ["b#1"]}
    assert places(market(quick_boot, quick_pull, runs=[wants("r")])) == {"r": ["a#1"]}


def test_regrets_that_do_not_add_up_exactly_are_refused_with_the_run_s_name() -> None:
    s = market(
        offering("a"), offering("b", "900000000"), runs=[
            run("x", 1, expected_duration_s=10**9), run("y", 1, expected_duration_s=10**9),
        ],
    )  # fmt: skip
    with pytest.raises(InvalidInput, match=r"runs\[[xy]\]\.placement: the hosts of '[xy]' differ"):
        solve(s)


def test_speed_pays_no_more_for_what_ends_no_sooner() -> None:
    # Both end after an hour; 1.50 is within one and a half times the cheapest.
    for name in ("r0", "r1", "r2", "r3"):
        s = market(
            offering("a", "1.00"), offering("b", "1.50"), runs=[wants(name, profile="speed")]
        )
        assert places(s) == {name: ["a#1"]}


def test_of_hosts_equally_fast_the_cheaper_is_ranked_first() -> None:
    s = market(offering("a", "1.50"), offering("b", "1.00"), runs=[wants("r", profile="speed")])
    found = ranked(s, "r")
    assert isinstance(found, Ranking)
    assert [host.name for host in found.hosts] == ["b", "a"]


@pytest.mark.parametrize("profile", ["balanced", "cost", "speed"])
def test_a_start_that_failed_lately_comes_before_all_else_within_the_band(profile: str) -> None:
    failed = {"attempts": 100, "failures": 0, "last_failed_at": after(-60)}
    best = offering("a", "1", health=1, gpus=1, starts=failed, warm=1)
    s = market(best, offering("b", "1", health=0.5), runs=[wants("r", profile=profile)])
    assert places(s) == {"r": ["b#1"]}


def test_health_comes_before_start_and_start_before_fit() -> None:
    slow = {"boot_p50_s": 60, "boot_p90_s": 60, "warm_s": 0}
    ill, late, large = (
        offering("ill", health=0.8, gpus=1),
        offering("late", health=0.9, gpus=1, startup=slow),
        offering("large", health=0.9, gpus=8),
    )
    assert places(market(ill, late, large, runs=[wants("r")])) == {"r": ["large#1"]}
    assert places(market(ill, late, runs=[wants("r")])) == {"r": ["late#1"]}


def test_wishes_weigh_so_that_no_number_of_lesser_ones_makes_up_for_a_greater() -> None:
    # Two that hurry can be beyond: a preferred host outweighs both, 3; a pool's all of them, 9.
    spot = offering("spot", "1", interruptible=True, reclaims={"per_hour": 0}, available=9)
    small = machine("m", [card(model="NVIDIA L4")], byoc_pool="lab")
    pooled = run("p", {"count": 1, "models": ["L4"]}, placement={"pool": "lab"})
    large = {"gpus": {"count": 1, "models": ["H100"]}}
    preferring = wants("i", interruptible="prefer") | large
    hurrying = [wants(name, profile="speed") | large for name in "xy"]
    s = market(spot, offering("dear", "9"), runs=[pooled, preferring, *hurrying], machines=[small])
    grid = grid_of(s)
    told = {
        each.name: sorted(wishes(grid, index).tolist()) for index, each in enumerate(grid.classes)
    }
    assert told == {"p": [9], "i": [0, 3], "x": [-1, 0]}


def test_fit_counts_gpus_and_of_work_without_them_cores() -> None:
    s = market(
        offering("a", gpus=8), runs=[run("g", 2, expected_duration_s=60), run("c", cpu_cores=16)]
    )
    grid = grid_of(s)
    told = {each.name: fit(grid.eligibility.prices, each.ask).tolist() for each in grid.classes}
    assert told == {"g": [250_000], "c": [250_000]}  # 2 of 8 GPUs, 16 of 64 cores


@pytest.mark.parametrize("profile", ["cost", "speed"])
def test_costs_that_are_more_than_whole_numbers_hold_are_refused_and_no_mistake_of_ours(
    profile: str,
) -> None:
    # Ten hours of nearly 10^12 USD each are 10^19 micro-dollars, over 2^62.
    slow = wants("r", profile=profile) | {"expected_duration_s": 36_000}
    with pytest.raises(InvalidInput):
        solve(market(offering("a", "999999999999"), runs=[slow]))


def test_costs_that_speed_adds_up_to_more_than_whole_numbers_hold_are_refused() -> None:
    # 50 times nearly 10^18 micro-dollars are over 2^63.
    array = wants("r", profile="speed") | {"array": {"size": 50}}
    with pytest.raises(InvalidInput):
        solve(market(offering("a", "999999999999", available=50), runs=[array]))


@pytest.mark.parametrize("profile", ["balanced", "cost", "speed"])
@pytest.mark.parametrize("seconds", [None, 60, 36_000, 10**10])
@pytest.mark.parametrize("size", [1, 50])
@pytest.mark.parametrize("others", [0, 1])
@pytest.mark.parametrize("left", [None, "1", "999999999999"])
def test_vast_amounts_are_counted_or_refused_by_name(
    profile: str, seconds: int | None, size: int, others: int, left: str | None
) -> None:
    hosts = [offering("a", "999999999999", available=50), offering("b", available=1)][: 1 + others]
    asked = run("r", 1, expected_duration_s=seconds, array={"size": size})
    budgets = [{"name": "b", "workspaces": ["default"], "remaining_usd": left}] if left else []
    s = market(
        *hosts, runs=[asked | {"placement": {"profile": profile}}], policy={"budgets": budgets}
    )
    try:
        decision = solve(s)
    except InvalidInput as error:
        (problem,) = error.problems
        assert str(problem).startswith(("runs[r].placement: ", "policy.budgets[b].remaining_usd: "))
    else:
        assert audit(s, decision) == ()
