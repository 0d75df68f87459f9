from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, running, snapshot


@pytest.mark.parametrize("state", ["cordoned", "draining"])
def test_a_closed_machine_takes_nothing_new(state: str) -> None:
    s = snapshot([machine("m", state=state), machine("n")], [run("a")])
    assert audit(s, decided(s, {"a": [("n", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"accepting"}


@pytest.mark.parametrize("state", ["cordoned", "draining"])
def test_what_runs_on_a_closed_machine_stays(state: str) -> None:
    s = snapshot([machine("m", 1, state=state)], [running("a", ("m", 1))])
    assert audit(s, decided(s)) == ()
