"""Decides in integers whether exchanged systems differ at least as much as the observed ones, so that ties count.

Let S_N and S_D be the sums of numerators and denominators over both systems, and u and v the differences of the two
systems' sums after an exchange. The measures then differ by

    δ(u, v) = 2 (u·S_D − v·S_N) / (S_D² − v²)                    where |v| < S_D
    δ(u, ±S_D) = (u ± S_N) / (2·S_D)                             because a measure without denominator counts as 0

and the question is δ ≥ δ(u₀, v₀) one-sided, |δ| ≥ |δ(u₀, v₀)| two-sided, without the constant factor of the measure.
This module must not know how u and v are drawn or counted.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from math import gcd
from typing import TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers
from evalhouse.warehouse.significance.draws import Sides, check_sides
from evalhouse.warehouse.significance.sums import ExactValue, Sums, Valuation, decimal, less, size

Whole = TypeVar("Whole", int, Integers)

_INT64 = 2**63
_FAR = 2**62


def fraction(
    numerators: Whole, denominators: Whole, u: Whole, v: Whole, divisor: Callable[[Whole, Whole], Whole]
) -> tuple[Whole, Whole, Whole, Whole]:
    """(L, K, a, b) without common factors: for |v| < S_D, δ ≥ δ₀ is equivalent to (u·a − v·b)·K ≥ L·(S_D² − v²).

    The arguments are S_N, S_D, u₀ and v₀ of one pair, or of many pairs in arrays of one shape. `divisor` computes
    greatest common divisors.
    """
    common = divisor(denominators, numerators)
    a, b = denominators // common, numerators // common
    cross, square = u * a - v * b, denominators * denominators - v * v
    shared = divisor(cross, square)
    return cross // shared, square // shared, a, b


class Extreme(Struct, frozen=True):
    """The observed differences of two systems, and the sums that an exchange does not change.

    `numerators` and `denominators` are S_N and S_D, `u` and `v` are the observed differences, and `reach` bounds |u|
    over all exchanges. `flat` says that the denominators are equal in every unit, so that v is always 0. Only then may
    `slack` be above 0; sums that differ by no more than `slack` are ties.
    """

    numerators: int
    denominators: int
    u: int
    v: int
    reach: int
    flat: bool
    slack: int
    two_sided: bool

    @classmethod
    def of(cls, paired: Sums, sides: Sides = "two-sided") -> Extreme:
        """The observed difference of two systems."""
        check_sides(sides)
        numerator_a, denominator_a, numerator_b, denominator_b = (*paired.totals(0), *paired.totals(1))
        return cls(
            numerators=numerator_a + numerator_b,
            denominators=denominator_a + denominator_b,
            u=numerator_a - numerator_b,
            v=denominator_a - denominator_b,
            reach=int(np.abs(paired.numerators[0]).sum()) + int(np.abs(paired.numerators[1]).sum()),
            flat=bool((paired.denominators[0] == paired.denominators[1]).all()),
            slack=paired.slack,
            two_sided=sides == "two-sided",
        )

    @property
    def sign(self) -> int:
        """1 if the first system is better in the observed data, −1 if the second is, 0 if they are equal."""
        cross = self.u * self.denominators - self.v * self.numerators
        if abs(cross) <= self.slack * self.denominators:
            return 0
        return 1 if cross > 0 else -1

    def opposite(self) -> Extreme:
        """The same with the two systems swapped."""
        return replace(self, u=-self.u, v=-self.v)

    def contains(self, u: Integers, v: Integers | None = None) -> Booleans:
        """Whether each exchange is at least as extreme as the observed data, given its differences u and v, of one
        shape.

        If `v` is None it is 0 everywhere. |v| must not exceed S_D; this cannot occur in an exchange.
        """
        if self.flat:
            return np.abs(u) >= abs(self.u) - self.slack if self.two_sided else u >= self.u - self.slack
        if v is None:
            v = np.zeros_like(u)
        inside = self._inside(u, v)
        edge = np.abs(v) == self.denominators
        if edge.any():
            inside[edge] = self._edge(u[edge], v[edge])
        return inside

    def difference(self, u: Integers | Floats, v: Integers | Floats) -> Floats:
        """δ(u, v) in floating point, without the factor of the measure."""
        float_u, float_v, total = u.astype(np.float64), v.astype(np.float64), float(self.denominators)
        first, second = total + float_v, total - float_v
        # A measure with a denominator of 0 counts as 0, whatever its numerator.
        of_first = np.divide(self.numerators + float_u, first, out=np.zeros_like(first), where=first > 0)
        of_second = np.divide(self.numerators - float_u, second, out=np.zeros_like(second), where=second > 0)
        difference: Floats = of_first - of_second
        return difference

    def least(self, v: int, strict: bool = False) -> int:
        """The least u, with its sign, for which δ(u, v) ≥ δ(u₀, v₀), or > if `strict`; |v| ≤ S_D. It exists because δ
        increases with u.
        """
        if self.flat:
            return self.u - self.slack + strict
        cross, square, a, b = self._fraction()
        if abs(v) == self.denominators:
            return self._edge_bound(cross, square, strict) - (self.numerators if v > 0 else -self.numerators)
        bound = _bound(cross * (self.denominators**2 - v * v), square, strict)
        return -(-(bound + v * b) // a)

    def _fraction(self) -> tuple[int, int, int, int]:
        """(L, K, a, b), as in `fraction`."""
        return fraction(self.numerators, self.denominators, self.u, self.v, gcd)

    def _edge_bound(self, cross: int, square: int, strict: bool = False) -> int:
        """The value that u ± S_N must reach if |v| = S_D: there δ ≥ δ₀ is equivalent to (u ± S_N)·K ≥ 4·S_D·gcd(S_D,
        S_N)·L.
        """
        return _bound(4 * self.denominators * gcd(self.denominators, self.numerators) * cross, square, strict)

    def _edge(self, u: Integers, v: Integers) -> Booleans:
        cross, square, _, _ = self._fraction()
        shifted: Integers = u + np.sign(v) * self.numerators
        if self.two_sided:
            np.abs(shifted, out=shifted)
            cross = abs(cross)
        answer: Booleans = shifted >= max(min(self._edge_bound(cross, square), _FAR), -_FAR)
        return answer

    def _inside(self, u: Integers, v: Integers) -> Booleans:
        cross, square, a, b = self._fraction()
        largest = self.reach * a + self.denominators * abs(b)
        if max(largest * square, max(abs(cross), 1) * self.denominators**2) < _INT64:
            left = u * a
            if b:
                left -= v * b
            right = cross * (self.denominators**2 - v * v)
            if self.two_sided:
                left, right = np.abs(left), np.abs(right)
            left *= square
            return left >= right
        return self._filter(u, v, cross, square, a, b)

    def _filter(self, u: Integers, v: Integers, cross: int, square: int, a: int, b: int) -> Booleans:
        """Decides in floating point where that is safe, and in Python integers within the band of rounding errors."""
        float_u, float_v = u.astype(np.float64), v.astype(np.float64)
        left = float_u * float(a) - float_v * float(b)
        right = (float(self.denominators) - float_v) * (float(self.denominators) + float_v) * float(cross)
        if self.two_sided:
            np.abs(left, out=left)
            np.abs(right, out=right)
        # Each of the few roundings loses at most 2^-53 of the largest number that occurs on its side.
        band = np.abs(float_u) * float(a) + np.abs(float_v) * float(abs(b))
        band *= float(square)
        band += float(abs(cross)) * float(self.denominators) ** 2
        band *= 2.0**-48
        left *= float(square)
        left -= right
        answer: Booleans = left > band
        doubtful = np.flatnonzero(np.abs(left) <= band)
        if doubtful.size:
            points, which = np.unique(np.stack((u[doubtful], v[doubtful])), axis=1, return_inverse=True)
            decided = []
            for point_u, point_v in points.T.tolist():
                here, bound = point_u * a - point_v * b, cross * (self.denominators**2 - point_v**2)
                if self.two_sided:
                    here, bound = abs(here), abs(bound)
                decided.append(here * square >= bound)
            answer[doubtful] = np.array(decided)[which.reshape(-1)]
        return answer


def _bound(numerator: int, denominator: int, strict: bool) -> int:
    """The least integer at or above, or strictly above, the fraction; the denominator is positive."""
    return numerator // denominator + 1 if strict else -(-numerator // denominator)


# --- functions of sums ------------------------------------------------------------------------------------------------

DOUBT = 1e-9
"""Comparisons closer than this share of the larger value are decided exactly."""

TIE = Decimal("1e-50")
"""Differences of values with 60 digits that are closer than this share of the larger value are ties."""


class ExtremeFunction(Struct, frozen=True, eq=False):
    """The same for a function of sums that is not a ratio: the observed difference of two systems, and the sums that an
    exchange does not change.

    Comparisons are made in floating point where that is safe, and with exact values if the two sides are closer than
    DOUBT. The value of a pseudo system counts as 0 if it is undefined.
    """

    valuation: Valuation
    totals: Integers
    least: ExactValue
    two_sided: bool

    @classmethod
    def of(cls, paired: Sums, sides: Sides = "two-sided") -> ExtremeFunction:
        """The observed difference of two systems."""
        check_sides(sides)
        of_first, of_second = paired.totals(0), paired.totals(1)
        first, second = paired.valuation.exactly(of_first), paired.valuation.exactly(of_second)
        if first is None or second is None:
            raise ValueError("the measure of a system is undefined")
        difference = less(first, second)
        two_sided = sides == "two-sided"
        totals = np.add(of_first, of_second)
        return cls(paired.valuation, totals, size(difference) if two_sided else difference, two_sided)

    def contains(self, sums: Floats) -> Booleans:
        """Whether each exchange is at least as extreme as the observed data, of shape (any,), given the sums of the
        first pseudo system, of shape (columns, any).
        """
        a = self.valuation.or_zero(sums)
        b = self.valuation.or_zero(self.totals[:, None] - sums)
        differences = np.abs(a - b) if self.two_sided else a - b
        least = float(self.least)
        doubt = DOUBT * np.maximum(np.maximum(np.abs(a), np.abs(b)), abs(least))
        answer: Booleans = differences > least + doubt
        doubtful = np.flatnonzero(np.abs(differences - least) <= doubt)
        if doubtful.size:
            distinct, which = np.unique(sums[:, doubtful], axis=1, return_inverse=True)
            decided = np.array([self._decides(column) for column in distinct.T.astype(np.int64)])
            answer[doubtful] = decided[which.reshape(-1)]
        return answer

    def _decides(self, sums: Integers) -> bool:
        a = self.valuation.exactly(tuple(sums.tolist())) or Fraction(0)
        b = self.valuation.exactly(tuple((self.totals - sums).tolist())) or Fraction(0)
        difference = size(less(a, b)) if self.two_sided else less(a, b)
        beyond = less(difference, self.least)
        if isinstance(beyond, Fraction):
            return beyond >= 0
        return beyond >= -TIE * max(decimal(size(value)) for value in (a, b, self.least))
