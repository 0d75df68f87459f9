import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.gamma import (
    HIGHEST,
    LOWEST,
    MOST,
    UNIT,
    p50_of,
    p90_of,
    shape_at,
    share_below,
    thresholds,
)
from stowplan.model.estimating.interruptions import Law, interruptions_of, law_through
from stowplan.model.fleet import Reclaims
from stowplan.model.money import MICRO
from tests.hosts import reclaims, spans
from tests.strategies import examples

HOUR = 3600


@pytest.mark.parametrize("x", [1e-6, 0.1, 0.9, 1.5, 3.0, 12.0, 40.0])
def test_the_law_is_the_known_one_where_it_has_a_simple_form(x: float) -> None:
    assert share_below(1, x) == pytest.approx(1 - math.exp(-x), rel=1e-12)
    assert share_below(2, x) == pytest.approx(1 - (1 + x) * math.exp(-x), rel=1e-9)
    assert share_below(0.5, x) == pytest.approx(math.erf(math.sqrt(x)), rel=1e-12)


def poisson_p90(mean: float) -> int:
    term, total, count = math.exp(-mean), math.exp(-mean), 0
    while total < 0.9:
        count += 1
        term *= mean / count
        total += term
    return count


@pytest.mark.parametrize("hours", [0, 1, 2, 4, 10, 24, 100, 240])
def test_with_a_rate_alone_the_count_is_a_poissons(hours: int) -> None:
    found = interruptions_of(Reclaims(per_hour=0.2))
    likely, worst = found.over(Likely(hours * HOUR, hours * HOUR))
    assert likely == hours * MICRO // 5
    assert worst == max(likely, poisson_p90(hours * 0.2) * MICRO)
    assert "Poisson" in found.source


def test_the_law_through_the_published_quantiles_has_the_published_mean() -> None:
    # AWS V100 spot: p50 0.65 h, p90 6.0 h; its mean was 2.0 h.
    law = law_through(2340, 21600)
    assert shape_at(law.step) * law.scale_s / HOUR == pytest.approx(2.0, rel=0.05)
    assert p90_of(law.step) * law.scale_s / UNIT == pytest.approx(21600, rel=0.05)


def test_skewed_uptimes_have_more_interruptions_at_worst_than_regular_ones_and_as_many_likely() -> (
    None
):
    skewed = interruptions_of(Reclaims(per_hour=0.5, uptime_p50_s=2340, uptime_p90_s=21600))
    regular = interruptions_of(Reclaims(per_hour=0.5))
    day = Likely(24 * HOUR, 24 * HOUR)
    assert skewed.over(day).p50 == regular.over(day).p50 == 12 * MICRO
    assert regular.over(day).p90 == 17 * MICRO  # P(at most 16) = 0.899, at most 17 = 0.937
    assert skewed.over(day).p90 > 17 * MICRO


def test_without_a_rate_half_of_all_runs_have_no_more_than_is_likely() -> None:
    found = interruptions_of(Reclaims(uptime_p50_s=3600, uptime_p90_s=36000))
    assert found.expected(3500) == 0  # one that lasts less than the p50 is likely left alone
    assert found.expected(3700) == 1 * MICRO


def test_one_quantile_alone_makes_an_exponential_law() -> None:
    # ln 2 x 10000 s and ln 10 x 10000 s are the quantiles of a mean of 10000 s.
    by_p50 = interruptions_of(Reclaims(uptime_p50_s=6931)).law
    by_p90 = interruptions_of(Reclaims(uptime_p90_s=23026)).law
    assert by_p50 == Law(0, 9999)
    assert by_p90 == Law(0, 10000)


def test_unknown_reclaims_are_taken_as_published_and_said_to_be_unknown() -> None:
    assert not interruptions_of(None).is_known
    assert not interruptions_of(Reclaims(source="a guess")).is_known
    assert interruptions_of(None).expected(10 * HOUR) == 5 * MICRO
    assert interruptions_of(Reclaims(per_hour=0)).over(Likely(10**6, 10**6)) == (0, 0)


def test_a_p90_below_the_p50_and_uptimes_of_nothing_are_still_a_law() -> None:
    assert law_through(3600, 60) == law_through(3600, 3600)
    assert law_through(3600, 3600).step == HIGHEST
    assert law_through(0, 0).scale_s == 1
    assert law_through(1, 10**9).step == LOWEST


@examples(100)
@given(st.integers(60, 10**6), st.integers(140, 1700))
def test_a_law_keeps_the_p50_and_comes_near_the_p90(p50: int, hundredths: int) -> None:
    p90 = p50 * hundredths // 100
    law = law_through(p50, p90)
    if law.scale_s > 1000:  # below, a second of the scale is more than a thousandth
        assert p50_of(law.step) * law.scale_s / UNIT == pytest.approx(p50, rel=0.002)
        reached = p90_of(law.step) * law.scale_s / UNIT
        assert 0.99 * p90 <= reached <= 1.11 * p90


@examples(100)
@given(reclaims(), spans(), spans())
def test_longer_running_never_has_fewer(known: Reclaims, running: Likely, longer: Likely) -> None:
    found = interruptions_of(known)
    before = found.over(running)
    after = found.over(Likely(running.p50 + longer.p50, running.p90 + longer.p90))
    assert before.p50 <= after.p50
    assert before.p90 <= after.p90
    assert before.p50 <= before.p90


@pytest.mark.parametrize("step", [LOWEST, -24, 0])
def test_thresholds_never_fall_and_go_on_by_no_more_than_the_mean(step: int) -> None:
    for percent in (50, 90):
        limits = thresholds(step, percent)
        assert len(limits) == MOST
        assert list(limits) == sorted(limits)
        assert limits[-1] - limits[-2] <= shape_at(step) * UNIT


def test_beyond_the_last_threshold_the_count_goes_on() -> None:
    found = interruptions_of(Reclaims(per_hour=1))
    counts = [found.at_worst(hours * HOUR) // MICRO for hours in range(100, 400)]
    steps = [after - before for before, after in pairwise(counts)]
    assert set(steps) <= {0, 1, 2}
    assert poisson_p90(399) <= counts[-1] <= 1.1 * poisson_p90(399)
