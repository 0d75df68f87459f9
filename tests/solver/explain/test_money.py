"""What placed runs cost and got, as the decision tells it."""

from __future__ import annotations

from decimal import Decimal

from stowplan.model.decision import Got
from stowplan.model.estimating.token import token_of
from stowplan.model.runs import Run
from stowplan.solver.cycle import solve
from tests.build import after, machine, market, offering, run, running, wants
from tests.hosts import NOW
from tests.solver.cycles import placed


def test_each_limit_and_wish_is_told_with_what_it_got() -> None:
    limits = {
        "interruptible": "never", "max_rate_usd_per_hour": "3", "max_cost_usd": "2.5",
        "complete_by": after(7200),
    }  # fmt: skip
    s = market(offering("a", "2"), runs=[run("r", 1, expected_duration_s=3600, placement=limits)])
    assert placed(s, "r").asked_and_got == (
        Got(rule="interruptible", asked="never", got="can't be interrupted"),
        Got(rule="max_rate", asked="at most 3 USD an hour", got="2 USD an hour"),
        Got(rule="max_cost", asked="at most 2.5 USD", got="2 USD expected"),
        Got(
            rule="complete_by", asked="by 2026-09-21T08:00:00Z",
            got="2026-09-21T07:15:00Z at worst",
        ),
    )  # fmt: skip


def test_a_pool_says_whether_it_was_had() -> None:
    lab = machine("m", 1, byoc_pool="lab")
    s = market(
        offering("a", "2"), runs=[wants("x", pool="lab"), wants("y", pool="lab")], machines=[lab]
    )
    got = {placed(s, name).asked_and_got[0].got for name in "xy"}
    assert got == {"lab", "another host: none there is free"}


def test_what_is_held_against_what_is_sure_alone_is_named() -> None:
    policy = {"budgets": [{"name": "b", "workspaces": ["default"], "remaining_usd": "9"}]}
    s = market(offering("a", "2"), runs=[run("r", 1)], policy=policy)
    told = placed(s, "r").estimate
    assert told
    assert told.cost_usd is None
    assert "b: held against what is sure to be charged" in told.unverified


def test_an_hour_is_paid_for_instances_and_for_rented_machines_that_were_idle() -> None:
    s = market(
        offering("a", "2", available=5),
        runs=[
            running("old", ("busy", 1)),
            *(
                run(name, {"count": 1, "models": ["H100"]}, expected_duration_s=60)
                for name in "wxyz"
            ),
        ],
        machines=[
            machine("busy", 2, rate_usd_per_hour="1"),
            machine("idle", 2, rate_usd_per_hour="1.50"),
        ],
    )
    # One beside `old`, which is billed already; two on `idle`, which counts once; one bought.
    assert solve(s).summary.usd_per_hour == Decimal("3.50")


def test_where_nothing_costs_anything_there_is_no_estimate() -> None:
    s = market(runs=[wants("r")], machines=[machine("m", 1)])
    assert placed(s, "r").estimate is None
    assert str(solve(s).summary.usd_per_hour) == "0.00"


def test_without_a_running_time_limits_say_that_there_is_no_total() -> None:
    limits = {"max_cost_usd": "3", "complete_by": after(9000)}
    s = market(offering("a", "2"), runs=[run("r", 1, placement=limits)])
    assert placed(s, "r").asked_and_got == (
        Got(rule="max_cost", asked="at most 3 USD", got="no total: see unverified"),
        Got(rule="complete_by", asked="by 2026-09-21T08:30:00Z", got="no end: see unverified"),
    )


def test_an_estimate_s_rate_is_told_beside_the_one_that_is_paid() -> None:
    token = token_of(Run(name="r"), "a", 2_000_000, NOW)
    s = market(offering("a", "2.10"), runs=[wants("r", if_match=token)])
    got = Got(rule="if_match", asked="the estimate's 2 USD an hour", got="2.10 USD an hour")
    (told,) = placed(s, "r").asked_and_got
    assert (told.rule, told.asked) == (got.rule, got.asked)
    assert Decimal(told.got.split()[0]) == Decimal("2.10")


