from __future__ import annotations

from stowplan.model.reasons import Code
from stowplan.solver.pricing import Ranking, ranked
from tests.build import card, machine, market, offering, run, running, snapshot, wants
from tests.solver.cycles import blames, gpus_of, grid_of, headline, places, says, starts

FAULTED = card(health="faulted")


def test_a_run_takes_the_last_gpu() -> None:
    s = snapshot([machine("m", 4)], [running("r", ("m", 2)), run("a", 2)])
    assert gpus_of(s, "a") == [("m/2", "m/3")]


def test_one_gpu_more_than_are_free_is_too_many() -> None:
    s = snapshot([machine("m", 4)], [running("r", ("m", 2)), run("a", 3)])
    assert blames(s, "a", "m") == (
        Code.INSUFFICIENT_GPUS,
        "needs 3 GPUs, 2 of 4 free",
        {"need": 3, "free": 2, "whole": 4},
    )


def test_only_matching_gpus_are_counted() -> None:
    small = card(model="NVIDIA L4")
    asked = run("a", {"count": 2, "models": ["L4"]})
    s = snapshot([machine("m", [card(), card(), small])], [asked])
    assert blames(s, "a", "m") == (
        Code.INSUFFICIENT_GPUS,
        "needs 2 GPUs, 1 of 1 matching free",
        {"need": 2, "free": 1, "whole": 1},
    )


def test_a_machine_without_gpus_has_none_that_match() -> None:
    s = snapshot([machine("m")], [run("a", 2)])
    assert blames(s, "a", "m") == (Code.NO_MATCHING_GPU, "no GPU", {"need": 2})


def test_a_faulted_gpu_is_never_given() -> None:
    s = snapshot([machine("m", [FAULTED, card(), card()])], [run("a", 2)])
    assert gpus_of(s, "a") == [("m/1", "m/2")]


def test_faulted_gpus_that_would_have_made_it_enough_are_the_reason() -> None:
    s = snapshot([machine("m", [FAULTED, card(), FAULTED])], [run("a", 2)])
    assert blames(s, "a", "m") == (
        Code.GPU_FAULTED,
        "needs 2 GPUs, 1 free (2 more free but faulted)",
        {"need": 2, "free": 1, "faulted": 2},
    )


def test_too_few_gpus_with_the_faulted_ones_is_a_matter_of_room() -> None:
    s = snapshot([machine("m", [FAULTED, card()])], [run("a", 3)])
    assert blames(s, "a", "m").numbers == {"need": 3, "free": 1, "whole": 2}


def test_faulted_gpus_come_before_withheld_ones_and_those_at_risk() -> None:
    cards = [FAULTED, card(), card(health="at_risk")]
    s = snapshot(
        [machine("m", cards, constraints={"denied_devices": ["m/1"]})],
        [run("a", {"count": 1, "healthy_only": True})],
    )
    assert blames(s, "a", "m").code == Code.GPU_FAULTED


def test_two_runs_that_fit_alone_do_not_fit_together() -> None:
    s = snapshot([machine("m", 4)], [run("a", 3), run("b", 2)])
    assert starts(s) == {"a"}
    assert says(s, "b", "m").numbers == {"need": 2, "free": 1, "whole": 4}
    assert headline(s, "b").code == Code.OUTCOMPETED


def test_no_gpu_goes_to_two_runs() -> None:
    s = snapshot([machine("m", 4)], [run(name, 1) for name in "abcd"])
    given = [gpus for name in "abcd" for each in gpus_of(s, name) for gpus in each]
    assert sorted(given) == ["m/0", "m/1", "m/2", "m/3"]


def test_two_runs_that_need_gpus_of_one_kind_go_apart_where_one_could_do_with_another() -> None:
    # b can use either kind; only if it leaves the H100s to a do both start.
    small = card(model="NVIDIA L4")
    either = run("b", {"count": 2, "models": ["H100", "L4"]})
    picky = run("a", {"count": 2, "models": ["H100"]})
    for runs in ([either, picky], [picky, either]):
        s = snapshot([machine("m", [card(), card(), small, small])], runs)
        assert gpus_of(s, "a") == [("m/0", "m/1")]
        assert gpus_of(s, "b") == [("m/2", "m/3")]


def test_three_runs_of_overlapping_kinds_are_counted_together() -> None:
    # Any two of the runs find GPUs; all three want 3 of the 2 that are H100 or L40S.
    cards = [card(), card(model="NVIDIA L40S"), card(model="NVIDIA L4")]
    wants = {"a": ["H100"], "b": ["L40S"], "c": ["H100", "L40S"], "d": ["L4"]}
    runs = [run(name, {"count": 1, "models": models}) for name, models in wants.items()]
    for left_out in "abc":
        s = snapshot([machine("m", cards)], [each for each in runs if each["name"] != left_out])
        assert len(starts(s)) == 3
    decision = snapshot([machine("m", cards)], runs)
    assert len(starts(decision)) == 3
    assert "d" in starts(decision)


def test_gpus_are_free_again_where_a_run_has_stopped() -> None:
    stopped = running("r", ("m", 2), state="stopped")
    assert places(snapshot([machine("m", 2)], [stopped, run("a", 2)])) == {"a": ["m"]}


def test_each_worker_takes_a_whole_instance_and_leaves_none_of_it() -> None:
    # Seven of an instance's eight GPUs would be left.
    s = market(offering("a", gpus=8, available=2), runs=[wants(name) for name in "xyz"])
    assert sorted(host for own in places(s).values() for host in own) == ["a#1", "a#2"]
    (left,) = {"x", "y", "z"} - starts(s)
    taken = "all that could start are taken in this cycle"
    assert says(s, left, "a") == (Code.NO_CAPACITY_NOW, taken, {})


def test_an_instance_has_no_more_gpus_than_it_has() -> None:
    assert starts(market(offering("a", gpus=4), runs=[wants("r", 4)]))
    s = market(offering("a", gpus=4), runs=[wants("r", 5)])
    numbers = {"need": 5, "free": 4, "whole": 4}
    assert says(s, "r", "a") == (Code.INSUFFICIENT_GPUS, "needs 5 GPUs, 4 of 4 free", numbers)
    assert headline(s, "r") == (Code.NO_OFFERING_FITS, "a: needs 5 GPUs, 4 of 4 free", numbers)


def test_a_sold_out_offering_that_is_too_small_as_well_says_that_it_is_too_small() -> None:
    s = market(offering("a", gpus=4, available=0), offering("b"), runs=[wants("r", 5), wants("q")])
    ranks = ranked(s, "r")
    assert isinstance(ranks, Ranking)
    assert [reason.code for reason in ranks.reasons("a")] == [Code.INSUFFICIENT_GPUS]
    assert ranks.reasons("b") == ()


def test_warm_and_new_instances_are_two_rows_of_one_offering() -> None:
    s = market(offering("a", available=3, warm=1), runs=[wants(name) for name in "wxyz"])
    assert sorted(host for own in places(s).values() for host in own) == ["a#1", "a#2", "a#3"]
    grid = grid_of(s)
    told = {host.name: host.instances for host in grid.hosts}
    assert told == {"a": ("a#2", "a#3"), "a (warm)": ("a#1",)}
