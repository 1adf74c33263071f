"""The arrays that tests take and give back, by their types, and what is done with them one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Narrow: TypeAlias = "NDArray[np.signedinteger[Any]]"
Floats: TypeAlias = "NDArray[np.float64]"
Booleans: TypeAlias = "NDArray[np.bool_]"
Places: TypeAlias = "NDArray[np.intp]"

SUM_LIMIT = 2**60
"""Numerators and denominators of a system must each sum to less than this in absolute value, so that int64 holds all
sums."""


def narrowed(rows: Integers) -> Narrow:
    """Counts in the smallest signed type that holds them, for work that only compares or copies them."""
    low, high = int(rows.min(initial=0)), int(rows.max(initial=0))
    for kind in (np.int8, np.int16, np.int32):
        if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max:
            return rows.astype(kind)
    return rows


def quotients(over: Integers | Floats, under: Integers) -> Floats:
    """over / under, both of one shape; NaN where the divisor is 0."""
    without = np.full(over.shape, np.nan)
    return np.asarray(np.divide(over, under, out=without, where=under != 0), dtype=np.float64)
