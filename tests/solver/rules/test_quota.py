from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, machine, run, running, snapshot
from tests.solver.cycles import headline, says, starts


def _quota(gpus: int, **more: object) -> Document:
    return {"workspaces": [{"name": "default", "gpu_quota": gpus, **more}]}


def test_a_workspace_may_use_up_its_quota() -> None:
    s = snapshot([machine("m", 8)], [running("r", ("m", 2)), run("a", 2)], policy=_quota(4))
    assert starts(s) == {"a"}


def test_one_gpu_more_than_the_quota_is_too_many() -> None:
    s = snapshot([machine("m", 8)], [running("r", ("m", 2)), run("a", 3)], policy=_quota(4))
    assert headline(s, "a") == (
        Code.QUOTA_EXCEEDED,
        "needs 3 GPUs; workspace default has 2 left of its quota of 4 "
        "(2 held, 0 placed in this cycle)",
        {"need": 3, "quota": 4, "held": 2, "placed": 0},
    )
    assert says(s, "a", "m").code == Code.OK


def test_the_house_may_say_it_in_its_own_words() -> None:
    policy = _quota(1, terms={"quota": "ask #gpu-desk for more"})
    s = snapshot([machine("m", 8)], [run("a", 2)], policy=policy)
    assert headline(s, "a").message.endswith("; ask #gpu-desk for more")


def test_runs_that_each_keep_the_quota_do_not_keep_it_together() -> None:
    s = snapshot([machine("m", 8)], [run("a", 3), run("b", 2)], policy=_quota(4))
    assert starts(s) == {"a"}
    assert headline(s, "b").numbers == {"need": 2, "quota": 4, "held": 0, "placed": 3}


def test_elements_of_an_array_start_up_to_the_quota() -> None:
    array = run("a", 2, array={"size": 4})
    s = snapshot([machine("m", 8)], [array], policy=_quota(5))
    assert starts(s) == {"a"}
    s = snapshot([machine("m", 8)], [array, run("b", 1)], policy=_quota(5))
    assert starts(s) == {"a", "b"}


def test_runs_without_gpus_need_no_quota() -> None:
    held = running("r", ("m", 2))
    s = snapshot([machine("m", 8)], [held, run("a"), run("b", 1)], policy=_quota(1))
    assert starts(s) == {"a"}
    assert headline(s, "b").numbers == {"need": 1, "quota": 1, "held": 2, "placed": 0}


def test_another_workspace_has_its_own_quota() -> None:
    other = run("b", 4, workspace="vision")
    s = snapshot([machine("m", 8)], [run("a", 2), other], policy=_quota(1))
    assert starts(s) == {"b"}


def test_what_a_stopped_run_had_is_given_back_to_the_quota() -> None:
    stopped = running("r", ("m", 2), state="stopped")
    s = snapshot([machine("m", 8)], [stopped, run("a", 2)], policy=_quota(2))
    assert starts(s) == {"a"}


def test_what_a_withdrawn_run_still_holds_counts() -> None:
    vanished = running("r", ("m", ["gone"]))
    s = snapshot([machine("m", 8)], [vanished, run("a", 2)], policy=_quota(2))
    assert headline(s, "a").numbers["held"] == 1
