"""How the process begins and ends: Ctrl-C is quiet even while Python loads and unloads."""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # as in typing, which takes longer to load than Ctrl-C may wait

if TYPE_CHECKING:
    from types import FrameType
    from typing import NoReturn

INTERRUPTED = 130
ERASED = b"\r\x1b[K"


def _end(number: int, frame: FrameType | None) -> None:
    """End at once: amid imports of compiled modules, a KeyboardInterrupt is lost or misread."""
    try:
        os.write(2, (ERASED if os.isatty(2) else b"") + b"interrupted: no answer yet\n")
    finally:
        os._exit(INTERRUPTED)


def _end_quietly(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)


def main() -> NoReturn:
    """Run the command line of this process."""
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not under nohup
    if heeds:
        signal.signal(signal.SIGINT, _end)
    try:
        from stowplan.cli.main import main as run

        run()
    finally:
        if heeds:
            signal.signal(signal.SIGINT, _end_quietly)
