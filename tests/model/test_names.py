from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.names import meant_for, nearest
from stowplan.model.snapshot import Snapshot


@pytest.mark.parametrize(
    ("name", "known", "close"),
    [
        ("gpu-1", ["gpu-01", "box"], "gpu-01"),
        ("GPU-01", ["gpu-01"], "gpu-01"),
        ("memory_gb", ["memory_bytes", "name"], "memory_bytes"),
        ("time_limit", ["time_limit_s"], "time_limit_s"),
        ("cpu", ["cpu_cores", "name"], "cpu_cores"),
        ("xyz", ["gpu-01"], None),
        ("", ["gpu-01"], None),
        ("a", [], None),
    ],
)
def test_the_nearest_name_is_one_that_was_meant(
    name: str, known: list[str], close: str | None
) -> None:
    assert nearest(name, known) == close


@given(st.text(), st.lists(st.text()))
def test_the_nearest_name_is_one_that_is_known(name: str, known: list[str]) -> None:
    assert nearest(name, known) in {None, *known}


@given(st.lists(st.text(min_size=1), min_size=1))
def test_a_known_name_is_nearest_to_itself_in_any_case(known: list[str]) -> None:
    close = nearest(known[0], known)
    assert close is not None
    assert close.lower() == known[0].lower()


@pytest.mark.parametrize(
    ("path", "names", "hint"),
    [
        (("runs", 0, "gpu"), ("gpus",), "did you mean 'gpus'?"),
        (
            ("runs", 0, "keep_within"),
            ("topology", "keep_within"),
            "did you mean 'topology.keep_within'?",
        ),
        (("runs", 0, "gpus", "machines"), (), "it belongs one level up, beside 'gpus'"),
        (("machines",), ("fleet", "machines"), "did you mean 'fleet.machines'?"),
        (
            ("zzz",),
            (),
            "known: version, name, now, seed, fleet, runs, policy, knowledge, solver",
        ),
    ],
)
def test_an_unknown_field_is_sought_around_its_place(
    path: tuple[str | int, ...], names: tuple[str, ...], hint: str
) -> None:
    guess = meant_for(Snapshot, path, 1)
    assert guess.names == names
    assert guess.hint == hint
