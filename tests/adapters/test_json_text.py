from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.adapters.json_text import json_place, read_json
from stowplan.adapters.places import Place
from stowplan.model.errors import InvalidInput


def problem(text: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_json(text, "f.json")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": [1,]}', "f.json:1: column 10: a ',' stands before the ']'"),
        ('{"a": 1,\n}', "a ',' stands before the '}'"),
        ("{'a': 1}", "a field's name in double quotes is missing"),
        ('{"a" 1}', "a ':' is missing"),
        ('{"a": 1\n"b": 2}', "f.json:2: column 1: a ',' is missing"),
        ('{"a": x}', "a value is missing here; text is in double quotes"),
        ('{"a": 1} {"b": 2}', "something stands after the end of the document"),
        ('{"a": "b}', "a quote begins here and never ends"),
        ('{"a": "b\nc"}', "a line break or control character stands in a text"),
        ('{"a": "\\q"}', "a '\\' begins no known escape"),
        ("[" * 100_000, "values are nested too deep"),
    ],
)
def test_what_is_wrong_is_told_in_plain_words(text: str, said: str) -> None:
    assert said in problem(text)


def test_every_key_that_is_there_twice_is_told() -> None:
    assert problem(
        '{"a": {"x": 1,\n"x": 2}, "b": [{},\n{"c": 1, "c": 1}],\n"a": 2}'
    ).splitlines() == [
        "f.json:2: a.x: the key 'x' is there twice; the first is on line 1",
        "f.json:3: b[1].c: the key 'c' is there twice; the first is on line 3",
        "f.json:4: a: the key 'a' is there twice; the first is on line 1",
    ]


def test_a_key_twice_deep_inside_is_no_crash() -> None:
    assert problem('{"a": 1, "a": 2, "b": ' + "[" * 3000 + "]" * 3000 + "}")


def test_a_number_of_ten_thousand_digits_is_read_as_text() -> None:
    assert read_json('{"a": ' + "9" * 10_000 + "}", "f.json") == {"a": "9" * 10_000}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


@given(VALUES, st.sampled_from([None, 0, 1]))
def test_a_place_is_on_the_line_where_its_value_is(value: Any, indent: int | None) -> None:
    text = json.dumps({"v": value}, indent=indent)
    lines = text.splitlines()

    def alike(place: Place, value: Any) -> None:
        assert place.line is not None
        if isinstance(value, dict):
            assert list(place.inside.fields) == list(value)
            for key, inner in value.items():
                line = place.inside.fields[key].line
                assert line is not None
                assert json.dumps(key) in lines[line - 1]
                alike(place.inside.fields[key], inner)
        elif isinstance(value, list):
            assert len(place.inside.items) == len(value)
            for one, inner in zip(place.inside.items, value, strict=True):
                alike(one, inner)
        elif isinstance(value, str):
            assert place.text == value
        else:
            assert json.dumps(value) in lines[place.line - 1]

    alike(json_place(text, "f.json"), {"v": value})
