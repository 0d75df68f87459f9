from __future__ import annotations

from stowplan.model.snapshot import Snapshot
from stowplan.solver.hosts import Host
from tests.build import after, card, machine, run, running, snapshot
from tests.solver.cycles import choices_of, host_of

L4 = card(model="NVIDIA L4", memory_mib=23034)


def _host(s: Snapshot, name: str = "m") -> Host:
    return host_of(choices_of(s), name)


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
