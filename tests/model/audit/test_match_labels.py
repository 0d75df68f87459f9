from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work

RUN = run("a", node_selection={"match_labels": {"zone": "a", "disk": "nvme"}})


def test_a_machine_with_every_label_takes_the_run() -> None:
    s = snapshot([machine("m", labels={"zone": "a", "disk": "nvme", "rack": "1"})], [RUN])
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()


def test_what_a_machine_is_reserved_for_counts_as_its_labels() -> None:
    s = snapshot([machine("m", labels={"zone": "a"}, reserved_for={"disk": "nvme"})], [RUN])
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()


def test_a_machine_that_lacks_a_label_is_refused() -> None:
    s = snapshot([machine("m", labels={"zone": "a"})], [RUN])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"match_labels"}


def test_another_value_is_another_label() -> None:
    s = snapshot([machine("m", labels={"zone": "b", "disk": "nvme"})], [RUN])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"match_labels"}


def test_an_offering_has_no_labels() -> None:
    asked = work("a", node_selection={"match_labels": {"zone": "a"}})
    s = market([offering()], [asked])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"match_labels"}
