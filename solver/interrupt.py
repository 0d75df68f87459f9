"""Ctrl-C: the search stops, and the best decision so far is finished, checked and given."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

POLL_S = 0.1
"""How often a waiting main thread looks up for signals."""


@dataclass
class Interrupt:
    """Whether the caller has asked to stop, and how to stop what runs now."""

    asked: bool = False
    _stop: list[Callable[[], None]] = field(default_factory=list)

    def ask(self) -> None:
        """Ask to stop: what runs now ends soon, and nothing more is begun."""
        self.asked = True
        for stop in self._stop:
            stop()

    def while_running(self, work: Callable[[], None], stop: Callable[[], None]) -> None:
        """Do work that `stop` ends early.

        In the main thread the work goes to another one: signals are only seen by a main thread
        that isn't inside the solver.
        """
        self._stop.append(stop)
        try:
            if threading.current_thread() is threading.main_thread():
                worker = threading.Thread(target=work, daemon=True)
                worker.start()
                while worker.is_alive():
                    worker.join(POLL_S)
            else:
                work()
        finally:
            self._stop.remove(stop)


def _say_nothing() -> None:
    """Tell nobody."""


@contextmanager
def heeding_signals(told: Callable[[], None] = _say_nothing) -> Iterator[Interrupt]:
    """Yield an interrupt that the first Ctrl-C asks; a second one ends the program as ever.

    `told` is called once the first was heard. Outside the main thread there are no signals to heed.
    """
    interrupt = Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt
        return
    before = signal.getsignal(signal.SIGINT)

    def heed(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, before)
        interrupt.ask()
        told()

    signal.signal(signal.SIGINT, heed)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)
