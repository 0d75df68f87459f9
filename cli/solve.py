"""`stowplan solve`: one cycle, from a snapshot to a decision."""

from __future__ import annotations

import math
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, cast

import click

from stowplan.cli.formats import FORMS, Form, written
from stowplan.cli.talk import Failed, note, put, shown_working, warn, writing

if TYPE_CHECKING:
    from stowplan.model.decision import Decision
    from stowplan.model.runs import Profile
    from stowplan.solver.chain import Progress

SOMETHING_WAITS = 3
LONGEST_S = 10_000_000
STOPS = "stopping: the best answer so far is being finished; Ctrl-C again ends without an answer"


def _seconds(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None or 0 <= (seconds := _number(value)) <= LONGEST_S:
        return None if value is None else seconds
    if seconds > LONGEST_S:
        raise click.BadParameter(f"'{value}' is too long; at most {LONGEST_S:,} seconds")
    raise click.BadParameter(f"'{value}' is not a time limit; seconds, as a plain number: 30")


def _share(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    if value is None or 0 <= (share := _number(value)) <= 1:
        return None if value is None else share
    raise click.BadParameter(f"'{value}' is not a share; from 0 to 1: 0.01 is 1 %, 0 proves it")


def _number(text: str) -> float:
    """Return the number that a text is, or NaN, which is in no range."""
    try:
        return float(text)
    except ValueError:
        return math.nan


@click.command()
@click.argument("snapshot", type=click.Path(allow_dash=True))
@click.option(
    "-o", "--output", "form", type=click.Choice(FORMS), default="table", show_default=True,
    help="How to write the decision.",
)  # fmt: skip
@click.option(
    "--time-limit", metavar="SECONDS", callback=_seconds,
    help="Stop searching then, with the best decision so far.  [default: the snapshot's, 30]",
)  # fmt: skip
@click.option(
    "--gap", metavar="SHARE", callback=_share,
    help="Stop once proven this close to the best; 0 proves it.  [default: the snapshot's, 0.001]",
)  # fmt: skip
@click.option(
    "--profile", type=click.Choice(["balanced", "cost", "speed"]),
    help="What runs optimise that don't say so themselves.  [default: balanced]",
)  # fmt: skip
@click.option(
    "--fail-on-waiting",
    is_flag=True,
    help="Exit 3 if a run, or some of an array, waits or is refused.",
)
@click.option("--log", metavar="FILE", help="Write the solver's log; - for standard error.")
@click.pass_context
def solve(
    ctx: click.Context,
    snapshot: str,
    form: str,
    time_limit: float | None,
    gap: float | None,
    profile: str | None,
    fail_on_waiting: bool,
    log: str | None,
) -> None:
    """Decide one cycle: what starts where, and why the rest waits.

    SNAPSHOT is a YAML or JSON file, a folder of them, or - for standard input.

    \b
    Example:
      stowplan solve scenarios/quickstart.yaml
      stowplan solve scenarios/quickstart.yaml -o json --gap 0
    """
    from stowplan.adapters.snapshot_file import load
    from stowplan.solver.chain import STOPPING
    from stowplan.solver.cycle import solve as decide
    from stowplan.solver.settings import Settings

    with shown_working("solving") as say:
        if snapshot != "-":  # it may be typed
            say("reading")
        asked = load(snapshot)
        to = _opened(log, snapshot) if log else None
        settings = Settings.of(
            asked,
            time_limit_s=time_limit,
            gap=gap,
            profile=cast("Profile | None", profile),  # one of the choices above
        )
        began = time.monotonic()

        def watch(far: Progress) -> None:
            if far.stage == STOPPING:
                note(STOPS)
            say(how_far(far))

        decision = decide(asked, settings, watch)
        took_s = time.monotonic() - began
        say("writing")
        text = written(decision, asked, cast("Form", form), took_s)
    warn(decision.warnings)
    put(text)
    if to:
        _log(decision.solver.log, to)
    if fail_on_waiting and _something_waits(decision):
        ctx.exit(SOMETHING_WAITS)


def how_far(far: Progress) -> str:
    """Return the stage, and what is known: "place, greedy: 1,204 start, gap 3.10%"."""
    known = []
    if far.starting is not None:
        known.append(f"{far.starting:,} start")
    if far.gap is not None:
        known.append(f"gap {far.gap:.2%}")
    return f"{far.stage}: {', '.join(known)}" if known else far.stage


def _something_waits(decision: Decision) -> bool:
    """Whether a run, or an element of an array, neither runs nor starts."""
    from stowplan.model.decision import RefusedRun, WaitingRun

    return any(
        isinstance(outcome, WaitingRun | RefusedRun)
        or (outcome.array is not None and outcome.array.waiting > 0)
        for outcome in decision.outcomes
    )


def _opened(log: str, snapshot: str) -> IO[str]:
    """Open the file of the log. Raises BadParameter where it can't be, or is the snapshot's."""
    from stowplan.adapters.documents import is_of

    if log == "-":
        return sys.stderr
    try:
        if snapshot != "-" and is_of(snapshot, Path(log)):
            raise _bad_log(f"'{log}' is of the snapshot, and would be overwritten")
        return Path(log).open("w", encoding="utf-8")  # closed once it is written
    except (OSError, ValueError) as error:  # ValueError: a name with a null byte
        raise _bad_log(f"'{log}': {_reason(error)}") from None


def _bad_log(message: str) -> click.BadParameter:
    return click.BadParameter(message, param_hint="'--log'")


def _log(text: str, to: IO[str]) -> None:
    try:
        with writing("the log"):
            to.write(text)
            to.flush()
            if to is not sys.stderr:
                to.close()
    except OSError as error:
        raise Failed(
            [f"error: {to.name}: the log can't be written: {_reason(error)}"], code=1
        ) from None


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error)).lower()
