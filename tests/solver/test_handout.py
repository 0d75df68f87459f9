from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.snapshot import Snapshot
from stowplan.solver.handout import Part, at_risk_taken, handed_out
from tests.build import Document, card, machine, run, snapshot
from tests.solver.crowds import crowded, fewest_at_risk
from tests.solver.cycles import grid_of
from tests.solver.fills import filled_at_random
from tests.strategies import examples

H100, L4 = card(model="NVIDIA H100"), card(model="NVIDIA L4")
RISKY = {**H100, "health": "at_risk"}


@examples(200)
@given(crowded(), st.randoms(use_true_random=False))
def test_each_class_gets_what_its_workers_ask_and_as_few_as_can_be_are_at_risk(
    s: Snapshot, draw: random.Random
) -> None:
    grid = grid_of(s)
    layout = filled_at_random(grid, draw)
    [there] = layout.by_host()
    parts = handed_out(grid, 0, there)
    given_to, taken_of = Counter[int](), Counter[int]()
    for part in parts:
        lot = grid.hosts[0].lots[part.lot]
        assert part.owner in part.users
        assert part.at_risk == (lot.condition == "at_risk")
        assert grid.usable[part.owner][0] >> part.lot & 1
        given_to[part.owner] += part.amount
        taken_of[part.lot] += part.amount
    assert given_to == +Counter({i: count * grid.classes[i].ask.gpus for i, count in there})
    assert all(taken_of[lot] <= free for lot, free in enumerate(grid.lots[0]))
    names = [grid.classes[index].name for index, count in there for _ in range(count)]
    risk = sum(part.amount for part in parts if part.at_risk)
    assert risk == fewest_at_risk(s, "m0", names) == at_risk_taken(layout)


@examples(60)
@given(crowded(hosts=3), st.randoms(use_true_random=False))
def test_gpus_at_risk_are_counted_over_all_hosts(s: Snapshot, draw: random.Random) -> None:
    grid = grid_of(s)
    layout = filled_at_random(grid, draw)
    fewest = [
        fewest_at_risk(s, host.name, [grid.classes[i].name for i, n in there for _ in range(n)])
        for host, there in zip(grid.hosts, layout.by_host(), strict=True)
    ]
    assert at_risk_taken(layout) == sum(fewest)


# By hand.


def _parts(cards: list[Document], *runs: Document) -> list[tuple[str, str, bool, int]]:
    """Which class gets how many GPUs of which model, where one worker of each is there."""
    grid = grid_of(snapshot([machine("m", cards)], runs))
    parts: list[Part] = handed_out(grid, 0, [(index, 1) for index in range(len(grid.classes))])
    lots = grid.hosts[0].lots
    return sorted(
        (grid.classes[owner].name, lots[lot].model, at_risk, amount)
        for owner, lot, at_risk, _, amount in parts
    )


def test_a_worker_takes_sound_gpus_first() -> None:
    assert _parts([RISKY, H100, H100], run("a", 2)) == [("a", "NVIDIA H100", False, 2)]
    assert _parts([RISKY, H100, H100], run("a", 3)) == [
        ("a", "NVIDIA H100", False, 2),
        ("a", "NVIDIA H100", True, 1),
    ]


def test_one_makes_room_for_another_that_can_use_fewer() -> None:
    picky = run("b", {"count": 1, "models": ["H100"]})
    assert _parts([H100, L4], run("a", 1), picky) == [
        ("a", "NVIDIA L4", False, 1),
        ("b", "NVIDIA H100", False, 1),
    ]


def test_one_takes_a_gpu_at_risk_so_that_another_need_not() -> None:
    picky = run("b", {"count": 1, "healthy_only": True})
    assert _parts([RISKY, H100], run("a", 1), picky) == [
        ("a", "NVIDIA H100", True, 1),
        ("b", "NVIDIA H100", False, 1),
    ]


def test_sound_gpus_of_any_model_go_before_those_at_risk() -> None:
    # a could have the H100 at risk; with the L4 nobody needs it.
    assert _parts([RISKY, L4], run("a", 1)) == [("a", "NVIDIA L4", False, 1)]


def test_a_chain_of_three_gives_each_its_own() -> None:
    # c takes the only MI300X, b is moved to the L4, a to the H100.
    cards = [H100, L4, card(model="AMD MI300X")]
    asks = {"a": ["H100", "L4"], "b": ["L4", "MI300X"], "c": ["MI300X"]}
    runs = [run(name, {"count": 1, "models": terms}) for name, terms in asks.items()]
    assert _parts(cards, *runs) == [
        ("a", "NVIDIA H100", False, 1),
        ("b", "NVIDIA L4", False, 1),
        ("c", "AMD MI300X", False, 1),
    ]


def test_workers_without_gpus_get_none() -> None:
    assert _parts([H100], run("a", cpu_cores=1)) == []
