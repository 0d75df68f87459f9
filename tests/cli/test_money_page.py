"""What `solve` shows of money, where there is any."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from stowplan.cli.main import cli
from stowplan.cli.render.money import dollars

SCENARIOS = Path(__file__).parent.parent.parent / "scenarios"


def page(name: str, *options: str) -> str:
    return CliRunner().invoke(cli, ["solve", str(SCENARIOS / f"{name}.yaml"), *options]).stdout


def test_each_run_has_its_rate_and_its_cost_with_that_at_worst() -> None:
    lines = page("joint-beats-one-by-one").splitlines()
    [flexible] = [line.split() for line in lines if line.startswith("flexible")]
    # 10 h at 1.50, at worst 12.5 h.
    assert flexible == ["flexible", "placed", "large#1", "1", "1.50", "15.00", "(18.75)"]


def test_a_line_says_what_all_come_to() -> None:
    said = page("joint-beats-one-by-one")
    assert "2.50 USD an hour; 25.00 USD to completion, 31.25 at worst (p90)" in said
    assert "at 2026-09-21 06:00:00 UTC, 3 offerings" in said
    assert "2 GPUs placed\n" in said  # no machine's GPUs are in use


def test_runs_of_unknown_length_are_counted_beside() -> None:
    said = page("profiles")
    assert "4.40 USD an hour; 7.80 USD to completion" in said  # 3.00 + 2.40 + 2.40
    assert said.splitlines()[2].endswith("; 1 run of unknown length")
    [unknown] = [line for line in said.splitlines() if line.startswith("unknown")]
    assert unknown.endswith("not known")


def test_an_array_costs_what_each_element_does_on_its_own_host() -> None:
    said = page("alike-spread")
    # Five elements of an hour, two on east at 2.00, the others at up to 2.04; at worst 1.25 h.
    assert "10.11 USD an hour; 10.11 USD to completion, 12.64 at worst (p90)" in said
    assert " 10.11 (12.64)" in said


def test_a_machine_s_gpus_are_told_beside_what_is_bought() -> None:
    said = page("reuse-before-new")
    assert "3 machines, 2 GPUs, 3 offerings" in said
    assert "DEVICES" in said
    [hour] = [line.split() for line in said.splitlines() if line.startswith("hour")]
    assert hour == ["hour", "placed", "rented-idle", "1", "0", "2.40", "0.00", "(0.60)"]


def test_what_helps_against_a_price_is_said_closer_than_by_its_action() -> None:
    waiting = page("limits-of-money-and-time").partition("Waiting:")[2]
    advice = {
        told.split()[0]: told.partition("-> ")[2].strip() for told in waiting.split("\n\n")[1:]
    }
    assert advice == {
        "cheap": "raise its max_rate_usd_per_hour",
        "estimated": "wait until it is cheaper, or estimate it again",
        "soon": "extend the deadline",
        "thrifty": "raise the budget",
    }


def test_where_nothing_costs_anything_nothing_is_said_of_money() -> None:
    said = page("quickstart")
    assert "USD" not in said
    assert "POINTS" in said


def test_wide_shows_the_lines_of_each_estimate_and_what_the_cycle_left() -> None:
    said = page("spot-and-checkpoints", "-o", "wide")
    assert "redone work" in said
    assert "10.625 USD in all, within 2 % of the 10.625 it was left" in said


def test_wide_counts_the_gpus_of_what_is_bought() -> None:
    assert "    large#1: 1 GPU\n" in page("joint-beats-one-by-one", "-o", "wide")


@pytest.mark.parametrize(
    ("micro", "said"),
    [(0, "0.00"), (2_100_000, "2.10"), (93_400, "0.0934"), (50_000, "0.05"), (8_520_200, "8.53")],
)
def test_rates_under_a_dime_are_told_exactly(micro: int, said: str) -> None:
    assert dollars(micro) == said
