from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from stowplan.model.reasons import ACTIONS, MEANINGS, Action, Code, Reason

FIGURES = (
    st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.booleans()
    | st.none()
)


@pytest.mark.parametrize("code", Code)
def test_every_code_has_one_meaning_and_something_to_do(code: Code) -> None:
    assert MEANINGS[code]
    assert ACTIONS[code]
    assert Reason.of(code, "so").action is ACTIONS[code][0]


def test_no_two_codes_mean_the_same() -> None:
    assert len(set(MEANINGS.values())) == len(Code)


def test_a_code_that_is_not_known_is_kept_as_it_was_recorded() -> None:
    recorded = {"code": "FROM_TOMORROW", "message": "so", "action": "NONE"}
    reason = Reason.model_validate(recorded)
    assert (reason.code, reason.original) == (Code.UNKNOWN, "FROM_TOMORROW")
    again = Reason.model_validate_json(reason.model_dump_json())
    assert again == reason


def test_an_action_that_is_not_known_is_kept_as_it_was_recorded() -> None:
    recorded = {"code": "QUEUED", "message": "so", "action": "PHONE_HOME"}
    reason = Reason.model_validate(recorded)
    assert (reason.action, reason.original_action) == (Action.CONTACT_SUPPORT, "PHONE_HOME")
    assert (reason.code, reason.original) == (Code.QUEUED, None)
    assert Reason.model_validate_json(reason.model_dump_json()) == reason
    both = Reason.model_validate({"code": "NEW", "message": "so", "action": "NEWER"})
    assert (both.code, both.action) == (Code.UNKNOWN, Action.CONTACT_SUPPORT)
    assert (both.original, both.original_action) == ("NEW", "NEWER")


@pytest.mark.parametrize("field", ["code", "action"])
@pytest.mark.parametrize("value", [None, 7, ["OK"]])
def test_a_code_or_an_action_that_is_no_text_is_an_error(field: str, value: object) -> None:
    recorded = {"code": "OK", "message": "so", "action": "NONE", field: value}
    with pytest.raises(ValidationError, match=field):
        Reason.model_validate(recorded)


@given(st.sampled_from(Code), st.text(), st.dictionaries(st.text(), FIGURES))
def test_a_reason_comes_back_from_json_as_it_was(
    code: Code, message: str, numbers: dict[str, int | float | str | bool | None]
) -> None:
    reason = Reason(code=code, message=message, numbers=numbers, action=Action.NONE)
    assert Reason.model_validate_json(reason.model_dump_json()) == reason
