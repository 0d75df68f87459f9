"""What is said on standard error: what is wrong, what to know, and how far the work is."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import click

INTERRUPTED = 130
QUIET_S = 2.0
"""Work that takes longer shows that it goes on."""


class Failed(Exception):
    """An end that isn't an answer: lines for standard error, and the exit code."""

    def __init__(self, lines: Sequence[str], code: int) -> None:
        super().__init__("\n".join(lines))
        self.lines = tuple(lines)
        self.code = code


def errors(sentences: Iterable[str]) -> list[str]:
    """Return error lines, a screen of them at most: the first usually explain the rest."""
    from stowplan.cli.render.text import printable
    from stowplan.model.errors import SHOWN

    said = [f"error: {printable(sentence)}" for sentence in sentences]
    more = len(said) - SHOWN
    return [*said[:SHOWN], f"... and {more:,} more"] if more > 0 else said


def put(text: str) -> None:
    """Write data to standard output. Raises Failed where it doesn't take them, or is cut short."""
    try:
        with writing("the answer"):
            click.echo(text, nl=False)
    except Failed:
        discard_output()
        raise
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritten(error) from None


def unwritten(error: OSError) -> Failed:
    """Return what to say where standard output took nothing, and give up what it holds back."""
    discard_output()
    reason = (error.strerror or str(error)).lower()
    return Failed([f"error: standard output can't be written: {reason}"], code=1)


def discard_output() -> None:
    """Let what is still to be written go nowhere: Python would fail with it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def note(sentence: str) -> None:
    """Write a line at once, over what is shown of work that goes on."""
    click.echo(f"{'\r\x1b[K' if sys.stderr.isatty() else ''}{sentence}", err=True)


@contextmanager
def writing(what: str) -> Iterator[None]:
    """Write something out. Raises Failed where Ctrl-C cuts it."""
    before = signal.getsignal(signal.SIGINT)
    heeds = callable(before) and threading.current_thread() is threading.main_thread()
    try:
        if heeds:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        yield
    except KeyboardInterrupt:
        told = f"interrupted while {what} was being written: the output is cut"
        below = [""] if sys.stdout.isatty() else []  # the cut line is on the screen
        raise Failed([*below, told], code=INTERRUPTED) from None
    finally:
        if heeds:
            signal.signal(signal.SIGINT, before)


def warn(sentences: Iterable[str]) -> None:
    """Write what the reader should know and nothing stops at."""
    from stowplan.cli.render.text import printable

    for sentence in sentences:
        click.echo(f"warning: {printable(sentence)}", err=True)


def our_fault(error: BaseException) -> Failed:
    """Return what to say of a failure of ours, and what to send us."""
    from stowplan import __version__
    from stowplan.cli.render.text import printable

    what = printable(f"{type(error).__name__}: {error}".rstrip(": "))
    return Failed(
        [
            f"error: INTERNAL_ERROR: {what}",
            "",
            "This is a mistake in Stowplan, not in your input. Nothing was decided.",
            f"Please send us the snapshot, the command, and this version: stowplan {__version__}.",
            "hint: STOWPLAN_DEBUG=1 shows where it happened",
        ],
        code=1,
    )


def debugging() -> bool:
    """Whether the user wants to see where a failure of ours happened."""
    return os.environ.get("STOWPLAN_DEBUG", "") not in ("", "0")


@contextmanager
def shown_working(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal, after two seconds, what is being done, how far it is, and for how long.

    Yields what is to be called with how far it is; before that, nothing is shown.
    """
    said = [""]

    def say(how_far: str) -> None:
        said[0] = f" ({how_far})"

    if not sys.stderr.isatty():
        yield say
        return
    over = threading.Event()
    started = time.monotonic()

    def tick() -> None:
        while not over.wait(QUIET_S if time.monotonic() - started < QUIET_S else 1.0):
            if not said[0]:
                continue
            gone = time.monotonic() - started
            click.echo(f"\r\x1b[K{what}{said[0]} ... {gone:.0f} s", nl=False, err=True)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield say
    finally:
        over.set()
        thread.join()
        if time.monotonic() - started >= QUIET_S:
            click.echo("\r\x1b[K", nl=False, err=True)
