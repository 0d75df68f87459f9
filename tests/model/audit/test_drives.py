from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import broken, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work

MACHINES = [
    machine("m", labels={"topology/site": "fra"}),
    machine("n", labels={"topology/site": "fra"}, network="lab"),
    machine("o", network="lab"),
    machine("p"),
]


def _mounting(drive: dict[str, Any], need: int = 0, **policy: Any) -> Snapshot:
    mounts = [{"name": "data", "need_bytes": need}]
    return snapshot(MACHINES, [run("a", drives=mounts)], drives=[drive], policy=policy)


def _on(host: str, s: Snapshot) -> set[str]:
    return broken(s, decided(s, {"a": [(host, 0)]}))


def test_a_drive_is_reachable_on_its_own_machine_only_unless_sites_say_more() -> None:
    s = _mounting({"name": "data", "machine": "m"})
    assert _on("m", s) == set()
    assert _on("n", s) == {"drives"}


def test_a_drive_is_reachable_from_its_sites() -> None:
    s = _mounting({"name": "data", "machine": "m", "sites": ["lab"]})
    assert (_on("m", s), _on("o", s)) == (set(), set())
    assert (_on("n", s), _on("p", s)) == ({"drives"}, {"drives"})


def test_the_network_is_the_site_where_no_label_stands() -> None:
    s = _mounting({"name": "data", "sites": ["lab"]}, topology_prefix="place.")
    assert (_on("n", s), _on("o", s)) == (set(), set())


def test_a_drive_without_machine_or_sites_is_reachable_from_everywhere() -> None:
    s = _mounting({"name": "data"})
    assert _on("p", s) == set()


def test_a_drive_that_does_not_exist_keeps_the_run_out() -> None:
    s = _mounting({"name": "other"})
    assert _on("m", s) == {"drives"}


def test_a_drive_with_too_little_room_keeps_the_run_out() -> None:
    assert _on("m", _mounting({"name": "data", "free_bytes": 100}, need=100)) == set()
    assert _on("m", _mounting({"name": "data", "free_bytes": 100}, need=101)) == {"drives"}
    assert _on("m", _mounting({"name": "data"}, need=101)) == set()


def test_two_runs_that_fit_a_drive_alone_fit_it_together() -> None:
    mounts = [{"name": "data", "need_bytes": 60}]
    runs = [run("a", drives=mounts), run("b", drives=mounts)]
    s = snapshot(MACHINES, runs, drives=[{"name": "data", "free_bytes": 100}])
    assert audit(s, decided(s, {"a": [("m", 0)], "b": [("m", 0)]})) == ()


@pytest.mark.parametrize(
    ("drive", "rules"),
    [
        ({}, set()),
        ({"sites": ["us"]}, set()),
        ({"sites": ["hall 4", "fra"]}, set()),
        ({"sites": ["vpc-1"]}, set()),
        ({"machine": "m", "sites": ["us"]}, set()),
        ({"machine": "m"}, {"drives"}),
        ({"machine": "a100#1"}, {"drives"}),
        ({"sites": ["fra"]}, {"drives"}),
        ({"sites": ["us"], "free_bytes": 5}, {"drives"}),
    ],
)
def test_an_instance_reaches_drives_by_its_region_its_location_and_its_network(
    drive: dict[str, Any], rules: set[str]
) -> None:
    place = offering(location="hall 4", network={"id": "vpc-1"})
    asked = work("a", drives=[{"name": "data", "need_bytes": 6}])
    s = market([place], [asked], drives=[{"name": "data", **drive}])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == rules


def test_an_instance_has_no_drive_that_does_not_exist() -> None:
    s = market([offering()], [work("a", drives=["data"])])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"drives"}
