"""`stowplan validate`: whether a snapshot can be read, and what in it is odd."""

from __future__ import annotations

import click

from stowplan.cli.talk import Failed, errors, put, warn


@click.command()
@click.argument(
    "snapshots", metavar="SNAPSHOT...", nargs=-1, required=True, type=click.Path(allow_dash=True)
)
def validate(snapshots: tuple[str, ...]) -> None:
    """Check snapshots without solving them.

    \b
    Example:
      stowplan validate scenarios/quickstart.yaml
    """
    from stowplan.adapters.snapshot_file import load
    from stowplan.cli.render.text import counted, printable
    from stowplan.cli.render.words import fleet
    from stowplan.model.errors import InvalidInput
    from stowplan.model.warnings import warnings

    wrong: list[str] = []
    for path in snapshots:
        of = f"{printable(path)}: " if len(snapshots) > 1 else ""
        try:
            snapshot = load(path)
        except InvalidInput as error:
            wrong.extend(str(problem) for problem in error.problems)
            continue
        warn(f"{of}{sentence}" for sentence in warnings(snapshot))
        put(f"{of}ok: {fleet(snapshot)}, {counted(len(snapshot.runs), 'run')}\n")
    if wrong:
        raise Failed(errors(wrong), code=2)
