from __future__ import annotations

from decimal import Decimal

from stowplan.model.estimating.duration import Likely, RunningTime
from stowplan.model.estimating.gang import Node, bound_of_assembly, gang_outlook, slowest
from stowplan.model.estimating.gang_estimate import gang_estimate
from stowplan.model.estimating.outlook import outlook
from stowplan.model.estimating.tariff import Tariff, offering_tariff
from stowplan.model.runs import Run
from tests.build import Document, market, offering, run

HOUR = RunningTime(Likely(3600, 4500), "declared")


def tariff(boot: int = 0, rate: str = "3.60", **more: object) -> Tariff:
    """Return what a new instance asks: 3.60 USD an hour is a tenth of a cent a second."""
    startup = {"boot_p50_s": boot, "boot_p90_s": 2 * boot, "warm_s": 0}
    told: Document = offering("o", rate, startup=startup, **more)  # type: ignore[arg-type]
    [own] = market(told, runs=[]).fleet.offerings
    s = market(told, runs=[])
    return offering_tariff(own, s.now)


def asked() -> Run:
    """Return a run that brings nothing."""
    return market(runs=[run("r", machines=2)]).runs[0]


def test_a_single_node_is_as_it_is_by_itself() -> None:
    own = tariff(boot=100)
    told = gang_outlook(asked(), [Node(own, HOUR)])
    assert told.seen == outlook(asked(), own, HOUR.seconds)
    assert bound_of_assembly([Node(own, HOUR)]) == 0


def test_every_node_is_billed_until_the_slowest_is_up() -> None:
    # 300 s until the slower has booted, an hour of work: 3.90 each; at worst 600 + 4500 s: 5.10.
    told = gang_outlook(asked(), [Node(tariff(), HOUR), Node(tariff(boot=300), HOUR)])
    assert told.costs == (Likely(3_900_000, 5_100_000),) * 2
    assert (told.start_s, told.seen.finish_s) == (Likely(300, 600), Likely(3900, 5100))


def test_what_is_billed_from_ready_spares_its_own_boot_and_no_waiting() -> None:
    ready = {"increment_s": 1, "minimum_s": 0, "starts": "ready"}
    quick, slow = tariff(boot=100, billing=ready), tariff(boot=300, billing=ready)
    told = gang_outlook(asked(), [Node(quick, HOUR), Node(slow, HOUR)])
    assert [cost.p50 for cost in told.costs] == [3_800_000, 3_600_000]


def test_each_node_rounds_its_own_way() -> None:
    hourly = {"increment_s": 3600, "minimum_s": 0, "starts": "creation"}
    nodes = [Node(tariff(billing=hourly), HOUR), Node(tariff(boot=1), HOUR)]
    told = gang_outlook(asked(), nodes)
    assert [cost.p50 for cost in told.costs] == [7_200_000, 3_601_000]
    assert bound_of_assembly(nodes) == 3_600_000 + 900_000


def test_the_work_takes_as_long_as_on_the_slowest() -> None:
    longer = RunningTime(Likely(7200, 7300), "history")
    assert slowest([Node(tariff(), HOUR), Node(tariff(), longer)]) == longer
    told = gang_outlook(asked(), [Node(tariff(), HOUR), Node(tariff(), longer)])
    assert [cost.p50 for cost in told.costs] == [7_200_000] * 2
    assert slowest([Node(tariff(), HOUR), Node(tariff(), None)]) is None


def test_without_a_time_on_one_of_them_only_what_is_certain_is_told() -> None:
    told = gang_outlook(asked(), [Node(tariff(boot=100), None), Node(tariff(boot=300), HOUR)])
    assert not told.seen.is_total
    assert [cost.p50 for cost in told.costs] == [300_000] * 2
    assert told.seen.finish_s.p50 == 300


def test_any_node_that_is_taken_back_stops_them_all() -> None:
    # Half an interruption of one, a quarter of another: 0.75 in the hour, each half the hour anew;
    # and a start of 100 s of the one, of 200 s of the other: 0.5 x 100 + 0.25 x 200 = 100 s.
    often = tariff(boot=100, interruptible=True, reclaims={"per_hour": 0.5})
    seldom = tariff(boot=200, interruptible=True, reclaims={"per_hour": 0.25})
    told = gang_outlook(asked(), [Node(often, HOUR), Node(seldom, HOUR), Node(tariff(), HOUR)])
    assert told.seen.finish_s.p50 == 200 + 3600 + 1350 + 100
    assert [cost.p50 for cost in told.costs] == [5_250_000] * 3


def test_the_lines_of_an_estimate_add_up_and_tell_the_assembly_bound() -> None:
    hourly = {"increment_s": 3600, "minimum_s": 0, "starts": "creation"}
    spot = tariff(boot=200, interruptible=True, reclaims={"per_hour": 0.25})
    nodes = [Node(spot, HOUR), Node(tariff(billing=hourly), HOUR)]
    s = market(runs=[])
    told = gang_estimate(asked(), nodes, s.now)
    assert told.cost_usd
    assert sum(line.usd for line in told.breakdown) == Decimal(told.cost_usd.p50)
    assert [line.what for line in told.breakdown] == [
        "startup", "running", "redone work", "restarts", "teardown", "rounding",
    ]  # fmt: skip
    assert told.assembly_bound_usd == Decimal("4.5")
    assert told.rate_usd_per_hour == Decimal("7.2")
