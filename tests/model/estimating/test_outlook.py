import dataclasses
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.outlook import Outlook, bill_of, outlook, risked
from stowplan.model.estimating.parts import needs_of, parts_of
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.fleet import Starts
from stowplan.model.money import MICRO
from stowplan.model.runs import Run
from tests.hosts import runs, spans, tariffs
from tests.strategies import examples

times = spans()
maybe = st.none() | times


def is_less(one: Outlook, other: Outlook) -> bool:
    """Whether any of its figures is less than the other's."""
    pairs = (
        *zip(one.cost, other.cost, strict=True),
        *zip(one.finish_s, other.finish_s, strict=True),
    )
    return any(here < there for here, there in pairs)


@examples(100)
@given(runs(), tariffs(), maybe)
def test_at_worst_is_never_better_than_likely(
    run: Run, tariff: Tariff, running: Likely | None
) -> None:
    seen = outlook(run, tariff, running)
    assert seen.cost.p50 <= seen.cost.p90
    assert seen.finish_s.p50 <= seen.finish_s.p90
    assert all(type(figure) is int for figure in (*seen.cost, *seen.finish_s, seen.rate))


@examples(100)
@given(runs(), tariffs(), maybe, st.integers(0, 10**9))
def test_a_dearer_rate_never_costs_less(
    run: Run, tariff: Tariff, running: Likely | None, dearer: int
) -> None:
    raised = dataclasses.replace(tariff, rate=tariff.rate + dearer)
    assert not is_less(outlook(run, raised, running), outlook(run, tariff, running))


@examples(100)
@given(runs(), tariffs(), times, times)
def test_longer_running_neither_costs_less_nor_ends_sooner(
    run: Run, tariff: Tariff, running: Likely, longer: Likely
) -> None:
    extended = Likely(running.p50 + longer.p50, running.p90 + longer.p90)
    assert not is_less(outlook(run, tariff, extended), outlook(run, tariff, running))


@examples(100)
@given(runs(), tariffs(), times, st.integers(0, 10**6))
def test_a_longer_increment_or_minimum_never_costs_less(
    run: Run, tariff: Tariff, running: Likely, more: int
) -> None:
    stricter = dataclasses.replace(
        tariff,
        increment_s=Likely(*(seconds * (1 + more % 7) for seconds in tariff.increment_s)),
        minimum_s=Likely(*(seconds + more for seconds in tariff.minimum_s)),
    )
    assert not is_less(outlook(run, stricter, running), outlook(run, tariff, running))


@examples(100)
@given(runs(), tariffs(), times, st.integers(0, 10**6))
def test_paying_more_in_advance_never_costs_more(
    run: Run, tariff: Tariff, running: Likely, more: int
) -> None:
    paid = dataclasses.replace(tariff, paid_s=tariff.paid_s + more)
    assert not is_less(outlook(run, tariff, running), outlook(run, paid, running))


@examples(100)
@given(runs(), tariffs(), spans(least=1))
def test_what_is_certain_is_no_more_than_any_running_time_costs(
    run: Run, tariff: Tariff, running: Likely
) -> None:
    assert not is_less(outlook(run, tariff, running), outlook(run, tariff, None))


@examples(100)
@given(runs(), tariffs(), times, st.sampled_from((0, 1)))
def test_every_part_is_the_exact_fraction_rounded_up(
    run: Run, tariff: Tariff, running: Likely, level: int
) -> None:
    needs = needs_of(run)
    parts = parts_of(needs, tariff, running, level)
    pull = Fraction(needs.image_mib * MICRO, tariff.pull[level])
    restore = Fraction(needs.restore_mib * MICRO, tariff.restore[level])
    loading = parts.startup.seconds - tariff.start_s[level]
    assert 0 <= loading - (pull + restore) < 2  # each of the two up to its second
    count = Fraction(
        tariff.interruptions.over(running)[level] if tariff.interruptions else 0, MICRO
    )
    lost = min(needs.interval_s or running[level], running[level])
    assert 0 <= parts.redone_s - count * lost / 2 < 1
    bill = bill_of(parts.used_s, tariff, level)
    exact = Fraction(tariff.rate * bill.billed_s, 3600)
    assert 0 <= outlook(run, tariff, running).cost[level] - exact < 1


def test_failed_starts_make_a_cost_rank_dearer() -> None:
    # f = 2 / (40 + 4); 1 / (1 - f) = 44 / 42.
    assert risked(42_000_000, Starts(attempts=40, failures=2)) == 44_000_000
    assert risked(1, Starts(attempts=40, failures=2)) == 2  # 1.05, rounded up
    assert risked(100, Starts()) == 100
    assert risked(100, Starts(attempts=4, failures=4)) == 200  # 8 / 4
    assert risked(100, Starts(attempts=4, failures=9)) == 200  # no more than all
