from __future__ import annotations

import pytest

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import Document, machine, market, offering, run, snapshot
from tests.solver.cycles import blames, places, says, starts

GB = 10**9


def _mounts(*drives: Document | str, name: str = "a") -> Document:
    return run(name, drives=list(drives))


def _fleet(drive: Document, *runs: Document, policy: Document | None = None) -> Snapshot:
    machines = [
        machine("m", labels={"topology/site": "ams"}),
        machine("n", network="fra"),
        machine("o", network="ams", labels={"topology/site": "lon"}),
        machine("p"),
    ]
    return snapshot(machines, runs, drives=[{"name": "data", **drive}], policy=policy)


def _reaching(drive: Document, policy: Document | None = None) -> set[str]:
    """The machines from which a run of one worker each can mount the drive."""
    named = [_mounts("data", name=f"on-{name}") for name in "mnop"]
    runs = [{**each, "node_selection": {"names": [each["name"][-1]]}} for each in named]
    return {hosts[0] for hosts in places(_fleet(drive, *runs, policy=policy)).values()}


@pytest.mark.parametrize(
    ("drive", "machines"),
    [
        ({}, "mnop"),
        ({"machine": "n"}, "n"),
        ({"machine": "elsewhere"}, ""),
        ({"sites": ["ams"]}, "m"),
        ({"sites": ["fra"]}, "n"),
        ({"sites": ["lon", "ams"]}, "mo"),
        ({"machine": "p", "sites": ["fra"]}, "np"),
    ],
)
def test_a_drive_is_reached_from_its_machine_and_its_sites(drive: Document, machines: str) -> None:
    # A machine's site is its label, else its network: o is at lon, n at fra, p nowhere.
    assert _reaching(drive) == set(machines)


def test_the_policy_says_how_the_label_of_a_site_is_called() -> None:
    # Under another prefix no label is a site, and o is at ams by its network.
    assert _reaching({"sites": ["ams"]}, {"topology_prefix": "place/"}) == {"o"}


def test_a_machine_out_of_reach_says_of_which_drive() -> None:
    s = _fleet({"sites": ["ams"]}, _mounts("data"))
    assert places(s) == {"a": ["m"]}
    s = _fleet({"sites": ["par"]}, _mounts("data"))
    assert blames(s, "a", "m") == (
        Code.DRIVE_UNREACHABLE,
        "drive 'data' is out of reach",
        {"drive": "data"},
    )


def test_a_drive_that_does_not_exist_is_told_before_all_else() -> None:
    s = _fleet({"sites": ["par"]}, _mounts("data", "dta"))
    assert blames(s, "a", "m") == (
        Code.DRIVE_MISSING,
        "no drive is called 'dta'",
        {"drive": "dta"},
    )


def test_a_drive_takes_what_fits_to_the_byte() -> None:
    exact = {"name": "data", "need_bytes": 10}
    assert starts(_fleet({"free_bytes": 10}, _mounts(exact))) == {"a"}
    assert starts(_fleet({"free_bytes": 9}, _mounts(exact))) == set()


def test_a_drive_that_is_too_full_says_by_how_much() -> None:
    s = _fleet({"free_bytes": 2 * GB}, _mounts({"name": "data", "need_bytes": 1500 * GB}))
    assert blames(s, "a", "m") == (
        Code.DRIVE_FULL,
        "drive 'data' has 2.0 GB free, 1,500.0 needed",
        {"drive": "data", "need_bytes": 1500 * GB, "free_bytes": 2 * GB},
    )


def test_a_drive_that_is_a_little_too_full_says_so_to_the_byte() -> None:
    s = _fleet({"free_bytes": 2 * GB}, _mounts({"name": "data", "need_bytes": 2 * GB + 1}))
    message = "drive 'data' has 2,000,000,000 bytes free, 2,000,000,001 needed"
    assert blames(s, "a", "m").message == message


def test_a_drive_of_unknown_room_is_never_too_full() -> None:
    assert starts(_fleet({}, _mounts({"name": "data", "need_bytes": 2**59}))) == {"a"}


def test_each_run_is_held_against_the_whole_room_of_a_drive() -> None:
    asks = {"name": "data", "need_bytes": 10}
    s = _fleet({"free_bytes": 10}, _mounts(asks), _mounts(asks, name="b"))
    assert starts(s) == {"a", "b"}


def test_every_drive_that_is_mounted_must_do() -> None:
    drives = [{"name": "near", "machine": "m"}, {"name": "far", "machine": "n"}]
    machines = [machine("m"), machine("n")]
    s = snapshot(machines, [_mounts("near", "far")], drives=drives)
    assert says(s, "a", "m").numbers == {"drive": "far"}
    assert says(s, "a", "n").numbers == {"drive": "near"}


@pytest.mark.parametrize(
    ("drive", "reached"),
    [
        ({}, True),
        ({"sites": ["east"]}, True),  # the region of every offering here
        ({"sites": ["fra-1"]}, True),  # its location
        ({"sites": ["vpc-9"]}, True),  # its network
        ({"sites": ["west"]}, False),
        ({"machine": "m"}, False),
    ],
)
def test_an_offering_reaches_drives_of_its_places_and_those_that_are_anywhere(
    drive: Document, reached: bool
) -> None:
    s = market(
        offering("o", location="fra-1", network={"id": "vpc-9"}),
        runs=[_mounts("d") | {"gpus": {"count": 1}}],
        machines=[machine("m")],
        drives=[{"name": "d"} | drive],
    )
    if reached:
        assert places(s) == {"a": ["o#1"]}
    else:
        assert says(s, "a", "o").code == Code.DRIVE_UNREACHABLE
