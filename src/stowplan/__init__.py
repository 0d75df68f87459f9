"""Stowplan decides where GPU work runs.

`load` reads a snapshot, `solve` decides one cycle, `audit` checks a decision against its snapshot:
`stowplan.solve(stowplan.load("fleet.yaml"))`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
    if name == "__version__":
        from importlib.metadata import version

        value: object = version("stowplan")
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'stowplan' has no attribute '{name}'")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
