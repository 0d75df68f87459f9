"""Quota: the GPUs that a workspace holds, running ones included, stay within its quota."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.asks import RunClass
from stowplan.solver.program.linear import Row, total

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """Sum over a workspace's classes of GPUs x starts(class) <= quota - GPUs held."""
    asking: dict[str, list[RunClass]] = {}
    for each in choices.classes:
        asking.setdefault(each.ask.workspace, []).append(each)
    for workspace, left in choices.limits.quota_left.items():
        own = asking.get(workspace, ())
        yield total(choices.starts(each) * each.ask.all_gpus for each in own) <= max(0, left)
