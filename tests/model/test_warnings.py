from __future__ import annotations

import datetime as dt

from stowplan.model.warnings import SHOWN, warnings
from tests.build import card, machine, run, running, snapshot


def test_a_plain_snapshot_has_nothing_odd() -> None:
    assert warnings(snapshot([machine("m", 8)], [run("r", 8), run("c")])) == ()


def test_an_empty_fleet_is_told_of() -> None:
    assert warnings(snapshot([], [run("r")])) == ("the fleet has no machines: every run waits",)


def test_a_name_as_output_folds_it_is_told_with_the_range() -> None:
    chosen = {"node_selection": {"names": ["m-[1-2]"]}}
    kept = {"workspace": "w", "from": "2026-09-21T06:00:00Z", "to": "2026-09-21T07:00:00Z"}
    reservations = [{"name": "k", "machines": ["m-[1-2]"], **kept}]
    told = "'m-[1-2]' looks like a range: write m-{1..2}"
    whole = snapshot([machine("m-[1-2]")], [run("r", **chosen)], reservations=reservations)
    assert warnings(whole) == (
        f"fleet.machines[m-[1-2]].name: {told}",
        f"runs[r].node_selection.names: {told}",
        f"fleet.reservations[k].machines: {told}",
    )


def test_what_is_later_than_now_by_more_than_a_minute_is_told() -> None:
    now = snapshot([], []).now
    late, soon = (str(now + dt.timedelta(seconds=seconds)) for seconds in (61, 60))
    assert warnings(snapshot([machine("m", reported_at=soon)], [run("r", submitted_at=soon)])) == ()
    told = warnings(snapshot([machine("m", reported_at=late)], [run("r", submitted_at=late)]))
    assert [sentence.split(" (")[0] for sentence in told] == [
        "fleet.machines[m].reported_at: is in the future",
        "runs[r].submitted_at: is in the future",
    ]


def test_a_placement_of_a_later_generation_than_the_fleet_is_told() -> None:
    placed = running("r", ("m", 1))
    placed["placed"]["generation"] = 4
    assert warnings(snapshot([machine("m", 1)], [placed], generation=3)) == (
        "runs[r].placed.generation: 4 is above the fleet's generation (3)",
    )
    assert warnings(snapshot([machine("m", 1)], [placed], generation=4)) == ()


def test_a_denied_gpu_that_is_not_there_is_told_with_the_nearest() -> None:
    denied = {"denied_devices": ["m/0", "m/11"]}
    assert warnings(snapshot([machine("m", 2, constraints=denied)], [])) == (
        "fleet.machines[m].constraints.denied_devices: it has no GPU 'm/11'; did you mean 'm/1'?",
    )


def test_a_denied_gpu_of_one_machine_of_a_range_is_there() -> None:
    denied = {"denied_devices": ["m-2/0"]}
    devices = {"count": 1, "model": "L4", "memory_mib": 1}
    fleet = [machine("m-{1..3}", devices=devices, constraints=denied)]
    assert warnings(snapshot(fleet, [])) == ()


def test_machines_that_drives_and_reservations_name_are_in_the_fleet() -> None:
    kept = {"workspace": "w", "from": "2026-09-21T06:00:00Z", "to": "2026-09-21T07:00:00Z"}
    whole = snapshot(
        [machine("gpu-01")],
        [],
        drives=[{"name": "d", "machine": "gpu-1"}, {"name": "e", "machine": "gpu-01"}],
        reservations=[{"name": "r", "machines": ["gpu-{01..02}", "elsewhere"], **kept}],
    )
    assert warnings(whole) == (
        "fleet.drives[d].machine: no machine 'gpu-1'; did you mean 'gpu-01'?",
        "fleet.reservations[r].machines: no machine 'elsewhere'",
        "fleet.reservations[r].machines: no machine 'gpu-02'; did you mean 'gpu-01'?",
    )


def test_a_term_that_matches_several_models_is_told_with_them() -> None:
    cards = [card(model="NVIDIA L4"), card(model="NVIDIA L40S"), card(model="NVIDIA H100 PCIe")]
    runs = [
        run("a", {"count": 1, "models": ["l4"]}),
        run("b", {"count": 1, "models": ["l4", "H100"]}),
    ]
    assert warnings(snapshot([machine("m", cards)], runs)) == (
        "runs[a].gpus.models (and 1 more run): 'l4' matches NVIDIA L4 and NVIDIA L40S",
    )


def test_more_used_than_there_is_is_told() -> None:
    used = machine("m", cpu_cores=4, memory_bytes=10, used={"cpu_cores": 5, "memory_bytes": 11})
    assert warnings(snapshot([used], [])) == (
        "fleet.machines[m].used.cpu_cores: 5 is more than the machine has (4)",
        "fleet.machines[m].used.memory_bytes: 11 is more than the machine has (10)",
    )
    held = machine("m", cpu_cores=4, memory_bytes=10, used={"cpu_cores": 2})
    takes = running("r", ("m", 0), cpu_cores=2.5, memory_bytes=12)
    assert warnings(snapshot([held], [takes])) == (
        "m: its runs and others hold 0.5 cores more than it has",
        "m: its runs and others hold 2 bytes more than it has",
    )


def test_facts_that_nothing_reads_are_told_last() -> None:
    assert warnings(snapshot([], [run("r")], mode="efficiency"))[-1] == (
        "fleet.mode is not used yet (services)"
    )


def test_the_order_of_the_input_changes_no_warning() -> None:
    kept = {"workspace": "w", "from": "2026-09-21T06:00:00Z", "to": "2026-09-21T07:00:00Z"}
    used, denied = {"cpu_cores": 99}, {"denied_devices": ["g7", "g9"]}
    machines = [
        machine("b", [card(model="L40", id="g8")], used=used, constraints=denied),
        machine("a", [card(model="L4", id="g1")], used=used, constraints=denied),
        machine("c", cpu_cores=1),
    ]
    runs = [run(name, {"count": 1, "models": ["L4", "L"]}) for name in ("y", "x")]
    runs += [running(f"on-c-{name}", ("c", [])) | {"cpu_cores": 1} for name in ("q", "p")]
    drives = [{"name": name, "machine": f"{name}x"} for name in ("e", "d")]
    reservations = [{"name": name, "machines": ["ax", "bx"], **kept} for name in ("t", "s")]
    one = snapshot(machines, runs, drives=drives, reservations=reservations)
    turned = [{**each, "machines": each["machines"][::-1]} for each in reservations[::-1]]
    other = snapshot(machines[::-1], runs[::-1], drives=drives[::-1], reservations=turned)
    assert warnings(one) == warnings(other)
    assert len(warnings(one)) == 2 + 1 + 2 + 2 + 4 + 2


def test_many_of_a_kind_are_counted() -> None:
    fleet = [machine(f"m{n}", cpu_cores=1, used={"cpu_cores": 2}) for n in range(SHOWN + 3)]
    told = warnings(snapshot(fleet, []))
    assert len(told) == SHOWN + 1
    assert told[-1] == "... and 3 more like it"
