"""The difference of two values of any function of sums divided by its standard error, and how exchanges change it.

This is the counterpart of `standardized` for functions f such as MCC. A unit with the counts c of a system moves the
value by g·c to first order, where g is the numerical gradient of f at the system's sums C. As for ratios, the variance
is estimated under the hypothesis that the measures are equal; their common value f₀ is that of the mean of both
systems' sums. For that, the remainder f(C) − f₀ − g·C is distributed over the units in proportion to w·c, their counts
divided by the largest count in each column:

    z = h_A·c_A − h_B·c_B      h = g + w·(f(C) − f₀ − g·C) / w·C      Σz = f(C_A) − f(C_B)      t² = (Σz)² / Σz²

Σz² follows from the sums of products of counts. An exchange after which a value is undefined, or nothing varies, has no
t and counts as extreme. This module must not draw random numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, combinations_with_replacement

import numpy as np
from msgspec import Struct

from warehouse.significance.paired import Floats, Integers
from warehouse.significance.standardized import whole
from warehouse.significance.sums import Sums
from warehouse.significance.valuation import Valuation

STEP = 1e-5
"""The relative step of a sum for numerical gradients."""

LOST = 1e-11
"""A bound on the error of Σz² from rounding and numerical gradients, as a share of its largest part."""

TIE = 1e-8
"""Values of t that differ by no more than this share count as ties, for the same reason."""

_SUMS = 2.0**61
"""Sums of products are kept as whole numbers below this."""


class FunctionPair(Struct, frozen=True, eq=False):
    """Two systems: their observed sums, and how these change if the counts of a unit change places.

    `sums` are the sums of both, of shape (2, columns), `weights` are w, `middle` is f₀, and `within` and `across` hold
    Σ c·cᵀ of each system and Σ c_A·c_Bᵀ, of shape (2, columns, columns) and (columns, columns). `changes` are whole
    numbers of shape (any, units): the counts, the products within and the products across, as the first system loses
    them in a unit; `worths` has the value of one in each row.
    """

    valuation: Valuation
    sums: Floats
    weights: Floats
    middle: float
    within: Floats
    across: Floats
    changes: tuple[Integers, ...]
    worths: tuple[float, ...]
    units: int

    @classmethod
    def of(cls, paired: Sums) -> FunctionPair:
        """The two systems of some counts."""
        a, b = paired.counts.astype(np.float64)
        sums = np.stack((a.sum(axis=1), b.sum(axis=1)))
        largest = np.maximum(a, b).max(axis=1, initial=0)
        counted = (np.minimum(a, b).min(axis=1, initial=0) >= 0) & (largest > 0)
        products = [a[k] * a[j] - b[k] * b[j] for k, j in _within(len(a))]
        products += [a[k] * b[j] - b[k] * a[j] for k, j in _across(len(a))]
        changes, worths = zip(*(whole(column, _SUMS) for column in (*(a - b), *products)), strict=True)
        return cls(
            valuation=paired.valuation,
            sums=sums,
            weights=np.divide(1.0, largest, out=np.zeros_like(largest), where=counted),
            middle=float(paired.valuation.values(sums.mean(axis=0)[:, None])[0]),
            within=np.stack((a @ a.T, b @ b.T)),
            across=a @ b.T,
            changes=changes,
            worths=worths,
            units=paired.units,
        )

    def statistics(self, exchanged: Sequence[Integers]) -> Floats:
        """t, not centred, for the sums of `changes` over the exchanged units, each of shape (any,); NaN where there is
        no t.
        """
        columns = self.sums.shape[1]
        lost = [sums * worth for sums, worth in zip(exchanged, self.worths, strict=True)]
        counts, products = np.stack(lost[:columns]), iter(lost[columns:])
        value_a, a = self._influence(self.sums[0][:, None] - counts)
        value_b, b = self._influence(self.sums[1][:, None] + counts)
        variance = _form(a, self.within[0], a) + _form(b, self.within[1], b) - 2 * _form(a, self.across, b)
        for k, j in _within(columns):
            variance -= (1 if k == j else 2) * (a[k] * a[j] - b[k] * b[j]) * next(products)
        for k, j in _across(columns):
            variance += 2 * (a[k] * b[j] - a[j] * b[k]) * next(products)
        both = self.within.sum(axis=0)
        varies = variance > LOST * (_form(a, both, a) + _form(b, both, b))
        error = np.sqrt(variance, out=np.ones_like(variance), where=varies)
        return np.divide(value_a - value_b, error, out=np.full_like(error, np.nan), where=varies)

    @property
    def observed(self) -> float:
        """The observed t, not centred; 0 where nothing varies."""
        return float(np.nan_to_num(self.statistics([np.zeros(1, dtype=np.int64)] * len(self.changes)))[0])

    def _influence(self, sums: Floats) -> tuple[Floats, Floats]:
        """The values for sums of shape (columns, any), and h."""
        values, gradient = _gradient(self.valuation, sums)
        rest, total = values - self.middle - (gradient * sums).sum(axis=0), self.weights @ sums
        share = np.divide(rest, total, out=np.full_like(rest, np.nan), where=total > 0)
        return values, gradient + self.weights[:, None] * share


def _gradient(valuation: Valuation, sums: Floats) -> tuple[Floats, Floats]:
    """The values for sums of shape (columns, any), and their gradients: central differences if there is a value on both
    sides, else one-sided ones.
    """
    values, gradient = valuation.values(sums), np.empty_like(sums)
    for column in range(len(sums)):
        step = STEP * np.maximum(np.abs(sums[column]), 1)
        moved = []
        for sign in (1, -1):
            beside = sums.copy()
            beside[column] += sign * step
            moved.append(sign * (valuation.values(beside) - values) / step)
        up, down = (np.where(np.isnan(one), other, one) for one, other in (moved, moved[::-1]))
        gradient[column] = (up + down) / 2
    return values, gradient


def _form(first: Floats, products: Floats, second: Floats) -> Floats:
    """Σ first·products·second for each of the last dimension."""
    return np.asarray((first * (products @ second)).sum(axis=0))


def _within(columns: int) -> list[tuple[int, int]]:
    return list(combinations_with_replacement(range(columns), 2))


def _across(columns: int) -> list[tuple[int, int]]:
    return list(combinations(range(columns), 2))
