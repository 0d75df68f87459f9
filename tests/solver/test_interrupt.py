from __future__ import annotations

import os
import signal
import threading

import pytest

from stowplan.model.audit import audit
from stowplan.model.decision import Decision
from stowplan.solver.chain import Progress
from stowplan.solver.cycle import solve
from stowplan.solver.interrupt import Interrupt, heeding_signals
from tests.build import machine, run, snapshot

RUNS = [run(f"r{n}", 1 + n % 3, cpu_cores=3 + n % 7, priority=n % 2) for n in range(12)]
BUSY = snapshot([machine("m", 8, cpu_cores=24), machine("n", 4, cpu_cores=13)], RUNS)


def _interrupted_at(report: int) -> Decision:
    """Solve, and send Ctrl-C when the search reports for the n-th time."""
    left = [report]

    def watcher(progress: Progress) -> None:
        left[0] -= 1
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGINT)

    return solve(BUSY, watcher=watcher)


def test_ctrl_c_ends_a_cycle_with_a_decision_that_keeps_every_rule() -> None:
    decision = _interrupted_at(1)
    assert audit(BUSY, decision) == ()
    assert decision.summary.placed > 0


def test_a_search_that_ctrl_c_stops_is_said_to_be_interrupted() -> None:
    assert _interrupted_at(1).solver.limit_hit == "interrupted"
    assert solve(BUSY).solver.limit_hit is None


def test_after_a_cycle_ctrl_c_means_what_it_meant_before() -> None:
    before = signal.getsignal(signal.SIGINT)
    _interrupted_at(1)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_watcher_is_told_of_ctrl_c_at_once_and_then_of_what_is_left_to_do() -> None:
    told: list[str] = []

    def watcher(progress: Progress) -> None:
        told.append(progress.stage)
        if len(told) == 1:
            os.kill(os.getpid(), signal.SIGINT)

    solve(BUSY, watcher=watcher)
    assert told[:2] == ["building", "stopping"]
    assert told[-2:] == ["explaining", "checking"]


def test_a_second_ctrl_c_ends_the_program_as_ever() -> None:
    with heeding_signals() as interrupt, pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.asked
        os.kill(os.getpid(), signal.SIGINT)


def test_what_runs_is_stopped_when_the_caller_asks() -> None:
    interrupt, stopped = Interrupt(), threading.Event()

    def work() -> None:
        interrupt.ask()
        assert stopped.wait(10)

    interrupt.while_running(work, stopped.set)
    assert interrupt.asked


def test_a_cycle_outside_the_main_thread_leaves_signals_alone() -> None:
    decisions: list[Decision] = []
    thread = threading.Thread(target=lambda: decisions.append(solve(BUSY)))
    thread.start()
    thread.join()
    assert decisions[0].outcomes == solve(BUSY).outcomes
