from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from stowplan.adapters.places import Place
from stowplan.adapters.yaml_text import read_yaml, yaml_place
from stowplan.model.errors import InvalidInput


def problem(text: str) -> str:
    with pytest.raises(InvalidInput) as caught:
        read_yaml(text, "f.yaml")
    return str(caught.value)


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("yes", "yes"),
        ("on", "on"),
        ("true", True),
        ("False", False),
        ("012", "012"),
        ("1_000", "1_000"),
        ("0x10", "0x10"),
        ("1:30", "1:30"),
        ("2026-09-21", "2026-09-21"),
        ("2026-09-21T06:17:37Z", "2026-09-21T06:17:37Z"),
        ("-12", -12),
        ("0", 0),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.2.3", "1.2.3"),
        ("~", None),
        ("", None),
        ("null", None),
        ("'5'", "5"),
        ("!!str 5", "5"),
        ("gpu-{01..04}", "gpu-{01..04}"),
        ("<<", "<<"),
    ],
)
def test_a_plain_word_is_what_yaml_1_2_says(written: str, value: object) -> None:
    read = read_yaml(f"a: {written}", "f.yaml")["a"]
    assert read == value
    assert type(read) is type(value)


def test_a_merged_mapping_yields_to_what_is_written() -> None:
    text = "base: &b {x: 1, y: 2}\nmore: &m {y: 3, z: 4}\nown: {x: 9, <<: [*b, *m]}\n"
    assert read_yaml(text, "f.yaml")["own"] == {"x": 9, "y": 2, "z": 4}


def test_keys_are_text_whatever_they_look_like() -> None:
    assert read_yaml("{1: a, true: b, null: c}", "f.yaml") == {"1": "a", "true": "b", "null": "c"}


def test_every_key_that_is_there_twice_is_told() -> None:
    said = problem("a: 1\nb:\n  - {c: 1}\n  - {c: 1,\n     c: 2}\n'a': 3\n")
    assert said.splitlines() == [
        "f.yaml:5: b[1].c: the key 'c' is there twice; the first is on line 4",
        "f.yaml:6: a: the key 'a' is there twice; the first is on line 1",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: " + "[" * 500 + "]" * 500, "nested more than 100 deep"),
        ("a: &a {<<: *a}", "an alias stands for a value that it is part of"),
        ("a: {<<: 5}", "'<<' takes a mapping"),
        ("? [a]\n: b", "a key must be text"),
        ("a: !!int x", "the tag 'int' is not known for 'x'"),
        ("a: !!set {x}", "the tag 'set' is not known here"),
        ("a: *nowhere", "an alias (*name) has no anchor (&name) before it"),
        ("a: @x", "column 4: text can't begin with '@'; put it into quotes"),
        ("a: \x01", "f.yaml:1: a control character stands here: #x0001"),
        ("a: b\n--- \nc: d", "f.yaml:2: a second document begins here"),
        ("a:\n  b: 1\n\tc: 2", "f.yaml:3: a tab indents this line"),
        ("a: 'b\nc: d\n", "f.yaml:1: column 4: a quote begins here and never ends"),
        ("}", "a value is missing here"),
    ],
)
def test_what_is_wrong_is_told_in_plain_words(text: str, said: str) -> None:
    assert said in problem(text)


def test_aliases_may_repeat_but_not_explode() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for one, other in zip("abcdefgh", "bcdefghi", strict=True):
        lines.append(f"{other}: &{other} [{', '.join([f'*{one}'] * 10)}]")
    assert len(read_yaml("\n".join(lines[:4]), "f.yaml")["d"]) == 10
    assert "the aliases stand for more than 1,000,000 values" in problem("\n".join(lines))


def test_a_place_knows_its_line_even_through_an_alias() -> None:
    place = yaml_place(
        "base: &b\n  x: 1\nlist:\n  - name: a\n    <<: *b\n  - *b\n", "f.yaml"
    ).inside.fields["list"]
    assert place.line == 3
    first, second = place.inside.items
    assert (first.line, first.name, first.inside.fields["x"].line) == (4, "a", 2)
    assert second.inside.fields["x"].text == "1"


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=15,
)


class _Writer(yaml.SafeDumper):
    """A writer of YAML 1.2: it quotes text that is a number there and none in YAML 1.1, as 1e5."""


_Writer.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?[0-9]+(?:\.[0-9]*)?[eE][-+]?[0-9]+$"),
    list("-+0123456789"),
)
_Writer.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"^[-+]?\.[0-9]+[eE][-+]?[0-9]+$"), list("-+.")
)


@given(VALUES)
@example("0E0")
@example("1e+5")
@example("+.5E1")
def test_what_a_writer_of_yaml_writes_is_read_back(value: Any) -> None:
    try:
        text = yaml.dump({"v": value}, Dumper=_Writer)
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair is no text
        return
    assert read_yaml(text, "f.yaml") == {"v": value}


@given(VALUES)
def test_a_place_is_where_every_value_is(value: Any) -> None:
    def alike(place: Place, value: Any) -> None:
        assert place.line is not None
        if isinstance(value, dict):
            assert list(place.inside.fields) == list(value)
            for key, inner in value.items():
                alike(place.inside.fields[key], inner)
        elif isinstance(value, list):
            assert len(place.inside.items) == len(value)
            for one, inner in zip(place.inside.items, value, strict=True):
                alike(one, inner)

    try:
        text = yaml.safe_dump({"v": value}, sort_keys=False)
        text.encode()
    except UnicodeEncodeError:
        return
    alike(yaml_place(text, "f.yaml"), {"v": value})
