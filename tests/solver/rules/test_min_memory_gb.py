from __future__ import annotations

import math

import pytest

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import card, machine, market, offering, run, snapshot
from tests.solver.cycles import blames, gpus_of, places, starts

# 5^9 MiB are 5^9 x 2^20 = 2^11 x 10^9 bytes: 2048 GB to the byte, what 2048.5 asks for.
EXACT_MIB, EXACT_GB = 5**9, 2048.5


def _asks(least: float, *memory_mib: int) -> Snapshot:
    cards = [card(memory_mib=each) for each in memory_mib]
    return snapshot([machine("m", cards)], [run("a", {"count": 1, "min_memory_gb": least})])


def test_a_run_goes_where_the_memory_is() -> None:
    machines = [machine("m", [card(memory_mib=23034)]), machine("n", 1)]
    assert places(snapshot(machines, [run("a", {"count": 1, "min_memory_gb": 80})])) == {"a": ["n"]}


def test_half_a_gb_less_is_enough_to_the_byte() -> None:
    assert starts(_asks(EXACT_GB, EXACT_MIB)) == {"a"}


def test_a_mib_less_is_too_little() -> None:
    assert starts(_asks(EXACT_GB, EXACT_MIB - 1)) == set()


def test_the_least_more_that_can_be_asked_is_too_much() -> None:
    assert starts(_asks(math.nextafter(EXACT_GB, math.inf), EXACT_MIB)) == set()


@pytest.mark.parametrize(
    ("asked", "memory_mib"), [(1098.228, 1_046_875), (2195.956, 2_093_750), (16.884, 15_625)]
)
def test_what_is_asked_is_the_number_as_it_is_written(asked: float, memory_mib: int) -> None:
    # (1098.228 - 0.5) x 10^9 = 1097728000000 = 1046875 x 2^20; in floats it comes out larger.
    assert starts(_asks(asked, memory_mib)) == {"a"}
    assert starts(_asks(asked, memory_mib - 1)) == set()


@pytest.mark.parametrize(
    ("asked", "memory_mib"), [(705.0120000000001, 671_875), (836.0840000000001, 796_875)]
)
def test_a_hair_more_than_there_is_is_too_much(asked: float, memory_mib: int) -> None:
    assert starts(_asks(asked, memory_mib)) == set()


def test_a_machine_of_smaller_gpus_says_how_large_they_are() -> None:
    # 23034 MiB are 24152899584 bytes, 81559 MiB 85520809984: short of 95.5 x 10^9.
    assert blames(_asks(96, 23034, 81559), "a", "m") == (
        Code.NO_MATCHING_GPU,
        "no GPU with 96 GB of memory (has 24.2 GB, 85.5 GB)",
        {
            "asked": "96 GB of memory",
            "has": ("24.2 GB", "85.5 GB"),
            "need_gb": 96,
            "has_gb": 85.5,
        },
    )


def test_only_gpus_that_are_large_enough_are_given() -> None:
    assert gpus_of(_asks(80, 23034, 81559, 23034), "a") == [("m/1",)]


def test_the_memory_must_be_that_of_a_gpu_of_the_model_and_vendor() -> None:
    small = card(model="NVIDIA L4", memory_mib=23034)
    asked = run("a", {"count": 1, "models": ["L4"], "min_memory_gb": 80})
    assert blames(snapshot([machine("m", [card(), small])], [asked]), "a", "m") == (
        Code.NO_MATCHING_GPU,
        "no GPU with 80 GB of memory (has 24.2 GB)",
        {"asked": "80 GB of memory", "has": ("24.2 GB",), "need_gb": 80, "has_gb": 24.2},
    )


@pytest.mark.parametrize(("least", "enough"), [(80, True), (80.000001, False), (79.9, True)])
def test_of_an_offering_the_nominal_memory_is_held_against_it_without_slack(
    least: float, enough: bool
) -> None:
    s = market(offering("o"), runs=[run("a", {"count": 1, "min_memory_gb": least})])
    assert bool(starts(s)) == enough
