"""The oracle of money by figures worked by hand."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from stowplan.model.decision import Decision, PlacedRun, Value
from stowplan.model.estimating.token import token_of
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests.build import after, altered, decided, machine, market, offering, run, running, wants
from tests.money_oracle import Cycle, Score, alone, best_value, money_lies, picks, value_of
from tests.witness.offerings import shortcomings
from tests.witness.prices import Place, Prices

type Document = dict[str, Any]  # Any: what a YAML file could hold


def cold(*names: str) -> set[Place]:
    return {Place(name, True) for name in names}


class TestAlone:
    def test_balanced_takes_a_rate_up_to_2_percent_above_the_least(self) -> None:
        there = market(
            offering("a"),
            offering("b", "1.02"),
            offering("c", "1.020001"),
            runs=[wants("r")],
        )
        assert alone(there, "r") == cold("a", "b")

    def test_the_band_runs_from_the_cheapest_that_keeps_the_limits(self) -> None:
        """The p90 is 4,500 s: 600 s of boot are too many for a deadline after 5,000 s."""
        slow = {"boot_p50_s": 0, "boot_p90_s": 600}
        there = market(
            offering("a", startup=slow),
            offering("b", "1.5"),
            offering("c", "1.53"),
            runs=[wants("r", complete_by=after(5000))],
        )
        assert alone(there, "r") == cold("b", "c")

    def test_cost_counts_what_a_start_costs(self) -> None:
        """1 USD for an hour and 10 minutes of boot is 1.1667 USD: over 2 % above 1.14 USD."""
        boots = {"boot_p50_s": 600, "boot_p90_s": 600}
        there = market(
            offering("a", startup=boots), offering("b", "1.14"), runs=[wants("r", profile="cost")]
        )
        assert alone(there, "r") == cold("b")

    def test_cost_counts_the_risk_of_a_failed_start(self) -> None:
        """One failure of 4 attempts: f = 1 / 8, and 1 USD ranks at 8/7, above 1.14 and 1.12."""
        fails = {"attempts": 4, "failures": 1}
        there = market(
            offering("a", starts=fails),
            offering("b", "1.12"),
            offering("c", "1.14"),
            runs=[wants("r", profile="cost"), wants("s")],
        )
        assert alone(there, "r") == cold("b", "c")
        assert alone(there, "s") == cold("a")  # balanced goes by rates

    def test_speed_takes_the_fastest_within_one_and_a_half_times_the_cheapest(self) -> None:
        """At 1 USD and 900 s of boot: 1.25 USD. Dearer than 1.875 USD is too dear."""
        boots = {"boot_p50_s": 900, "boot_p90_s": 900}
        there = market(
            offering("a", startup=boots),
            offering("b", "1.875"),
            offering("c", "1.875001", startup={"boot_p50_s": 0, "boot_p90_s": 0}),
            offering("d", "1.3", startup={"boot_p50_s": 60, "boot_p90_s": 60}),
            runs=[wants("r", profile="speed")],
        )
        assert alone(there, "r") == cold("b")

    def test_speed_holds_the_risk_of_a_failed_start_against_a_host(self) -> None:
        """Half of 4 attempts, f = 2 / 8: 1.2 USD counts as 1.6, beyond 1.5 x 1 USD."""
        boots = {"boot_p50_s": 900, "boot_p90_s": 900}
        fails = {"attempts": 4, "failures": 2}
        there = market(
            offering("a", "0.8", startup=boots),
            offering("b", "1.2", starts=fails),
            runs=[wants("r", profile="speed")],
        )
        assert alone(there, "r") == cold("a")

    def test_without_a_running_time_every_profile_goes_by_rate(self) -> None:
        boots = {"boot_p50_s": 900, "boot_p90_s": 900}
        runs: list[Document] = [
            run(profile, 1) | {"placement": {"profile": profile}}
            for profile in ("balanced", "cost", "speed")
        ]
        there = market(offering("a", startup=boots), offering("b", "1.03"), runs=runs)
        assert [alone(there, each["name"]) for each in runs] == [cold("a")] * 3

    def test_by_rate_cost_and_speed_still_count_the_risk_of_a_failed_start(self) -> None:
        """One failure of 4 attempts: 1 USD an hour ranks at 8/7, above 1.1."""
        fails = {"attempts": 4, "failures": 1}
        runs: list[Document] = [
            run(profile, 1) | {"placement": {"profile": profile}}
            for profile in ("balanced", "cost", "speed")
        ]
        there = market(offering("a", starts=fails), offering("b", "1.1"), runs=runs)
        assert [alone(there, each["name"]) for each in runs] == [cold("a"), cold("b"), cold("b")]

    @pytest.mark.parametrize(("rate", "chosen"), [("1.1", "spot"), ("1.100001", "plain")])
    def test_prefer_allows_10_percent_over_the_cheapest(self, rate: str, chosen: str) -> None:
        there = market(
            offering("plain"),
            offering("spot", rate, interruptible=True, reclaims={"per_hour": 0}),
            runs=[wants("r", interruptible="prefer")],
        )
        assert alone(there, "r") == cold(chosen)

    def test_then_the_band_runs_from_the_cheapest_preferred_and_ends_at_the_allowance(self) -> None:
        """2 % over 1.09 is 1.1118, and the allowance ends at 1.1."""
        spot: Document = {"interruptible": True, "reclaims": {"per_hour": 0}}
        there = market(
            offering("plain"),
            offering("s1", "1.09", **spot),
            offering("s2", "1.1", **spot),
            offering("s3", "1.11", **spot),
            runs=[wants("r", interruptible="prefer")],
        )
        assert alone(there, "r") == cold("s1", "s2")

    def test_never_and_require(self) -> None:
        spot = offering("spot", "0.5", interruptible=True)
        there = market(
            offering("plain"),
            spot,
            runs=[wants("n", interruptible="never"), wants("r", interruptible="require")],
            machines=[machine("m", 1)],
        )
        assert alone(there, "n") == {Place("m")}
        assert alone(there, "r") == cold("spot")

    def test_the_pool_that_is_named_comes_first_and_costs_nothing(self) -> None:
        pools = {"byoc_pool": "mine", "rate_usd_per_hour": 3}
        there = market(
            offering("a", "0"),
            runs=[wants("r", pool="mine"), wants("s")],
            machines=[machine("m", 1, **pools), machine("own", 1)],
        )
        assert alone(there, "r") == {Place("m")}
        assert alone(there, "s") == {Place("m"), Place("own"), *cold("a")}

    def test_what_is_paid_already_ranks_at_0(self) -> None:
        """The idle instance and the rented machine are paid for half an hour more.

        To completion they cost 0.5 USD, and 0.49 USD, which is over 2 % less.
        """
        paid = after(1800)
        there = market(
            offering("a", available=2, warm={"count": 1, "paid_until": paid}),
            runs=[wants("r"), wants("c", profile="cost")],
            machines=[machine("m", 1, rate_usd_per_hour="0.98", paid_until=paid)],
        )
        assert alone(there, "r") == {Place("a", True, True), Place("m")}
        assert alone(there, "c") == {Place("m")}

    @pytest.mark.parametrize(
        ("placement", "left"),
        [
            ({"max_rate_usd_per_hour": "1.5"}, {"a", "b"}),
            ({"max_rate_usd_per_hour": "1.499999"}, {"a"}),
            ({"max_cost_usd": "1"}, {"a"}),
            ({"max_cost_usd": "0.999999"}, set()),
            ({"complete_by": after(4500)}, {"a", "b"}),
            ({"complete_by": after(4499)}, set()),
        ],
    )
    def test_limits_are_kept_to_the_unit(self, placement: Document, left: set[str]) -> None:
        there = market(offering("a"), offering("b", "1.5"), runs=[wants("r", **placement)])
        assert {place.name for place in Prices(there, there.runs[0]).alone} == left

    @pytest.mark.parametrize(
        ("told", "more", "left"),
        [
            (1_000_000, {}, {"a", "b"}),
            (999_999, {}, {"a"}),
            (0, {"max_rate_usd_per_hour": 2}, {"a", "b"}),
        ],
    )
    def test_an_estimate_binds_up_to_10_percent_above_its_rate(
        self, told: int, more: Document, left: set[str]
    ) -> None:
        until = dt.datetime(2026, 9, 21, 6, 31, tzinfo=dt.UTC)
        token = token_of(Run(name="r"), "a", told, until)
        there = market(
            offering("a"), offering("b", "1.1"), runs=[wants("r", if_match=token, **more)]
        )
        assert {place.name for place in Prices(there, there.runs[0]).alone} == left

    def test_a_budget_binds_a_run_alone(self) -> None:
        budget = {"name": "x", "workspaces": ["default"], "remaining_usd": "1.2"}
        policy = {"budgets": [budget]}
        there = market(offering("a", "1.3"), offering("b", "1.2"), runs=[wants("r")], policy=policy)
        assert alone(there, "r") == cold("b")


class TestPicks:
    def test_a_recent_failure_ranks_after_all_else_within_the_band(self) -> None:
        failed = {"last_failed_at": after(-300)}
        there = market(
            offering("a", starts=failed), offering("b", "1.02", health=0.5), runs=[wants("r")]
        )
        assert picks(there, "r") == cold("b")
        failed = {"last_failed_at": after(-301)}
        there = market(
            offering("a", starts=failed), offering("b", "1.02", health=0.5), runs=[wants("r")]
        )
        assert picks(there, "r") == cold("a")

    def test_balanced_goes_by_health_then_start_then_fit_then_warmth(self) -> None:
        boots: Document = {"startup": {"boot_p50_s": 60, "boot_p90_s": 60, "warm_s": 60}}
        small = offering("small", gpus=4, **boots)
        large, sound = offering("large", **boots), offering("sound", "1.02", health=1)
        small["health"] = large["health"] = 0.9
        there = market(small, large, sound, runs=[wants("r", 2)])
        assert picks(there, "r") == cold("sound")
        there = market(small, large, runs=[wants("r", 2)])
        assert picks(there, "r") == cold("small")
        warm = small | {"available": 2, "warm": 1}
        there = market(warm, large, runs=[wants("r", 2)])
        assert picks(there, "r") == {Place("small", True, True)}

    def test_cost_goes_by_warmth_then_fit(self) -> None:
        small, large = offering("small", gpus=4), offering("large", warm=1)
        there = market(small, large, runs=[wants("r", 2, profile="cost")])
        assert picks(there, "r") == {Place("large", True, True)}

    @pytest.mark.parametrize("profile", ["balanced", "cost"])
    def test_the_cheaper_of_hosts_alike_within_the_band_is_taken_at_last(
        self, profile: str
    ) -> None:
        asked = [wants("r", profile=profile)]
        there = market(offering("a", "1.02"), offering("b"), runs=asked)
        assert picks(there, "r") == cold("b")
        # By what comes before, the dearer one is better.
        there = market(offering("a", "1.02", gpus=4), offering("b"), runs=asked)
        assert picks(there, "r") == cold("a")

    def test_cost_goes_by_the_cost_and_balanced_by_the_rate(self) -> None:
        # Of an hour's work: `b` is billed 1.01 h at 1 USD, `a` one at 1.005.
        rounded: Document = {"billing": {"increment_s": 3636, "minimum_s": 0, "starts": "creation"}}
        both = [offering("a", "1.005"), offering("b", **rounded)]
        for profile, best in (("cost", "a"), ("balanced", "b")):
            there = market(*both, runs=[wants("r", profile=profile)])
            assert picks(there, "r") == cold(best)

    def test_work_without_gpus_fits_by_its_cores(self) -> None:
        asked = run("r", cpu_cores=1, expected_duration_s=3600, placement={"profile": "cost"})
        there = market(offering("a", "1.02", cpu_cores=2), offering("b"), runs=[asked])
        assert picks(there, "r") == cold("a")

    def test_profiles_together_are_each_looked_at_by_its_own(self) -> None:
        # The last of two instances alike: by warmth for one, by the rate for the other.
        there = market(
            offering("a", "1.01", available=2),
            offering("b", available=2),
            runs=[wants("r"), wants("s", profile="cost")],
        )
        cycle = Cycle(there)
        dear, cheap = Place("a", True), Place("b", True)
        best = (cheap, cheap)
        assert cycle.is_well_ordered(best, best)
        for worse in ((dear, cheap), (cheap, dear), (dear, dear)):
            assert not cycle.is_well_ordered(best, worse)


class TestShortcomings:
    @pytest.mark.parametrize(
        ("asked", "code"),
        [
            ({"gpus": {"count": 9}, "machines": 1}, "INSUFFICIENT_GPUS"),
            ({"gpus": {"count": 1, "models": ["l4"]}}, "NO_MATCHING_GPU"),
            ({"gpus": {"count": 1, "vendor": "amd"}}, "NO_MATCHING_GPU"),
            ({"gpus": {"count": 1, "min_memory_gb": 80.5}}, "NO_MATCHING_GPU"),
            ({"gpus": {"count": 1, "ids": ["m/0"]}}, "NO_MATCHING_GPU"),
            ({"gpus": {}, "cpu_cores": 64.5}, "INSUFFICIENT_CPU"),
            ({"gpus": {}, "memory_bytes": 2**38 + 1}, "INSUFFICIENT_MEMORY"),
            ({"needs": ["net"]}, "CAPABILITY_MISSING"),
            ({"node_selection": {"match_labels": {"a": "b"}}}, "LABEL_MISSING"),
            ({"node_selection": {"names": ["a"], "mode": "any"}}, "NOT_SELECTED"),
            ({"drives": ["absent"]}, "DRIVE_MISSING"),
            ({"drives": ["north"]}, "DRIVE_UNREACHABLE"),
            ({"drives": [{"name": "east", "need_bytes": 11}]}, "DRIVE_FULL"),
            ({"placement": {"interruptible": "require"}}, "INTERRUPTION_POLICY"),
        ],
    )
    def test_each_by_its_code(self, asked: Document, code: str) -> None:
        drives = [
            {"name": "north", "sites": ["north"]},
            {"name": "east", "sites": ["east"], "free_bytes": 10},
        ]
        there = market(offering("a"), runs=[run("r", 1) | asked], drives=drives)
        assert shortcomings(there, there.fleet.offerings[0], there.runs[0]) == [code]

    def test_memory_is_nominal(self) -> None:
        there = market(offering("a"), runs=[run("r", {"count": 1, "min_memory_gb": 80})])
        assert shortcomings(there, there.fleet.offerings[0], there.runs[0]) == []


class TestBestValue:
    def test_an_instance_takes_one_worker(self) -> None:
        there = market(offering("a", available=2), runs=[wants(name) for name in "rst"])
        assert best_value(there) == Score((16,), (0, 0, 0), 0)

    def test_what_nobody_counted_is_taken_to_be_one(self) -> None:
        there = market(offering("a", available=None), runs=[wants(name) for name in "rs"])
        assert best_value(there).weights == (8,)

    def test_weight_comes_before_money(self) -> None:
        """The large run fits on the owned machine only, the small one on either."""
        there = market(
            offering("a", "9", gpus=1),
            runs=[wants("large", 2), wants("small")],
            machines=[machine("m", 2)],
        )
        assert best_value(there) == Score((24,), (0, 0, 0), 9_000_000)

    def test_the_cheap_host_goes_to_whom_it_saves_most(self) -> None:
        """Of one at 1 USD and one at 3 USD an hour: 2 USD for the hour, and 4 for two hours."""
        two = wants("two") | {"expected_duration_s": 7200}
        there = market(offering("a"), offering("b", "3"), runs=[wants("one"), two])
        assert best_value(there) == Score((16,), (0, 0, 0), 2_000_000)

    def test_the_regret_of_speed_is_in_dollars(self) -> None:
        """The slow one ends after 5,400 s, half as long again as 3,600 s: half of 1 USD.

        It costs 1.5 x 0.8 = 1.2 USD, and the fast one 1 USD: that is the unit.
        """
        boots = {"boot_p50_s": 1800, "boot_p90_s": 1800}
        slow = offering("slow", "0.8", startup=boots)
        runs = [wants("r", profile="speed"), wants("s", profile="speed")]
        assert best_value(market(offering("fast"), slow, runs=runs)) == Score(
            (16,), (0, 0, 0), 500_000
        )

    def test_too_dear_for_speed_is_no_reason_to_wait(self) -> None:
        """1.6 USD is beyond 1.5 x 1 USD, and 0.6 USD more than the least."""
        runs = [wants("r", profile="speed"), wants("s", profile="speed")]
        there = market(offering("a"), offering("b", "1.6"), runs=runs)
        assert best_value(there) == Score((16,), (0, 0, -1), 600_000)

    def test_the_pool_goes_to_the_run_that_names_it_whatever_that_costs_others(self) -> None:
        there = market(
            offering("a", "9"),
            runs=[wants("r", pool="mine"), wants("s") | {"expected_duration_s": 36_000}],
            machines=[machine("m", 1, byoc_pool="mine")],
        )
        assert best_value(there) == Score((16,), (1, 1, 0), 90_000_000)

    def test_a_preferred_host_goes_to_the_run_that_prefers_it(self) -> None:
        spot = offering("spot", "1", interruptible=True, reclaims={"per_hour": 0})
        there = market(
            spot, offering("b", "1.05"), runs=[wants("r", interruptible="prefer"), wants("s")]
        )
        assert best_value(there) == Score((16,), (0, 1, 0), 50_000)

    def test_a_budget_is_kept_jointly(self) -> None:
        """Each alone has 1.5 USD; together one hour at 1 USD and none at 0.6 USD."""
        budget = {"name": "x", "workspaces": ["default", "w"], "remaining_usd": "1.5"}
        runs = [wants("r"), wants("s") | {"workspace": "w"}, wants("t") | {"workspace": "free"}]
        there = market(
            offering("a"), offering("b"), offering("c"), runs=runs, policy={"budgets": [budget]}
        )
        assert best_value(there).weights == (16,)

    def test_a_balance_is_one_workspaces(self) -> None:
        workspaces = [{"name": "w", "balance_usd": "1"}]
        runs = [wants(name) | {"workspace": "w"} for name in "rs"]
        there = market(offering("a"), offering("b"), runs=runs, policy={"workspaces": workspaces})
        assert best_value(there).weights == (8,)

    def test_a_rented_machine_is_counted_for_each_run_on_it(self) -> None:
        """Each of the two is expected to cost the hour, as if it were alone there."""
        budget = {"name": "x", "workspaces": ["default"], "remaining_usd": "1.9"}
        there = market(
            runs=[wants("r"), wants("s")],
            machines=[machine("m", 2, rate_usd_per_hour=1)],
            policy={"budgets": [budget]},
        )
        assert best_value(there).weights == (8,)

    def test_a_machine_that_is_billed_for_other_work_costs_what_goes_beyond(self) -> None:
        """It is billed for half an hour more: the other half is 0.5 USD."""
        budget = {"name": "x", "workspaces": ["default"], "remaining_usd": "0.5"}
        there = market(
            runs=[running("on", ("m", 1), expected_duration_s=1800), wants("r")],
            machines=[machine("m", 2, rate_usd_per_hour=1)],
            policy={"budgets": [budget]},
        )
        assert best_value(there).weights == (8,)


class TestLies:
    """Two runs alike, on an offering at 1 USD and one at 1.01 USD an hour."""

    def decision(self, there: Snapshot, references: tuple[str, str]) -> Decision:
        decision = decided(there, {"r": [("a#1", 1)], "s": [("b#1", 1)]})
        for name, chosen, reference in zip("rs", ("1", "1.01"), references, strict=True):
            value = Value(
                measure="usd_per_hour",
                chosen=Decimal(chosen),
                reference=Decimal(reference),
                band=Decimal("0.02"),
            )
            decision = altered(there, decision, name, value=value)
        return decision

    def market(self) -> Snapshot:
        return market(offering("a"), offering("b", "1.01"), runs=[wants("r"), wants("s")])

    def test_references_are_those_of_an_assignment(self) -> None:
        there = self.market()
        best = Score((16,), (0, 0, 0), 10_000)
        assert best_value(there) == best
        assert value_of(there, self.decision(there, ("1", "1.01"))) == best
        assert value_of(there, self.decision(there, ("1.01", "1"))) == best  # they are alike
        assert value_of(there, self.decision(there, ("1", "1"))) is None

    def test_a_decision_without_an_estimate_is_told_so(self) -> None:
        there = self.market()
        told = money_lies(there, self.decision(there, ("1", "1.01")))
        assert "r has no estimate" in told
        assert "says 0.00 USD an hour, and it is 2.01" in told
        assert "r says nothing of b" in told

    def test_a_reason_that_isnt_so_is_a_lie(self) -> None:
        there = market(offering("a"), offering("b", "2"), runs=[wants("r")])
        decision = decided(there, {"r": [("a#1", 1)]})
        placed = decision.outcomes[0]
        assert isinstance(placed, PlacedRun)
        for code, is_true in (("EXCEEDS_MAX_RATE", False), ("OUTRANKED", True)):
            row = {"hosts": ["b"], "reasons": [{"code": code, "message": "", "action": "NONE"}]}
            other = placed.model_validate(placed.model_dump() | {"rejected": [row]})
            told = money_lies(there, decision.model_copy(update={"outcomes": (other,)}))
            assert any("of b" in lie for lie in told) == (not is_true)

    def test_two_workers_on_one_instance_are_too_many(self) -> None:
        there = self.market()
        told = money_lies(there, decided(there, {"r": [("a#1", 1)], "s": [("a#1", 1)]}))
        assert "a#1 takes 2 workers" in told
