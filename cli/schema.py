"""`stowplan schema`: what a snapshot may hold, for editors and other programs."""

from __future__ import annotations

import json

import click

from stowplan.cli.talk import put


@click.command()
def schema() -> None:
    """Print the JSON Schema of a snapshot.

    \b
    Example:
      stowplan schema > snapshot.schema.json
    """
    from stowplan.model.schema import json_schema

    put(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
