from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.estimating.duration import (
    LONGEST_S,
    Likely,
    RunningTime,
    ceil_product,
    family_of,
    median,
    ninetieth,
    running_time,
)
from stowplan.model.fleet import Machine
from stowplan.model.knowledge import Card, Durations
from stowplan.model.runs import Run
from tests.hosts import offering
from tests.strategies import examples

LLM = {"project": "llm"}
PAST = Durations(labels=LLM, family="hopper", seconds=(13000, 15200, 14100))


def asked(**fields: Any) -> Run:
    return Run.model_validate({"name": "r", "labels": LLM, **fields})


def time_of(run: Run, *past: Durations, family: str | None = "hopper") -> RunningTime | None:
    return running_time(run, family, past, 1.25)


def test_what_is_declared_comes_before_what_was_measured_and_both_before_the_history() -> None:
    both = asked(expected_duration_s=1000, measured_duration_s=2000)
    assert time_of(both, PAST) == ((1000, 1250), "declared")
    measured = asked(measured_duration_s=2000)
    assert time_of(measured, PAST) == ((2000, 2500), "measured")
    # 13000, 14100, 15200: the middle one; nine tenths of three runs are all three.
    assert time_of(asked(), PAST) == ((14100, 15200), "history")


def test_a_declared_time_of_zero_is_known() -> None:
    assert time_of(asked(expected_duration_s=0), PAST) == ((0, 0), "declared")


def test_the_p90_is_rounded_up_to_the_second_by_the_factor_as_it_is_written() -> None:
    assert time_of(asked(expected_duration_s=1001)) == ((1001, 1252), "declared")  # 1251.25
    # 1.1 as a float is a little more than 11 / 10: 10 x 1.1 must be 11 all the same.
    assert running_time(asked(expected_duration_s=10), None, (), 1.1) == ((10, 11), "declared")


def test_a_factor_below_one_leaves_the_p90_at_the_p50() -> None:
    assert running_time(asked(expected_duration_s=10), None, (), 0.5) == ((10, 10), "declared")


def test_no_factor_makes_a_time_longer_than_a_snapshot_can_hold() -> None:
    found = running_time(asked(expected_duration_s=10**9), None, (), 1e15)
    assert found == ((10**9, LONGEST_S), "declared")


def test_two_past_runs_are_no_history() -> None:
    assert time_of(asked(), Durations(labels=LLM, family="hopper", seconds=(1, 2))) is None


def test_entries_with_the_same_labels_and_family_are_one_history() -> None:
    few = [Durations(labels=LLM, family=name, seconds=(1, 2)) for name in ("hopper", "Hopper")]
    # 1, 1, 2, 2: between 1 and 2 the mean, 1.5, rounded up.
    assert time_of(asked(), *few) == ((2, 2), "history")


@pytest.mark.parametrize("labels", [{"project": "vision"}, {"project": "llm", "size": "7b"}, {}])
def test_other_labels_more_or_fewer_have_another_history(labels: dict[str, str]) -> None:
    assert time_of(asked(labels=labels), PAST) is None


def test_runs_without_labels_have_no_history_in_common() -> None:
    unlabelled = Durations(labels={}, family="hopper", seconds=(1, 2, 3))
    assert time_of(asked(labels={}), unlabelled) is None


@pytest.mark.parametrize("family", ["ada", None])
def test_another_family_or_none_has_another_history(family: str | None) -> None:
    assert time_of(asked(), PAST, family=family) is None


def test_the_ninetieth_of_ten_is_the_ninth_and_of_eleven_the_tenth() -> None:
    assert ninetieth(range(1, 11)) == 9
    assert ninetieth(range(1, 12)) == 10  # 9.9 of them, so ten


@examples(100)
@given(st.lists(st.integers(0, 10**10), min_size=3, max_size=40))
def test_nine_tenths_of_a_sample_stay_within_its_p90_and_half_within_its_median(
    sample: list[int],
) -> None:
    likely = Likely(median(sample), ninetieth(sample))
    assert likely.p50 <= likely.p90
    assert 2 * sum(seconds <= likely.p50 for seconds in sample) >= len(sample)
    assert 10 * sum(seconds <= likely.p90 for seconds in sample) >= 9 * len(sample)


@examples(100)
@given(st.integers(0, 10**10), st.integers(0, 5000))
def test_a_product_is_exact_and_rounded_up(whole: int, thousandths: int) -> None:
    over = ceil_product(whole, thousandths / 1000) - Fraction(whole * thousandths, 1000)
    assert 0 <= over < 1


CARDS = (Card(model="NVIDIA H100", family="hopper"), Card(model="NVIDIA L4", family="ada"))


def machine(*models: str) -> Machine:
    cards = [{"model": model, "memory_mib": 1} for model in models]
    return Machine.model_validate({"name": "m", "devices": cards})


def test_a_machine_is_of_the_family_of_all_its_cards() -> None:
    assert family_of(machine("NVIDIA H100", "nvidia h100"), CARDS) == "hopper"
    assert family_of(machine("NVIDIA H100", "NVIDIA L4"), CARDS) is None
    assert family_of(machine("NVIDIA H100", "odd"), CARDS) is None
    assert family_of(machine(), CARDS) is None


def test_an_offering_says_its_family_or_its_card_does() -> None:
    gpu = {"model": "NVIDIA H100", "memory_gb": 80, "count": 8}
    assert family_of(offering(accelerator=gpu), CARDS) == "hopper"
    assert family_of(offering(accelerator=gpu | {"family": "ampere"}), CARDS) == "ampere"
    assert family_of(offering(), CARDS) is None
