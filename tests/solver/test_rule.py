from __future__ import annotations

import pytest

from stowplan.solver.cycle import RULES
from stowplan.solver.rule import rule
from stowplan.solver.rules import cpu, keep_within, min_nodes, patience, quota, state


def test_a_rule_is_named_as_its_module_and_has_the_sides_that_it_gives() -> None:
    both, one, other, group = rule(cpu, cost=50), rule(state), rule(quota), rule(keep_within)
    assert (both.name, both.why_not, both.post) == ("cpu", cpu.why_not, cpu.post)
    assert (both.reads_room, both.cost) == (True, 50)
    assert (one.name, one.why_not, one.post) == ("state", state.why_not, None)
    assert (one.reads_room, one.cost) == (False, None)
    assert (other.name, other.why_not, other.post) == ("quota", None, quota.post)
    assert (both.allows, group.allows, group.asked_by) == (None, keep_within.allows, "keep_within")
    cut, rung = rule(min_nodes), rule(patience)
    assert (cut.why_uncut, cut.only_tightest) == (min_nodes.why_uncut, None)
    assert (rung.why_uncut, rung.only_tightest) == (None, patience.only_tightest)


COSTS = {
    10: {"spread", "keep_within", "min_gbps", "patience"},
    12: {
        "interconnect",
        "machines",
        "scope",
        "transport",
        "max_nodes",
        "min_nodes",
        "min_per_machine",
    },
    14: {"names", "match_labels", "pinned_ids", "min_memory_gb"},
    15: {"models", "vendor"},
    16: {"healthy_only"},
    20: {"interruptible", "max_rate", "if_match", "max_cost", "complete_by"},
    24: {"budget", "balance"},
    30: {"quota", "array_limit", "queue"},
    32: {"pools", "reservation", "reserved_for"},
    40: {"accepting", "denied", "max_accelerators"},
    50: {"cpu", "memory", "room"},
    None: {"state", "freshness", "pressure", "capabilities", "drives", "one_site", "per_node"},
}
"""What it costs to loosen a rule (None: it never is), as the repairs of waiting runs are told."""


@pytest.mark.parametrize(("cost", "names"), COSTS.items())
def test_rules_cost_as_much_to_loosen_as_the_house_says(cost: int | None, names: set[str]) -> None:
    assert {each.name for each in RULES if each.cost == cost} == names
