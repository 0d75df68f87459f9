from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.errors import InvalidInput, Problem
from stowplan.model.snapshot import Snapshot

NOW = "2026-09-21T06:17:37Z"


def problems(*runs: Any, **fleet: Any) -> list[Problem]:
    try:
        Snapshot.read({"now": NOW, "fleet": fleet, "runs": list(runs)})
    except InvalidInput as error:
        return list(error.problems)
    return []


def fields(*runs: Any, **fleet: Any) -> list[str]:
    return [str(problem).split(":")[0] for problem in problems(*runs, **fleet)]


def running(name: str, *places: tuple[str, list[str]], **more: Any) -> dict[str, Any]:
    workers = [{"host": host, "devices": devices} for host, devices in places]
    count = sum(len(devices) for _, devices in places)
    state = {"state": "running", "gpus": {"count": count}, "placed": {"workers": workers}}
    return {"name": name, **state, **more}


@pytest.mark.parametrize(
    "fleet",
    [
        {"machines": [{"name": "a"}, {"name": "b"}, {"name": "a"}]},
        {"machines": [{"name": "a-{1..3}"}, {"name": "a-2"}]},
        {"machines": [{"name": "{1..11}{1..11}"}]},  # 1 and 11 is 11 and 1
        {"drives": [{"name": "d"}, {"name": "d"}]},
    ],
)
def test_a_name_is_unique_in_its_list(fleet: dict[str, Any]) -> None:
    assert all("is there twice" in problem.message for problem in problems(**fleet))
    assert problems(**fleet)


def test_names_are_unique_in_one_list_only() -> None:
    assert problems({"name": "a"}, machines=[{"name": "a"}], drives=[{"name": "a"}]) == []


def test_a_gpu_id_is_unique_on_its_machine_only() -> None:
    card = {"model": "L4", "memory_mib": 1}
    two = [{**card, "id": "GPU-a"}, {**card, "id": "GPU-a"}]
    assert fields(machines=[{"name": "m", "devices": two}]) == ["fleet.machines[m].devices[GPU-a]"]
    one = [{**card, "id": "GPU-a"}]
    assert fields(machines=[{"name": "m-{1..2}", "devices": one}]) == []


def test_a_gpu_goes_to_one_worker_of_one_run() -> None:
    one, other = running("one", ("m", ["m/0"])), running("other", ("m", ["m/1", "m/0"]))
    assert fields(one, other) == ["runs[other].placed.workers[0].devices[m/0]"]
    assert fields(one, running("other", ("n", ["m/0"]))) == []
    assert fields(one, {**other, "state": "stopped"}) == []
    twice = running("twice", ("m", ["m/0"]), ("m", ["m/0"]))
    assert fields(twice) == ["runs[twice].placed.workers[1].devices[m/0]"]
    assert fields(running("same", ("m", ["m/0", "m/0"]))) == [
        "runs[same].placed.workers[0].devices[m/0]"
    ]


@pytest.mark.parametrize(
    ("run", "field"),
    [
        ({"gpus": {"count": 2, "ids": ["a"]}}, "gpus.count"),
        ({"gpus": {"models": ["H100"]}}, "gpus.count"),
        ({"gpus": {"healthy_only": True}}, "gpus.count"),
        ({"gpus": {"count": 0, "vendor": "amd", "min_per_machine": 2}}, "gpus.count"),
        ({"per_gpu": {"cpu_cores": 4}}, "gpus.count"),
        ({"gpus": {"count": 0}, "per_gpu": {"memory_bytes": 4}}, "gpus.count"),
        ({"gpus": {"min_per_machine": 2}}, "gpus.min_per_machine"),
        ({"gpus": {"ids": ["a", "a"]}}, "gpus.ids[a]"),
        ({"drives": ["d", "d"]}, "drives[d]"),
        ({"node_selection": {"names": ["a-{1..2}", "a-2"]}}, "node_selection.names[a-2]"),
        ({"gpus": {"count": 1}, "node_selection": {"count": 2}}, "node_selection.count"),
        ({"machines": 3, "node_selection": {"count": 2}}, "machines"),
        ({"machines": 3, "node_selection": {"mode": "all"}}, "machines"),
        ({"node_selection": {"mode": "all", "count": 2}}, "node_selection.count"),
        ({"state": "running"}, "placed"),
        ({"state": "starting"}, "placed"),
        ({"placed": {"workers": []}}, "placed"),
        ({"state": "running", "placed": {"workers": []}}, "placed.workers"),
        ({"state": "running", "placed": {"workers": [{"host": "m", "element": 0}]}},
         "placed.workers[0].element"),
        ({"state": "running", "placed": {"workers": [{"host": "m", "devices": ["m/0"]}]}},
         "placed.workers"),
        ({"array": {"size": 2, "finished": [2]}}, "array.finished"),
        ({"array": {"size": 2, "finished": [1, 1]}}, "array.finished[1]"),
        ({"array": {"size": 2}, "machines": 2}, "machines"),
        ({"array": {"size": 2}, "topology": {"min_nodes": 2}}, "topology.min_nodes"),
        ({"array": {"size": 2}, "topology": {"max_nodes": 4}}, "topology.max_nodes"),
        ({"topology": {"min_nodes": 2, "max_nodes": 1}}, "topology.min_nodes"),
        ({"topology": {"keep_within": "node"}, "machines": 2}, "topology.keep_within"),
        ({"topology": {"keep_within": "node"}, "node_selection": {"count": 2}},
         "topology.keep_within"),
        ({"topology": {"keep_within": "node"}, "node_selection": {"names": ["a", "b"]}},
         "topology.keep_within"),
        ({"topology": {"keep_within": "node", "min_nodes": 2}, "gpus": {"count": 2}},
         "topology.keep_within"),
        ({"topology": {"keep_within": "fabric", "spread": "fabric"}, "machines": 2},
         "topology.keep_within"),
        ({"topology": {"keep_within": "node", "spread": "rack"},
          "node_selection": {"mode": "any", "count": 2}}, "topology.keep_within"),
        ({"topology": {"keep_within": "node", "max_nodes": 2},
          "node_selection": {"mode": "any", "count": 2}}, "topology.keep_within"),
        ({"array": {"size": 2}, "node_selection": {"mode": "all"}}, "node_selection.mode"),
        ({"array": {"size": 2}, "gpus": {"ids": ["a"]}}, "gpus.ids"),
        ({"array": {"size": 2}, "placed": {"workers": [{"host": "m"}]}},
         "placed.workers[0].element"),
        ({"array": {"size": 2, "finished": [1]},
          "placed": {"workers": [{"host": "m", "element": 1}]}}, "array.finished"),
        ({"array": {"size": 2}, "gpus": {"count": 1},
          "placed": {"workers": [{"host": "m", "element": 1}]}}, "placed.workers[0].devices"),
    ],
)  # fmt: skip
def test_a_run_agrees_with_itself(run: dict[str, Any], field: str) -> None:
    assert f"runs[r].{field}" in fields({"name": "r", **run})


