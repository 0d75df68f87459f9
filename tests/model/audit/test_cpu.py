from __future__ import annotations

from stowplan.model.audit import audit
from tests.build import broken, decided, machine, run, running, snapshot
from tests.model.audit.bought import market, offering, priced, work


def test_runs_fill_a_machine_to_its_last_core() -> None:
    s = snapshot([machine("m", cpu_cores=8)], [run("a", cpu_cores=5), run("b", cpu_cores=3)])
    assert audit(s, decided(s, {"a": [("m", 0)], "b": [("m", 0)]})) == ()


def test_runs_that_fit_alone_and_not_together_are_refused_together() -> None:
    s = snapshot([machine("m", cpu_cores=8)], [run("a", cpu_cores=5), run("b", cpu_cores=3.001)])
    assert audit(s, decided(s, {"a": [("m", 0)]})) == ()
    assert broken(s, decided(s, {"a": [("m", 0)], "b": [("m", 0)]})) == {"cpu"}


def test_tenths_of_cores_add_up_exactly() -> None:
    runs = [run(f"r{n}", cpu_cores=0.1) for n in range(30)]
    s = snapshot([machine("m", cpu_cores=3)], runs)
    assert audit(s, decided(s, {r["name"]: [("m", 0)] for r in runs})) == ()


def test_what_others_use_is_not_free() -> None:
    s = snapshot([machine("m", cpu_cores=8, used={"cpu_cores": 4})], [run("a", cpu_cores=5)])
    assert broken(s, decided(s, {"a": [("m", 0)]})) == {"cpu"}


def test_what_runs_hold_is_not_free_and_counts_per_gpu() -> None:
    held = running("a", ("m", 2), cpu_cores=1, per_gpu={"cpu_cores": 2})
    s = snapshot(
        [machine("m", 2, cpu_cores=8)], [held, run("b", cpu_cores=3), run("c", cpu_cores=4)]
    )
    assert audit(s, decided(s, {"b": [("m", 0)]})) == ()
    assert broken(s, decided(s, {"c": [("m", 0)]})) == {"cpu"}


def test_what_a_stopped_run_had_is_free() -> None:
    stopped = running("a", ("m", 0), cpu_cores=8, state="stopped")
    s = snapshot([machine("m", cpu_cores=8)], [stopped, run("b", cpu_cores=8)])
    assert audit(s, decided(s, {"b": [("m", 0)]})) == ()


def test_the_ask_for_each_gpu_counts_beside_the_fixed_one() -> None:
    asks = {"cpu_cores": 1, "per_gpu": {"cpu_cores": 3}}
    fits = snapshot([machine("m", 2, cpu_cores=7)], [run("a", 2, **asks)])
    assert audit(fits, decided(fits, {"a": [("m", 2)]})) == ()
    short = snapshot([machine("m", 2, cpu_cores=6.999)], [run("a", 2, **asks)])
    assert broken(short, decided(short, {"a": [("m", 2)]})) == {"cpu"}


def test_a_run_that_asks_for_no_cores_goes_where_none_is_free() -> None:
    s = snapshot([machine("m", 1, cpu_cores=8, used={"cpu_cores": 12})], [run("a", 1)])
    assert audit(s, decided(s, {"a": [("m", 1)]})) == ()


def test_an_instance_has_the_cores_that_its_offering_states() -> None:
    for cores, rules in ((8, set()), (8.001, {"cpu"})):
        s = market([offering(cpu_cores=16)], [work("a", 2, cpu_cores=8, per_gpu={"cpu_cores": 4})])
        assert broken(s, priced(s, {"a": [("a100#1", 2)]}, "3.60")) == set()
        asked = work("a", 2, cpu_cores=cores, per_gpu={"cpu_cores": 4})
        s = market([offering(cpu_cores=16)], [asked])
        assert broken(s, priced(s, {"a": [("a100#1", 2)]}, "3.60")) == rules
