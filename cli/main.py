"""The command line: its commands, each loaded when it is named, and how every one of them ends."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

import click

from stowplan.cli.talk import (
    INTERRUPTED,
    Failed,
    debugging,
    discard_output,
    errors,
    our_fault,
    unwritten,
)

COMMANDS = {
    "solve": "stowplan.cli.solve:solve",
    "estimate": "stowplan.cli.estimate:estimate",
    "validate": "stowplan.cli.validate:validate",
    "schema": "stowplan.cli.schema:schema",
    "import": "stowplan.cli.imports:imports",
    "completion": "stowplan.cli.completion:completion",
}
"""Where each command is, in the order in which help lists them."""

UNWRITTEN = 1
BROKEN_PIPE = 141


class Commands(click.Group):
    """A group whose commands are imported when they are asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, name = COMMANDS[cmd_name].split(":")
        command: click.Command = getattr(importlib.import_module(module), name)
        return command

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,  # Any: handed to the context as it is
    ) -> NoReturn:
        """Run one command and exit: 0, or the code that says how it ended."""
        if sys.stdout is None:
            click.echo("error: standard output is closed: there is nowhere to write", err=True)
            sys.exit(UNWRITTEN)
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        except Failed as failed:
            for line in failed.lines:
                click.echo(line, err=True)
            code = failed.code
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message(), err=True)
            code = error.exit_code
        except click.UsageError as error:
            _say_usage(error)
            code = error.exit_code
        except click.ClickException as error:
            click.echo(f"error: {_lower(error.format_message())}", err=True)
            code = 2
        except (KeyboardInterrupt, click.Abort):
            click.echo("interrupted: no answer yet", err=True)
            code = INTERRUPTED
        except OSError as error:  # of help, or of the version: a command's are Failed
            if debugging():
                raise
            click.echo(str(unwritten(error)), err=True)
            code = UNWRITTEN
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: click.Context) -> Any:  # Any: what click returns
        """Run the command, and turn every way in which it can fail into words."""
        try:
            result = super().invoke(ctx)
        except BrokenPipeError:
            discard_output()
            ctx.exit(BROKEN_PIPE)
        except (Failed, click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:
            if debugging():
                raise
            raise _explained(error) from error
        return result


def _explained(error: Exception) -> Failed:
    from stowplan.model.errors import InvalidInput

    if isinstance(error, InvalidInput):
        return Failed(errors(str(problem) for problem in error.problems), code=2)
    return our_fault(error)


def _say_usage(error: click.UsageError) -> None:
    click.echo(f"error: {_lower(error.format_message())}", err=True)
    if error.ctx is not None:
        click.echo(f"\nhint: {error.ctx.command_path} --help", err=True)


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(
    None, "-V", "--version", package_name="stowplan", message="stowplan %(version)s"
)
def cli() -> None:
    """Decide where GPU work runs, and say why the rest waits."""


def main() -> NoReturn:
    """Run the command line of this process."""
    cli.main(prog_name="stowplan")
