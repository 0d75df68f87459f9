"""How commands end: what goes to which stream, and the exit code."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

import stowplan.solver.cycle
from stowplan.cli.main import COMMANDS, cli
from stowplan.cli.solve import STOPS, how_far
from stowplan.model.decision import Decision
from stowplan.model.errors import InternalError
from stowplan.model.snapshot import Snapshot
from stowplan.solver.chain import Progress, Watcher
from stowplan.solver.settings import Settings

SCENARIOS = Path(__file__).parent.parent.parent / "scenarios"
QUICKSTART = str(SCENARIOS / "quickstart.yaml")
SMALL = """
version: 1
name: small
now: 2026-09-21T09:00:00Z
fleet:
  machines:
    - {name: gpu-1, devices: {count: 2, model: NVIDIA L4, memory_mib: 23034}}
runs:
  - {name: a, gpus: {count: 2}, machines: 1}
"""


def run(*arguments: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(cli, list(arguments), input=stdin)


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return str(path)


def test_a_decision_goes_to_standard_output_and_ends_with_0() -> None:
    result = run("solve", QUICKSTART)
    assert result.exit_code == 0
    assert result.stdout.startswith("quickstart  at 2026-09-21 06:17:37 UTC, 8 machines, 40 GPUs\n")
    assert "error" not in result.stderr


def test_json_and_yaml_hold_the_whole_decision() -> None:
    from_json = Decision.model_validate_json(run("solve", QUICKSTART, "-o", "json").stdout)
    assert from_json.summary.waiting == 4
    document = yaml.safe_load(run("solve", QUICKSTART, "-o", "yaml").stdout)
    assert [o["run"] for o in document["outcomes"]] == [o.run for o in from_json.outcomes]


def test_csv_has_a_row_for_each_run() -> None:
    import io

    import pandas as pd

    frame = pd.read_csv(io.StringIO(run("solve", QUICKSTART, "-o", "csv").stdout))
    assert len(frame) == 15
    assert frame.set_index("run").loc["tokenise", "hosts"] == "cpu-01,cpu-02"


def test_name_lists_what_starts_with_its_hosts(small: str) -> None:
    assert run("solve", small, "-o", "name").stdout == "run/a gpu-1\n"


def test_a_snapshot_may_come_from_standard_input() -> None:
    assert run("solve", "-", "-o", "name", stdin=SMALL).stdout == "run/a gpu-1\n"


def test_fail_on_waiting_ends_with_3_only_if_something_waits(small: str) -> None:
    assert run("solve", small, "--fail-on-waiting").exit_code == 0
    result = run("solve", QUICKSTART, "--fail-on-waiting")
    assert result.exit_code == 3
    assert "Waiting: 4 runs" in result.stdout


def test_fail_on_waiting_ends_with_3_where_some_of_an_array_waits(tmp_path: Path) -> None:
    array = tmp_path / "array.yaml"
    array.write_text(SMALL.replace("{count: 2}, machines: 1", "{count: 1}, array: {size: 3}"))
    result = run("solve", str(array), "--fail-on-waiting")
    assert "a (2 start, 1 wait)" in result.stdout
    assert result.exit_code == 3


def test_the_log_is_written_where_it_is_asked_for(tmp_path: Path) -> None:
    log = tmp_path / "solver.log"
    packing = str(SCENARIOS / "packing-beats-greedy.yaml")
    assert run("solve", packing, "--gap", "0", "--log", str(log)).exit_code == 0
    document = json.loads(run("solve", packing, "--gap", "0", "-o", "json").stdout)
    assert log.read_text().splitlines()[0] == document["solver"]["log"].splitlines()[0]


def test_limits_and_profile_reach_the_solver(monkeypatch: pytest.MonkeyPatch, small: str) -> None:
    seen: list[Settings] = []
    real = stowplan.solver.cycle.solve

    def spy(snapshot: Snapshot, settings: Settings, watcher: object) -> Decision:
        seen.append(settings)
        return real(snapshot)

    monkeypatch.setattr(stowplan.solver.cycle, "solve", spy)
    run("solve", small, "--time-limit", "2.5", "--gap", "0.02", "--profile", "cost")
    run("solve", small)
    first, second = seen
    assert (first.time_limit_s, first.gap, first.profile) == (2.5, 0.02, "cost")
    assert (second.time_limit_s, second.gap, second.profile) == (30, 0.001, "balanced")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solve"], "error: missing argument 'SNAPSHOT'"),
        (["solve", "x.yaml", "--time-limit", "soon"], "'soon' is not a time limit; seconds, as"),
        (["solve", "x.yaml", "--time-limit", "30s"], "'30s' is not a time limit; seconds, as"),
        (["solve", "x.yaml", "--time-limit", "1e99"], "'1e99' is too long; at most 10,000,000 s"),
        (["solve", "x.yaml", "--time-limit", "nan"], "'nan' is not a time limit; seconds"),
        (["solve", "x.yaml", "--time-limit=-1"], "'-1' is not a time limit; seconds"),
        (["solve", "x.yaml", "--gap", "2"], "'2' is not a share; from 0 to 1: 0.01 is 1 %"),
        (["solve", "x.yaml", "--gap", "nan"], "'nan' is not a share"),
        (["solve", "x.yaml", "-o", "xml"], "'xml' is not one of"),
        (["solve", "x.yaml", "--no-such"], "no such option"),
        (["sovle"], "no such command 'sovle'"),
        (["import", "nvidia-smi", "x.xml", "--now", "noon"], "'noon' is not a time like"),
        (["import", "nvidia-smi", "x.xml", "--zone", "Mars"], "'Mars' is not a time zone like"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_allowed(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert said in result.stderr.replace("No such", "no such")
    assert "--help" in result.stderr


@pytest.mark.parametrize("command", ["solve", "validate"])
def test_invalid_input_ends_with_2_file_line_and_field(command: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(SMALL.replace("count: 2, model", "cuont: 2, model"))
    result = run(command, str(path))
    assert result.exit_code == 2
    assert result.stdout == ""
    first = result.stderr.splitlines()[0]
    assert first.startswith(f"error: {path}:7: fleet.machines[gpu-1].devices")
    assert "cuont" in first


@pytest.mark.parametrize("command", ["solve", "validate"])
def test_a_file_that_is_not_there_is_invalid_input(command: str, tmp_path: Path) -> None:
    result = run(command, str(tmp_path / "none.yaml"))
    assert result.exit_code == 2
    assert "none.yaml" in result.stderr


def test_errors_are_a_screen_at_most(tmp_path: Path) -> None:
    path = tmp_path / "wrong.yaml"
    runs = [{"name": f"r{n}", "gpus": {"count": "many"}} for n in range(300)]
    path.write_text(json.dumps({"now": "2026-09-21T09:00:00Z", "runs": runs}))
    lines = run("validate", str(path)).stderr.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "... and 280 more"


def test_validate_says_what_it_read(small: str) -> None:
    assert run("validate", small).stdout == "ok: 1 machine, 2 GPUs, 1 run\n"


def test_validate_goes_on_after_a_wrong_file(small: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("now: yesterday\n")
    result = run("validate", str(wrong), small)
    assert result.exit_code == 2
    assert result.stdout == f"{small}: ok: 1 machine, 2 GPUs, 1 run\n"
    assert f"error: {wrong}:1: now" in result.stderr


@pytest.mark.parametrize("error", [InternalError("the audit says no"), ZeroDivisionError("oh")])
def test_our_failure_ends_with_1_and_says_so_without_a_traceback(
    error: Exception, monkeypatch: pytest.MonkeyPatch, small: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(stowplan.solver.cycle, "solve", fail)
    result = run("solve", small)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert f"error: INTERNAL_ERROR: {type(error).__name__}: {error}" in result.stderr
    assert "send us" in result.stderr
    assert "Traceback" not in result.stderr
    monkeypatch.setenv("STOWPLAN_DEBUG", "1")
    assert run("solve", small).exception is error


def test_an_interrupt_before_an_answer_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, small: str
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(stowplan.solver.cycle, "solve", interrupt)
    result = run("solve", small)
    assert result.exit_code == 130
    assert "Traceback" not in result.stderr


def _heed_ctrl_c() -> None:
    """Have the child stop at Ctrl-C, though these tests may run in the background, which don't."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_ctrl_c_while_the_answer_is_written_says_that_it_is_cut(tmp_path: Path) -> None:
    big = tmp_path / "big.yaml"
    more = (f"  - {{name: b-{index}, gpus: {{count: 2}}, machines: 1}}\n" for index in range(500))
    big.write_text(SMALL + "".join(more))  # what it comes to is more than a pipe holds
    command = [sys.executable, "-c", CALL, "solve", str(big), "-o", "json"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command, stdout=pipe, stderr=pipe, bufsize=0, preexec_fn=_heed_ctrl_c
    ) as process:
        assert process.stdout and process.stderr
        assert process.stdout.read(1) == b"{"
        process.send_signal(signal.SIGINT)
        said = process.stderr.read().decode()
    assert process.returncode == 130
    assert said == "interrupted while the answer was being written: the output is cut\n"


