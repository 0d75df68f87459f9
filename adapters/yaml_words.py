"""What a YAML parser's complaint means, in plain words."""

from __future__ import annotations

from typing import NamedTuple

import yaml


class Complaint(NamedTuple):
    """Where a text stops being YAML, and why."""

    line: int
    column: int | None
    message: str
    hint: str | None = None


_WORDS = {
    "mapping values are not allowed": (
        "a ':' stands where no field can begin",
        "put text with ': ' in it into quotes, or check the indentation",
    ),
    "block sequence entries are not allowed": (
        "a '- ' stands where no list can begin",
        "a list begins on a line of its own",
    ),
    "could not find expected ':'": ("a ':' is missing after a field's name", None),
    "did not find expected key": (
        "no field can begin here",
        "fields of one mapping are indented alike, and text that begins with { [ or a quote "
        "goes into quotes as a whole",
    ),
    "did not find expected ',' or ']'": ("a ',' is missing, or the ']' that ends the list", None),
    "did not find expected ',' or '}'": (
        "a ',' is missing, or the '}' that ends the mapping",
        None,
    ),
    "did not find expected '-' indicator": (
        "the indentation fits nothing above",
        "items of one list are indented alike, and the fields of an item are, too",
    ),
    "did not find expected node content": ("a value is missing here", None),
    "found undefined alias": ("an alias (*name) has no anchor (&name) before it", None),
    "second occurrence": ("an anchor (&name) is there twice", None),
    "found unknown escape character": (
        "a '\\' in double quotes begins no known escape",
        "use single quotes",
    ),
    "exceeded maximum nesting depth": ("values are nested too deep", None),
    "found incompatible YAML document": ("is a version of YAML that isn't known", "YAML 1.2"),
}


def plain_words(error: yaml.YAMLError, text: str) -> Complaint:
    """Return where and why a text isn't YAML."""
    if isinstance(error, yaml.reader.ReaderError):
        before = text[: error.position]
        message = f"a control character stands here: #x{ord(_character(error)):04x}"
        return Complaint(before.count("\n") + 1, None, message)
    problem = str(getattr(error, "problem", None) or error)
    mark = getattr(error, "problem_mark", None)
    begun = getattr(error, "context_mark", None)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if "another document" in problem:
        return Complaint(line, None, "a second document begins here", "a file holds one document")
    if "unexpected end of stream" in problem and begun:
        return Complaint(begun.line + 1, begun.column + 1, "a quote begins here and never ends")
    written = (text.splitlines() or [""])[min(line, text.count("\n") + 1) - 1 :][:1]
    rest = written[0][column - 1 :] if written else ""
    if "tab character" in problem or rest.startswith("\t"):
        return Complaint(line, None, "a tab indents this line", "YAML is indented with spaces")
    if "cannot start any token" in problem:
        return Complaint(line, column, f"text can't begin with '{rest[:1]}'", "put it into quotes")
    for known, (message, hint) in _WORDS.items():
        if known in problem:
            since = f" (begun on line {begun.line + 1})" if begun and begun.line + 1 < line else ""
            return Complaint(line, column, message + since, hint)
    return Complaint(line, column, f"is not YAML: {problem}")


def _character(error: yaml.reader.ReaderError) -> str:
    character = error.character
    return chr(character) if isinstance(character, int) else str(character)[:1] or "\0"
