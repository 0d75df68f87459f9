from __future__ import annotations

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import broken, decided, machine, run, snapshot

KEPT = machine("m", reserved_for={"team": "vision", "tier": "gold"})


def _selecting(**labels: str) -> Snapshot:
    return snapshot([KEPT], [run("a", node_selection={"match_labels": labels})])


def test_a_run_that_selects_every_label_goes_there() -> None:
    s = _selecting(team="vision", tier="gold")
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()


def test_a_run_that_selects_only_some_labels_stays_out() -> None:
    s = _selecting(team="vision")
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"reserved_for"}


def test_a_run_that_selects_nothing_stays_out() -> None:
    s = _selecting()
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"reserved_for"}


def test_another_value_of_the_label_is_another_label() -> None:
    machines = [machine("m", reserved_for={"team": "vision"}, labels={"team": "speech"})]
    s = snapshot(machines, [run("a", node_selection={"match_labels": {"team": "speech"}})])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"reserved_for"}
