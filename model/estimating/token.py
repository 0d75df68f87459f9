"""The If-Match token of an estimate: a run made from it is kept from hosts that are much dearer.

The token holds all there is to it, so that nobody need keep estimates: the rate, until when the
estimate was valid, and a check over both.
"""

from __future__ import annotations

import datetime as dt
import hashlib
import re

from stowplan.model.runs import Run

_TOKEN = re.compile(
    r"e1-(?P<rate>\d{1,19})-(?P<until>\d{8}T\d{6}Z)-(?P<run>[0-9a-f]{8})-(?P<check>[0-9a-f]{8})"
)
_MOMENT = "%Y%m%dT%H%M%SZ"


def token_of(run: Run, host: str, rate: int, until: dt.datetime) -> str:
    """Return the token of a run's estimate on a host, at a rate in micro-dollars an hour."""
    told = f"{rate}-{until.astimezone(dt.UTC).strftime(_MOMENT)}-{_digest(f'{run.name} {host}')}"
    return f"e1-{told}-{_digest(told)}"


def rate_in(token: str) -> int:
    """Return the rate that a token holds, in micro-dollars an hour.

    Raises ValueError where it is none, or has been altered.
    """
    return int(_read(token)["rate"])


def until_in(token: str) -> dt.datetime:
    """Return until when the estimate was valid, to the second.

    Raises ValueError where it is no token, or has been altered.
    """
    return dt.datetime.strptime(_read(token)["until"], _MOMENT).replace(tzinfo=dt.UTC)


def _read(token: str) -> re.Match[str]:
    match = _TOKEN.fullmatch(token)
    if match is None:
        raise ValueError(f"'{token}' is no token of an estimate")
    told = "-".join(match[part] for part in ("rate", "until", "run"))
    if _digest(told) != match["check"]:
        raise ValueError(f"'{token}' is not as an estimate wrote it")
    return match


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:8]
