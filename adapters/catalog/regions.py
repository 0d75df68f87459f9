"""Which part of the world a region is in, where its own name says so."""

from __future__ import annotations

import functools
import re

_AREAS = {
    "us": "us", "ca": "ca", "canada": "ca", "eu": "eu", "europe": "eu", "uk": "uk", "gb": "uk",
    "ap": "ap", "asia": "ap", "sa": "sa", "me": "me", "af": "af",
}  # fmt: skip
"""How clouds' regions begin, and the class it is."""
_PLACES = {"us": "us", "ca": "ca", "gb": "uk", "eu": "eu", "as": "ap"}
"""Countries and continents, as marketplaces write them: `Oregon, US, NA`."""
_COMPASS = re.compile(r"north|south|east|west|central|\d+")


@functools.cache
def class_of(region: str) -> str | None:
    """Return the class of a region: us, ca, eu, uk, ap, sa, me or af; None where it isn't told.

    It is the word the cloud itself uses: AWS calls London eu-west-2, and so it is eu.
    """
    places = [part.strip().lower() for part in region.split(",")]
    if len(places) > 1 or len(region) == 2:
        return next((_PLACES[place] for place in places if place in _PLACES), None)
    first = re.split(r"[-_ ]", places[0])[0]
    return _AREAS.get(_COMPASS.sub("", first))
