from __future__ import annotations

from hypothesis import given

from stowplan.model.reasons import Reason
from stowplan.model.snapshot import Snapshot
from stowplan.solver.asks import Ask
from stowplan.solver.cycle import RULES
from stowplan.solver.fleet import hosts_of
from stowplan.solver.hosts import Host
from tests.build import after, card, machine, run, running, snapshot
from tests.solver.cycles import asked_of
from tests.strategies import examples, snapshots

L4 = card(model="NVIDIA L4", memory_mib=23034)


def _host(s: Snapshot, name: str = "m") -> Host:
    return next(host for host in hosts_of(s) if host.name == name)


def _lots(s: Snapshot) -> list[tuple[list[str], str, bool]]:
    return sorted((sorted(lot.ids), lot.condition, lot.denied) for lot in _host(s).lots)


def test_gpus_that_no_rule_tells_apart_are_one_lot() -> None:
    cards = [card(), L4, card(health="unknown"), card(vendor="amd"), card(xid=63)]
    assert _lots(snapshot([machine("m", cards)], [])) == [
        (["m/0", "m/2", "m/4"], "sound", False),
        (["m/1"], "sound", False),
        (["m/3"], "sound", False),
    ]


def test_gpus_in_another_condition_withheld_or_pinned_are_lots_of_their_own() -> None:
    cards = [card(), card(health="at_risk"), card(health="faulted"), card(), card(), card()]
    home = machine("m", cards, constraints={"denied_devices": ["m/3"]})
    assert _lots(snapshot([home], [run("a", {"ids": ["m/4"]})])) == [
        (["m/0", "m/5"], "sound", False),
        (["m/1"], "at_risk", False),
        (["m/2"], "faulted", False),
        (["m/3"], "sound", True),
        (["m/4"], "sound", False),
    ]


def test_a_lot_counts_what_is_free_of_it() -> None:
    host = _host(snapshot([machine("m", [card(), L4, card()])], [running("r", ("m", ["m/2"]))]))
    assert [(lot.free(host.start), lot.free(host.empty)) for lot in host.lots] == [(1, 2), (1, 1)]


def test_labels_are_its_own_and_those_it_is_reserved_for() -> None:
    home = machine("m", labels={"zone": "a", "team": "own"}, reserved_for={"team": "v"})
    assert _host(snapshot([home], [])).labels == {"zone": "a", "team": "v"}


def test_only_bookings_that_are_on_or_begin_soon_are_kept() -> None:
    spans = {"past": (-9, -1), "on": (-9, 9), "soon": (600, 700), "late": (99_999, 100_000)}
    kept = [
        {
            "name": name,
            "machines": ["m"],
            "workspace": "v",
            "from": after(begins),
            "to": after(ends),
        }
        for name, (begins, ends) in spans.items()
    ]
    host = _host(snapshot([machine("m"), machine("n")], [], reservations=kept))
    assert [(each.name, each.begins_in_s) for each in host.bookings] == [("on", -9), ("soon", 600)]
    assert _host(snapshot([machine("m"), machine("n")], [], reservations=kept), "n").bookings == ()


# Sorts and families.


def _said(ask: Ask, host: Host) -> dict[str, Reason]:
    """What each rule that the host fails says of it with nothing on it."""
    concerned = (rule for rule in RULES if rule.concerns(ask) and rule.why_not)
    told = {rule.name: rule.why_not(ask, host, host.empty) for rule in concerned if rule.why_not}
    return {name: reason for name, reason in told.items() if reason}


@examples(150)
@given(snapshots())
def test_hosts_of_a_sort_say_the_same_and_those_of_a_family_fail_the_same_rules(
    s: Snapshot,
) -> None:
    eligibility, requests = asked_of(s)
    first_of_sort: dict[int, Host] = {}
    first_of_family: dict[int, Host] = {}
    for host in eligibility.hosts:
        alike = first_of_sort.setdefault(host.sort, host)
        akin = first_of_family.setdefault(host.family, host)
        assert alike.family == host.family
        for ask in (way for each in requests.asked for way in each.ways):
            assert _said(ask, host) == _said(ask, alike)
            assert _said(ask, host).keys() == _said(ask, akin).keys()


def _groups(s: Snapshot) -> tuple[list[list[str]], list[list[str]]]:
    """The hosts of each sort, and of each family."""
    sorts: dict[int, list[str]] = {}
    families: dict[int, list[str]] = {}
    for host in hosts_of(s):
        sorts.setdefault(host.sort, []).append(host.name)
        families.setdefault(host.family, []).append(host.name)
    return list(sorts.values()), list(families.values())


def test_hosts_differ_by_what_rules_read_not_by_what_is_free() -> None:
    machines = [machine(name, 2) for name in "mno"]
    machines += [machine("p", 2, state="draining"), machine("q", [L4, card()])]
    held = running("r", ("m", 1), cpu_cores=8)
    both = [["m", "n", "o"], ["p"], ["q"]]
    assert _groups(snapshot(machines, [held])) == (both, both)


def test_labels_matter_only_where_runs_select_them() -> None:
    zones = {"m": "a", "n": "b", "o": "c", "p": "a"}
    machines = [machine(name, 2, labels={"zone": zone}) for name, zone in zones.items()]
    machines[3]["labels"]["rack"] = "7"
    assert _groups(snapshot(machines, [run("a", 1)])) == ([["m", "n", "o", "p"]],) * 2
    picky = run("a", 1, node_selection={"match_labels": {"zone": "a"}})
    # n and o fail it alike, and say so in their own words: has zone=b, has zone=c.
    assert _groups(snapshot(machines, [picky])) == (
        [["m", "p"], ["n"], ["o"]],
        [["m", "p"], ["n", "o"]],
    )


def test_a_host_or_gpu_that_a_run_names_is_a_sort_of_its_own() -> None:
    machines = [machine(name, 2) for name in "mno"]
    named = run("a", 1, node_selection={"names": ["n"]})
    assert _groups(snapshot(machines, [named])) == ([["m", "o"], ["n"]],) * 2
    pinned = run("a", {"ids": ["o/1"]})
    assert _groups(snapshot(machines, [pinned])) == ([["m", "n"], ["o"]],) * 2