def test_ctrl_c_during_the_search_says_at_once_that_it_stops_and_gives_an_answer(
    monkeypatch: pytest.MonkeyPatch, small: str
) -> None:
    real = stowplan.solver.cycle.solve

    def interrupted(snapshot: Snapshot, settings: Settings, watcher: Watcher) -> Decision:
        watcher(Progress("stopping"))
        return real(snapshot, settings)

    monkeypatch.setattr(stowplan.solver.cycle, "solve", interrupted)
    result = run("solve", small, "-o", "name")
    assert (result.exit_code, result.stdout) == (0, "run/a gpu-1\n")
    assert result.stderr == f"{STOPS}\n"


def test_ctrl_c_while_python_loads_the_command_is_a_line_and_130() -> None:
    begin = """
import os, signal, sys
import stowplan.cli.start
class Finder:
    def find_spec(self, name, *_):
        if name == "stowplan.cli.main":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
stowplan.cli.start.main()
"""
    done = subprocess.run([sys.executable, "-c", begin], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        b"",
        b"interrupted: no answer yet\n",
    )


@pytest.mark.parametrize(
    ("far", "said"),
    [
        (Progress("building"), "building"),
        (Progress("place, greedy", 1204, 0.031), "place, greedy: 1,204 start, gap 3.10%"),
        (Progress("explaining", 1204), "explaining: 1,204 start"),
    ],
)
def test_how_far_it_is_says_what_is_known(far: Progress, said: str) -> None:
    assert how_far(far) == said


