"""The correlation of two systems' values over units, the cost of ignoring it in a test, and the correlation of two
rankings of systems.

If the values of two systems are positively correlated, a test for independent samples overestimates the standard
deviation of their difference. Values on the same test set nearly always are (Yeh 2000, section 2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from evalhouse.warehouse.significance.arrays import Floats

MATRIX_SYSTEMS = 2_000
"""Up to this many systems, the products of all pairs fit well into memory."""

_BLOCK = 1_000
"""The number of pairs that are computed together if there are more systems."""

_NUMBERS = 1 << 20
"""The number of values that are copied at once: systems are taken in blocks, since all values may be most of the
memory.
"""

_DIGITS = 12
"""The number of digits that are kept of results from sums of products, because machines add up in different orders."""

_SMALLEST = float(np.finfo(np.float64).tiny)


def correlation(values_a: ArrayLike, values_b: ArrayLike) -> float | None:
    """Pearson's r of two systems' values, both of shape (units,).

    Units in which either value is NaN are left out. Returns None if r is undefined: with fewer than two units, or if a
    system has the same value in every unit. Raises ValueError for arrays of different shapes.
    """
    a, b = _columns(values_a, values_b)
    known = np.isfinite(a) & np.isfinite(b)
    a, b = a[known], b[known]
    if a.size < 2 or a.min() == a.max() or b.min() == b.max():
        return None
    a, b = a - a.mean(), b - b.mean()
    # Scaled first, so that very large or very small values neither overflow nor underflow.
    a, b = a / np.abs(a).max(), b / np.abs(b).max()
    return _clip(float(a @ b) / sqrt(float(a @ a) * float(b @ b)))


def correlations(values: Floats, pairs: Iterable[tuple[int, int]]) -> list[float | None]:
    """The correlation of each pair of systems, for values of shape (systems, units).

    Matrix products give the sums for all pairs at once, each over the units that both systems of a pair have. If
    cancellation would cost digits for a pair, that pair is computed by itself.
    """
    if len(values) > MATRIX_SYSTEMS:
        return [correlation(values[a], values[b]) for a, b in pairs]
    centred, known = np.empty_like(values), np.isfinite(values)
    parts = _blocks(*values.shape)
    for part in parts:
        scaled = np.where(known[part], values[part], 0.0)
        scaled /= np.maximum(np.abs(scaled).max(axis=1, initial=0.0, keepdims=True), _SMALLEST)
        means = scaled.sum(axis=1, keepdims=True) / np.maximum(known[part].sum(axis=1, keepdims=True), 1)
        centred[part] = np.where(known[part], scaled - means, 0.0)
    units, sums, squares, products = (np.empty((len(values), len(values))) for _ in range(4))
    own = np.empty((len(values), 1))
    for part in parts:
        # Block by block on the other side as well: there, too, the known units become numbers only for a while.
        square = centred[part] ** 2
        own[part] = square.sum(axis=1, keepdims=True)
        for other in parts:
            both = known[other].astype(np.float64)
            np.maximum(known[part].astype(np.float64) @ both.T, 1.0, out=units[part, other])
            sums[part, other] = centred[part] @ both.T
            squares[part, other] = square @ both.T
            products[part, other] = centred[part] @ centred[other].T
    squares -= sums**2 / units
    products -= sums * sums.T / units
    plain = squares > 1e-3 * own
    return [
        _clip(float(products[a, b]) / sqrt(float(squares[a, b]) * float(squares[b, a])))
        if plain[a, b] and plain[b, a]
        else correlation(values[a], values[b])
        for a, b in pairs
    ]


def _blocks(systems: int, units: int) -> list[slice]:
    """Systems in blocks of about _NUMBERS values."""
    size = max(1, _NUMBERS // max(units, 1))
    return [slice(first, min(first + size, systems)) for first in range(0, systems, size)]


def _clip(r: float) -> float:
    return min(max(_round(r), -1.0), 1.0)


def _round(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def inflations(influences: Floats, pairs: Iterable[tuple[int, int]]) -> list[float | None]:
    """The factor by which the standard deviation of each pair's difference would be larger if the two systems were
    independent.

    `influences`, of shape (systems, units), is what each unit adds to a system's value to first order; for a ratio this
    is (N − R·D) / ΣD. If s² denotes a sum of squares, the factor is √((s²(A) + s²(B)) / s²(A − B)), which is 1 / √(1 −
    r) for means of equal variance (Yeh 2000, section 2.1). The factor is None if the difference does not vary.
    """
    listed = list(pairs)
    factors: list[float | None] = []
    for own, other, both in _products(influences, listed):
        apart = own + other
        together = apart - 2 * both
        factors.append(_round(sqrt(apart / together)) if together > 1e-12 * apart else None)
    return factors


def _products(influences: Floats, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[float, float, float]]:
    """For each pair, the sums of products of the first system with itself, of the second with itself, and of the
    two.
    """
    if len(influences) <= MATRIX_SYSTEMS:
        products = influences @ influences.T
        for a, b in pairs:
            yield float(products[a, a]), float(products[b, b]), float(products[a, b])
        return
    # With many systems not all products are held in memory, and comparisons against one system need only a few.
    squares = np.einsum("su,su->s", influences, influences)
    for start in range(0, len(pairs), _BLOCK):
        first, second = np.array(pairs[start : start + _BLOCK]).T
        both = np.einsum("pu,pu->p", influences[first], influences[second])
        yield from zip(squares[first].tolist(), squares[second].tolist(), both.tolist(), strict=True)


def kendall(first: Sequence[float | Fraction], second: Sequence[float | Fraction]) -> float | None:
    """Kendall's tau-b of two lists of values of the same systems, with the correction for ties (Kendall 1945).

    Returns None if all values of a list are equal. Raises ValueError for lists of different lengths.
    """
    agreeing = tied_first = tied_second = 0
    for (a, x), (b, y) in combinations(zip(first, second, strict=True), 2):
        one, other = (a > b) - (a < b), (x > y) - (x < y)
        agreeing += one * other
        tied_first += one == 0
        tied_second += other == 0
    pairs = len(first) * (len(first) - 1) // 2
    under = (pairs - tied_first) * (pairs - tied_second)
    return agreeing / sqrt(under) if under else None


def _columns(values_a: ArrayLike, values_b: ArrayLike) -> tuple[Floats, Floats]:
    a, b = np.asarray(values_a, dtype=np.float64), np.asarray(values_b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"the values of the two systems have the shapes {a.shape} and {b.shape}")
    return a, b
