"""Worked by hand: at 3.60 USD an hour a second costs a tenth of a cent."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.decision import Estimate
from stowplan.model.estimating.breakdown import in_two_digits, lines
from stowplan.model.estimating.duration import Likely, RunningTime, running_time
from stowplan.model.estimating.estimate import UNKNOWN_TIME, estimate
from stowplan.model.estimating.gang import Node
from stowplan.model.estimating.gang_estimate import gang_estimate
from stowplan.model.estimating.outlook import outlook
from stowplan.model.estimating.tariff import Tariff
from stowplan.model.fleet import Offering
from stowplan.model.runs import Run
from tests.hosts import NOW, asked, later, offering, runs, spans, tariffs, unknown_billing, work
from tests.strategies import examples


def estimated(run: Run, tariff: Tariff, hosts: int = 1) -> Estimate:
    return estimate(run, tariff, running_time(run, None, (), 1.25), NOW, hosts)


def table(found: Estimate) -> dict[str, tuple[str, int | None]]:
    return {line.what: (str(line.usd), line.seconds) for line in found.breakdown}


def cost(found: Estimate) -> tuple[str, str]:
    assert found.cost_usd
    return found.cost_usd.p50, found.cost_usd.p90


def finish(found: Estimate) -> tuple[float, float]:
    assert found.finish
    times = (dt.datetime.fromisoformat(time) for time in (found.finish.p50, found.finish.p90))
    p50, p90 = ((time - NOW).total_seconds() for time in times)
    return p50, p90


def test_a_new_instance_boots_pulls_restores_runs_and_ends() -> None:
    found = estimated(work(), asked(offering()))
    # Boot 100, pull 5000 / 100 = 50, restore 4000 / 200 = 20.
    assert table(found) == {
        "startup": ("0.17", 170),
        "running": ("3.6", 3600),
        "teardown": ("0.03", 30),
    }
    # p90: boot 200 and 70 more, running 3600 x 1.25 = 4500, teardown 30: 4800 s.
    assert cost(found) == ("3.8", "4.8")
    assert finish(found) == (3770, 4770)  # the teardown comes after the finish
    assert found.startup_s.cold == 170
    assert found.startup_s.warm == 80
    assert found.duration
    assert (found.duration.seconds, found.duration.source) == (3600, "declared")
    assert found.rate_usd_per_hour == Decimal("3.6")
    assert found.startup_teardown_usd == Decimal("0.2")
    assert found.minimum_usd == Decimal("0.001")  # an increment of a second
    assert found.first_hold_usd == Decimal("3.6")  # the bill is longer than an hour
    assert found.assembly_bound_usd == 0
    assert found.unverified == ()


@pytest.mark.parametrize("saves", [None, 0])
def test_a_run_without_saved_work_restores_nothing_at_its_start(saves: int | None) -> None:
    saving = {"interval_s": 600, "size_mib": 4000, "saves": saves}
    found = estimated(work(checkpoint=saving), asked(offering()))
    assert table(found)["startup"] == ("0.15", 150)


def test_an_idle_instance_starts_warm_and_what_is_paid_of_it_is_free() -> None:
    warm = {"count": 1, "paid_until": later(1800.9)}  # counted as 1800: paid time is rounded down
    found = estimated(work(), asked(offering(warm=warm), is_warm=True))
    # Warm start 10 + 50 + 20 = 80; 80 + 3600 + 30 = 3710 s, of which 1800 are paid: 1910.
    assert table(found) == {
        "startup": ("0.08", 80),
        "running": ("3.6", 3600),
        "teardown": ("0.03", 30),
        "already paid": ("-1.8", -1800),
    }
    assert cost(found)[0] == "1.91"
    assert finish(found)[0] == 3680
    assert found.minimum_usd == 0
    assert found.startup_teardown_usd == 0  # 110 s, all of them paid


def test_a_run_that_ends_within_the_paid_increment_is_free() -> None:
    warm = {"count": 1, "paid_until": later(7200)}
    tariff = asked(offering(warm=warm, billing={"increment_s": 3600}), is_warm=True)
    assert tariff.ranked_rate == 0
    found = estimated(work(), tariff)
    assert cost(found) == ("0", "0")
    assert found.first_hold_usd == 0


def test_beyond_the_paid_increment_the_next_one_is_billed_whole() -> None:
    warm = {"count": 1, "paid_until": later(3600)}
    found = estimated(
        work(), asked(offering(warm=warm, billing={"increment_s": 3600}), is_warm=True)
    )
    # 3710 s, 3600 paid; 110 more are an hour.
    assert table(found)["already paid"] == ("-3.6", -3600)
    assert table(found)["rounding"] == ("3.49", 3490)
    assert cost(found)[0] == "3.6"


def test_time_that_is_used_is_rounded_up_to_the_increment() -> None:
    found = estimated(work(), asked(offering(billing={"increment_s": 3600})))
    assert table(found)["rounding"] == ("3.4", 3400)  # 3800 s are two hours
    assert cost(found) == ("7.2", "7.2")  # and so are the 4800 s of the p90


def test_a_short_run_pays_the_minimum() -> None:
    short = work(expected_duration_s=10, image_mib=0, checkpoint=None)
    found = estimated(short, asked(offering(billing={"minimum_s": 300})))
    # 100 + 10 + 30 = 140 s of at least 300; at worst 200 + 13 + 30 = 243.
    assert table(found)["rounding"] == ("0.16", 160)
    assert cost(found) == ("0.3", "0.3")
    assert found.minimum_usd == Decimal("0.3")
    assert found.first_hold_usd == Decimal("0.3")  # the bill's length, not an hour


def test_billing_from_ready_leaves_out_the_boot_alone() -> None:
    found = estimated(work(), asked(offering(billing={"starts": "ready"})))
    # The instance is ready when it has booted: pull and restore, 70 s, are on the bill.
    assert table(found)["startup"] == ("0.07", 170)
    assert cost(found)[0] == "3.7"
    assert finish(found)[0] == 3770


REACHED = {"per_hour": 0.5}


def test_an_interruption_redoes_half_an_interval_and_pays_a_start_again() -> None:
    found = estimated(work(), asked(offering(interruptible=True, reclaims=REACHED)))
    # 0.5 an hour x 1 h = 0.5: redone 0.5 x 300 = 150 s, restarts 0.5 x 170 = 85 s.
    assert table(found)["redone work"] == ("0.15", 150)
    assert table(found)["restarts"] == ("0.085", 85)
    # At worst 4500 s, a mean of 0.625: a Poisson is 0 with 53.5 %, at most 1 with 87.0 %, at most
    # 2 with 97.4 %: 2. Redone 2 x 300, restarts 2 x 270: 4800 + 1140.
    assert cost(found) == ("4.035", "5.94")
    assert finish(found) == (3770 + 235, 4770 + 1140)


@pytest.mark.parametrize(
    "saving", [None, {"interval_s": 600, "size_mib": 4000, "saves": 0}], ids=["none", "all empty"]
)
def test_an_interruption_redoes_half_the_run_where_no_save_holds_work(saving: object) -> None:
    run = work(checkpoint=saving)
    found = estimated(run, asked(offering(interruptible=True, reclaims=REACHED)))
    assert table(found)["redone work"] == ("0.9", 900)  # 0.5 x 1800
    assert table(found)["restarts"] == ("0.075", 75)  # 0.5 x 150: nothing to restore


def test_a_run_that_has_not_run_yet_is_costed_as_it_will_save() -> None:
    run = work(checkpoint={"interval_s": 600, "size_mib": 4000, "saves": None})
    found = estimated(run, asked(offering(interruptible=True, reclaims=REACHED)))
    assert table(found)["startup"] == ("0.15", 150)  # nothing to restore yet
    assert table(found)["redone work"] == ("0.15", 150)  # half of 600, half the time
    assert table(found)["restarts"] == ("0.085", 85)  # and by then there is: 170 s each


def test_no_interruption_redoes_more_than_half_the_run() -> None:
    run = work(checkpoint={"interval_s": 10**6, "saves": 1})
    found = estimated(run, asked(offering(interruptible=True, reclaims=REACHED)))
    assert table(found)["redone work"] == ("0.9", 900)


def test_a_restart_is_cold_after_a_warm_start_too() -> None:
    host = offering(interruptible=True, reclaims=REACHED, warm=1)
    found = estimated(work(), asked(host, is_warm=True))
    assert table(found)["startup"] == ("0.08", 80)
    assert table(found)["restarts"] == ("0.085", 85)


def test_restarts_billed_from_ready_leave_out_the_boot() -> None:
    host = offering(interruptible=True, reclaims=REACHED, billing={"starts": "ready"})
    found = estimated(work(), asked(host))
    assert table(found)["restarts"] == ("0.035", 85)  # 0.5 x 70 of 0.5 x 170


def test_an_unknown_running_time_has_no_total() -> None:
    limits = {"complete_by": later(10), "max_cost_usd": 1}
    run = work(expected_duration_s=None, placement=limits)
    found = estimated(run, asked(offering(billing={"minimum_s": 60})))
    assert found.cost_usd is None
    assert found.finish is None
    assert found.duration is None
    assert table(found) == {"startup": ("0.17", 170), "teardown": ("0.03", 30)}
    assert found.startup_teardown_usd == Decimal("0.2")
    assert found.minimum_usd == Decimal("0.06")
    assert found.first_hold_usd == Decimal("3.6")  # as if for an hour or more
    assert found.unverified == (
        UNKNOWN_TIME,
        "complete_by: held against the start alone",
        "max_cost_usd: held against the charges that are certain",
    )


def test_limits_are_held_against_what_is_certain_of_an_unknown_running_time() -> None:
    run = work()
    seen = outlook(run, asked(offering(billing={"minimum_s": 60})), None)
    assert not seen.is_total
    assert seen.cost == (200_000, 300_000)  # start and end; the minimum is less
    assert seen.finish_s == (170, 270)
    assert outlook(run, asked(offering(billing={"minimum_s": 600})), None).cost == (600_000,) * 2


def test_unknown_billing_widens_the_estimate_and_is_named() -> None:
    found = estimated(work(), asked(unknown_billing(offering())))
    # 3800 s up to the minute are 3840; 4800 s up to the hour are two.
    assert cost(found) == ("3.84", "7.2")
    assert found.unverified == (
        "billing minimum: 60 s taken, at worst 3600 s",
        "start of billing: creation taken",
        "billing increment: 60 s taken, at worst 3600 s",
    )


def test_an_unknown_image_counts_nothing_and_is_named() -> None:
    found = estimated(work(image_mib=None), asked(offering()))
    assert table(found)["startup"] == ("0.12", 120)
    assert found.unverified == ("image size: nothing taken",)


def test_an_estimate_holds_half_an_hour_or_as_long_as_its_price() -> None:
    def until(**price: Any) -> dt.datetime:
        return estimated(work(), asked(offering(price=price))).valid_until

    assert until() == later(31 * 60)
    assert until(expires_at=later(60)) == later(60)
    assert until(expires_at=later(86400)) == later(31 * 60)


def test_a_time_with_a_part_of_a_second_ends_in_the_next_second() -> None:
    now = NOW + dt.timedelta(microseconds=1)
    running = RunningTime(Likely(10, 10), "declared")
    found = estimate(work(image_mib=0, checkpoint=None), Tariff(), running, now)
    assert found.finish
    assert found.finish.p50 == "2026-09-21T06:00:11Z"


def test_a_run_that_outlasts_the_calendar_ends_with_it() -> None:
    host = offering(interruptible=True, reclaims={"per_hour": 1000})
    found = estimated(work(expected_duration_s=10**10, checkpoint=None), asked(host))
    assert found.finish
    assert found.finish.p90 == "9999-12-31T23:59:59Z"


def test_hosts_alike_cost_each_and_any_interruption_stops_all() -> None:
    tariff = asked(offering(interruptible=True, reclaims=REACHED))
    found = estimated(work(), tariff, hosts=2)
    # 2 x 0.5 interruptions: 300 s redone and 170 s of restarts, on both hosts.
    assert table(found)["redone work"] == ("0.6", 300)
    assert table(found)["restarts"] == ("0.34", 170)
    assert cost(found)[0] == "8.54"  # 2 x (3800 + 470)
    assert found.rate_usd_per_hour == Decimal("7.2")
    assert found.assembly_bound_usd == Decimal("1.8")  # 2 x 900 s


TIMES = spans()


SOURCED = {
    "price": {"source": "list.csv", "as_of": "2026-05-02T00:00:00Z"},
    "reclaims": {"per_hour": 0.1, "source": "their page"},
}


def sourced(**more: Any) -> Tariff:
    usual = offering()
    billing = usual.billing.model_copy(update={"increment_s": 3600, "source": "terms"})
    startup = usual.startup.model_copy(update={"source": "measured"})
    fields = usual.model_dump() | SOURCED | {"billing": billing, "startup": startup} | more
    return asked(Offering.model_validate(fields))


def test_an_estimate_names_where_the_facts_of_its_offering_come_from() -> None:
    found = estimated(work(), sourced(interruptible=True))
    assert found.sources == {
        "rate": "list.csv of 2026-05-02", "billing": "terms", "startup": "measured",
        "reclaims": "their page",
    }  # fmt: skip
    said = {line.what: line.source or "" for line in found.breakdown}
    assert said["startup"].startswith("a new instance, 100 s (p90 200 s): measured; image")
    assert said["rounding"] == "up to 3600 s: terms"
    assert "their page" in said["redone work"]


def test_what_nobody_says_the_source_of_is_not_in_it() -> None:
    assert estimated(work(), asked(offering())).sources == {}
    assert "reclaims" not in estimated(work(), sourced(interruptible=False)).sources
    only_dated = sourced(price={"as_of": "2026-05-02T00:00:00Z"})
    assert estimated(work(), only_dated).sources["rate"] == "of 2026-05-02"


def test_of_several_nodes_every_source_is_named_once() -> None:
    running = running_time(work(), None, (), 1.25)
    other = sourced(price={"source": "other.csv"})
    nodes = [Node(tariff, running) for tariff in (sourced(), other, sourced())]
    found = gang_estimate(work(), nodes, NOW)
    assert found.sources == {
        "rate": "list.csv of 2026-05-02; other.csv", "billing": "terms", "startup": "measured",
    }  # fmt: skip
    said = {line.what: line.source or "" for line in found.breakdown}
    assert said["rounding"].endswith("at least its minimum: terms")


@examples(100)
@given(runs(), tariffs(), st.none() | TIMES, st.integers(1, 3))
def test_the_lines_add_up_to_the_cost(
    run: Run, tariff: Tariff, time: Likely | None, hosts: int
) -> None:
    running = RunningTime(time, "declared") if time else None
    found = estimate(run, tariff, running, NOW, hosts)
    seen = outlook(run, tariff, time, hosts)
    parts = lines(run, tariff, running, hosts)
    if time:
        for level in (0, 1):
            assert sum(line.micro[level] for line in parts) == seen.cost[level]
    total = Decimal(found.cost_usd.p50) if found.cost_usd else found.startup_teardown_usd
    assert sum(line.usd for line in found.breakdown) == total
    worst = sum(line.usd_p90 or 0 for line in found.breakdown)
    assert found.cost_usd is None or worst == Decimal(found.cost_usd.p90)
    assert all(line.source for line in found.breakdown)
    assert Estimate.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("millionths", "said"),
    [(0, "0"), (83_334, "0.083"), (2_500_000, "2.5"), (9_990_000, "10"), (1_234_567_890, "1,235")],
)
def test_numbers_of_interruptions_are_told_in_two_digits(millionths: int, said: str) -> None:
    assert in_two_digits(millionths) == said
