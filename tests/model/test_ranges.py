from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.ranges import LONGEST, expand, holds_range, meant_range

NAMES = st.text(st.characters(exclude_characters="{}"), max_size=8)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ("gpu-{01..03}", ("gpu-01", "gpu-02", "gpu-03")),
        ("gpu-{8..11}", ("gpu-8", "gpu-9", "gpu-10", "gpu-11")),
        ("gpu-{08..11}", ("gpu-08", "gpu-09", "gpu-10", "gpu-11")),
        ("{3..3}", ("3",)),
        ("r{1..2}-n{0..1}", ("r1-n0", "r1-n1", "r2-n0", "r2-n1")),
        ("plain", ("plain",)),
        ("", ("",)),
    ],
)
def test_a_range_stands_for_its_names_in_order(written: str, names: tuple[str, ...]) -> None:
    assert expand(written) == names


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("gpu-{4..1}", "runs backwards"),
        ("gpu-{1-4}", "a range is written gpu-{01..04}"),
        ("gpu-{a..d}", "a range is written"),
        ("gpu-{1..}", "a range is written"),
        ("gpu-{1..4", "a range is written"),
        ("gpu-1..4}", "a range is written"),
        ("gpu-{1..9999999999}", "a range is written"),
        ("gpu-{1..999999999}", "more than 100,000 names"),
        ("{1..1000}-{1..1000}", "more than 100,000 names"),
    ],
)
def test_what_is_no_range_is_refused(written: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        expand(written)


def test_the_longest_range_is_allowed() -> None:
    assert len(expand(f"n{{1..{LONGEST}}}")) == LONGEST


@given(NAMES)
def test_a_name_without_braces_stands_for_itself(name: str) -> None:
    assert expand(name) == (name,)


@given(NAMES, st.integers(0, 500), st.integers(0, 50), NAMES)
def test_a_range_gives_one_name_for_each_number(
    before: str, first: int, more: int, end: str
) -> None:
    names = expand(f"{before}{{{first}..{first + more}}}{end}")
    assert len(set(names)) == len(names) == more + 1
    inner = [name[len(before) : len(name) - len(end)] for name in names]
    assert [int(number) for number in inner] == list(range(first, first + more + 1))


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 5))
def test_leading_zeros_make_all_names_equally_long(first: int, more: int, width: int) -> None:
    names = expand(f"{{0{first:0{width}}..{first + more}}}")
    assert {len(name) for name in names} == {len(names[0])}


def test_a_name_holds_a_range_where_one_is_written() -> None:
    assert holds_range("a{1..3}")
    assert holds_range("a{3..1}-b")
    assert not holds_range("a{x}")
    assert not holds_range("a[1-3]")


def test_a_name_as_output_folds_it_means_a_range() -> None:
    assert meant_range("gpu-[01-03]") == "gpu-{01..03}"
    assert meant_range("rack[1-2]-gpu-[01-03]") == "rack{1..2}-gpu-{01..03}"
    assert meant_range("gpu-[a-b]") is None
    assert meant_range("gpu-01") is None