def test_the_name_of_a_run_is_no_range() -> None:
    said = "a run's name is one name; ranges are for machines; many runs alike are an array"
    assert [str(problem) for problem in problems({"name": "a{1..3}"})] == [
        f"runs[a{{1..3}}].name: {said}: {{size: 3}}"
    ]


def test_gpus_without_a_number_are_one_problem() -> None:
    asked = {"gpus": {"models": ["H100"], "min_per_machine": 2}, "per_gpu": {"cpu_cores": 4}}
    assert [str(problem) for problem in problems({"name": "r", **asked})] == [
        "runs[r].gpus.count: is missing: how many GPUs does the run ask for?"
    ]


def test_no_gpus_at_all_are_too_few_for_what_is_said_of_them() -> None:
    asked = {"name": "r", "gpus": {"count": 0, "policy": "per_node"}}
    assert [str(problem) for problem in problems(asked)] == [
        "runs[r].gpus.count: is 0, and policy needs a count above 0"
    ]


def test_what_agrees_is_not_told_of() -> None:
    array = {"size": 4, "finished": [0]}
    placed = {"workers": [{"host": "m", "element": 1}, {"host": "m", "element": 2}]}
    assert problems(
        {"name": "pins", "gpus": {"ids": ["a", "b"]}},
        {"name": "same", "gpus": {"count": 2, "ids": ["a", "b"]}},
        {"name": "none", "gpus": {"count": 0}},
        {"name": "plain", "gpus": {"models": [], "healthy_only": False}, "per_gpu": {}},
        {"name": "cpu", "machines": 2, "node_selection": {"count": 2}},
        {"name": "apart", "machines": 2, "node_selection": {"mode": "any"}},
        {"name": "everywhere", "node_selection": {"mode": "all"}},
        {"name": "element", "array": {"size": 2}, "topology": {"min_nodes": 1, "max_nodes": 1}},
        {"name": "kept", "gpus": {"count": 8}, "topology": {"keep_within": "node"}},
        {"name": "one", "machines": 1, "topology": {"keep_within": "rack", "spread": "rack"}},
        {"name": "open", "gpus": {"count": 2},
         "topology": {"keep_within": "rack", "spread": "rack"}},
        {"name": "far", "machines": 2, "topology": {"keep_within": "fabric", "spread": "rack"}},
        {"name": "share", "topology": {"keep_within": "node"},
         "node_selection": {"mode": "any", "count": 2}},
        {"name": "braces{x}"},
        {"name": "array", "array": array, "placed": placed},
        {"name": "stopped", "state": "stopped"},
        running("runs", ("m", ["m/0"]), ("n", [])),
    ) == []  # fmt: skip


def test_a_reservation_ends_after_it_begins() -> None:
    kept = {"name": "r", "machines": ["m"], "workspace": "w", "from": NOW}
    assert fields(reservations=[{**kept, "to": NOW}]) == ["fleet.reservations[r].to"]
    assert fields(reservations=[{**kept, "to": "2026-09-21T06:17:38Z"}]) == []
