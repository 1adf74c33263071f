"""How alike two systems' values are from unit to unit, and what assuming that they are not would cost.

A test for independent samples takes the standard deviation of a difference for larger than it is where the two systems'
values are positively correlated, as values on the same test set nearly always are (Yeh 2000, section 2.1).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def correlation(values_a: ArrayLike, values_b: ArrayLike) -> float | None:
    """Pearson's r of two systems' values, both of shape (units,).

    Units in which either value is not a number are left out. None where r is undefined: fewer than two units, or a
    system whose value is everywhere the same. Raises ValueError for arrays of different shapes.
    """
    a, b = _columns(values_a, values_b)
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    if a.size < 2 or a.min() == a.max() or b.min() == b.max():
        return None
    a, b = a - a.mean(), b - b.mean()
    # Scaled first, so that neither very large nor very small values leave the range of floating point.
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    r = float(a @ b) / sqrt(float(a @ a) * float(b @ b))
    return min(max(r, -1.0), 1.0)


def inflation(r: float) -> float | None:
    """1 / √(1 − r): by what factor assuming independence inflates the standard deviation (Yeh 2000, section 2.1).

    For systems of equal variance. None where r is 1, as there is no bound. Raises ValueError for r outside [−1, 1].
    """
    if not -1 <= r <= 1:
        raise ValueError(f"a correlation is between -1 and 1, and not {r}")
    return None if 1 - r < 1e-12 else 1 / sqrt(1 - r)


def _columns(values_a: ArrayLike, values_b: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    a, b = np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"the values of the two systems have the shapes {a.shape} and {b.shape}")
    return a, b