def test_an_array_tells_the_value_and_the_estimate_of_its_dearest_element() -> None:
    s = market(
        offering("a", "1", available=2), offering("b", "2", available=2),
        runs=[wants("r") | {"array": {"size": 3}}],
    )  # fmt: skip
    told = placed(s, "r")
    assert told.value
    assert told.estimate
    assert told.estimate.cost_usd
    assert (str(told.value.chosen), str(told.value.reference)) == ("2", "2")
    assert told.estimate.rate_usd_per_hour == Decimal(2)
    assert told.estimate.cost_usd.p50 == "2"
    assert solve(s).summary.usd_per_hour == Decimal("4.00")


def test_a_frame_adds_up_what_each_element_costs_on_its_own_host() -> None:
    s = market(
        offering("a", "1", available=2), offering("b", "2", available=2),
        runs=[wants("r") | {"array": {"size": 3}}],
    )  # fmt: skip
    decision = solve(s)
    [row] = decision.to_frame().to_dict("records")
    assert (row["usd_per_hour"], row["cost_usd"], row["cost_usd_p90"]) == (4, 4, 5)
    assert decision.summary.usd_per_hour == Decimal(4)


def test_a_machine_counts_once_in_a_frame_s_rate_however_many_elements_it_has() -> None:
    s = market(
        machines=[machine("m", 2, rate_usd_per_hour="3"), machine("n", 1, rate_usd_per_hour="5")],
        runs=[wants("r") | {"array": {"size": 3}}],
    )
    [row] = solve(s).to_frame().to_dict("records")
    # Each element of an hour is taken to pay for the machine alone.
    assert (row["usd_per_hour"], row["cost_usd"]) == (8, 11)


def test_a_frame_has_what_several_workers_come_to_together() -> None:
    s = market(
        runs=[run("r", cpu_cores=1, node_selection={"count": 2}, expected_duration_s=3600)],
        machines=[machine("m", rate_usd_per_hour="1"), machine("n", rate_usd_per_hour="3")],
    )
    [row] = solve(s).to_frame().to_dict("records")
    assert (row["usd_per_hour"], row["cost_usd"], row["cost_usd_p90"]) == (4, 4, 5)
    workers = placed(s, "r").workers
    assert [str(worker.rate_usd_per_hour) for worker in workers] == ["1", "3"]
    assert [worker.cost_usd and worker.cost_usd.p50 for worker in workers] == ["1", "3"]


def test_no_worker_has_a_rate_where_nothing_costs_anything_and_no_cost_without_a_time() -> None:
    free = market(machines=[machine("m", 1)], runs=[wants("r")])
    assert placed(free, "r").workers[0].rate_usd_per_hour is None
    untold = market(offering("a", "2"), runs=[run("r", 1)])
    [worker] = placed(untold, "r").workers
    assert (worker.rate_usd_per_hour, worker.cost_usd) == (Decimal(2), None)
    [row] = solve(untold).to_frame().to_dict("records")
    assert (row["usd_per_hour"], row["cost_usd"]) == (2, None)


def test_a_run_of_several_workers_is_told_what_all_its_hosts_come_to() -> None:
    s = market(
        runs=[run("r", cpu_cores=1, node_selection={"count": 2}, expected_duration_s=3600)],
        machines=[machine("m", rate_usd_per_hour="1"), machine("n", rate_usd_per_hour="3")],
    )
    told = placed(s, "r").estimate
    assert told
    assert told.cost_usd
    assert told.rate_usd_per_hour == Decimal(4)
    assert told.cost_usd.p50 == "4"
    assert told.assembly_bound_usd == Decimal(1)  # a quarter of an hour of each
    assert solve(s).summary.usd_per_hour == Decimal("4.00")


def test_what_is_paid_for_already_costs_nothing_and_still_has_its_rate() -> None:
    # Half an hour of the warm one is paid: the other half is billed.
    s = market(offering("a", "2", warm={"count": 1, "paid_until": after(1800)}), runs=[wants("r")])
    told = placed(s, "r")
    assert told.value
    assert told.estimate
    assert told.estimate.cost_usd
    assert told.value.chosen == Decimal(0)
    assert told.estimate.rate_usd_per_hour == Decimal(2)
    assert told.estimate.cost_usd.p50 == "1"


def test_a_machine_of_a_pool_of_your_own_costs_nothing_an_hour() -> None:
    own = machine("m", 1, rate_usd_per_hour="2", byoc_pool="lab")
    assert solve(market(runs=[wants("r")], machines=[own])).summary.usd_per_hour == 0
