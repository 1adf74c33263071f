"""The difference of two ratios divided by its standard error, and how exchanges change it. `test studentized` uses this
statistic.

Let R = S_N / S_D be the ratio of both systems' sums together, which no exchange changes, and let e = N − R·D be the
residual of a unit. The measures of two systems then differ by Σ z with z = e_A / D_A − e_B / D_B, where D_A and D_B are
the systems' own sums, and the standard error is √Σ z². So the variance is estimated under the hypothesis that the
measures are equal, as in score tests (Rao 1948). This keeps the size of the test if one system answers few documents.
With δ = e_A − e_B and σ = e_A + e_B of a unit, and u and v the differences of the two systems' sums after an exchange
as in `Extreme`,

    t² = U² / M      U = u − R·v      M = Σδ² − 2·(v / S_D)·w + (v / S_D)²·Σσ²      w = Σ ±(e_A² − e_B²)

so that a shuffle needs three signed sums: u, v and w. An exchange has no t if it leaves a system with a denominator of
0, or if nothing varies after it, and then U and M are 0. Both cases count as extreme. This module must not draw random
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, inf, log2

import numpy as np
from msgspec import Struct

from warehouse.significance.paired import Booleans, Floats, Integers, Places
from warehouse.significance.sums import Sums

ROUNDING = 2.0**-48
"""A bound on the error of a few dozen roundings, as a share of the largest number that occurs."""


class RatioPairs(Struct, frozen=True, eq=False):
    """Pairs of systems: the numbers that no exchange changes, and the observed ones. All arrays have the shape
    (pairs,).

    `slope` is R, `fixed` Σδ², `tilt` 2 / S_D and `curve` Σσ² / S_D². `square` is the observed t², negative if the first
    system is worse. `widening` is the standard error of the difference divided by its standard deviation in plain
    exchanges; above 1, randomization finds too many differences. `lost` bounds the rounding error of M, and `band` that
    of U² − t²·M; an exchange within the band counts as extreme. `edge` is the |v| at which one system has a denominator
    of 0, infinite if no exchange leads there.
    """

    units: int
    slope: Floats
    fixed: Floats
    tilt: Floats
    curve: Floats
    square: Floats
    widening: Floats
    lost: Floats
    band: Floats
    edge: Floats

    @classmethod
    def of(cls, many: Sums, pairs: Sequence[tuple[int, int]], rounding: float = ROUNDING) -> RatioPairs:
        """Some pairs of systems; `rounding` is the relative rounding error of the sums of an exchange."""
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        over, under = many.numerators.astype(np.float64), many.denominators.astype(np.float64)
        n, d = over.sum(axis=1), under.sum(axis=1)
        total, v = d[first] + d[second], d[first] - d[second]
        slope = (n[first] + n[second]) / total
        distance, share = n[first] - n[second] - slope * v, v / total
        # Σe² of each system of a pair, as large as it would be if nothing cancelled out, and Σe_A·e_B.
        nn, nd, dd, largest = (
            _dots(x, y) for x, y in ((over, over), (over, under), (under, under), (abs(over), under))
        )
        squares_a, squares_b = (nn[s] - 2 * slope * nd[s] + slope**2 * dd[s] for s in (first, second))
        size_a, size_b = (nn[s] + 2 * np.abs(slope) * largest[s] + slope**2 * dd[s] for s in (first, second))
        crossed = _products(over, under, first, second) + _products(under, over, first, second)
        across = _products(over, over, first, second) - slope * crossed
        across += slope**2 * _products(under, under, first, second)
        lost = 8 * rounding * (size_a + size_b)
        fixed, spread = (np.maximum(squares_a + squares_b + sign * 2 * across, 0) for sign in (-1, 1))
        variance = fixed - 2 * share * (squares_a - squares_b) + share**2 * spread
        none, varies = np.zeros_like(variance), variance > lost
        square = np.divide(distance * np.abs(distance), variance, out=none.copy(), where=varies)
        # Σz² is M·S_D² / (2·D_A·D_B)², and the variance in exchanges to first order 4·Σδ² / S_D² (see `Sums.spread`).
        rate = np.divide(np.maximum(variance, 0), fixed, out=np.ones_like(fixed), where=fixed > lost)
        # M of an exchange is at most 2·(Σδ² + Σσ²), a multiple of the observed M, on which the error of t² depends.
        times = 1 + np.divide(2 * (fixed + spread), variance, out=none.copy(), where=varies)
        reach = np.abs(over).sum(axis=1)
        bound = reach[first] + reach[second] + np.abs(slope) * total
        # If no unit has a nonzero denominator in both systems, one system may be left with a denominator of 0.
        shared = _products(under > 0, under > 0, first, second)
        return cls(
            units=many.units,
            slope=slope,
            fixed=fixed,
            tilt=2 / total,
            curve=spread / total**2,
            square=square,
            widening=np.sqrt(rate) / (1 - share**2),
            lost=lost,
            band=(2 * rounding * bound**2 + np.abs(square) * lost) * times,
            edge=np.where(shared > 0, np.inf, (1 - rounding) * total),
        )

    @property
    def t(self) -> Floats:
        """The observed t with units − 1 degrees of freedom; for denominators of 1 it is that of Student's t test.
        Infinite where all z are equal and not 0."""
        return centred(self.square, self.units)

    @property
    def observed(self) -> Floats:
        """The observed t, not centred."""
        return np.asarray(np.sign(self.square) * np.sqrt(np.abs(self.square)), dtype=np.float64)

    def excess(self, pair: int, u: Floats, v: Floats, w: Floats, spare: Floats, two_sided: bool) -> Floats:
        """U² − t²·M of a pair for sums of shape (any,); `u`, `w` and `spare` are overwritten.

        One-sided, U² and t² have the signs of U and t; an exchange is extreme for the first system from −band upwards,
        and for the second up to +band. Two-sided, it is extreme from −band upwards.
        """
        square = float(self.square[pair])
        if two_sided:
            square = abs(square)
        np.multiply(v, float(self.slope[pair]), out=spare)
        u -= spare
        w *= float(self.tilt[pair]) * square
        np.multiply(v, float(self.curve[pair]) * square, out=spare)
        spare -= w
        spare *= v
        spare += float(self.fixed[pair]) * square
        u *= u if two_sided else np.abs(u, out=w)
        u -= spare
        edge = float(self.edge[pair])
        if edge != inf:
            u[np.abs(v) >= edge] = 0
        return u

    def statistics(self, u: Floats, v: Floats, w: Floats, two_sided: bool) -> Floats:
        """t of all pairs for sums of shape (pairs, any), not centred; two-sided its absolute value.

        Where t does not exist the observed t is returned: it is extreme for its own pair and does not affect others.
        """
        distance = u - self.slope[:, None] * v
        variance = self.fixed[:, None] + v * (self.curve[:, None] * v - self.tilt[:, None] * w)
        varies = (variance > self.lost[:, None]) & (np.abs(v) < self.edge[:, None])
        t = np.repeat(self.observed[:, None], u.shape[1], axis=1)
        np.divide(distance, np.sqrt(variance, where=varies, out=np.ones_like(variance)), out=t, where=varies)
        return np.abs(t) if two_sided else t


def centred(square: Floats, units: int) -> Floats:
    """Converts the signed t², computed without subtracting the mean of z, to Student's t, which subtracts it."""
    size = np.abs(square)
    rest = units - size
    # Rounding must not turn an infinite value into a finite one.
    finite = rest > 1e-9 * units
    squares = np.divide((units - 1) * size, rest, out=np.full_like(size, np.inf), where=finite)
    return np.asarray(np.sign(square) * np.sqrt(squares), dtype=np.float64)


