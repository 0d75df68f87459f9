"""How a cycle is solved: one frozen value, so that the same settings give the same answer."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StrictInt

from stowplan.model.policy import MOST_WORKERS
from stowplan.model.runs import Profile
from stowplan.model.snapshot import Snapshot
from stowplan.model.types import Frozen, Number, Share


class Settings(Frozen):
    """Limits and seed of one solve; what isn't given comes from the snapshot."""

    time_limit_s: Number = 30
    gap: Share = 0.001
    """Stop once the decision is proven within this share of the best; 0: prove it."""
    workers: Annotated[StrictInt, Field(ge=1, le=MOST_WORKERS)] = 1
    seed: int = 1
    profile: Profile = "balanced"
    """Of runs that name none."""

    @classmethod
    def of(
        cls,
        snapshot: Snapshot,
        *,
        time_limit_s: float | None = None,
        gap: float | None = None,
        profile: Profile | None = None,
    ) -> Self:
        """Return the snapshot's own settings, with those given here in their place."""
        own = snapshot.solver
        return cls(
            time_limit_s=own.time_limit_s if time_limit_s is None else time_limit_s,
            gap=own.gap if gap is None else gap,
            workers=own.workers,
            seed=snapshot.seed,
            profile=profile or "balanced",
        )
