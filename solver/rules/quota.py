"""Quota: the GPUs that a workspace holds, running ones included, stay within its quota."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from stowplan.solver.program.linear import Row, total

if TYPE_CHECKING:
    from stowplan.solver.choices import Choices


def post(choices: Choices) -> Iterator[Row]:
    """Sum over a workspace's classes of GPUs x starts(class) <= quota - GPUs held."""
    for workspace, left in choices.limits.quota_left.items():
        asking = [each for each in choices.classes if each.ask.workspace == workspace]
        gpus = total(choices.starts(each) * each.ask.all_gpus for each in asking)
        yield gpus <= max(0, left)
