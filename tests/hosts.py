"""Hosts and runs whose estimates can be worked by hand, and random ones of every kind."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

from stowplan.model.estimating.duration import Likely
from stowplan.model.estimating.interruptions import interruptions_of
from stowplan.model.estimating.tariff import Tariff, offering_tariff
from stowplan.model.fleet import Billing, Offering, Reclaims
from stowplan.model.runs import Run

type Fields = dict[str, Any]  # Any: what a YAML file could hold

BY_THE_SECOND: Fields = {"increment_s": 1, "minimum_s": 0, "starts": "creation"}
"""How an offering bills, but for what a test says."""

NOW = dt.datetime(2026, 9, 21, 6, 0, tzinfo=dt.UTC)


def later(seconds: float) -> dt.datetime:
    """Return the time so many seconds after NOW."""
    return NOW + dt.timedelta(seconds=seconds)


def work(**more: Any) -> Run:
    """Return a run of one declared hour: an image of 5000 MiB, 4000 MiB saved every 600 s."""
    usual: Fields = {
        "name": "train",
        "expected_duration_s": 3600,
        "image_mib": 5000,
        "checkpoint": {"interval_s": 600, "size_mib": 4000, "saves": 3},
    }
    return Run.model_validate(usual | more)


def offering(**more: Any) -> Offering:
    """Return an offering at 3.60 USD an hour, a tenth of a cent a second, billed by the second.

    It boots in 100 s (p90 200 s), warm in 10 s, pulls 100 MiB/s, restores 200 MiB/s and ends in
    30 s: so `work` is pulled in 50 s and restored in 20 s.
    """
    usual: Fields = {
        "name": "a100",
        "provider": "acme",
        "region": "us",
        "rate_usd_per_hour": Decimal("3.60"),
        "startup": {
            "boot_p50_s": 100,
            "boot_p90_s": 200,
            "pull_mib_per_s": 100,
            "restore_mib_per_s": 200,
            "warm_s": 10,
        },
        "teardown_s": 30,
    }
    billing = BY_THE_SECOND | more.pop("billing", {})
    return Offering.model_validate({**usual, **more, "billing": billing})


def unknown_billing(host: Offering) -> Offering:
    """Return an offering of which nothing is known about billing."""
    return host.model_copy(update={"billing": Billing()})


def asked(host: Offering, *, is_warm: bool = False) -> Tariff:
    """Return what an offering asks at NOW."""
    return offering_tariff(host, NOW, is_warm=is_warm)


# Random ones.

_SPANS = (1, 60, 3600, 10**7)
seconds = st.sampled_from(_SPANS).flatmap(lambda most: st.integers(0, most))


@st.composite
def spans(draw: st.DrawFn, least: int = 0) -> Likely:
    """Return seconds that are no less at worst."""
    likely = max(least, draw(seconds))
    return Likely(likely, likely + draw(seconds))


@st.composite
def reclaims(draw: st.DrawFn) -> Reclaims:
    """Return what may be known of interruptions, nothing included."""
    uptimes = st.none() | st.integers(0, 10**6)
    per_hour = draw(st.none() | st.integers(0, 3000).map(lambda n: n / 1000))
    return Reclaims(per_hour=per_hour, uptime_p50_s=draw(uptimes), uptime_p90_s=draw(uptimes))


@st.composite
def tariffs(draw: st.DrawFn) -> Tariff:
    """Return a host of any kind: owned, rented, to be created, or idle; interruptible or not."""
    rates = st.integers(1, 10**9)
    return Tariff(
        rate=draw(st.just(0) | st.integers(1, 10**9)),
        paid_s=draw(st.just(0) | seconds),
        increment_s=draw(spans(least=1).map(lambda span: Likely(span.p50, span.p50)) | hours()),
        minimum_s=draw(spans()),
        bills_boot=draw(st.booleans()),
        is_running=draw(st.booleans()),
        warm_s=draw(spans()),
        boot_s=draw(spans()),
        pull=draw(rates.map(lambda rate: Likely(rate * 2, rate))),
        restore=draw(rates.map(lambda rate: Likely(rate, rate))),
        teardown_s=draw(spans()),
        interruptions=draw(st.none() | reclaims().map(interruptions_of)),
    )


def hours() -> st.SearchStrategy[Likely]:
    """Return an increment that isn't known: a minute, at worst an hour."""
    return st.just(Likely(60, 3600))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return a run that saves its work in any of the ways there are."""
    saves = draw(st.none() | st.integers(0, 2))
    saving = {
        "interval_s": draw(st.integers(1, 10**5)),
        "size_mib": draw(st.integers(0, 10**6)),
        "saves": saves,
    }
    image = draw(st.none() | st.integers(0, 10**6))
    return work(image_mib=image, checkpoint=draw(st.none() | st.just(saving)))
