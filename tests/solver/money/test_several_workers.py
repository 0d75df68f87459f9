"""Runs of several workers on machines that cost something: their limits hold for all of them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

import stowplan
from stowplan.model.audit import audit
from stowplan.model.snapshot import Snapshot
from tests.build import Document, after, machine, offering, run, snapshot
from tests.solver.large.test_valuewise import at_large, held
from tests.strategies import examples


@st.composite
def costly(draw: st.DrawFn) -> Snapshot:
    """Return machines that cost something, offerings, and runs of one worker and of several."""

    def one[T](*values: T) -> T:
        return draw(st.sampled_from(values))

    def rented(name: str) -> Document:
        rate = {"rate_usd_per_hour": one("1", "1.02", "2", "0.5", "0")}
        paid = {"paid_until": after(one(1800, 7200, -60))} if one(False, True) else {}
        pool = {"byoc_pool": "mine"} if one(0, 0, 0, 1) else {}
        return machine(name, one(0, 1, 2)) | rate | paid | pool

    def asked(name: str) -> Document:
        limits: list[Document] = [
            {},
            {"max_cost_usd": one("1", "2", "4.08")},
            {"max_rate_usd_per_hour": one("1", "2", "2.04")},
            {"complete_by": after(one(4500, 9000))},
            {"pool": "mine"},
        ]
        workers = one(1, 2, 3)
        wanted = run(name, cpu_cores=one(16, 40, 64)) if workers > 1 else run(name, one(0, 1))
        return wanted | {
            "machines": workers,
            "workspace": one("u", "v"),
            "placement": one(*limits) | {"profile": one("balanced", "cost", "speed")},
            "expected_duration_s": one(3600, 1800, 7200),
        }

    budget = {"name": "b", "workspaces": one(["u"], ["u", "v"]), "remaining_usd": one("3", "4.5")}
    return snapshot(
        [rented(f"m{number}") for number in range(one(2, 1, 3))],
        [asked(f"r{number}") for number in range(one(3, 2, 4))],
        offerings=[offering(f"o{number}", one("1", "2")) for number in range(one(0, 1, 2))],
        policy={
            "budgets": [budget] if one(True, False) else [],
            "workspaces": [{"name": "u", "balance_usd": one("2", "5")}] if one(True, False) else [],
        },
    )


@examples(40)
@given(costly())
def test_decisions_are_lawful_and_what_they_say_of_value_is_true_both_ways(s: Snapshot) -> None:
    exact = stowplan.solve(s)
    assert audit(s, exact) == ()
    assert audit(s, at_large(s)) == ()
    held(s)


def test_a_budget_is_charged_for_each_of_its_workers() -> None:
    # Two workers at 1.00 USD for an hour are 2.00: one cent more is left, or one cent less.
    def starting(left: str) -> int:
        return stowplan.solve(
            snapshot(
                [machine(name, rate_usd_per_hour="1") for name in ("m", "n")],
                [run("r", cpu_cores=64, machines=2, expected_duration_s=3600)],
                policy={
                    "budgets": [{"name": "b", "workspaces": ["default"], "remaining_usd": left}]
                },
            )
        ).summary.placed

    assert (starting("2.01"), starting("2"), starting("1.99")) == (1, 1, 0)
