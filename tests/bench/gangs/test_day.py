"""A day's jobs, the machines they run on, and what the day comes to."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.gangs import philly
from tests.bench.gangs.day import CYCLE_S, Course, Cycle, Schedule, Waited, through
from tests.bench.gangs.ladder import ladder
from tests.bench.gangs.runs import Placed
from tests.bench.gangs.standing import fleet
from tests.bench.gangs.trace import DAY_S, FILE, Day, Job, by_day, laid_over
from tests.bench.instances.openb import Node

NODES = [Node(f"n{number:02}", 64000, 2**18, 8 if number < 36 else 2, "G") for number in range(60)]


def test_machines_stand_by_their_size_in_racks_and_fabrics() -> None:
    stood = fleet(NODES, 1)
    assert stood == fleet(NODES, 1) != fleet(NODES, 2)
    racks: dict[str, int] = {}
    for each in stood.machines:
        rack = each.labels["topology/rack"]
        racks[rack] = racks.get(rack, 0) + 1
        assert bool(each.rdma) == ("topology/fabric" in each.labels) == (len(each.devices) == 8)
    *full, last = racks.values()
    assert all(16 <= count <= 32 for count in full)
    assert 1 <= last <= 32
    assert len(fleet(NODES, 1, 20).machines) == 20


def test_the_trace_is_read_day_by_day(tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(
        "timestamp,duration,num_gpus,gpu_time,cluster\n"
        "2017-10-09 07:01:05,66.4,1,66,a\n"
        "2017-10-10 00:00:01,0.2,16,3,b\n"
    )
    first, second = by_day(file, times=2).values()
    assert first == [Job("job-00000", 7 * 3600 + 65, 66, 2)]
    assert second == [Job("job-00001", 1, 1, 32)]


def test_days_are_laid_over_each_other_until_they_ask_for_enough() -> None:
    days = [[Job(f"{day}-{hour}", hour * 3600, 3600, 1) for hour in range(24)] for day in range(9)]
    for gpus in (1.0, 3.0, 4.5):
        day = laid_over(days, gpus, 1)
        assert day.gpu_seconds == gpus * DAY_S
        assert day.days == -(-gpus // 1)
        assert [job.arrives_s for job in day.arriving] == sorted(j.arrives_s for j in day.arriving)


def test_what_is_longer_than_its_day_runs_at_midnight() -> None:
    long = Job("long", DAY_S - 100, 2 * DAY_S + 300, 4)
    day = laid_over([[long, Job("short", DAY_S - 10, 10, 1)]], 1000, 1)
    assert {job.arrives_s for job in day.running} == {0}
    assert [job.seconds for job in day.running] == [2 * DAY_S + 200, DAY_S + 200, 200]


def went(day: Day, schedule: Schedule, cycles: int) -> Course:
    """Return the whole course of a day."""
    stood = fleet(NODES, 1)
    (*_, (_, course)) = through(day, stood, schedule, ladder, cycles, 1)
    return course


def test_runs_wait_for_the_next_minute_and_for_room() -> None:
    whole = sum(node.gpus for node in NODES)
    singles = [Job(f"j{number}", 30, 119, 1) for number in range(whole)]
    late = Job("late", 61, 600, 1)
    course = went(Day((), (*singles, late), 1), ladder, 5)
    assert [each.waiting for each in course.cycles] == [0, whole, 1, 1, 0]
    assert {each.seconds for each in course.waited} == {30, 119}
    assert [each.in_use for each in course.cycles[:3]] == [0, 1, 1]
    assert course.cycles[3].in_use == pytest.approx(1 / whole)


def test_what_still_waits_at_the_end_is_told_without_a_rung() -> None:
    course = went(Day((), (Job("huge", 0, 60, 10_000),), 1), ladder, 3)
    assert course.waited == [Waited(10_000, 120, None)]


def test_machines_partly_in_use_are_fragments_and_free_gpus_too_few_are_unusable() -> None:
    def on_three(snapshot: object) -> dict[str, Placed]:
        return {name: Placed((host,), 1) for name, host in (("a", "n00"), ("b", "n01"))}

    jobs = (Job("a", 0, 60, 2), Job("b", 0, 60, 6))
    (cycle,) = went(Day((), jobs, 1), on_three, 1).cycles
    free = sum(node.gpus for node in NODES) - 8
    assert cycle.fragmented == 2 / 60
    # A quarter is asked for by twos, which can use all; the rest, of six, not the 2 + 24 x 2.
    assert cycle.unusable == pytest.approx(0.75 * 50 / free)


def test_the_tables_hold_both_ways() -> None:
    cycles = [Cycle(number * CYCLE_S, number, number / 10, 0.5, 0.25, 0.1) for number in range(61)]
    waited = [Waited(1, second, 1) for second in range(101)]
    course = Course(cycles, [*waited, Waited(4, 0, 3), Waited(16, 600, 4), Waited(32, 0, None)])
    lines = philly.told({"ours": course, "theirs": course}, "").splitlines()
    assert "| ours | 103 | 1 | 54 s | 49 s | 90 s | 99 s | 600 s | 2 | 300 s |" in lines
    assert "| theirs | 3.05 | 6.00 | 50.0% | 25.0% | 10.0% | 3.00 | 4.00 |" in lines
    assert "| 1 | 60 | 50.0% | 25.0% | 10.0% | 60 | 50.0% | 25.0% | 10.0% |" in lines


def test_without_the_traces_it_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    philly.main(["--trace", str(tmp_path / "none.csv")])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("philly: left out")


@pytest.mark.skipif(not FILE.exists(), reason="the traces aren't here (../shared/data)")
def test_a_slice_of_the_day_runs_with_the_ladder(capsys: pytest.CaptureFixture[str]) -> None:
    philly.main(["--cycles", "20", "--machines", "60", "--ways", "ladder"])
    assert "60 machines" in capsys.readouterr().out
