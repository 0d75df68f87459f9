"""What the value stage left each run, and how little worse than that it may end up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from stowplan.model.snapshot import Snapshot
from stowplan.solver.grid import Grid
from stowplan.solver.layout import Layout
from stowplan.solver.money.appraisal import Tier
from stowplan.solver.money.bands import are_kept, banded, standings, within
from tests.build import Document, machine, market, offering, run, wants
from tests.money_strategies import money_snapshots
from tests.solver.cycles import grid_of, solved, workers_in
from tests.strategies import examples

SPOT: dict[str, Any] = {"interruptible": True, "reclaims": {"per_hour": 0}}


def on(grid: Grid, **workers: int) -> Layout:
    """Return the layout in which so many workers of the only class are on these hosts."""
    layout = Layout(grid)
    for host, count in workers.items():
        names = [grid.hosts[place].name for place in grid.where[0].tolist()]
        layout.put(0, np.array([names.index(host)]), np.array([count]))
    return layout


def priced(*hosts: Document, size: int = 1, **placement: Any) -> Grid:
    """Return the grid of an array of so many elements before these offerings."""
    asked = wants("r", **placement) | {"array": {"size": size}}
    return grid_of(market(*hosts, runs=[asked]))


def inside(grid: Grid, tier: int, measure: int) -> list[str]:
    """Return the hosts within the band of a standing."""
    each = grid.appraisals[0]
    assert each is not None
    return [grid.hosts[place].name for place in each.hosts[within(each, (tier, measure))].tolist()]


def test_what_workers_have_is_sorted_the_best_first() -> None:
    grid = priced(offering("a", "1", available=3), offering("b", "2", available=3), size=3)
    assert standings(on(grid, b=2, a=1)) == [
        [(Tier.PLAIN, 1_000_000), (Tier.PLAIN, 2_000_000), (Tier.PLAIN, 2_000_000)]
    ]


def test_a_class_to_which_nothing_counts_has_no_standings() -> None:
    grid = grid_of(market(runs=[run("r", 1)], machines=[machine("m", 1)]))
    assert standings(on(grid, m=1)) == [[]]
    assert are_kept(on(grid, m=1), [()])
    assert banded(grid, [()]).where[0].tolist() == [0]


def test_a_band_ends_at_two_per_cent_exactly() -> None:
    grid = priced(offering("a", "1"), offering("b", "1.02"), offering("c", "1.020001"))
    assert inside(grid, Tier.PLAIN, 1_000_000) == ["a", "b"]
    assert inside(grid, Tier.PLAIN, 1_020_000) == ["a", "b", "c"]  # from b it ends at 1.0404


def test_a_better_tier_is_always_within_and_a_worse_one_never() -> None:
    # `near` is preferred: it may cost up to 1.10; firm at 1.00 is a tier below.
    grid = priced(
        offering("firm", "1"), offering("near", "1.09", **SPOT), offering("over", "1.12", **SPOT),
        interruptible="prefer",
    )  # fmt: skip
    assert inside(grid, Tier.PREFERRED, 1_090_000) == ["near"]
    assert inside(grid, Tier.PLAIN, 1_000_000) == ["firm", "near"]
    assert inside(grid, Tier.PLAIN, 1_120_000) == ["firm", "near", "over"]


def test_the_band_of_a_preferred_host_ends_at_the_allowance() -> None:
    # 2 % above 1.09 is 1.1118, and a tenth above the cheapest is 1.10.
    grid = priced(
        offering("firm", "1"), offering("a", "1.09", **SPOT), offering("b", "1.10", **SPOT),
        offering("c", "1.11", **SPOT), interruptible="prefer",
    )  # fmt: skip
    assert inside(grid, Tier.PREFERRED, 1_090_000) == ["a", "b"]


def test_speed_has_no_band() -> None:
    def boots(seconds: int) -> Document:
        return {"boot_p50_s": seconds, "boot_p90_s": seconds, "warm_s": 0}

    grid = priced(offering("a", startup=boots(0)), offering("b", startup=boots(1)), profile="speed")
    assert inside(grid, Tier.PLAIN, 3600) == ["a"]


def test_workers_alike_are_held_rank_by_rank_and_not_one_by_one() -> None:
    # Left 1.00 and 2.00: one of the two at 1.00 is better than asked, both at 2.00 are not enough.
    grid = priced(offering("a", "1", available=2), offering("b", "2", available=2), size=2)
    left = [[(int(Tier.PLAIN), 1_000_000), (int(Tier.PLAIN), 2_000_000)]]
    assert are_kept(on(grid, a=1, b=1), left)
    assert are_kept(on(grid, a=2), left)
    assert not are_kept(on(grid, b=2), left)


def test_only_hosts_within_the_band_of_some_worker_stay() -> None:
    rates = {"a": "1", "b": "1.01", "c": "1.5", "d": "2", "e": "2.04", "f": "2.05"}
    grid = priced(*(offering(name, rate) for name, rate in rates.items()), size=2)
    left = [[(int(Tier.PLAIN), 1_000_000), (int(Tier.PLAIN), 2_000_000)]]
    kept = banded(grid, left)
    # What is better than the second's reference is within its band, too; f is above 2.04.
    assert [grid.hosts[place].name for place in kept.where[0].tolist()] == list("abcde")
    own = kept.appraisals[0]
    assert own is not None
    assert own.hosts.tolist() == kept.where[0].tolist()


@pytest.mark.parametrize(("rate", "both"), [("1.02", True), ("1.020001", False)])
def test_the_healthier_host_is_taken_as_far_as_the_band_reaches(rate: str, both: bool) -> None:
    few, sound = offering("a", "1", health=0.5, available=2), offering("b", rate)
    layout = solved(market(few, sound, runs=[wants("x"), wants("y")])).layout
    assert set(workers_in(layout)) == ({"a", "b"} if both else {"a"})


@examples(60)
@given(money_snapshots())
def test_every_worker_ends_up_within_the_band_of_what_its_rank_was_left(snapshot: Snapshot) -> None:
    layout = solved(snapshot).layout
    references = layout.references
    if any(references):
        assert are_kept(layout, references)
        # And what is kept is nothing but better tiers, or measures up to the limit.
        for each, own, left in zip(
            layout.grid.appraisals, standings(layout), references, strict=True
        ):
            assert len(own) == len(left)
            for (tier, measure), (best, reference) in zip(own, left, strict=True):
                assert each is not None
                assert tier < best or measure <= each.limit(best, reference)
