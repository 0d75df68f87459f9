from __future__ import annotations

from stowplan.model.reasons import Code
from tests.build import Document, card, machine, run, snapshot
from tests.solver.cycles import blames, gpus_of, places, starts

MI = card(model="AMD Instinct MI300X", vendor="amd", memory_mib=196592)
ODD = {"model": "Accelerator 9", "memory_mib": 15259}


def _asks(vendor: str, **more: object) -> Document:
    return run("a", {"count": 1, "vendor": vendor, **more})


def test_a_run_goes_where_its_vendor_is() -> None:
    s = snapshot([machine("m", 1), machine("n", [MI])], [_asks("amd")])
    assert places(s) == {"a": ["n"]}


def test_a_machine_of_another_vendor_says_which_it_has() -> None:
    s = snapshot([machine("m", [card(), ODD])], [_asks("intel")])
    assert blames(s, "a", "m") == (
        Code.NO_MATCHING_GPU,
        "no GPU with vendor intel (has nvidia, vendor unknown)",
        {"asked": "vendor intel", "has": ("nvidia", "vendor unknown")},
    )


def test_a_gpu_without_a_vendor_is_of_none() -> None:
    assert blames(snapshot([machine("m", [ODD])], [_asks("nvidia")]), "a", "m").numbers == {
        "asked": "vendor nvidia",
        "has": ("vendor unknown",),
    }
    assert starts(snapshot([machine("m", [ODD])], [run("a", 1)])) == {"a"}


def test_only_gpus_of_the_vendor_are_given() -> None:
    s = snapshot([machine("m", [card(), MI])], [_asks("amd")])
    assert gpus_of(s, "a") == [("m/1",)]


def test_the_vendor_must_be_that_of_a_gpu_of_the_model() -> None:
    # There is an NVIDIA card, but none whose name holds "MI": the AMD one is what is compared.
    s = snapshot([machine("m", [card(), MI])], [_asks("nvidia", models=["MI"])])
    assert blames(s, "a", "m") == (
        Code.NO_MATCHING_GPU,
        "no GPU with vendor nvidia (has amd)",
        {"asked": "vendor nvidia", "has": ("amd",)},
    )
