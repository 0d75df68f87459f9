from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.outlook import outlook
from stowplan.model.estimating.tariff import ASSUMED, machine_tariff
from stowplan.model.fleet import Machine, Startup
from stowplan.model.money import MICRO
from tests.hosts import NOW, asked, later, offering, unknown_billing, work
from tests.strategies import examples

HOUR = Likely(3600, 3600)
RENTED = Machine(name="m", rate_usd_per_hour=Decimal("3.60"), paid_until=later(1800))
BARE = work(image_mib=0, checkpoint=None)


def test_an_owned_machine_costs_nothing_and_starts_at_once() -> None:
    tariff = machine_tariff(Machine(name="m"), NOW)
    assert outlook(BARE, tariff, HOUR).cost == (0, 0)
    assert outlook(BARE, tariff, HOUR).finish_s == HOUR
    assert tariff.ranked_rate == 0


def test_a_rented_machine_is_billed_by_the_second_beyond_what_is_paid() -> None:
    tariff = machine_tariff(RENTED, NOW)
    assert outlook(BARE, tariff, HOUR).cost == (1_800_000, 1_800_000)
    assert tariff.ranked_rate == 0
    assert machine_tariff(RENTED, later(1801)).ranked_rate == 3_600_000


def test_time_billed_for_other_work_is_free() -> None:
    tariff = machine_tariff(RENTED, NOW, billed_until=later(3000))
    assert outlook(BARE, tariff, HOUR).cost == (600_000, 600_000)
    assert machine_tariff(RENTED, NOW, billed_until=later(60)).paid_s == 1800


def test_the_rates_at_which_a_machine_pulls_and_restores_are_taken() -> None:
    seen = outlook(work(), machine_tariff(Machine(name="m"), NOW), HOUR)
    # 5000 / 200 + 4000 / 200 = 45 s; at worst 5000 / 50 + 4000 / 50 = 180 s.
    assert seen.finish_s == (3645, 3780)


def test_an_idle_instance_that_is_not_known_to_be_paid_ranks_at_its_rate() -> None:
    tariff = asked(offering(warm=1), is_warm=True)
    assert tariff.paid_s == 0
    assert tariff.ranked_rate == tariff.rate == 3_600_000


def test_an_idle_instance_has_had_its_minimum_and_is_billed_from_now() -> None:
    host = offering(billing={"minimum_s": 10**5, "starts": "ready"}, warm=1)
    # Warm start 10, pull 50, restore 20, an hour, teardown 30.
    assert outlook(work(), asked(host, is_warm=True), HOUR).cost == (3_710_000, 3_710_000)


def test_facts_that_are_not_known_are_taken_and_named() -> None:
    tariff = asked(offering(startup={}, interruptible=True))
    assert tariff.boot_s == ASSUMED["boot time"]
    assert tariff.pull == (200 * MICRO, 50 * MICRO)
    assert tariff.unknown["boot time"] == "240 s taken, at worst 1500 s"
    assert tariff.unknown["image pull rate"] == "200 MiB/s taken, at worst 50 MiB/s"
    assert "AWS V100" in tariff.unknown["reclaims"]
    assert tariff.unknown.keys() == {
        *("boot time", "warm start", "reclaims", "image pull rate", "restore rate"),
    }  # fmt: skip


def test_half_a_boot_time_is_completed_and_named() -> None:
    assert asked(offering(startup={"boot_p50_s": 2000})).boot_s == (2000, 2000)
    assert asked(offering(startup={"boot_p90_s": 100})).boot_s == (100, 100)
    assert "boot time" in asked(offering(startup={"boot_p50_s": 20})).unknown


def test_a_boot_whose_p90_is_below_its_p50_takes_the_p50() -> None:
    startup = {"boot_p50_s": 300, "boot_p90_s": 100}
    assert asked(offering(startup=startup)).boot_s == (300, 300)


def test_an_unknown_warm_start_is_no_slower_than_the_boot() -> None:
    startup = {"boot_p50_s": 5, "boot_p90_s": 60}
    assert asked(offering(startup=startup)).warm_s == (5, 60)


def test_a_rate_of_nothing_says_nothing() -> None:
    tariff = asked(offering(startup={"pull_mib_per_s": 0, "restore_mib_per_s": 0.0}))
    assert {"image pull rate", "restore rate"} <= tariff.unknown.keys()


def test_an_expired_price_is_named() -> None:
    tariff = asked(offering(price={"expires_at": later(-1)}))
    assert tariff.unknown["price"] == "expired at 2026-09-21T05:59:59Z"


@examples(100)
@given(st.integers(0, 240), st.integers(0, 1260), st.integers(200, 10**4), st.integers(1, 60))
def test_a_host_that_says_less_never_looks_better_than_a_usual_one(
    boot: int, more: int, pull: int, increment: int
) -> None:
    usual = Startup(
        boot_p50_s=boot,
        boot_p90_s=boot + more,
        pull_mib_per_s=pull,
        restore_mib_per_s=pull,
        warm_s=0,
    )
    billing = {"increment_s": increment if 60 % increment == 0 else 1, "minimum_s": 60}
    known = outlook(work(), asked(offering(startup=usual, billing=billing)), HOUR)
    silent = outlook(work(), asked(unknown_billing(offering(startup={}))), HOUR)
    assert known.cost <= silent.cost
    assert known.finish_s <= silent.finish_s
