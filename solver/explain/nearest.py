"""Which host comes nearest to taking a run that no host could ever take, and what keeps it out.

Nearest are hosts that are all that the run asks for and kept out by their own side: down, stale,
closed, withheld, reserved. Then machines that match and are too small; then hosts that the run's
own asks exclude, the fewer the better; offerings that are too small come last.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from stowplan.model.reasons import Code, Reason
from stowplan.solver.asks import Ask
from stowplan.solver.eligibility import Failing
from stowplan.solver.explain.sides import HOST_RULES, SIZE_RULES
from stowplan.solver.explain.waiting import Verdict
from stowplan.solver.hosts import Host


class Side(IntEnum):
    """What keeps a run off a host, from what is nearest to what is farthest."""

    HOST = 0
    """The machine's state, or what its operator or the policy says."""
    SIZE = 1
    """The machine is too small, or too little of it is sound."""
    RUN = 2
    """What the run itself asks for."""
    LARGER = 3
    """An offering is too small: nobody can make it larger, and others may do."""


_SIDES = {Side.HOST: HOST_RULES, Side.SIZE: SIZE_RULES}


_NEEDS = (
    ("need", "whole"), ("need_bytes", "whole_bytes"), ("need_gb", "has_gb"),
    ("rate_usd_per_hour", "max_usd_per_hour"), ("need_usd", "left_usd"),
)  # fmt: skip
"""Numbers of reasons: what is asked, and what there is."""

NEVER = 1000
"""What it counts for that a rule is never loosened, beside the costs of those that are."""
_ASKS = (
    "capabilities", "names", "match_labels", "models", "vendor", "min_memory_gb", "pinned_ids",
    "interruptible",
)  # fmt: skip
"""The run's own asks, in the order of the filters: who fails a later one comes nearer."""


def nearest(ask: Ask, verdicts: Sequence[Verdict]) -> Verdict:
    """Return the host that comes nearest; at least one is given."""
    return min(verdicts, key=lambda verdict: _distance(ask, verdict))


def telling(verdict: Verdict) -> Reason:
    """Return the first of the reasons that keep the run farthest from a host."""
    sides = [_side(failing, verdict.host) for failing in verdict.empty]
    return verdict.empty[sides.index(max(sides))].reason


def is_kept_out_by_itself(verdict: Verdict) -> bool:
    """Whether only the host's own side keeps the run out."""
    return bool(verdict.empty) and all(
        _side(each, verdict.host) == Side.HOST for each in verdict.empty
    )


def _side(failing: Failing, host: Host) -> Side:
    if failing.reason.code == Code.GPU_FAULTED:
        return Side.HOST
    if failing.reason.code == Code.NO_MATCHING_GPU:
        return Side.RUN
    names = _SIDES.items()
    side = next((side for side, rules in names if failing.rule.name in rules), Side.RUN)
    return Side.LARGER if side == Side.SIZE and host.offering else side


def _distance(ask: Ask, verdict: Verdict) -> tuple[int, int, int, float, int, str]:
    host, failing = verdict.host, verdict.empty
    sides = [_side(each, host) for each in failing]
    too_small = Side.LARGER if host.offering else Side.SIZE
    if ask.gpus > len(host.empty.devices) and too_small not in sides:
        sides.append(too_small)
    cost = sum(NEVER if each.rule.cost is None else each.rule.cost for each in failing)
    asked = [each.rule.name for each in failing if each.rule.name in _ASKS]
    passed = _ASKS.index(asked[0]) if asked else len(_ASKS)
    lacking = max((_lacking(each.reason) for each in failing), default=0.0)
    no_gpu = bool(ask.gpus and not host.lots)
    return (max(sides, default=0), len(sides) + no_gpu, -passed, lacking, cost, host.name)


def _lacking(reason: Reason) -> float:
    """What share of the need a host can't meet, were it empty."""
    for need, whole in _NEEDS:
        asked, there = reason.numbers.get(need), reason.numbers.get(whole)
        if isinstance(asked, int | float) and isinstance(there, int | float) and asked > there:
            return (asked - there) / asked
    missing = reason.numbers.get("missing")
    if reason.code == Code.NO_MATCHING_GPU and isinstance(missing, tuple):
        return len(missing) / (len(missing) + 1)  # of the pinned GPUs: the fewer, the nearer
    return 0.0
