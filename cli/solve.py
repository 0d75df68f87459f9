"""`stowplan solve`: one cycle, from a snapshot to a decision."""

from __future__ import annotations

import math
import time
from typing import IO, TYPE_CHECKING, cast

import click

from stowplan.cli.formats import FORMS, Form, written
from stowplan.cli.talk import shown_working, warn

if TYPE_CHECKING:
    from stowplan.model.runs import Profile

SOMETHING_WAITS = 3


def _seconds(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is None or (math.isfinite(value) and value >= 0):
        return value
    raise click.BadParameter(f"{value:g} is not a time limit; seconds, 0 or more: 30")


def _share(ctx: click.Context, param: click.Parameter, value: float | None) -> float | None:
    if value is None or 0 <= value <= 1:
        return value
    raise click.BadParameter(f"{value:g} is not a share; from 0 to 1: 0.01 is 1 %, 0 proves it")


@click.command()
@click.argument("snapshot", type=click.Path(allow_dash=True))
@click.option(
    "-o", "--output", "form", type=click.Choice(FORMS), default="table", show_default=True,
    help="How to write the decision.",
)  # fmt: skip
@click.option(
    "--time-limit", metavar="SECONDS", type=float, callback=_seconds,
    help="Stop searching then, with the best decision so far.  [default: the snapshot's, 30]",
)  # fmt: skip
@click.option(
    "--gap", metavar="SHARE", type=float, callback=_share,
    help="Stop once proven this close to the best; 0 proves it.  [default: the snapshot's, 0.001]",
)  # fmt: skip
@click.option(
    "--profile", type=click.Choice(["balanced", "cost", "speed"]),
    help="What runs optimise that don't say so themselves.  [default: balanced]",
)  # fmt: skip
@click.option("--fail-on-waiting", is_flag=True, help="Exit 3 if a run waits or is refused.")
@click.option(
    "--log", metavar="FILE", type=click.File("w", encoding="utf-8"), help="Write the solver's log."
)
@click.pass_context
def solve(
    ctx: click.Context,
    snapshot: str,
    form: str,
    time_limit: float | None,
    gap: float | None,
    profile: str | None,
    fail_on_waiting: bool,
    log: IO[str] | None,
) -> None:
    """Decide one cycle: what starts where, and why the rest waits.

    SNAPSHOT is a YAML or JSON file, a folder of them, or - for standard input.

    \b
    Example:
      stowplan solve scenarios/quickstart.yaml
      stowplan solve scenarios/quickstart.yaml -o json --gap 0
    """
    from stowplan.adapters.snapshot_file import load
    from stowplan.solver.cycle import solve as decide
    from stowplan.solver.settings import Settings

    asked = load(snapshot)
    settings = Settings.of(
        asked,
        time_limit_s=time_limit,
        gap=gap,
        profile=cast("Profile | None", profile),  # one of the choices above
    )
    began = time.monotonic()
    with shown_working("solving") as say:
        decision = decide(
            asked,
            settings,
            lambda far: say(f"({far.stage}: {far.starting:,} start, gap {far.gap:.2%})"),
        )
    took_s = time.monotonic() - began
    if log:
        log.write(decision.solver.log)
    warn(decision.warnings)
    click.echo(written(decision, asked, cast("Form", form), took_s), nl=False)
    if fail_on_waiting and decision.summary.waiting + decision.summary.refused:
        ctx.exit(SOMETHING_WAITS)
