"""What `stowplan estimate` says, on scenarios whose figures are worked out beside them."""

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from stowplan.cli.main import cli
from stowplan.cli.render.estimate import lasting
from stowplan.model.decision import Estimate
from stowplan.model.estimating.token import rate_in

SCENARIOS = Path(__file__).parent.parent.parent / "scenarios"
PROFILES = str(SCENARIOS / "profiles.yaml")
LIMITS = str(SCENARIOS / "limits-of-money-and-time.yaml")


def estimate(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["estimate", *arguments])


def test_the_hosts_come_best_first_by_the_profile_of_the_run() -> None:
    said = estimate(PROFILES, "by-cost").stdout
    hosts = [line.split()[0] for line in said.splitlines()[3:6]]
    # 2.40, 3.00 and 4.00 USD, as scenarios/expected/profiles.yaml works out.
    assert hosts == ["fast", "slow-and-cheap", "fastest"]
    assert "by the lowest expected cost (cost)" in said
    assert "2.40 (p90 3.00) USD in all" in said  # p90: 1.25 x 2 h at 1.20


def test_json_is_the_estimate_with_its_token_and_nothing_else() -> None:
    told = json.loads(estimate(PROFILES, "by-cost", "-o", "json").stdout)
    assert told.keys() == {"run", "host", "estimate", "if_match"}
    assert (told["run"], told["host"]) == ("by-cost", "fast")
    assert Estimate.model_validate(told["estimate"]).cost_usd
    assert rate_in(told["if_match"]) == 1_200_000


def test_the_page_names_the_sources_each_with_what_comes_from_it(tmp_path: Path) -> None:
    document = yaml.safe_load(Path(PROFILES).read_text(encoding="utf-8"))
    for offering in document["fleet"]["offerings"]:
        offering["price"] = {"source": "their page", "as_of": "2026-05-02T00:00:00Z"}
        offering["billing"]["source"] = offering["startup"]["source"] = "terms"
    path = tmp_path / "sourced.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    said = estimate(str(path), "by-cost").stdout
    assert "  sources: their page of 2026-05-02 (rate); terms (billing, startup)\n" in said
    assert "sources" not in estimate(PROFILES, "by-cost").stdout


def test_another_host_can_be_asked_for_also_by_the_name_of_an_instance() -> None:
    for host in ("fastest", "fastest#1"):
        told = json.loads(estimate(PROFILES, "by-cost", "--host", host, "-o", "json").stdout)
        assert told["host"] == "fastest"
        assert told["estimate"]["cost_usd"]["p50"] == "4"


def test_a_run_of_unknown_length_has_no_total() -> None:
    said = estimate(PROFILES, "unknown").stdout
    assert "nobody knows how long it runs: no total" in said
    assert "1.00 USD an hour; starting and ending cost 1.00" in said  # an hour of boot
    assert "cost, for no running time is known" in said


def test_where_no_host_takes_the_run_the_reasons_are_told_and_the_exit_code_says_so() -> None:
    page = estimate(LIMITS, "soon")
    assert page.exit_code == 3
    assert "0 hosts would take it" in page.stdout
    assert "ends 0.25 h too late at worst (p90)" in page.stdout
    record = estimate(LIMITS, "soon", "-o", "json")
    assert record.exit_code == 3
    assert json.loads(record.stdout) == {
        "run": "soon", "host": None, "estimate": None, "if_match": None,
    }  # fmt: skip
    assert "MISSES_DEADLINE: ends 0.25 h too late" in record.stderr


def test_a_host_that_would_not_take_the_run_says_why() -> None:
    refused = estimate(LIMITS, "soon", "--host", "a100")
    assert (refused.exit_code, refused.stdout) == (3, "")
    assert "error: a100 wouldn't take soon:" in refused.stderr
    assert "MISSES_DEADLINE: ends 0.25 h too late" in refused.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("bycost",), "the snapshot has no run 'bycost'; did you mean 'by-cost'?"),
        (("by-cost", "--host", "fasst"), "the snapshot has no host 'fasst'; did you mean 'fast'?"),
    ],
)
def test_a_name_that_is_not_there_is_answered_with_the_nearest(
    arguments: tuple[str, ...], said: str
) -> None:
    result = estimate(PROFILES, *arguments)
    assert (result.exit_code, result.stderr) == (2, f"error: {said}\n")


