from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from stowplan.model.errors import Path
from stowplan.model.fields import Takes, fields_of, takes_at
from stowplan.model.snapshot import Snapshot


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("now",), "a time such as 2026-09-21T06:17:37Z"),
        (("version",), "one of 1"),
        (("runs",), "a list"),
        (("runs", 0), "a mapping"),
        (("runs", 0, "name"), "text"),
        (("runs", 0, "labels"), "a mapping"),
        (("runs", 0, "labels", "anything"), "text"),
        (("runs", 0, "drives", 0), "text or a mapping"),
        (("runs", 0, "gpus", "healthy_only"), "true or false"),
        (("runs", 0, "gpus", "vendor"), "one of nvidia, amd, intel"),
        (("fleet", "machines", 0, "devices"), "a list or a mapping"),
        (("fleet", "machines", 0, "devices", 3, "memory_mib"), "a whole number"),
        (("fleet", "machines", 0, "devices", "count"), "a whole number"),
        (("fleet", "machines", 0, "cpu_cores"), "a number"),
        (("fleet", "machines", 0, "rate_usd_per_hour"), "a number"),
        (("fleet", "offerings", 0, "warm"), "a whole number or a mapping"),
        (("fleet", "reservations", 0, "from"), "a time such as 2026-09-21T06:17:37Z"),
    ],
)
def test_a_place_says_what_it_takes(path: Path, words: str) -> None:
    takes = takes_at(Snapshot, path)
    assert takes is not None
    assert takes.words() == words


@pytest.mark.parametrize("path", [("nowhere",), ("now", "deeper"), ("runs", "name"), ("fleet", 0)])
def test_a_place_that_is_not_there_takes_nothing(path: Path) -> None:
    assert takes_at(Snapshot, path) is None


def test_every_field_of_a_snapshot_says_what_it_takes() -> None:
    def mute(takes: Takes, path: str) -> Iterator[str]:
        if not takes.words():
            yield path
        for inner in (takes.items, takes.values):
            if inner:
                yield from mute(inner, f"{path}[]")
        for model in takes.models:
            yield from unnamed(model, path)

    def unnamed(model: type[BaseModel], path: str) -> Iterator[str]:
        for name, known in fields_of(model).items():
            yield from mute(known.takes, f"{path}.{name}")

    assert list(unnamed(Snapshot, "")) == []
