from __future__ import annotations

from typing import Any

import pytest

from stowplan.model.errors import InvalidInput
from stowplan.model.snapshot import Snapshot
from stowplan.model.wording import fields_at

NOW = "2026-09-21T06:17:37Z"


def problems(**document: Any) -> list[str]:
    with pytest.raises(InvalidInput) as caught:
        Snapshot.read({"now": NOW, **document})
    return [str(problem) for problem in caught.value.problems]


def of_machine(**fields: Any) -> list[str]:
    return problems(fleet={"machines": [{"name": "a", **fields}]})


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"cpu_cores": "x"}, "cpu_cores: must be a number, not 'x'"),
        ({"cpu_cores": True}, "cpu_cores: must be a number, not true"),
        ({"cpu_cores": float("nan")}, "cpu_cores: must be a number, not NaN"),
        ({"cpu_cores": -1}, "cpu_cores: -1 is too small; at least 0"),
        (
            {"cpu_cores": 1.2345},
            "cpu_cores: 1.2345 has more than three decimals; 0.001 is the least share of a core",
        ),
        ({"memory_bytes": 1.5}, "memory_bytes: must be a whole number, not 1.5"),
        ({"memory_bytes": 2.0}, "memory_bytes: must be a whole number, not 2.0; write 2"),
        ({"memory_bytes": 1e300}, "memory_bytes: must be a whole number, not 1e+300"),
        ({"cpu_cores": 1e300}, "cpu_cores: 1e+300 is too large; at most 1000000"),
        ({"memory_bytes": None}, "memory_bytes: must be a whole number, not empty"),
        (
            {"memory_bytes": 10**5000},
            "memory_bytes: a number of more than a thousand digits is too large; "
            "at most 1125899906842624",
        ),
        ({"labels": ["a"]}, "labels: must be a mapping, not a list"),
        ({"labels": {"p": None}}, "labels.p: must be text, not empty"),
        ({"labels": {1: "x"}}, "labels[1]: the key must be text; write it in quotes"),
        ({"capabilities": "x"}, "capabilities: must be a list, not 'x'; write [x]"),
        ({"capabilities": None}, "capabilities: must be a list, not empty; [] is an empty list"),
        ({"devices": "x"}, "devices: must be a list or a mapping, not 'x'"),
        ({"used": 4}, "used: must be a mapping, not 4; with the fields cpu_cores, memory_bytes"),
        ({"name": ""}, "name: is empty text; at least one character"),
        ({"name": "a" * 300}, "name: has 300 characters; at most 253"),
        ({"name": "a\nb"}, "name: 'a\\nb' holds a control character; one plain line"),
        ({"cpu_pressure": "no"}, "cpu_pressure: must be true or false, not 'no'; write false"),
        ({"cpu_pressure": "x"}, "cpu_pressure: must be true or false, not 'x'"),
        (
            {"rate_usd_per_hour": 0.1234567},
            "rate_usd_per_hour: 0.1234567 has too many decimals; at most six",
        ),
        (
            {"rate_usd_per_hour": 10**15},
            "rate_usd_per_hour: 1000000000000000 is too large; at most 999999999999.999999",
        ),
        ({"rate_usd_per_hour": "x"}, "rate_usd_per_hour: must be a number, not 'x'"),
        (
            {"state": "x" * 100},
            f"state: '{'x' * 56}... is not a value it takes; "
            "allowed: up, down, cordoned, draining, pressure",
        ),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(fields: dict[str, Any], said: str) -> None:
    assert of_machine(**fields) == [f"fleet.machines[0].{said}"]


def test_of_two_ways_to_write_a_field_only_the_one_that_was_meant_is_told_of() -> None:
    offering = {"name": "o", "provider": "p", "region": "r", "rate_usd_per_hour": 1}
    assert problems(fleet={"offerings": [{**offering, "warm": {"count": -1}}]}) == [
        "fleet.offerings[0].warm.count: -1 is too small; at least 0"
    ]
    assert problems(fleet={"offerings": [{**offering, "warm": "x"}]}) == [
        "fleet.offerings[0].warm: must be a whole number or a mapping, not 'x'; "
        "with the fields count, paid_until"
    ]


def test_a_misspelt_field_is_not_told_as_missing_too() -> None:
    assert problems(runs=[{"nam": "a"}]) == [
        "runs[0].nam: unknown field 'nam'; did you mean 'name'?"
    ]


def test_everything_wrong_is_told_at_once() -> None:
    told = problems(seed="x", runs=[{"name": "a", "gpus": {"count": -1}}, {"name": 1}])
    assert [line.split(":")[0] for line in told] == ["seed", "runs[0].gpus.count", "runs[1].name"]


def test_the_fields_at_a_place_have_the_names_of_the_file() -> None:
    assert "from" in fields_at(Snapshot, ("fleet", "reservations", 0))
    assert fields_at(Snapshot, ("nowhere",)) == ()
