"""`stowplan completion`: commands and options completed by the shell."""

from __future__ import annotations

import click

from stowplan.cli.talk import put

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print a script that completes stowplan's commands in a shell.

    \b
    Example:
      stowplan completion bash > stowplan.bash
      source stowplan.bash
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None  # click ships all three
    script = kind(ctx.find_root().command, {}, "stowplan", "_STOWPLAN_COMPLETE")
    put(script.source_template % script.source_vars() + "\n")
