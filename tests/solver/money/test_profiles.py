"""What profiles prefer, in figures; and how runs alike are spread."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.decision import PlacedRun
from stowplan.model.errors import InvalidInput
from stowplan.solver.cycle import solve
from stowplan.solver.money.profiles import even_level, steps_up
from tests.build import market, offering, run, wants
from tests.solver.cycles import places

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
