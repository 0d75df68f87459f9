from __future__ import annotations

import pytest

from stowplan.model.errors import InternalError
from stowplan.model.reasons import Code
from stowplan.solver import cycle
from stowplan.solver.cycle import RULES, solve
from tests.build import Document, after, run, running, snapshot
from tests.model.audit.standing import two_racks
from tests.solver.cycles import headline, placed, starts

HELD = [running("x", ("a", 1)), running("y", ("c", 1))]
"""On a machine of each rack: what is left is in two racks, a rung looser."""


def patient(seconds: int = 600) -> Document:
    """A run of two workers that has waited for five minutes of so many seconds."""
    return run("r", 16, machines=2, topology={"patience_s": seconds}, submitted_at=after(-300))


def test_a_patient_run_takes_the_tightest_rung_that_it_could_ever_get() -> None:
    assert placed(snapshot(two_racks(), [HELD[0], patient()]), "r").rung == 3


def test_a_patient_run_waits_while_others_hold_that() -> None:
    s = snapshot(two_racks(), [*HELD, patient()])
    assert starts(s) == set()
    assert headline(s, "r") == (
        Code.PATIENCE,
        "there is room on one InfiniBand fabric (rung 4); for 300 s more it waits for one "
        "InfiniBand fabric in one rack (rung 3)",
        {"rung": 4, "tightest": 3, "seconds": 300},
    )


def test_runs_that_ask_the_same_each_wait_as_long_as_they_say() -> None:
    twin = patient() | {"name": "later", "submitted_at": after(-100)}
    other = patient(6000) | {"name": "longer"}
    s = snapshot(two_racks(), [*HELD, patient(), twin, other])
    left = {name: headline(s, name).numbers["seconds"] for name in ("r", "later", "longer")}
    assert left == {"r": 300, "later": 500, "longer": 5700}
    assert "for 5,700 s more" in headline(s, "longer").message


@pytest.mark.parametrize("seconds", [0, 299, 300])
def test_after_its_patience_a_run_takes_what_there_is(seconds: int) -> None:
    assert placed(snapshot(two_racks(), [*HELD, patient(seconds)]), "r").rung == 4


def test_left_out_every_rung_is_open_and_the_audit_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle, "RULES", [rule for rule in RULES if rule.name != "patience"])
    with pytest.raises(InternalError, match="patience: r: is on rung 4, and could get rung 3"):
        solve(snapshot(two_racks(), [*HELD, patient()]))
