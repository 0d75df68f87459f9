"""Everything one cycle looks at: the fleet, the runs, the policy, what is known, and when."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Literal, Self

from pydantic import ValidationError, model_validator
from pydantic_core import PydanticCustomError

from stowplan.model.checks import problems_of
from stowplan.model.errors import InvalidInput
from stowplan.model.fleet import Fleet, Machine
from stowplan.model.knowledge import Knowledge
from stowplan.model.policy import Policy, SolverSettings, Workspace
from stowplan.model.runs import Run
from stowplan.model.types import Frozen, Name, Seed, Timestamp
from stowplan.model.wording import explained


class Snapshot(Frozen):
    """One cycle's input. Reading one checks all of it: raises InvalidInput with every problem."""

    version: Literal[1] = 1
    name: Name = "snapshot"
    now: Timestamp
    seed: Seed = 1
    fleet: Fleet = Fleet()
    runs: tuple[Run, ...] = ()
    policy: Policy = Policy()
    knowledge: Knowledge = Knowledge()
    solver: SolverSettings = SolverSettings()

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        problems = list(problems_of(self))
        if problems:
            raise PydanticCustomError(
                "disagrees", "{text}", {"text": str(problems[0]), "problems": problems}
            )
        return self

    @classmethod
    def read(cls, document: Any) -> Self:  # Any: raw input
        """Return the snapshot that a document (dictionaries and lists) holds.

        Raises InvalidInput with all that is wrong, each with its path.
        """
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            raise InvalidInput(explained(error, cls)) from None

    @cached_property
    def machines(self) -> Mapping[str, Machine]:
        """The machines by name."""
        return {machine.name: machine for machine in self.fleet.machines}

    @cached_property
    def workspaces(self) -> Mapping[str, Workspace]:
        """The workspaces by name: those of the policy, and every other that a run names."""
        named = {run.workspace: Workspace(name=run.workspace) for run in self.runs}
        return named | {workspace.name: workspace for workspace in self.policy.workspaces}

    def digest(self) -> str:
        """Return a hash of all that the snapshot says, whatever the order in which it says it.

        The order of a list counts only where it says something: of a run's placed workers. What
        is at its default isn't told: most of a large snapshot is.
        """
        told = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return content_hash(_in_order(told))


_IDENTITIES = ("name", "id", "device")
"""Fields by which the things of a list are known."""

_UNNAMED = frozenset({"durations", "observations", "measurements"})
"""Lists of things without a name in which the order says nothing."""

_SETS = frozenset({
    *("needs", "names", "pools", "models", "sites", "capabilities", "only", "ids", "finished"),
    *("denied_devices", "machines", "workspaces", "seconds"),
})  # fmt: skip
"""Lists of plain values in which the order says nothing."""


def _in_order(content: Any, field: str = "") -> Any:  # Any: whatever JSON can hold
    """Sort, in place, the lists whose order in the file says nothing: of named things, and sets.

    What a list holds is all of one kind.
    """
    if isinstance(content, dict):
        for key, value in content.items():
            if isinstance(value, dict | list):
                _in_order(value, key)
        return content
    if not content or not isinstance(content[0], dict):
        if field in _SETS:
            content.sort()
        return content
    for item in content:
        _in_order(item)
    if field in _UNNAMED:
        content.sort(key=lambda item: json.dumps(item, sort_keys=True))
    for identity in _IDENTITIES:
        if identity in content[0]:  # a model's weights may be there twice
            content.sort(key=lambda item: (str(item.get(identity)), str(item.get("quantisation"))))
            break
    return content


def content_hash(content: Any) -> str:  # Any: whatever JSON can hold
    """Return the SHA-256 of a JSON value, in hexadecimal."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
