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
from stowplan.model.roadmap import ASKS, FACTS, VALUES
from stowplan.model.schema import json_schema
from stowplan.solver.cycle import RULES
from stowplan.solver.rule import Rule

FOLDER = Path(__file__).parent / "reference"
NOTE = "<!-- Made by docs/generate.py; don't edit. -->\n"

TABLE = "#/$defs/Table"
"""The other way to write a list, said once for all of them."""

type Schema = Mapping[str, Any]  # Any: JSON


def pages() -> dict[Path, str]:
    """Return every reference page, by the file it belongs in."""
    return {
        FOLDER / "commands.md": _commands(),
        FOLDER / "reasons.md": _reasons(),
        FOLDER / "rules.md": _rules(),
        FOLDER / "snapshot.md": _fields(
            "Snapshot",
            "What goes in: one document, YAML or JSON. Any list may be `{table: FILE}` instead, a\n"
            "CSV or Parquet file beside it.",
            json_schema(),
        ),
        FOLDER / "decision.md": _fields(
            "Decision",
            "What comes out with `-o json`: one outcome a run, and the solver's account.",
            Decision.model_json_schema(mode="serialization"),
        ),
    }


def _commands() -> str:
    text = f"# Commands\n\n{NOTE}"
    root = cli.make_context("stowplan", [], resilient_parsing=True, terminal_width=80)
    for context in _with_inner(root):
        text += f"\n## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"
    return text


def _with_inner(context: click.Context) -> Iterator[click.Context]:
    """Yield the context of a command, and of each command below it."""
    yield context
    command = context.command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner
            yield from _with_inner(inner.make_context(name, [], context, resilient_parsing=True))


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
        if rule.why_uncut:
            text += f"\n- Of the number of workers: {_said(rule.why_uncut)}\n"
        if rule.bars:
            text += f"\n- Of hosts, by their price: {_said(rule.bars)} {_said(rule.why_barred)}\n"
        if rule.allows:
            text += f"{_gap(rule.why_not)}- Of a run's machines together: {_said(rule.allows)}\n"
        if rule.only_tightest:
            text += f"\n- Of the rung of a run's machines: {_said(rule.only_tightest)}\n"
        if rule.post:
            gap = _gap(rule.why_not, rule.bars, rule.allows)
            text += f"{gap}- Of all together: {_said(rule.post)}\n"
    return text


def _gap(*before: object) -> str:
    """Return the empty line that begins a list, where nothing of it stands there already."""
    return "" if any(before) else "\n"


def _law(rule: Rule) -> str:
    """Return the sentence with which the rule's module opens."""
    side = rule.why_not or rule.why_uncut or rule.bars or rule.allows
    side = side or rule.only_tightest or rule.post
    assert side
    module = inspect.getmodule(side)
    assert module
    return _said(module)


def _said(thing: object) -> str:
    return " ".join((inspect.getdoc(thing) or "").split())


def _fields(title: str, lead: str, schema: Schema) -> str:
    text = f"# {title}\n\n{NOTE}\n{lead}\n"
    for name, (part, paths) in _parts(schema).items():
        said = " ".join(part.get("description", "").split())
        text += f"\n## {name}\n\n{said} "
        text += f"At {_places(paths)}.\n\n" if any(paths) else "\n\n"
        required = part.get("required", ())
        rows = [
            (
                f"`{field}`",
                _type(inner, schema),
                "required" if field in required else _default(inner),
                _meaning(inner, f"{paths[0]}.{field}".removeprefix(".")),
            )
            for field, inner in part["properties"].items()
        ]
        text += _table(("field", "type", "default", "meaning"), rows)
    return text.replace(" \n\n|", "\n\n|")


def _places(paths: list[str]) -> str:
    shown = [f"`{path}`" for path in dict.fromkeys(paths)]
    return ", ".join(shown[:3]) + (" and elsewhere" if shown[3:] else "")


def _parts(root: Schema) -> dict[str, tuple[Schema, list[str]]]:
    """Return every object that has fields, by its name, with all paths at which it stands."""
    parts: dict[str, tuple[Schema, list[str]]] = {"The document": (root, [""])}

    def visit(part: Schema, path: str) -> None:
        for inner in (*part.get("anyOf", ()), *part.get("oneOf", ())):
            visit(inner, path)
        if "items" in part:
            visit(part["items"], f"{path}[]")
        if part.get("$ref", TABLE) == TABLE:
            return
        name = part["$ref"].rpartition("/")[2]
        definition = root["$defs"][name]
        if "properties" not in definition:
            visit(definition, path)
        elif name in parts:
            parts[name][1].append(path)
        else:
            parts[name] = (definition, [path])
            for field, inner in definition["properties"].items():
                visit(inner, f"{path}.{field}")

    for field, inner in root["properties"].items():
        visit(inner, field)
    return parts


def _type(part: Schema, root: Schema) -> str:
    if "$ref" in part:
        name = part["$ref"].rpartition("/")[2]
        if "properties" in root["$defs"][name]:
            return f"[{name}](#{name.lower()})"
        if name in ("Code", "Action"):
            return f"[{name}](reasons.md)"
        return _type(root["$defs"][name], root)
    if "const" in part:
        return f"`{part['const']}`"
    if "enum" in part:
        return " or ".join(f"`{value}`" for value in part["enum"])
    if choices := part.get("anyOf") or part.get("oneOf"):
        told = (_type(choice, root) for choice in choices if choice.get("$ref") != TABLE)
        return " or ".join(dict.fromkeys(told))
    match part.get("type"):
        case "array":
            return f"list of {_type(part.get('items', {}), root)}"
        case "object":
            return "mapping"
        case "integer":
            return "whole number"
        case "boolean":
            return "true or false"
        case "string":
            return "time" if part.get("format") == "date-time" else "text"
        case other:
            return str(other or "anything")


def _default(field: Schema) -> str:
    value = field.get("default")
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    return "" if value in (None, "", [], {}) or isinstance(value, dict) else f"`{value}`"


def _meaning(field: Schema, path: str) -> str:
    said = " ".join(field.get("description", "").split())
    for fields, note in ((ASKS, "Not supported yet"), (FACTS, "Read, not used yet")):
        if path in fields:
            said = f"{said} {note} ({fields[path]}).".strip()
    for value in VALUES.get(path, ()):
        said = f"{said} `{value}` is not supported yet.".strip()
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
