import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stowplan.model.estimating.token import rate_in, token_of, until_in
from stowplan.model.runs import Run

UNTIL = dt.datetime(2026, 9, 21, 6, 31, tzinfo=dt.UTC)
TOKEN = token_of(Run(name="a"), "gpu", 15_120_000, UNTIL)


@given(st.integers(0, 10**18), st.text(min_size=1, max_size=9))
def test_a_token_holds_the_rate_that_it_was_made_with(rate: int, host: str) -> None:
    assert rate_in(token_of(Run(name="a"), host, rate, UNTIL)) == rate


@given(st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2200, 1, 1), timezones=st.just(dt.UTC)))
def test_it_holds_until_when_the_estimate_was_valid_to_the_second(until: dt.datetime) -> None:
    assert until_in(token_of(Run(name="a"), "gpu", 1, until)) == until.replace(microsecond=0)


def test_it_is_the_same_for_the_same_estimate_and_another_for_another() -> None:
    assert token_of(Run(name="a"), "gpu", 15_120_000, UNTIL) == TOKEN
    others = {
        token_of(Run(name="b"), "gpu", 15_120_000, UNTIL),
        token_of(Run(name="a"), "cpu", 15_120_000, UNTIL),
        token_of(Run(name="a"), "gpu", 15_120_001, UNTIL),
        token_of(Run(name="a"), "gpu", 15_120_000, UNTIL + dt.timedelta(seconds=1)),
    }
    assert len(others | {TOKEN}) == 5


@pytest.mark.parametrize("place", range(len(TOKEN)))
def test_no_character_of_it_can_be_changed(place: int) -> None:
    other = "0" if TOKEN[place] != "0" else "1"
    with pytest.raises(ValueError, match=r"token of an estimate|as an estimate wrote it"):
        rate_in(TOKEN[:place] + other + TOKEN[place + 1 :])


@pytest.mark.parametrize("text", ["", "12", "e1", TOKEN[:-1], TOKEN + "0", f" {TOKEN}", "²"])
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no token of an estimate"):
        rate_in(text)
