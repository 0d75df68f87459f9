"""The oracle by figures worked by hand, and against trying every GPU of every worker."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from stowplan.model.decision import Decision, HostRow, Worker
from stowplan.model.reasons import Code, Reason
from stowplan.model.runs import Run
from stowplan.model.snapshot import Snapshot
from tests import oracle
from tests.build import after, altered, card, decided, machine, run, running, snapshot
from tests.oracle import (
    TooLarge,
    at_risk_of,
    best,
    could_ever_start,
    fewest_at_risk,
    fits_alone,
    fits_beside,
    lies,
    most_points,
    placed,
    points_of,
    weight,
    would_take,
)
from tests.strategies import examples, snapshots
from tests.witness.asked import (
    gpus_held,
    is_waiting,
    is_within_quota,
    may_share,
    may_start,
    placed_workers,
)
from tests.witness.fits import ahead, refusals, workers_of
from tests.witness.machines import rooms, usable
from tests.witness.reasons import barred


class TestBest:
    def test_gpus_left_over_on_two_machines_make_no_whole(self) -> None:
        runs = [run("a", 3), run("b", 3), run("c", 2)]
        assert best(snapshot([machine("m", 4), machine("n", 4)], runs)) == (8 * 6,)

    def test_one_run_of_a_higher_tier_outweighs_all_lower_ones(self) -> None:
        runs = [run("low", 4), run("high", 1, priority=5)]
        assert best(snapshot([machine("m", 4)], runs)) == (8, 0)

    def test_a_tier_with_nothing_to_place_counts_0(self) -> None:
        runs = [run("huge", 9, priority=5), run("low", 2)]
        assert best(snapshot([machine("m", 4)], runs)) == (0, 16)

    @pytest.mark.parametrize(
        ("waited", "eighths"),
        [(0, 8), (2699, 8), (2700, 9), (21_600, 16), (10**7, 72), (-60, 8)],
    )
    def test_an_eighth_more_for_each_eighth_of_ageing_s_waited(
        self, waited: int, eighths: int
    ) -> None:
        runs = [run("a", 2, submitted_at=after(-waited))]
        assert best(snapshot([machine("m", 2)], runs)) == (2 * eighths,)

    def test_a_gpu_goes_to_one_worker_though_two_would_do_with_it(self) -> None:
        cards = [card(), card(), card(model="NVIDIA L4")]
        two = [run("any", 2), run("h100", {"count": 2, "models": ["h100"]})]
        assert best(snapshot([machine("m", cards)], two)) == (16,)
        three = [run("any", 1), run("h100", {"count": 2, "models": ["h100"]})]
        assert best(snapshot([machine("m", cards)], three)) == (24,)

    def test_an_array_starts_no_more_than_are_left_or_may_run_at_once(self) -> None:
        array = {"size": 6, "max_parallel": 3, "finished": [0]}
        runs = [running("a", ("m", 1, 1)) | {"array": array}]
        assert best(snapshot([machine("m", 6)], runs)) == (2 * 8,)
        runs = [running("a", ("m", 1, 1)) | {"array": {"size": 3, "finished": [0]}}]
        assert best(snapshot([machine("m", 6)], runs)) == (8,)

    def test_a_quota_counts_what_is_held_and_spares_runs_without_gpus(self) -> None:
        policy = {"workspaces": [{"name": "default", "gpu_quota": 3}]}
        runs = [running("r", ("m", 2)), run("a", 1), run("b", 1), run("c", 0)]
        assert best(snapshot([machine("m", 8)], runs, policy=policy)) == (8 + 8,)

    def test_a_strict_queue_stops_at_the_first_that_could_ever_start(self) -> None:
        runs = [running("r", ("m", 2)), run("a", 3), run("b", 1)]
        assert best(snapshot([machine("m", 3)], runs, policy={"queue": "strict"})) == (0,)
        assert best(snapshot([machine("m", 3)], runs)) == (8,)
        runs = [run("a", 4), run("b", 1)]  # a never could
        assert best(snapshot([machine("m", 3)], runs, policy={"queue": "strict"})) == (8,)

    def test_a_queue_is_one_workspaces(self) -> None:
        runs = [running("r", ("m", 2)), run("a", 3), run("b", 1, workspace="other")]
        assert best(snapshot([machine("m", 3)], runs, policy={"queue": "strict"})) == (8,)

    @pytest.mark.parametrize(
        ("asked", "units"),
        [
            ({"machines": 3}, 0),
            ({"machines": 2}, 2),
            ({"node_selection": {"count": 3}}, 0),
            ({"node_selection": {"count": 3, "mode": "any"}}, 3),
            ({"node_selection": {"count": 4, "mode": "any"}}, 4),
            ({"node_selection": {"count": 5, "mode": "any"}}, 0),
            ({"node_selection": {"names": ["m", "n"]}}, 2),
            ({"node_selection": {"names": ["m", "n"], "mode": "any"}}, 1),
            ({"node_selection": {"names": ["m", "n"], "count": 1}}, 1),
            ({"node_selection": {"mode": "all"}}, 2),
        ],
    )
    def test_workers_of_a_run_without_gpus(self, asked: dict[str, Any], units: int) -> None:
        machines = [machine("m", cpu_cores=5), machine("n", cpu_cores=7)]
        assert best(snapshot(machines, [run("a", cpu_cores=2.5, **asked)])) == (8 * units,)

    def test_all_is_all_that_could_when_empty_or_none(self) -> None:
        runs = [running("r", ("n", 0), cpu_cores=60), run("a", cpu_cores=8) | _all()]
        machines = [machine("m"), machine("n"), machine("small", cpu_cores=4)]
        assert best(snapshot(machines, runs)) == (0,)
        assert best(snapshot(machines, runs[1:])) == (2 * 8,)

    def test_too_much_to_try_is_said_and_not_guessed(self, monkeypatch: Any) -> None:
        monkeypatch.setattr(oracle, "LIMIT", 10)
        runs = [run(name, 1, array={"size": 4}) for name in "abc"]
        with pytest.raises(TooLarge):
            best(snapshot([machine("m", 4)], runs))


def _all() -> dict[str, Any]:
    return {"node_selection": {"mode": "all"}}


class TestFewestAtRisk:
    def test_healthy_only_leaves_the_gpu_at_risk_to_another(self) -> None:
        cards = [card(), card(health="at_risk")]
        runs = [run("any", 1), run("choosy", {"count": 1, "healthy_only": True})]
        fleet = snapshot([machine("m", cards)], runs)
        assert fewest_at_risk(fleet, {"any": 1, "choosy": 1}) == 1
        assert fewest_at_risk(fleet, {"any": 1}) == 0

    def test_a_healthy_machine_wins_only_where_there_is_one(self) -> None:
        machines = [machine("bad", [card(health="at_risk")] * 4), machine("good", 3)]
        fleet = snapshot(machines, [run("a", 2), run("b", 2), run("e", 1, array={"size": 3})])
        assert fewest_at_risk(fleet, {"a": 1}) == 0
        assert fewest_at_risk(fleet, {"a": 1, "b": 1}) == 2
        assert fewest_at_risk(fleet, {"a": 1, "b": 1, "e": 1}) == 2
        assert fewest_at_risk(fleet, {"a": 1, "b": 1, "e": 3}) == 4

    def test_unknown_counts_as_no_risk(self) -> None:
        fleet = snapshot([machine("m", [card(health="unknown")])], [run("a", 1)])
        assert fewest_at_risk(fleet, {"a": 1}) == 0

    def test_what_cannot_be_placed_is_an_error(self) -> None:
        with pytest.raises(ValueError, match="can't all be placed"):
            fewest_at_risk(snapshot([machine("m", 1)], [run("a", 2)]), {"a": 1})


class TestPoints:
    """A machine of 10 cores, 100 bytes and 4 GPUs; a worker of 1 GPU, 2 cores and 25 bytes."""

    SMALL = {"cpu_cores": 10, "memory_bytes": 100}
    ASK = {"per_gpu": {"cpu_cores": 2, "memory_bytes": 25}}
    ALONE = 12_500 + 25_000 - 5_000 + 25_000 - 6_250

    def test_packing_and_what_is_left_free(self) -> None:
        fleet = snapshot([machine("m", 4, **self.SMALL)], [run("a", 1, **self.ASK)])
        assert self.ALONE == 51_250
        assert most_points(fleet, {"a": 1}, 0) == 51_250

    def test_two_workers_share_what_they_leave(self) -> None:
        runs = [run("a", 1, **self.ASK), run("b", 1, **self.ASK)]
        fleet = snapshot([machine("m", 4, **self.SMALL)], runs)
        # each: 2 of 4 GPUs in use, 4 cores and 50 bytes gone
        assert most_points(fleet, {"a": 1, "b": 1}, 0) == 2 * (25_000 + 15_000 + 12_500)
        assert points_of(fleet, decided(fleet, {"a": [("m", 1)]})) == {"a": 51_250}

    def test_a_worker_without_gpus_on_a_gpu_machine(self) -> None:
        machines = [machine("m", 4, **self.SMALL), machine("n", **self.SMALL, cpu_pressure=True)]
        fleet = snapshot(machines, [run("a", cpu_cores=2)])
        assert most_points(fleet, {"a": 1}, 0) == 20_000 + 25_000 - 20_000
        fleet = snapshot(machines[:1], [run("a", cpu_cores=2)])
        assert most_points(fleet, {"a": 1}, 0) == 20_000 + 25_000 - 30_000

    def test_reserved_for_its_labels_and_at_risk(self) -> None:
        kept = machine(
            "m", [card(health="at_risk")], **self.SMALL, reserved_for={"team": "v", "tier": "1"}
        )
        labels = {"match_labels": {"team": "v", "tier": "1"}}
        fleet = snapshot([kept], [run("a", 1, node_selection=labels)])
        assert most_points(fleet, {"a": 1}, 1) == 90_000 + 50_000 + 50_000 - 60_000
        with pytest.raises(ValueError, match="with 0 at-risk"):
            most_points(fleet, {"a": 1}, 0)

    @pytest.mark.parametrize(
        ("home", "here", "points"),
        [
            ({}, {}, 0),
            ({"labels": {"topology/rack": "1"}}, {"labels": {"topology/rack": "1"}}, 15_000),
            ({"labels": {"topology/rack": "1"}}, {"labels": {"topology/rack": "2"}}, 0),
            ({"rdma": {"count": 1}}, {"rdma": {"count": 1}}, 10_000),
            ({"rdma": {"count": 1}}, {"rdma": {"count": 1, "state": "down"}}, 0),
        ],
    )
    def test_a_drive_on_another_machine(
        self, home: dict[str, Any], here: dict[str, Any], points: int
    ) -> None:
        port = {"kind": "infiniband", "rate_gbps": 400}
        for each in (home, here):
            if "rdma" in each:
                each["rdma"] = {**port, **each["rdma"]}
        machines = [
            machine("home", **self.SMALL, state="cordoned", network="s", **home),
            machine("m", **self.SMALL, network="s", **here),
        ]
        drives = [{"name": "d", "machine": "home", "sites": ["s"]}]
        runs = [run("a", cpu_cores=2, drives=["d"])]
        fleet = snapshot(machines, runs, drives=drives)
        assert most_points(fleet, {"a": 1}, 0) == 45_000 + points
        fleet = snapshot([machines[0] | {"state": "up"}], runs, drives=drives)
        assert most_points(fleet, {"a": 1}, 0) == 45_000 + 40_000


class TestOneRun:
    FLEET = snapshot(
        [machine("m", 4), machine("n", 1), machine("off", 8, state="down")],
        [
            running("r", ("m", 2)),
            run("two", 2),
            run("other", 2),
            run("four", 4),
            run("eight", 8),
            run("many", 1, array={"size": 4}),
        ],
        policy={"workspaces": [{"name": "default", "gpu_quota": 4}]},
    )

    def test_fits_alone_is_by_room_and_quota(self) -> None:
        found = [each.name for each in self.FLEET.runs if fits_alone(self.FLEET, each.name)]
        assert found == ["two", "other", "many"]
        assert fits_alone(self.FLEET, "many", 2)
        assert not fits_alone(self.FLEET, "many", 3), "room for 3, and quota for 2"

    def test_fits_beside_leaves_all_where_it_is(self) -> None:
        decision = decided(self.FLEET, {"two": [("m", ("m/2", "m/3"))]})
        assert not fits_beside(self.FLEET, decision, "other")
        assert not fits_beside(self.FLEET, decision, "many"), "one GPU is free, and no quota"
        decision = decided(self.FLEET, {"many": [("n", 1)]})
        assert fits_beside(self.FLEET, decision, "many")
        assert not fits_beside(self.FLEET, decision, "two"), "room for 2, and quota for 1"

    def test_could_ever_start_is_on_the_empty_fleet_with_the_whole_quota(self) -> None:
        found = [each.name for each in self.FLEET.runs if could_ever_start(self.FLEET, each.name)]
        assert found == ["r", "two", "other", "four", "many"]

    def test_would_take_is_of_one_machine(self) -> None:
        assert not would_take(self.FLEET, "m", "four", empty=False)
        assert would_take(self.FLEET, "m", "four", empty=True)
        assert not would_take(self.FLEET, "off", "four", empty=True)


def _too_few(need: int, free: int, whole: int) -> Reason:
    return Reason.of(Code.INSUFFICIENT_GPUS, "too few", need=need, free=free, whole=whole)


class TestLies:
    """Two GPUs are left: `won` takes one of them, so `lost` waits; `huge` never fits."""

    FLEET = snapshot(
        [machine("m", 4), machine("down", 4, state="down"), machine("small", 1)],
        [running("r", ("m", 2)), run("won", 1), run("lost", 2), run("huge", 5)],
    )
    NO_GPUS = Reason.of(Code.INSUFFICIENT_GPUS, "too few", need=2, free=1, whole=4)

    def rows(self, need: int = 2) -> tuple[HostRow, ...]:
        """What the hosts say of a run of so many GPUs: m has 1 of 4 left, small has 1."""
        down = [Reason.of(Code.MACHINE_DOWN, "down")]
        if need > 4:
            down.append(_too_few(need, free=4, whole=4))
        return (
            HostRow(hosts=("m",), state="up", reasons=(_too_few(need, free=1, whole=4),)),
            HostRow(hosts=("small",), state="up", reasons=(_too_few(need, free=1, whole=1),)),
            HostRow(hosts=("down",), state="down", reasons=tuple(down)),
        )

    def told(self, **fields: Any) -> list[str]:
        """The lies where this is said of `lost` instead of the truth."""
        decision = decided(self.FLEET, {"won": [("m", ("m/2",))]})
        true = {"hosts_checked": 3, "hosts_ready": 2, "hosts_down": 1}
        reason = Reason.of(Code.OUTCOMPETED, "lost to won", runs=("won",))
        lost = {**true, "hosts": self.rows(), "reason": reason, "closest": "m"}
        decision = altered(self.FLEET, decision, "lost", **lost)
        huge = {**true, "hosts": self.rows(5), "reason": _too_few(5, free=4, whole=4)}
        decision = altered(self.FLEET, decision, "huge", **huge)
        told = lies(self.FLEET, altered(self.FLEET, decision, "lost", **fields))
        return [lie for lie in told if not lie.startswith("won ")]  # of which nothing is said

    def test_the_truth_is_no_lie(self) -> None:
        assert self.told() == []

    @pytest.mark.parametrize(
        ("fields", "lie"),
        [
            ({"reason": NO_GPUS}, "fits alone"),
            ({"reason": Reason.of(Code.QUOTA_EXCEEDED, "x")}, "within its quota"),
            ({"reason": Reason.of(Code.ARRAY_LIMIT, "x")}, "within its array's limit"),
            ({"reason": Reason.of(Code.QUEUED_BEHIND, "x")}, "before it wait"),
            ({"reason": Reason.of(Code.NEXT_TO_RUN, "x")}, "without its queue too"),
            ({"reason": Reason.of(Code.SOLVER_LIMIT, "x")}, "no limit was hit"),
            ({"closest": None}, "would take it when empty"),
            ({"closest": "small"}, "would never take it"),
            ({"hosts_checked": 2}, "2 hosts checked, not 3"),
            ({"hosts_ready": 3}, "3 hosts ready, not 2"),
            ({"hosts_down": 0}, "0 hosts down, not 1"),
            ({"hosts": ()}, "lists the hosts"),
            ({"same_as": "nobody"}, "which has none"),
        ],
    )
    def test_a_lie_is_found(self, fields: dict[str, Any], lie: str) -> None:
        assert any(lie in told for told in self.told(**fields)), self.told(**fields)

    @pytest.mark.parametrize(
        "reasons",
        [
            (NO_GPUS, Reason.of(Code.INSUFFICIENT_CPU, "x", need=1, free=0, whole=64)),
            (Reason.of(Code.GPU_DENIED, "x", need=2, free=1, denied=1),),
            (_too_few(2, free=1, whole=3),),
            (Reason.of(Code.OK, "has room"),),
            (),
        ],
    )
    def test_a_row_that_says_anything_else_is_a_lie(self, reasons: tuple[Reason, ...]) -> None:
        wrong = (self.rows()[0].model_copy(update={"reasons": reasons}), *self.rows()[1:])
        assert any("where" in lie for lie in self.told(hosts=wrong))

    def test_hosts_of_which_different_things_are_so_in_one_row_are_a_lie(self) -> None:
        both = self.rows()[0].model_copy(update={"hosts": ("m", "small")})
        assert any("in one row" in lie for lie in self.told(hosts=(both, self.rows()[2])))

    @pytest.mark.parametrize(
        ("runs", "lie"),
        [
            (("lost",), "weren't all placed"),
            ((), "wouldn't fit without them"),
        ],
    )
    def test_rivals_that_are_none_are_a_lie(self, runs: tuple[str, ...], lie: str) -> None:
        reason = Reason.of(Code.OUTCOMPETED, "x", runs=runs)
        assert any(lie in told for told in self.told(reason=reason))

    def test_rivals_that_could_stay_are_a_lie(self) -> None:
        fleet = snapshot([machine("m", 2), machine("n", 1)], [run("a", 1), run("b", 2), run("c")])
        decision = decided(fleet, {"a": [("m", 1)], "c": [("m", 0)]})
        for runs, is_lie in ((("a",), False), (("a", "c"), True)):
            reason = Reason.of(Code.OUTCOMPETED, "x", runs=runs)
            told = lies(fleet, altered(fleet, decision, "b", reason=reason))
            assert any("would fit with c there" in lie for lie in told) == is_lie

    def test_waiting_beside_room_is_a_lie(self) -> None:
        told = lies(self.FLEET, decided(self.FLEET, {}))
        assert "won waits though it fits beside all that is placed" in told
        assert "lost waits though it fits beside all that is placed" in told

    def test_a_run_that_fits_nowhere_is_not_outcompeted(self) -> None:
        assert "huge OUTCOMPETED, and doesn't fit alone" in lies(self.FLEET, decided(self.FLEET))

    @pytest.mark.parametrize(
        ("asked", "code"),
        [
            ({"node_selection": {"names": ["nowhere"]}}, Code.NOT_SELECTED),
            ({"workspace": "shut"}, Code.POOL_RESTRICTED),
            ({"gpus": {"count": 3}, "machines": 2}, Code.UNEVEN_SHAPE),
            ({"gpus": {"count": 1, "min_per_machine": 2}}, Code.UNEVEN_SHAPE),
        ],
    )
    def test_a_refusal_is_true_of_what_it_is_for_and_a_lie_of_others(
        self, asked: dict[str, Any], code: Code
    ) -> None:
        policy = {"workspaces": [{"name": "shut", "pools": ["x"]}]}
        fleet = snapshot([machine("m", 4)], [run("a", cpu_cores=1) | asked], policy=policy)
        assert lies(fleet, decided(fleet, refused={"a": code})) == []
        assert any("must be refused" in lie for lie in lies(fleet, decided(fleet)))
        free = snapshot([machine("m", 4)], [run("a", 1)], policy=policy)
        told = lies(free, decided(free, refused={"a": code}))
        assert told == [f"a is refused by {code}, which isn't so"]

    def test_a_queue_that_holds_a_run_must_be_named(self) -> None:
        runs = [running("r", ("m", 2)), run("a", 3), run("b", 1)]
        fleet = snapshot([machine("m", 4)], runs, policy={"queue": "strict"})
        decision = decided(fleet)
        assert any("b OUTCOMPETED, and fits beside" in lie for lie in lies(fleet, decision))
        reason = Reason.of(Code.QUEUED_BEHIND, "behind a", behind="a", workspace="default")
        decision = altered(fleet, decision, "b", reason=reason)
        assert not any(lie.startswith("b Q") or "b waits" in lie for lie in lies(fleet, decision))


type Choice = tuple[tuple[str, tuple[str, ...]], ...]
"""Each worker's machine and GPUs."""


