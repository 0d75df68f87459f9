"""The forms in which a decision is written: for people, for programs, for scripts."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from stowplan.model.decision import Decision
    from stowplan.model.snapshot import Snapshot

Form = Literal["table", "wide", "json", "yaml", "csv", "name"]
FORMS: tuple[Form, ...] = get_args(Form)


def written(decision: Decision, snapshot: Snapshot, form: Form, took_s: float | None = None) -> str:
    """Return the decision in one of the forms, ready to print; `took_s`: the cycle's time."""
    match form:
        case "table" | "wide":
            return _page(decision, snapshot, took_s, whole=form == "wide")
        case "json":
            return as_json(decision.model_dump_json(indent=1, by_alias=True))
        case "yaml":
            return as_yaml(json.loads(decision.model_dump_json(by_alias=True)))
        case "csv":
            return _csv(decision)
        case "name":
            return _names(decision)


def as_json(text: str) -> str:
    """Return JSON with what a terminal would act on escaped, which leaves its content the same."""
    if not text.replace("\n", "").isprintable():
        text = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    return text + "\n"


def as_yaml(document: object) -> str:
    """Return a document of plain values as YAML, in its own order.

    Letters of any script are written as they are, unless there is a character among them that a
    terminal would act on: YAML counts some of those as printable.
    """
    import yaml

    safe = json.dumps(document, ensure_ascii=False).isprintable()
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # the same, many times as fast
    text: str = yaml.dump(document, Dumper=dumper, sort_keys=False, allow_unicode=safe, width=100)
    return text


def _page(decision: Decision, snapshot: Snapshot, took_s: float | None, *, whole: bool) -> str:
    from stowplan.cli.render.decision import add_decision
    from stowplan.cli.render.page import Page

    page = Page()
    add_decision(page, decision, snapshot, whole=whole, took_s=took_s)
    return page.text()


def _csv(decision: Decision) -> str:
    frame = decision.to_frame()
    frame["hosts"] = frame["hosts"].map(",".join)
    text = frame.to_csv(index=False, lineterminator="\n")
    if not sys.stdout.isatty():
        return text
    from stowplan.cli.render.text import printable

    return "".join(printable(line) + "\n" for line in text.split("\n")[:-1])


def _names(decision: Decision) -> str:
    """Return a line for each run that starts: its name, and its hosts with commas between."""
    from stowplan.cli.render.text import printable
    from stowplan.model.decision import PlacedRun

    return "".join(
        printable(f"run/{outcome.run} {','.join(dict.fromkeys(w.host for w in outcome.workers))}")
        + "\n"
        for outcome in decision.outcomes
        if isinstance(outcome, PlacedRun)
    )
