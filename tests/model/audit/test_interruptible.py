from __future__ import annotations

import pytest

from tests.build import broken, decided, machine, snapshot
from tests.model.audit.bought import market, offering, priced, work

SPOT = offering("spot", interruptible=True)


@pytest.mark.parametrize(
    ("asked", "host", "rules"),
    [
        ("never", "spot#1", {"interruptible"}),
        ("never", "a100#1", set()),
        ("allow", "spot#1", set()),
        ("allow", "a100#1", set()),
        ("prefer", "spot#1", set()),
        ("prefer", "a100#1", set()),
        ("require", "spot#1", set()),
        ("require", "a100#1", {"interruptible"}),
    ],
)
def test_a_run_goes_only_to_the_kind_that_it_accepts(
    asked: str, host: str, rules: set[str]
) -> None:
    s = market([SPOT, offering()], [work("a", placement={"interruptible": asked})])
    assert broken(s, priced(s, {"a": [(host, 1)]}, "3.60")) == rules


def test_a_machine_can_not_be_interrupted() -> None:
    for asked, rules in (("never", set()), ("require", {"interruptible"})):
        s = snapshot([machine("m", 1)], [work("a", placement={"interruptible": asked})])
        assert broken(s, decided(s, {"a": [("m", 1)]})) == rules
