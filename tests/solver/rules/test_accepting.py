from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from tests.build import machine, run, running, snapshot
from tests.solver.cycles import blames, outcome_of, places, waits

CLOSED = {"cordoned": Code.MACHINE_CORDONED, "draining": Code.MACHINE_DRAINING}


@pytest.mark.parametrize("state", CLOSED)
def test_a_run_goes_where_new_work_is_taken(state: str) -> None:
    assert places(snapshot([machine("m", state=state), machine("n")], [run("a")])) == {"a": ["n"]}


@pytest.mark.parametrize(("state", "code"), CLOSED.items())
def test_a_closed_machine_takes_nothing_new(state: str, code: Code) -> None:
    s = snapshot([machine("m", state=state)], [run("a")])
    assert blames(s, "a", "m") == (code, f"{state}", {})
    assert (waits(s, "a").hosts_ready, waits(s, "a").closest) == (0, None)


@pytest.mark.parametrize(("state", "code"), CLOSED.items())
def test_a_closed_machine_says_why_where_it_is_told(state: str, code: Code) -> None:
    s = snapshot([machine("m", state=state, state_reason="new disk")], [run("a")])
    assert blames(s, "a", "m") == (code, f"{state} (new disk)", {})


@pytest.mark.parametrize("state", CLOSED)
def test_a_closed_machine_keeps_what_runs_there(state: str) -> None:
    s = snapshot([machine("m", 1, state=state)], [running("a", ("m", 1))])
    assert outcome_of(s, "a").outcome == "kept"