@examples(200)
@given(snapshots(max_machines=2, max_runs=3))
def test_the_oracle_finds_what_trying_every_gpu_of_every_worker_finds(fleet: Snapshot) -> None:
    runs = [each for each in fleet.runs if is_waiting(fleet, each)]
    choices = [list(_choices(fleet, each)) for each in runs]
    if math.prod(map(len, choices)) > 3000:
        return
    plans = [zip(runs, each, strict=True) for each in itertools.product(*choices)]
    tried = [
        decided(fleet, {each.name: list(chosen) for each, chosen in plan if chosen})
        for plan in plans
    ]
    tried = [each for each in tried if _is_allowed(fleet, each)]
    assert best(fleet) == max(weight(fleet, each) for each in tried)
    some = max(tried, key=lambda each: weight(fleet, each))
    alike = [each for each in tried if placed(each) == placed(some)]
    fewest = min(at_risk_of(fleet, each) for each in alike)
    assert fewest_at_risk(fleet, placed(some)) == fewest
    points = max(
        sum(points_of(fleet, each).values()) for each in alike if at_risk_of(fleet, each) == fewest
    )
    assert most_points(fleet, placed(some), fewest) == points


def _choices(fleet: Snapshot, each: Run) -> Iterator[Choice]:
    """Yield each way to place the run, or some of its elements, and the way not to."""
    yield ()
    if refusals(fleet, each):
        return
    free, gpus = rooms(fleet), each.gpus.count
    seats = [
        (m.name, ids)
        for m in fleet.fleet.machines
        if not barred(fleet, m, each)
        for ids in itertools.combinations(sorted(usable(m, each, free[m.name])), gpus)
    ]
    each_time = workers_of(fleet, each)
    for times in range(1, may_start(fleet, each) + 1):
        for choice in itertools.combinations_with_replacement(seats, times * each_time):
            hosts = [host for host, _ in choice]
            devices = [(host, id) for host, ids in choice for id in ids]
            is_spread = may_share(each) or len(set(hosts)) == len(hosts)
            if choice and is_spread and len(set(devices)) == len(devices):
                yield choice


def _is_allowed(fleet: Snapshot, decision: Decision) -> bool:
    """Whether the runs fit together, within quotas, in the order of strict queues."""
    before, after_all = rooms(fleet), rooms(fleet, decision)
    for name, room in after_all.items():
        if room.cores < min(0, before[name].cores) or room.memory < min(0, before[name].memory):
            return False
        given = [worker.devices for worker in _workers(decision) if worker.host == name]
        if len(before[name].devices) - len(room.devices) != sum(map(len, given)):
            return False
    for each in fleet.runs:
        count = placed(decision).get(each.name, 0)
        if not count:
            continue
        if not is_within_quota(fleet, each, each.gpus.count, _others(fleet, decision, each)):
            return False
        waits = {other.name for other in ahead(fleet, each)} - set(placed(decision))
        if fleet.policy.queue == "strict" and waits:
            return False
    return True


def _others(fleet: Snapshot, decision: Decision, each: Run) -> int:
    return gpus_held(fleet, each.workspace, decision) - each.gpus.count


def _workers(decision: Decision) -> list[Worker]:
    return [worker for workers in placed_workers(decision).values() for worker in workers]
