from __future__ import annotations

import pytest

from stowplan.model.audit import audit
from tests.build import broken, card, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, work


@pytest.mark.parametrize(
    ("memory_mib", "asked"), [(81559, 80), (81559, 86), (40960, 40), (75818, 80), (0, 0)]
)
def test_a_gpu_with_what_is_asked_less_half_a_gigabyte_will_do(memory_mib: int, asked: int) -> None:
    s = snapshot(
        [machine("m", [card(memory_mib=memory_mib)])],
        [run("a", {"count": 1, "min_memory_gb": asked})],
    )
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()


@pytest.mark.parametrize(("memory_mib", "asked"), [(75817, 80), (81559, 86.1), (40960, 48)])
def test_a_gpu_with_less_is_refused(memory_mib: int, asked: float) -> None:
    s = snapshot(
        [machine("m", [card(memory_mib=memory_mib)])],
        [run("a", {"count": 1, "min_memory_gb": asked})],
    )
    assert broken(s, decided(s, {"a": [("m", 1)]})) == {"min_memory_gb"}


def test_what_an_offering_states_is_compared_without_slack() -> None:
    for asked, rules in ((80, set()), (80.1, {"min_memory_gb"})):
        s = market([offering()], [work("a", {"count": 1, "min_memory_gb": asked})])
        assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == rules
