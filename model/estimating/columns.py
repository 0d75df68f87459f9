"""Whole numbers of many hosts at once: exact products, and quotients rounded up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

type Whole = npt.NDArray[Any]
"""Any: 64-bit integers, or Python's own where a product wouldn't fit these."""

_FITS = 2**62


def column(values: Sequence[int]) -> Whole:
    """Return whole numbers as a column."""
    return np.array(values, dtype=np.int64)


def over(amount: Whole | int, by: Whole | int) -> Whole:
    """Return amounts over positive numbers, rounded up."""
    quotient: Whole = np.asarray(-(-amount // by))
    return quotient


def product(one: Whole, other: Whole | int) -> Whole:
    """Return products of numbers from 0 on, exactly: where 64 bits may not do, by Python's."""
    fits = not one.size or int(one.max()) * int(np.max(other)) < _FITS
    exact: Whole = one * other if fits else one.astype(object) * other
    return exact
