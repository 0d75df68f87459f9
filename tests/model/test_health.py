from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.health import (
    CLASSES,
    RECOVERY_ACTIONS,
    VITAL,
    XID_CLASSES,
    Sign,
    classify,
    untold,
    xid_class,
)

CLEAN = dict.fromkeys(VITAL, False)

FAULTED_XIDS = {
    *(46, 62, 64, 79, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158),
    *(48, 74, 144, 145, 146, 147, 148, 149, 150, 54, 151, 78),
}
AT_RISK_XIDS = {
    *(63, 92, 94, 121, 137, 157, 160, 161, 171, 172, 154),
    *(162, 163, 164, 165, 166, 167, 168, 169, 170),
}
APPLICATION_XIDS = {
    *(8, 11, 13, 25, 31, 32, 37, 38, 39, 40, 41, 43, 44, 45, 60),
    *(66, 67, 68, 69, 70, 71, 72, 75, 76, 77, 80, 82, 83, 84, 85, 86, 88, 89),
    *(96, 97, 98, 99, 100, 101, 102, 103, 104, 105, 106, 107),
    *(126, 127, 128, 129, 130, 131, 132, 133, 134, 135, 139, 141, 152, 153, 159),
}

tellings = st.dictionaries(st.sampled_from(Sign), st.booleans())
errors = st.lists(st.integers(0, 200), max_size=5)


def test_a_gpu_that_told_the_vital_signs_and_shows_none_is_healthy() -> None:
    assert classify(CLEAN).health == "healthy"


@pytest.mark.parametrize("sign", sorted(VITAL))
def test_a_gpu_that_did_not_tell_a_vital_sign_is_unknown(sign: Sign) -> None:
    told = {other: False for other in Sign if other is not sign}
    assert classify(told).health == "unknown"
    assert untold(told) == (sign,)


def test_a_gpu_that_tells_nothing_is_unknown_and_shows_nothing() -> None:
    verdict = classify({})
    assert (verdict.health, verdict.signs, verdict.xid) == ("unknown", (), None)
    assert set(untold({})) == VITAL


@pytest.mark.parametrize("sign", Sign)
def test_each_sign_alone_gives_its_class_though_nothing_else_is_told(sign: Sign) -> None:
    verdict = classify({sign: True})
    assert verdict.health == CLASSES[sign]
    assert verdict.signs == (sign.value,)


@pytest.mark.parametrize(
    ("sign", "health"),
    [
        (Sign.GPU_LOST, "faulted"),
        (Sign.RESET_REQUIRED, "faulted"),
        (Sign.ROW_REMAP_FAILURE, "faulted"),
        (Sign.SRAM_THRESHOLD_EXCEEDED, "faulted"),
        (Sign.UNREPAIRABLE_MEMORY, "faulted"),
        (Sign.ROW_REMAP_PENDING, "at_risk"),
        (Sign.ECC_UNCORRECTABLE_VOLATILE, "at_risk"),
        (Sign.CHANNEL_REPAIR_PENDING, "at_risk"),
        (Sign.RETIRED_PAGES_PENDING, "at_risk"),
        (Sign.HW_POWER_BRAKE, "at_risk"),
        (Sign.FABRIC_UNHEALTHY, "at_risk"),
        (Sign.NVLINK_DOWN, "at_risk"),
    ],
)
def test_the_table_says(sign: Sign, health: str) -> None:
    assert CLASSES[sign] == health


def test_the_drivers_own_verdict_is_faulted_but_for_drains_and_the_imex_domain() -> None:
    faulted = {number for number, sign in RECOVERY_ACTIONS.items() if CLASSES[sign] == "faulted"}
    assert faulted == {1, 2, 6, 7}
    assert set(RECOVERY_ACTIONS) == {1, 2, 3, 4, 5, 6, 7}


def test_every_xid_is_in_its_class() -> None:
    for code in range(400):
        expected = (
            "faulted"
            if code in FAULTED_XIDS
            else "healthy"
            if code in APPLICATION_XIDS
            else "at_risk"
        )
        assert xid_class(code) == expected, code
    assert {code for code, health in XID_CLASSES.items() if health == "at_risk"} == AT_RISK_XIDS


def test_an_applications_xid_leaves_a_gpu_healthy() -> None:
    verdict = classify(CLEAN, [13, 31, 43])
    assert (verdict.health, verdict.signs, verdict.xid) == ("healthy", (), None)


def test_the_worst_xid_is_named_and_of_equal_ones_the_last() -> None:
    verdict = classify(CLEAN, [94, 79, 13, 48, 63])
    assert (verdict.health, verdict.xid) == ("faulted", 48)
    assert verdict.signs == ("xid_79", "xid_48", "xid_94", "xid_63")


def test_an_operator_can_reclassify_an_xid_and_a_sign() -> None:
    assert classify(CLEAN, [109], xid_classes={109: "healthy"}).health == "healthy"
    assert classify(CLEAN, [79], xid_classes={109: "healthy"}).health == "faulted"
    told = CLEAN | {Sign.HW_POWER_BRAKE: True, Sign.ROW_REMAP_PENDING: True}
    verdict = classify(told, classes={Sign.HW_POWER_BRAKE: "healthy"})
    assert (verdict.health, verdict.signs) == ("at_risk", ("row_remap_pending",))


@given(tellings, errors)
def test_health_is_the_worst_that_shows(told: dict[Sign, bool], xids: list[int]) -> None:
    shown = {CLASSES[sign] for sign, shows in told.items() if shows}
    shown |= {xid_class(code) for code in xids}
    verdict = classify(told, xids)
    if "faulted" in shown:
        assert verdict.health == "faulted"
    elif "at_risk" in shown:
        assert verdict.health == "at_risk"
    else:
        assert verdict.health == ("healthy" if set(told) >= VITAL else "unknown")
    assert bool(verdict.signs) == (verdict.health in ("faulted", "at_risk"))


@given(tellings, errors)
def test_the_order_in_which_signs_are_told_changes_nothing(
    told: dict[Sign, bool], xids: list[int]
) -> None:
    shuffled = dict(sorted(told.items(), reverse=True))
    assert classify(shuffled, xids) == classify(told, xids)


@given(tellings, errors, st.sampled_from(Sign))
def test_one_more_sign_never_makes_a_gpu_better(
    told: dict[Sign, bool], xids: list[int], sign: Sign
) -> None:
    order = ("healthy", "unknown", "at_risk", "faulted")
    before = classify(told, xids).health
    after = classify(told | {sign: True}, xids).health
    assert order.index(after) >= order.index(before)


@given(tellings, errors)
def test_what_can_no_longer_be_read_never_makes_a_fault(
    told: dict[Sign, bool], xids: list[int]
) -> None:
    before = classify(told, xids)
    for sign in told:
        after = classify({other: shows for other, shows in told.items() if other is not sign}, xids)
        assert set(after.signs) <= set(before.signs)


def test_no_xid_is_in_two_classes() -> None:
    classes = (FAULTED_XIDS, AT_RISK_XIDS, APPLICATION_XIDS)
    assert all(not one & other for one, other in itertools.combinations(classes, 2))
    assert set(XID_CLASSES) == FAULTED_XIDS | AT_RISK_XIDS | APPLICATION_XIDS
