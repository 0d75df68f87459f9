from __future__ import annotations

from typing import Any

from stowplan.model.reasons import Code
from stowplan.model.snapshot import Snapshot
from tests.build import machine, run, snapshot
from tests.solver.cycles import blames, places, starts


def _needs(needs: list[str], **more: Any) -> Snapshot:
    return snapshot([machine("m", **more)], [run("a", needs=needs)])


def test_a_run_goes_where_all_it_needs_is() -> None:
    s = snapshot(
        [machine("m", capabilities=["net"]), machine("n", capabilities=["sandbox", "net"])],
        [run("a", needs=["net", "sandbox"])],
    )
    assert places(s) == {"a": ["n"]}


def test_a_machine_that_lacks_a_need_is_refused_with_what_it_lacks() -> None:
    assert blames(_needs(["sandbox", "net", "gvisor"], capabilities=["net"]), "a", "m") == (
        Code.CAPABILITY_MISSING,
        "without gvisor, sandbox",
        {"missing": ("gvisor", "sandbox")},
    )


def test_what_a_machine_is_only_for_is_a_capability_too() -> None:
    assert starts(_needs(["native"], only=["native"])) == {"a"}
    assert starts(_needs(["native", "net"], only=["native"], capabilities=["net"])) == {"a"}


def test_one_of_what_a_machine_is_only_for_is_enough() -> None:
    assert starts(_needs(["native"], only=["native", "legacy"])) == {"a"}


def test_a_machine_that_is_only_for_a_need_takes_no_run_without_it() -> None:
    kept = {"only": ["native", "legacy"], "capabilities": ["net"]}
    for needs in ([], ["net"]):
        assert blames(_needs(needs, **kept), "a", "m") == (
            Code.CAPABILITY_MISSING,
            "only for runs that need legacy or native",
            {"only": ("legacy", "native")},
        )


def test_what_is_lacking_is_said_before_what_the_machine_is_only_for() -> None:
    assert blames(_needs(["net"], only=["native"]), "a", "m").numbers == {"missing": ("net",)}