def beyond(paired: Sums) -> tuple[Floats, Floats]:
    """The residual e of the two systems in each unit, each of shape (units,)."""
    (over_a, over_b), (under_a, under_b) = paired.columns
    ratio = int(over_a.sum() + over_b.sum()) / int(under_a.sum() + under_b.sum())
    return over_a - ratio * under_a, over_b - ratio * under_b


def _dots(x: Floats, y: Floats) -> Floats:
    """Σ x·y over the units, for each system."""
    return np.asarray(np.einsum("ij,ij->i", x, y))


def _products(x: Floats | Booleans, y: Floats | Booleans, first: Places, second: Places) -> Floats:
    """Σ x·y over the units, x of the first system and y of the second, for each pair."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    if len(first) > len(x):
        return np.asarray((x @ y.T)[first, second])
    return np.array([x[a] @ y[b] for a, b in zip(first.tolist(), second.tolist(), strict=True)])


def whole(columns: Floats, limit: float) -> tuple[Integers, float]:
    """Numbers of shape (any, units) as integer multiples of a unit, and that unit. It is chosen so that each row sums
    to less than the limit.
    """
    largest = float(np.abs(columns).sum(axis=-1).max(initial=0.0))
    worth = 2.0 ** ceil(log2(largest / limit)) if largest else 1.0
    return np.rint(columns / worth).astype(np.int64), worth
