"""Stowplan decides where GPU work runs.

`load` reads a snapshot, `solve` decides one cycle, `audit` checks a decision against its snapshot:
`stowplan.solve(stowplan.load("fleet.yaml"))`.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which takes longer to load than Ctrl-C may wait

if TYPE_CHECKING:
    from collections.abc import Callable

    from stowplan.adapters.snapshot_file import load
    from stowplan.model.audit import audit
    from stowplan.model.decision import Decision
    from stowplan.model.errors import InvalidInput
    from stowplan.model.snapshot import Snapshot
    from stowplan.solver.cycle import solve
    from stowplan.solver.settings import Settings

    __version__: str

__all__ = [
    "Decision",
    "InvalidInput",
    "Settings",
    "Snapshot",
    "__version__",
    "audit",
    "load",
    "solve",
]

_HOMES = {
    "Decision": "stowplan.model.decision",
    "InvalidInput": "stowplan.model.errors",
    "Settings": "stowplan.solver.settings",
    "Snapshot": "stowplan.model.snapshot",
    "audit": "stowplan.model.audit",
    "load": "stowplan.adapters.snapshot_file",
    "solve": "stowplan.solver.cycle",
}
"""Where each public name is. They load when they are used, so that importing stowplan is quick."""


def __getattr__(name: str) -> object:
    import importlib

    if name == "__version__":
        from importlib.metadata import version

        value: object = version("stowplan")
    elif name in _HOMES:
        found = getattr(importlib.import_module(_HOMES[name]), name)
        value = _of_a_snapshot(found) if name in ("solve", "audit") else found
    else:
        raise AttributeError(f"module 'stowplan' has no attribute '{name}'")
    globals()[name] = value
    return value


def _of_a_snapshot(function: Callable[..., object]) -> Callable[..., object]:
    """Return a function of a snapshot that says so where it is given a path or a dictionary."""
    import functools

    from stowplan.model.snapshot import Snapshot

    @functools.wraps(function)
    def checked(snapshot: object, *rest: object, **named: object) -> object:
        if not isinstance(snapshot, Snapshot):
            kind = type(snapshot).__name__
            hint = "stowplan.load(path) reads one, and Snapshot.read(dictionary) too"
            raise TypeError(f"{function.__name__} takes a Snapshot, not {kind}; {hint}")
        return function(snapshot, *rest, **named)

    return checked


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