def test_a_reader_that_goes_away_is_not_an_error() -> None:
    command = f"{sys.executable} -m stowplan.cli.main solve {QUICKSTART} -o json | head -c 1"
    done = subprocess.run(
        ["bash", "-c", command.replace("-m stowplan.cli.main", f"-c '{CALL}'")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "{"
    assert done.stderr == ""


CALL = "from stowplan.cli.start import main; main()"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("solve SMALL > /dev/full", 1, "standard output can't be written: no space left"),
        ("schema > /dev/full", 1, "standard output can't be written: no space left"),
        ("--help > /dev/full", 1, "standard output can't be written: no space left"),
        ("solve SMALL --log /dev/full", 1, "/dev/full: the log can't be written: no space left"),
        ("solve SMALL >&-", 1, "standard output is closed"),
        ("validate - <&-", 2, "stdin: is closed: there is nothing to read"),
        ("import nvidia-smi - <&-", 2, "stdin: is closed: there is nothing to read"),
    ],
)
def test_a_stream_that_fails_is_not_our_mistake(
    command: str, code: int, said: str, small: str
) -> None:
    call = f'"{sys.executable}" -c "{CALL}" {command.replace("SMALL", small)}'
    done = subprocess.run(["bash", "-c", call], capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert done.stderr.startswith(f"error: {said}")
    assert len(done.stderr.splitlines()) == 1


def test_no_arguments_show_the_help() -> None:
    for arguments in ((), ("import",)):
        result = run(*arguments)
        assert result.exit_code == 2
        assert result.stderr.startswith("Usage: ")


def test_the_log_overwrites_no_part_of_the_snapshot(small: str, tmp_path: Path) -> None:
    link = tmp_path / "link.log"
    link.symlink_to(small)
    new = tmp_path / "new.yaml"
    for snapshot, log in ((small, small), (small, str(link)), (str(tmp_path), str(new))):
        result = run("solve", snapshot, "--log", log)
        assert result.exit_code == 2
        assert f"'{log}' is of the snapshot" in result.stderr
    assert Path(small).read_text() == SMALL
    assert not new.exists()
    assert run("solve", str(tmp_path), "--log", str(tmp_path / "new.log")).exit_code == 0


def test_the_log_goes_to_standard_error_for_a_dash(small: str) -> None:
    result = run("solve", small, "-o", "name", "--log", "-")
    assert result.stdout == "run/a gpu-1\n"
    assert "CP-SAT" in result.stderr


def test_a_log_that_cannot_be_opened_stops_before_the_search(small: str, tmp_path: Path) -> None:
    result = run("solve", small, "--log", str(tmp_path / "no" / "folder.log"))
    assert (result.exit_code, result.stdout) == (2, "")
    assert "no such file or directory" in result.stderr


def test_piped_output_is_plain_and_fits_100_columns() -> None:
    environment = {k: v for k, v in os.environ.items() if k != "COLUMNS"}
    done = subprocess.run(
        [sys.executable, "-c", CALL, "solve", QUICKSTART],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_output_survives_a_locale_without_unicode(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(SMALL.replace("name: a", "name: 日本"), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", CALL, "solve", str(path), "-o", "name"],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
    )  # fmt: skip
    assert done.stdout == "run/\\u65e5\\u672c gpu-1\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(shell: str) -> None:
    result = run("completion", shell)
    assert result.exit_code == 0
    assert "_STOWPLAN_COMPLETE" in result.stdout


def test_completion_knows_the_commands() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from stowplan.cli.main import main; main()"],
        capture_output=True, text=True, check=False,
        env={
            **os.environ,
            "_STOWPLAN_COMPLETE": "bash_complete",
            "COMP_WORDS": "stowplan v",
            "COMP_CWORD": "1",
        },
    )  # fmt: skip
    assert done.stdout == "plain,validate\n"


def test_schema_is_a_json_schema_of_the_snapshot() -> None:
    document = json.loads(run("schema").stdout)
    assert {"fleet", "runs", "policy", "now"} <= document["properties"].keys()


def test_every_command_has_a_line_of_help_and_an_example() -> None:
    for name in COMMANDS:
        result = run(name, "--help")
        assert result.exit_code == 0
        assert "Example" in result.stdout, name


XML = """<nvidia_smi_log><timestamp>Mon Sep 21 09:00:00 2026</timestamp>
<gpu id="00000000:18:00.0"><product_name>NVIDIA L4</product_name>
<uuid>GPU-6e9b1f0a-52c7-4c7e-9d5a-0b1f2c3d4e5f</uuid>
<fb_memory_usage><total>23034 MiB</total></fb_memory_usage></gpu></nvidia_smi_log>"""


def test_import_writes_a_snapshot_part_and_says_what_it_assumed(tmp_path: Path) -> None:
    path = tmp_path / "gpu-7.xml"
    path.write_text(XML)
    as_yaml = run("import", "nvidia-smi", str(path))
    assert as_yaml.exit_code == 0
    assert f"warning: {path}" in as_yaml.stderr
    as_json = run("import", "nvidia-smi", str(path), "-o", "json")
    document = json.loads(as_json.stdout)
    assert document == yaml.safe_load(as_yaml.stdout)
    assert document["fleet"]["machines"][0]["name"] == "gpu-7"
    assert run("validate", "-", stdin=as_yaml.stdout).exit_code == 0


def test_import_strict_takes_an_assumption_as_an_error(tmp_path: Path) -> None:
    path = tmp_path / "gpu-7.xml"
    path.write_text(XML)
    result = run("import", "nvidia-smi", str(path), "--strict")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"error: {path}" in result.stderr
