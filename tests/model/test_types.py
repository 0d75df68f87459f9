from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from stowplan.model import types

TIME = TypeAdapter[dt.datetime](types.Timestamp)


def taken(kind: Any, value: object) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (types.Count, [0, 5], [-1, 1.0, "5", True, None, 10**10]),
        (types.Positive, [1], [0, -1, 1.5]),
        (types.Number, [0, 0.5, 7], [-0.5, True, "1", None, float("nan"), float("inf"), 10**400]),
        (types.Share, [0, 1, 0.5], [1.01, -0.01, True, "0.5"]),
        (types.Cores, [0, 1.5, 0.001, 10**6], [0.0001, -1, 10**6 + 1, False, float("nan")]),
        (types.Flag, [True, False], [0, 1, "yes", None]),
        (types.Usd, [0, "1.5", 0.000001], [True, -1, 0.0000001, 10**18, float("nan"), "x"]),
        (types.Name, ["a", "é", "a" * 253], ["", "a" * 254, 5, "a\nb", "\x1b[31m", "\ud800"]),
        (types.RangeName, ["a-{1..2}"], ["a-{2..1}", "a-{1-2}"]),
        (types.Seed, [0, 2**31 - 1], [-1, 2**31]),
    ],
)
def test_a_kind_takes_what_it_says_and_nothing_else(
    kind: Any, good: list[object], bad: list[object]
) -> None:
    assert [value for value in good if not taken(kind, value)] == []
    assert [value for value in bad if taken(kind, value)] == []


@pytest.mark.parametrize(
    "text",
    [
        "2026-09-21T06:17:37",
        "2026-09-21",
        "06:17:37Z",
        "1758435457",
        "2026-13-01T00:00:00Z",
        "1969-12-31T23:59:59Z",
        "0001-01-01T00:00:00+05:00",
        "9999-12-31T23:59:59-05:00",
        "2026-09-21T06:17:37Z; rm",
        "٢٠٢٦-09-21T06:17:37Z",
    ],
)
def test_what_is_no_moment_with_a_zone_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        TIME.validate_python(text)


def test_a_number_is_no_time() -> None:
    for number in (0, 1758435457, 1.5, True):
        with pytest.raises(ValidationError):
            TIME.validate_python(number)


@given(
    st.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2199, 1, 1)),
    st.integers(-14 * 60, 14 * 60),
)
def test_a_moment_is_kept_in_utc(moment: dt.datetime, offset_minutes: int) -> None:
    zone = dt.timezone(dt.timedelta(minutes=offset_minutes))
    zoned = moment.replace(tzinfo=zone)
    read = TIME.validate_python(zoned.isoformat())
    assert read == zoned
    assert read.tzinfo == dt.UTC
    assert TIME.validate_json(TIME.dump_json(read)) == read


@given(st.integers(0, 10**9))
def test_cores_of_thousandths_are_counted_exactly(thousandths: int) -> None:
    cores = TypeAdapter[float](types.Cores).validate_python(thousandths / 1000)
    assert types.millicores(cores) == thousandths