def test_the_list_is_as_long_as_asked() -> None:
    said = estimate(PROFILES, "by-cost", "--top", "1").stdout
    assert "and 2 more: --top 3" in said
    assert "fastest " not in said


def test_an_impossible_shape_says_so(tmp_path: Path) -> None:
    asked = yaml.safe_load(Path(PROFILES).read_text())
    asked["runs"] = [{"name": "odd", "gpus": {"count": 3}, "machines": 2}]
    path = tmp_path / "odd.yaml"
    path.write_text(yaml.safe_dump(asked, sort_keys=False))
    said = "error: odd: UNEVEN_SHAPE: 3 GPUs don't divide evenly over 2 machines\n"
    result = estimate(str(path), "odd")
    assert (result.exit_code, result.stdout, result.stderr) == (3, "", said)
    record = estimate(str(path), "odd", "-o", "json")
    assert (record.exit_code, record.stderr) == (3, said)
    assert json.loads(record.stdout) == {
        "run": "odd", "host": None, "estimate": None, "if_match": None,
    }  # fmt: skip


def test_of_an_array_one_element_is_estimated() -> None:
    said = estimate(str(SCENARIOS / "alike-spread.yaml"), "sweep").stdout
    assert "would take one of its 5 elements" in said


def test_idle_instances_are_said_to_be_warm() -> None:
    lines = estimate(str(SCENARIOS / "reuse-before-new.yaml"), "hour").stdout.splitlines()
    [warm] = [line for line in lines if line.startswith("a100-idle (warm)")]
    [first] = [line for line in lines if line.startswith("from-the-lab")]
    assert warm.endswith(", warm")
    assert first.endswith("best, machine")


def test_hosts_too_dear_for_speed_are_told_as_such_and_come_last() -> None:
    lines = estimate(PROFILES, "by-speed").stdout.splitlines()[3:6]
    # The lowest cost is 2.40; 1.5 x that is 3.60, and fastest costs 4.00.
    assert [line.split()[0] for line in lines] == ["fast", "slow-and-cheap", "fastest"]
    assert [line.endswith("too dear") for line in lines] == [False, False, True]


def test_long_names_are_cut_at_their_slashes(tmp_path: Path) -> None:
    asked = yaml.safe_load(Path(PROFILES).read_text())
    name = "gcp/northamerica-northeast2/northamerica-northeast2-b/g2-standard-32/1xL4-spot"
    asked["fleet"]["offerings"][1]["name"] = name
    path = tmp_path / "long.json"
    path.write_text(json.dumps(asked, default=str))
    said = estimate(str(path), "by-cost").stdout
    assert f"On {name}\n" in said
    lines = said.splitlines()
    assert max(map(len, lines)) <= 100
    [at] = [number for number, line in enumerate(lines) if line.startswith("gcp/")]
    assert lines[at].split()[0].endswith("/")
    assert "".join(line.split()[0] for line in lines[at : at + 2]) == name
    narrow = CliRunner(env={"COLUMNS": "60"}).invoke(cli, ["estimate", str(path), "by-cost"]).stdout
    assert f"\n{name[:60]}\n{name[60:]}\n  1.20 USD/h, 2.40 (3.00) USD in all, " in narrow
    placed = CliRunner().invoke(cli, ["solve", str(path)]).stdout
    assert "  gcp/northamerica-northeast2/ " in placed
    assert "  1xL4-spot#1\n" in placed
    assert max(map(len, placed.splitlines())) <= 100


def test_a_run_is_kept_to_what_its_estimate_allows(tmp_path: Path) -> None:
    """The token of an estimate, given back to `solve` after the price has risen by 11 %."""
    token = json.loads(estimate(PROFILES, "by-cost", "-o", "json").stdout)["if_match"]
    asked = yaml.safe_load(Path(PROFILES).read_text())
    asked["fleet"]["offerings"] = [
        {**offering, "rate_usd_per_hour": rate}
        for offering, rate in zip(asked["fleet"]["offerings"], ("9", "1.332", "9"), strict=True)
    ]
    asked["runs"] = [
        {**each, "placement": {"if_match": token}}
        for each in asked["runs"]
        if each["name"] == "by-cost"
    ]
    path = tmp_path / "dearer.json"
    path.write_text(json.dumps(asked, default=str))
    said = CliRunner().invoke(cli, ["solve", str(path)]).stdout
    assert "PRICE_ABOVE_ESTIMATE" in said
    # 1.20 x 1.10 = 1.32 USD an hour are allowed.
    assert "1.34 USD an hour, and its estimate allows 1.32" in said


