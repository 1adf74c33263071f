"""How alike two systems' values are from unit to unit, what assuming that they are not would cost, and how alike two
rankings of systems are.

A test for independent samples takes the standard deviation of a difference for larger than it is where the two systems'
values are positively correlated, as values on the same test set nearly always are (Yeh 2000, section 2.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike

from warehouse.significance.paired import Floats

_FEW = 1_000
"""Of so many systems all products of two fit well into memory."""

_BLOCK = 1_000
"""How many pairs are looked at together where there are more systems."""

_DIGITS = 12
"""How many digits of what is computed of sums of products are kept: machines add them up in other orders."""

_SMALLEST = float(np.finfo(np.float64).tiny)


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
    return _bounded(float(a @ b) / sqrt(float(a @ a) * float(b @ b)))


def correlations(values: Floats, pairs: Iterable[tuple[int, int]]) -> list[float | None]:
    """The correlation of each pair of systems, for values of shape (systems, units).

    All pairs at once by products of matrices: the sums over the units that both systems of a pair have. A pair in which
    little of a system's variance is left, so that digits would be lost, is computed by itself.
    """
    if len(values) > _FEW:
        return [correlation(values[a], values[b]) for a, b in pairs]
    known = np.isfinite(values)
    scaled = np.where(known, values, 0.0)
    scaled /= np.maximum(np.abs(scaled).max(axis=1, initial=0.0, keepdims=True), _SMALLEST)
    means = scaled.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    centred = np.where(known, scaled - means, 0.0)
    both = known.astype(np.float64)
    units = np.maximum(both @ both.T, 1.0)
    sums = centred @ both.T
    squares = (centred**2) @ both.T - sums**2 / units
    products = centred @ centred.T - sums * sums.T / units
    plain = squares > 1e-3 * (centred**2).sum(axis=1, keepdims=True)
    return [
        _bounded(float(products[a, b]) / sqrt(float(squares[a, b]) * float(squares[b, a])))
        if plain[a, b] and plain[b, a]
        else correlation(values[a], values[b])
        for a, b in pairs
    ]


def _bounded(r: float) -> float:
    return min(max(_rounded(r), -1.0), 1.0)


def _rounded(number: float) -> float:
    return float(f"{number:.{_DIGITS}g}")


def inflations(influences: Floats, pairs: Iterable[tuple[int, int]]) -> list[float | None]:
    """By what factor the standard deviation of each pair's difference would be larger, were the two independent.

    `influences` is what each unit adds to a system's value, to first order, of shape (systems, units): for a ratio
    (N − R·D) / ΣD. With s² for sums of squares it is √((s²(A) + s²(B)) / s²(A − B)), which is 1 / √(1 − r) for means of
    equal variance (Yeh 2000, section 2.1). None where the difference does not vary.
    """
    listed = list(pairs)
    factors: list[float | None] = []
    for own, other, both in _products(influences, listed):
        apart = own + other
        together = apart - 2 * both
        factors.append(_rounded(sqrt(apart / together)) if together > 1e-12 * apart else None)
    return factors


def _products(influences: Floats, pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[float, float, float]]:
    """The products of each pair's first and second system with themselves, and with one another."""
    if len(influences) <= _FEW:
        products = influences @ influences.T
        for a, b in pairs:
            yield float(products[a, a]), float(products[b, b]), float(products[a, b])
        return
    # Of many systems not all products are held, and against one system few are needed.
    squares = np.einsum("su,su->s", influences, influences)
    for start in range(0, len(pairs), _BLOCK):
        first, second = np.array(pairs[start : start + _BLOCK]).T
        both = np.einsum("pu,pu->p", influences[first], influences[second])
        yield from zip(squares[first].tolist(), squares[second].tolist(), both.tolist(), strict=True)


def kendall(first: Sequence[float | Fraction], second: Sequence[float | Fraction]) -> float | None:
    """Kendall's tau-b of two lists of values of the same systems; ties count for neither order (Kendall 1945).

    None where all values of a list are the same. Raises ValueError for lists of unlike length.
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
