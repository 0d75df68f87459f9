from __future__ import annotations

from typing import Any

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import machine, run, snapshot
from tests.solver.cycles import blames, headline, places, starts, waits


def _kept(kept: dict[str, str], selects: dict[str, str], **more: Any) -> Snapshot:
    selection = {"match_labels": selects}
    machines = [machine("m", reserved_for=kept, **more)]
    return snapshot(machines, [run("a", node_selection=selection)])


def test_a_run_that_selects_the_label_goes_to_the_machine_kept_for_it() -> None:
    assert starts(_kept({"team": "vision"}, {"team": "vision"})) == {"a"}


def test_a_machine_kept_for_labels_takes_no_run_that_selects_none() -> None:
    s = _kept({"team": "vision"}, {})
    assert blames(s, "a", "m") == (
        Code.MACHINE_RESERVED,
        "only for runs that select team=vision",
        {"reserved_for": "team=vision"},
    )
    assert waits(s, "a").hosts_ready == 0


def test_every_label_must_be_selected() -> None:
    kept = {"tier": "1", "team": "vision"}
    assert starts(_kept(kept, kept)) == {"a"}
    assert blames(_kept(kept, {"tier": "1"}), "a", "m") == (
        Code.MACHINE_RESERVED,
        "only for runs that select team=vision, tier=1",
        {"reserved_for": "team=vision, tier=1"},
    )


def test_the_value_must_be_the_same() -> None:
    assert headline(_kept({"team": "vision"}, {"team": "audio"}), "a").code == Code.MACHINE_RESERVED


def test_a_run_may_select_more_than_the_machine_is_kept_for() -> None:
    s = _kept({"team": "vision"}, {"team": "vision", "zone": "a"}, labels={"zone": "a"})
    assert starts(s) == {"a"}


def test_a_run_without_labels_goes_to_the_machine_that_is_kept_for_nothing() -> None:
    s = snapshot([machine("m", reserved_for={"team": "vision"}), machine("n")], [run("a")])
    assert places(s) == {"a": ["n"]}
