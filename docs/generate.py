"""Write the reference from what the code says of itself, and the outputs that pages show.

Run it as `python docs/generate.py`. `tests/test_docs.py` fails where a page differs.
"""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from stories import PAGES, told  # beside this file

from stowplan.cli.main import cli
from stowplan.cli.render.words import ACTIONS as WORDS
from stowplan.model.decision import Decision
from stowplan.model.reasons import ACTIONS, MEANINGS
from stowplan.model.roadmap import ASKS, FACTS
from stowplan.model.schema import json_schema
from stowplan.solver.cycle import RULES
from stowplan.solver.rule import Rule

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Made by docs/generate.py; don't edit. -->\n"

type Schema = Mapping[str, Any]  # Any: JSON


def pages() -> dict[Path, str]:
    """Return every reference page, by the file it belongs in."""
    return {
        FOLDER / "commands.md": _commands(),
        FOLDER / "reasons.md": _reasons(),
        FOLDER / "rules.md": _rules(),
        FOLDER / "snapshot.md": _fields(
            "Snapshot", "What goes in: one document, YAML or JSON.", json_schema()
        ),
        FOLDER / "decision.md": _fields(
            "Decision",
            "What comes out with `-o json`: one outcome a run, and the solver's account.",
            Decision.model_json_schema(mode="serialization"),
        ),
    }


def _commands() -> str:
    text = f"# Commands\n\n{NOTE}"
    for path, command in _all_commands(cli, "stowplan"):
        context = click.Context(command, info_name=path, terminal_width=80)
        text += f"\n## {path}\n\n```text\n{command.get_help(context)}\n```\n"
    return text


def _all_commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner
            yield from _all_commands(inner, f"{path} {name}")


def _reasons() -> str:
    rows = [
        (f"`{code}`", meaning, " or ".join(_action(action) for action in ACTIONS[code]))
        for code, meaning in MEANINGS.items()
    ]
    return (
        f"# Reasons\n\n{NOTE}\n"
        "Every refusal, wait and choice carries a code, the numbers behind it, a sentence that\n"
        "holds them, and an action. One code means one thing in every view.\n\n"
        + _table(("code", "meaning", "action"), rows)
    )


def _action(action: Any) -> str:  # Any: an Action, of StrEnum
    return f"`{action}`: {WORDS[action]}" if WORDS[action] else f"`{action}`"


def _rules() -> str:
    text = (
        f"# Rules\n\n{NOTE}\n"
        "Every rule there is, in the order in which they are applied: the first that a host fails\n"
        "is the reason that is given for it, and the others are kept too.\n"
    )
    for rule in RULES:
        text += f"\n## {rule.name}\n\n{_law(rule)}\n"
        if rule.why_not:
            text += f"\n- Of one host: {_said(rule.why_not)}\n"
        if rule.post:
            text += ("" if rule.why_not else "\n") + f"- Of all together: {_said(rule.post)}\n"
    return text


def _law(rule: Rule) -> str:
    """Return the sentence with which the rule's module opens."""
    side = rule.why_not or rule.post
    assert side
    module = inspect.getmodule(side)
    assert module
    return _said(module)


def _said(thing: object) -> str:
    return " ".join((inspect.getdoc(thing) or "").split())


def _fields(title: str, lead: str, schema: Schema) -> str:
    text = f"# {title}\n\n{NOTE}\n{lead}\n"
    for path, part in _objects(schema, schema, ""):
        heading = f"`{path}`" if path else "The document"
        said = " ".join(part.get("description", "").split())
        text += f"\n## {heading}\n\n" + (f"{said}\n\n" if said else "")
        required = part.get("required", ())
        text += _table(
            ("field", "type", "default", "meaning"),
            [
                (
                    f"`{name}`",
                    _type(field, schema),
                    "required" if name in required else _default(field),
                    _meaning(field, f"{path}.{name}" if path else name),
                )
                for name, field in part["properties"].items()
            ],
        )
    return text


def _objects(part: Schema, root: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    """Yield every object that has fields, with the path at which it stands."""
    for inner, each in _alternatives(part, root, path):
        if "properties" in each:
            yield inner, each
            for name, field in each["properties"].items():
                yield from _objects(field, root, f"{inner}.{name}" if inner else name)


def _alternatives(part: Schema, root: Schema, path: str) -> Iterator[tuple[str, Schema]]:
    part = _resolved(part, root)
    if part.get("type") == "array":
        yield from _alternatives(part.get("items", {}), root, f"{path}[]")
        return
    choices = part.get("anyOf") or part.get("oneOf")
    if not choices:
        yield path, part
        return
    for choice in choices:
        yield from _alternatives(choice, root, path)


def _resolved(part: Schema, root: Schema) -> Schema:
    while "$ref" in part:
        here: Any = root
        for name in part["$ref"].removeprefix("#/").split("/"):
            here = here[name]
        part = here
    return part


def _type(part: Schema, root: Schema) -> str:
    part = _resolved(part, root)
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if choices := part.get("anyOf") or part.get("oneOf"):
        return " or ".join(dict.fromkeys(_type(choice, root) for choice in choices))
    match part.get("type"):
        case "array":
            return f"list of {_type(part.get('items', {}), root)}"
        case "object" if "properties" in part:
            return "fields below"
        case "object":
            return "mapping"
        case "integer":
            return "whole number"
        case "boolean":
            return "true or false"
        case "string":
            return "time" if part.get("format") == "date-time" else "text"
        case "null":
            return "null"
        case other:
            return str(other or "anything")


def _default(field: Schema) -> str:
    value = field.get("default")
    if value is None or value in ("", [], {}) or isinstance(value, dict):
        return ""
    return f"`{value}`" if not isinstance(value, bool) else f"`{str(value).lower()}`"


def _meaning(field: Schema, path: str) -> str:
    said = " ".join(field.get("description", "").split())
    for fields, note in ((ASKS, "Not supported yet"), (FACTS, "Read, not used yet")):
        if path in fields:
            said = f"{said} {note} ({fields[path]}).".strip()
    return said


def _table(columns: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines
    )


def main() -> None:
    """Write every page that differs."""
    made = pages()
    for page in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            made[page] = told(page, Path(folder))
    for file, content in made.items():
        if not file.exists() or file.read_text(encoding="utf-8") != content:
            file.write_text(content, encoding="utf-8")
            print(file.relative_to(FOLDER.parent.parent))


if __name__ == "__main__":
    main()
