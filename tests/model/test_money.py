from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.money import billed_seconds, charge, in_cents, micro_of, usd_of, written
from tests.strategies import examples

rates = st.integers(0, 10**9)
times = st.integers(0, 10**8)


def test_dollars_are_whole_micro_dollars() -> None:
    assert micro_of(Decimal("23.92")) == 23_920_000
    assert micro_of(Decimal("0.000001")) == 1
    assert micro_of(Decimal("999999999999.999999")) == 999_999_999_999_999_999


def test_less_than_a_micro_dollar_is_refused_not_rounded() -> None:
    with pytest.raises(ValueError, match="whole number of micro-dollars"):
        micro_of(Decimal("0.0000001"))


@pytest.mark.parametrize(
    ("micro", "text", "cents"),
    [
        (0, "0", "0.00"),
        (95_680_000, "95.68", "95.68"),
        (12_500_000, "12.5", "12.50"),
        (398_667, "0.398667", "0.40"),
        (1, "0.000001", "0.01"),  # never shown as less than is charged
        (1_234_567_890_000, "1234567.89", "1,234,567.89"),
        (-1_250_000, "-1.25", "-1.25"),
        (-1, "-0.000001", "0.00"),
    ],
)
def test_records_have_every_micro_dollar_and_people_see_cents(
    micro: int, text: str, cents: str
) -> None:
    assert written(micro) == text
    assert in_cents(micro) == cents


@examples(100)
@given(st.integers(-(10**18), 10**18))
def test_writing_dollars_loses_nothing(micro: int) -> None:
    assert micro_of(usd_of(micro)) == micro


def test_a_second_at_an_odd_rate_is_charged_up_to_the_micro_dollar() -> None:
    # 23.92 USD an hour is 6644.44 micro-dollars a second; a minute is 398,666.67.
    assert charge(23_920_000, 1) == 6_645
    assert charge(23_920_000, 60) == 398_667
    assert charge(23_920_000, 3600) == 23_920_000


@examples(100)
@given(rates, times)
def test_a_charge_is_the_exact_product_but_for_the_last_micro_dollar(rate: int, time: int) -> None:
    over = charge(rate, time) - Fraction(rate * time, 3600)
    assert 0 <= over < 1


@examples(100)
@given(rates, rates, times, times)
def test_neither_a_dearer_rate_nor_a_longer_time_costs_less(
    rate: int, dearer: int, time: int, longer: int
) -> None:
    assert charge(rate + dearer, time + longer) >= charge(rate, time)


@pytest.mark.parametrize(
    ("used", "increment", "minimum", "billed"),
    [
        (0, 3600, 60, 0),  # nothing used: nothing charged, no minimum either
        (1, 1, 0, 1),
        (59, 60, 0, 60),
        (60, 60, 0, 60),  # a full increment isn't rounded further
        (61, 60, 0, 120),
        (10, 1, 60, 60),  # the minimum
        (61, 1, 60, 61),  # beyond it, the second
        (3601, 3600, 60, 7200),
        (10, 60, 90, 90),  # a minimum of one and a half increments is charged as it is
    ],
)
def test_use_is_billed_up_to_the_increment_and_at_least_the_minimum(
    used: int, increment: int, minimum: int, billed: int
) -> None:
    assert billed_seconds(used, increment, minimum) == billed


@examples(100)
@given(times, times, st.integers(1, 10**5), st.integers(0, 10**5))
def test_longer_use_is_never_billed_less(
    used: int, longer: int, increment: int, minimum: int
) -> None:
    shorter = billed_seconds(used, increment, minimum)
    assert used <= shorter <= billed_seconds(used + longer, increment, minimum)
