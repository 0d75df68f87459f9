from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.errors import InvalidInput
from stowplan.model.snapshot import Snapshot, content_hash
from tests.build import Document, machine, run, running, snapshot
from tests.strategies import snapshots
from tests.variations import shuffled

NOW = "2026-09-21T06:17:37Z"


@given(snapshots())
def test_a_snapshot_comes_back_from_json_exactly(whole: Snapshot) -> None:
    text = whole.model_dump_json(by_alias=True)
    again = Snapshot.read(json.loads(text))
    assert again == whole
    assert again.model_dump_json(by_alias=True) == text
    assert again.digest() == whole.digest()


def test_a_range_makes_machines_with_gpus_of_their_own() -> None:
    devices = {"count": 2, "model": "L4", "memory_mib": 23034}
    rdma = {"count": 2, "kind": "roce", "rate_gbps": 100}
    whole = snapshot([machine("m-{1..2}", devices=devices, rdma=rdma)], [])
    assert list(whole.machines) == ["m-1", "m-2"]
    for name, one in whole.machines.items():
        assert [device.id for device in one.devices] == [f"{name}/0", f"{name}/1"]
        assert [port.device for port in one.rdma] == ["mlx5_0", "mlx5_1"]


def test_ranges_stand_for_no_more_than_a_computer_holds() -> None:
    devices = {"count": 1024, "model": "L4", "memory_mib": 1}
    with pytest.raises(InvalidInput, match="100,000 machines with 102,400,000 GPUs; at most"):
        snapshot([machine("m-{1..100000}", devices=devices)], [])


def test_a_device_is_named_by_its_index_where_it_has_no_id() -> None:
    card = {"model": "L4", "memory_mib": 1}
    whole = snapshot([machine("m", [{**card, "index": 7}, card, {**card, "id": "GPU-a"}])], [])
    devices = whole.machines["m"].devices
    assert [device.id for device in devices] == ["m/7", "m/1", "GPU-a"]
    assert [device.index for device in devices] == [7, 1, 2]


def test_a_workspace_that_only_a_run_names_has_no_limits() -> None:
    policy = {"workspaces": [{"name": "vision", "gpu_quota": 8}]}
    whole = snapshot([], [run("a", workspace="vision"), run("b", workspace="other")], policy=policy)
    assert whole.workspaces["vision"].gpu_quota == 8
    assert whole.workspaces["other"].gpu_quota is None


def test_a_snapshot_never_changes_and_knows_its_fields() -> None:
    whole = snapshot([], [])
    with pytest.raises(ValueError, match="frozen"):
        whole.seed = 2  # type: ignore[misc]
    with pytest.raises(InvalidInput, match="unknown field 'sede'; did you mean 'seed'"):
        Snapshot.read({"now": NOW, "sede": 2})


def test_what_is_no_mapping_is_no_snapshot() -> None:
    documents: tuple[object, ...] = (None, [], "now", 5)
    for document in documents:
        with pytest.raises(InvalidInput, match="must be a mapping"):
            Snapshot.read(document)


@given(snapshots(max_machines=2, max_runs=2))
def test_the_digest_tells_what_is_said_apart(whole: Snapshot) -> None:
    assert whole.digest() != whole.model_copy(update={"seed": whole.seed + 1}).digest()
    assert content_hash({"a": 1, "b": 2}) == content_hash({"b": 2, "a": 1})


@given(st.data())
def test_the_digest_does_not_depend_on_the_order_of_any_list(data: st.DataObject) -> None:
    whole = data.draw(snapshots())
    assert data.draw(shuffled(whole)).digest() == whole.digest()


@pytest.mark.parametrize(
    "document",
    [
        {"runs": [{"name": "r", "needs": ["a", "b"]}]},
        {"runs": [{"name": "r", "drives": ["a", "b"]}]},
        {"runs": [{"name": "r", "gpus": {"ids": ["a", "b"]}}]},
        {"runs": [{"name": "r", "gpus": {"count": 1, "models": ["L4", "H100"]}}]},
        {"runs": [{"name": "r", "node_selection": {"mode": "any", "names": ["a", "b"]}}]},
        {"runs": [{"name": "r", "array": {"size": 12, "finished": [2, 11]}}]},
        {"policy": {"workspaces": [{"name": "w", "pools": ["a", "b"]}]}},
        {"fleet": {"drives": [{"name": "d", "sites": ["a", "b"]}]}},
        {"fleet": {"machines": [{"name": "m", "only": ["a", "b"]}]}},
        {"fleet": {"machines": [{"name": "m", "models": [
            {"id": "a", "quantisation": "q4", "digest": "pending"},
            {"id": "a", "quantisation": "q8", "digest": "verified"}]}]}},
        {"knowledge": {"models": [{"id": "a"}, {"id": "b"}]}},
    ],
)  # fmt: skip
def test_two_things_and_the_same_two_turned_round_have_one_digest(document: Document) -> None:
    turned = _turned(document)
    assert turned != document
    assert Snapshot.read({"now": NOW, **turned}).digest() == (
        Snapshot.read({"now": NOW, **document}).digest()
    )


def _turned(content: Any) -> Any:  # Any: whatever JSON can hold
    if isinstance(content, dict):
        return {key: _turned(value) for key, value in content.items()}
    return [_turned(item) for item in reversed(content)] if isinstance(content, list) else content


def test_the_order_of_placed_workers_is_told_apart() -> None:
    one = snapshot([], [running("r", ("a", ["g"]), ("b", ["g"]))])
    assert one.digest() != snapshot([], [running("r", ("b", ["g"]), ("a", ["g"]))]).digest()


def test_one_moment_in_two_zones_is_one_snapshot() -> None:
    utc, local = Snapshot.read({"now": NOW}), Snapshot.read({"now": "2026-09-21T08:17:37+02:00"})
    assert utc.digest() == local.digest()