def written(folder: Path, **parts: object) -> str:
    path = folder / "asked.json"
    path.write_text(json.dumps({"now": "2026-09-21T06:00:00Z", **parts}))
    return str(path)


def test_a_run_that_runs_is_estimated_as_if_it_started_anew(tmp_path: Path) -> None:
    machine = {"name": "m", "devices": {"count": 1, "model": "A100", "memory_mib": 81920}}
    run = {
        "name": "r", "gpus": {"count": 1}, "expected_duration_s": 3600, "state": "running",
        "placed": {"workers": [{"host": "m", "devices": ["m/0"]}]},
    }  # fmt: skip
    path = written(tmp_path, fleet={"machines": [{**machine, "rate_usd_per_hour": 2}]}, runs=[run])
    told = json.loads(estimate(path, "r", "-o", "json").stdout)
    # Its own GPU counts as free, and the machine as billed for it alone: an hour at 2.00.
    assert (told["host"], told["estimate"]["cost_usd"]["p50"]) == ("m", "2")


def test_the_first_instances_of_an_offering_are_its_idle_ones(tmp_path: Path) -> None:
    offering = {
        "name": "o", "provider": "p", "region": "r", "rate_usd_per_hour": 1, "available": 2,
        "warm": 1, "accelerator": {"model": "A100", "memory_gb": 80, "count": 1},
    }  # fmt: skip
    path = written(
        tmp_path,
        fleet={"offerings": [offering]},
        runs=[{"name": "r", "gpus": {"count": 1}, "expected_duration_s": 60}],
    )
    found = {
        asked: json.loads(estimate(path, "r", "--host", asked, "-o", "json").stdout)["host"]
        for asked in ("o", "o (warm)", "o#1", "o#2")
    }
    assert found == {"o": "o", "o (warm)": "o (warm)", "o#1": "o (warm)", "o#2": "o"}


def test_a_run_of_several_workers_is_told_what_all_of_them_cost(tmp_path: Path) -> None:
    machines = [{"name": name, "rate_usd_per_hour": 3, "cpu_cores": 4} for name in ("a", "b")]
    run = {"name": "r", "cpu_cores": 4, "machines": 2, "expected_duration_s": 3600}
    said = estimate(written(tmp_path, fleet={"machines": machines}, runs=[run]), "r").stdout
    assert "of all its workers" in said
    [first] = [line for line in said.splitlines() if line.startswith("1 x a, 1 x b ")]
    assert first.split()[6:8] == ["6.00", "6.00"]
    assert "6.00 (p90 7.50) USD in all" in said


def test_what_is_paid_for_already_is_marked(tmp_path: Path) -> None:
    until = {"rate_usd_per_hour": 3, "paid_until": "2026-09-21T06:30:00Z"}
    machines = [{"name": "a", "cpu_cores": 4}, {"name": "b", "cpu_cores": 4, **until}]
    run = {"name": "r", "cpu_cores": 1, "expected_duration_s": 60}
    lines = estimate(written(tmp_path, fleet={"machines": machines}, runs=[run]), "r").stdout
    notes = {line[0]: line for line in lines.splitlines() if line.startswith(("a ", "b "))}
    assert "paid for" in notes["b"]
    assert "paid for" not in notes["a"]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (3600, "1 h 00"), (7500, "2 h 05"),
     (172_800, "2 d 0 h"), (273_600, "3 d 4 h")],
)  # fmt: skip
def test_times_have_their_two_largest_units(seconds: int, said: str) -> None:
    assert lasting(seconds) == said


def test_the_snapshot_may_be_named_before_the_run_or_as_an_option() -> None:
    path = "scenarios/profiles.yaml"
    by_option = estimate("by-cost", "--snapshot", path, "-o", "json")
    assert by_option.exit_code == 0
    assert by_option.stdout == estimate(path, "by-cost", "-o", "json").stdout
    assert by_option.stdout == estimate("--snapshot", path, "by-cost", "-o", "json").stdout


@pytest.mark.parametrize(
    "arguments",
    [("by-cost",), ("a.yaml", "by-cost", "--snapshot", "b.yaml"), ("a.yaml", "b.yaml", "by-cost")],
)
def test_one_snapshot_is_needed_and_no_more(arguments: tuple[str, ...]) -> None:
    found = estimate(*arguments)
    assert found.exit_code == 2
    assert "RUN --snapshot PATH" in found.stderr
