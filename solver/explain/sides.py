"""Whose side a rule is on: what the machine is or its operator says, its size, or the run."""

HOST_RULES = frozenset(
    {
        "state", "freshness", "pressure", "accepting", "reserved_for", "denied", "pools",
        "max_accelerators", "reservation", "budget", "balance",
    }
)  # fmt: skip
"""The machine's state, or what its operator or the policy says."""
SIZE_RULES = frozenset({"cpu", "memory", "room", "healthy_only", "drives"})
"""The machine is too small, or too little of it is sound."""
