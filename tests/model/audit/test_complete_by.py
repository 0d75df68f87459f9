from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import after, broken, decided, machine, run, snapshot
from tests.model.audit.bought import market, offering, priced, with_history, work


def test_a_run_that_ends_in_time_at_worst_is_fine() -> None:
    # p90: boot in 200 s, an hour and a quarter of work.
    s = market([offering()], [work("a", placement={"complete_by": after(4700)})])
    assert audit(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == ()


def test_a_run_that_ends_too_late_at_worst_is_refused() -> None:
    s = market([offering()], [work("a", placement={"complete_by": after(4699.9)})])
    assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == {"complete_by"}


def test_a_machine_of_your_own_has_to_end_in_time_too() -> None:
    for seconds, rules in ((4500, set()), (4499, {"complete_by"})):
        s = snapshot([machine("m", 1)], [work("a", placement={"complete_by": after(seconds)})])
        assert broken(s, decided(s, {"a": [("m", 1)]})) == rules


def test_of_an_unknown_running_time_the_start_alone_counts() -> None:
    for seconds, rules in ((200, set()), (199, {"complete_by"})):
        s = market([offering()], [run("a", 1, placement={"complete_by": after(seconds)})])
        assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == rules


def test_a_history_on_the_same_family_tells_the_running_time() -> None:
    # Nine times in ten (the third of three) it took 1000 s, after 200 s of boot.
    cards = {"model": "A100", "memory_gb": 80, "count": 8, "family": "ampere"}
    for seconds, rules in ((1200, set()), (1199, {"complete_by"})):
        asked = run("a", 1, labels={"job": "x"}, placement={"complete_by": after(seconds)})
        s = with_history(market([offering(accelerator=cards)], [asked]), ampere=[800, 900, 1000])
        assert broken(s, priced(s, {"a": [("a100#1", 1)]}, "3.60")) == rules
