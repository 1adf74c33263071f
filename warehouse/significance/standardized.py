"""The difference of two systems divided by its standard error, and how exchanges change it.

`test studentized` uses this statistic. The variance is estimated under the hypothesis that the measures are equal, as
in score tests (Rao 1948); this keeps the size of the test if one system answers few documents. An exchange after
which a value is undefined, or nothing varies, has no t and counts as extreme. This module must not draw random
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import ceil, comb, copysign, hypot, inf, isqrt, log2
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.significance.arrays import (
    MANY_COLUMNS,
    SUM_LIMIT,
    Booleans,
    Floats,
    Integers,
    Places,
    Sparse,
)
from evalhouse.warehouse.significance.sums import Sums, Valuation

# === ratios of sums ===================================================================================================
# Let R = S_N / S_D be the ratio of both systems' sums together, which no exchange changes, and let e = N − R·D be the
# residual of a unit. The measures differ by Σ z with z = e_A / D_A − e_B / D_B, where D_A and D_B are the systems' own
# sums, and the standard error is √Σ z². With δ = e_A − e_B and σ = e_A + e_B of a unit, and u and v the differences of
# the two systems' sums after an exchange as in `Extreme`,
#
#     t² = U² / M      U = u − R·v      M = Σδ² − 2·(v / S_D)·w + (v / S_D)²·Σσ²      w = Σ ±(e_A² − e_B²)
#
# so a shuffle needs three signed sums: u, v and w. If an exchange leaves a system with a denominator of 0, or if
# nothing varies after it, U and M are 0.
#
# A system that has the same ratio on all its units contributes nothing to M, whatever it may do on other units, and one
# that has 0 on all but a few of them too little, so the observed t says too much. It counts as at most what so few
# units tell; see `squares_of_usual`.

ROUNDING = 2.0**-48
"""A bound on the error of a few dozen roundings, as a share of the largest number that occurs."""

CANCELLED = 2.0**-20
"""Where the rounding error of Σδ² may be more than this share of it, sums that many systems have in common are too
coarse for the pair."""


def centred(many: Sums) -> Sums:
    """The same systems with the whole numbers q·N − p·D in place of N, where p/q is near the ratio of all sums.

    The measure becomes q times the old one less p, so t is the same. But where N and D are large and their ratio varies
    little, e is small beside them, and Σe² would be the difference of numbers that are equal in nearly all their
    digits. With q up to √D, q·N − p·D is of the size of √D·(|e| + 1).
    """
    q, p = near_ratio(many)
    return replace(many, columns=(q * many.numerators - p * many.denominators, many.denominators))


def near_ratio(many: Sums) -> tuple[int, int]:
    """q and p such that p/q is near the ratio of all sums, q·N − p·D small, and both far from overflowing."""
    over, under = (int(column.sum()) for column in many.columns)
    largest, bound = int(many.denominators.max(initial=0)), int(np.abs(many.numerators).sum()) + under
    most = max(1, min(isqrt(largest), SUM_LIMIT // (4 * max(bound, 1))))
    near = Fraction(over, under).limit_denominator(most) if under else Fraction(0)
    return near.denominator, near.numerator


def are_apart(many: Sums, pair: tuple[int, int], by: float = 0.0) -> bool:
    """Whether two systems have different denominators on some unit, by a share of all of them; else it is their
    differences that vary.
    """
    first, second = (many.denominators[system] for system in pair)
    return bool(np.abs(first - second).sum() > by * (first.sum() + second.sum()))


FEW_UNLIKE, APART = 8, 0.05
"""With no more units than this that are not 0, and denominators that differ by this share of all, t is not distributed
as the exchanges say.
"""


class Usual(Struct, frozen=True):
    """The `value` that a system has on all its `units`, or on all but a few, which are 0 then: it has less than 0 on
    `fewer` of them, and more on `more`.
    """

    value: float
    units: int
    fewer: int = 0
    more: int = 0

    @classmethod
    def of(cls, many: Sums, system: int) -> Usual | None:
        """That of a system of a ratio; None if more than FEW_UNLIKE of its units, or a fourth, are not 0."""
        over, under = many.numerators[system], many.denominators[system]
        there = under > 0
        values = over[there] / under[there]
        if not len(values):
            return None
        if (values == values[0]).all() and not over[~there].any():
            return cls(float(values[0]), len(values))
        fewer, more = int((over < 0).sum()), int((over > 0).sum())
        return cls(0.0, len(values), fewer, more) if fewer + more <= min(FEW_UNLIKE, len(values) // 4) else None

    @property
    def is_constant(self) -> bool:
        """Whether all units are alike."""
        return not self.fewer + self.more


def constant_units(many: Sums) -> Integers:
    """On how many units each system of a ratio has a value, where it is the same on all of these, and else 0; of shape
    (systems,).
    """
    usual = (Usual.of(many, system) for system in range(many.systems))
    return np.array([its.units if its is not None and its.is_constant else 0 for its in usual], dtype=np.int64)


def squares_of_usual(many: Sums, pairs: Sequence[tuple[int, int]]) -> Floats:
    """The most that t² of each pair may be, of shape (pairs,): infinite but for pairs with different denominators of
    which one system has the same value on all its units, or 0 on nearly all.
    """
    most = np.full(len(pairs), np.inf)
    if (many.denominators == many.denominators[:1]).all():
        return most
    usual = [Usual.of(many, system) for system in range(many.systems)]
    for place, pair in enumerate(pairs if any(usual) else ()):
        for system, other in (pair, pair[::-1]):
            its = usual[system]
            if its is not None and are_apart(many, pair, 0.0 if its.is_constant else APART):
                most[place] = min(most[place], _quantile_of(_chance_of(many, system, other, its)) ** 2)
    return most


def square_of_clumps(two: Sums) -> float:
    """The same of two systems with equal denominators, of which one has 0 on nearly all its units, and all or much of
    the others: it is skewed otherwise than one that has some of each. It is infinite where units are right or wrong.
    """
    right = two.numerators == two.denominators
    if (right | (two.numerators == 0)).all() and (two.denominators == two.denominators[:, :1]).all():
        return inf
    most = inf
    for system, other in ((0, 1), (1, 0)):
        its = Usual.of(two, system)
        if its is not None and its.value == 0:
            most = min(most, _quantile_of(_chance_of(two, system, other, its)) ** 2)
    return most


def _quantile_of(chance: float) -> float:
    """The normal quantile that is passed with this chance, at least 0; infinite for 0 and less."""
    if chance <= 0:
        return inf
    return -NormalDist().inv_cdf(chance) if chance < 0.5 else 0.0


def _chance_of(many: Sums, system: int, other: int, usual: Usual) -> float:
    """The chance that a system with the value c on nearly all its k units has no more that are unlike it, though it is
    as good as the other; 0 where nothing speaks for more.

    Let the other system have the value c + d. If the first were as good, at least a share q of its units would be on
    that side of c, and no more than r of k are with the binomial chance of that. With |N − c·D| ≤ m on each unit of
    both q is |d|·D̄ / m, D̄ being its mean denominator. A share that is 0 on nearly all units may be 1 on the others,
    where it would have the mean denominator D′ of the other system; then q is d·D̄ / (d·D̄ + (1 − d)·D′), D̄ being that
    of its units with 0.
    """
    over, under = many.numerators[[system, other]], many.denominators[[system, other]]
    beyond = over - usual.value * under
    own, far = (beyond.sum(axis=1) / under.sum(axis=1)).tolist()
    if not beyond.any() or (not usual.is_constant and own * far > 0 and abs(own) >= abs(far)):
        return 0.0
    if usual.value == 0 and (over >= 0).all() and (over <= under).all():
        without, answered = (float(one[one > 0].mean()) for one in (under[0][over[0] == 0], under[1]))
        share = far * without / (far * without + (1 - far) * max(without, answered))
    else:
        share = min(1.0, abs(far) * int(under[0].sum()) / (usual.units * float(np.abs(beyond).max())))
    there = usual.more if far > 0 else usual.fewer
    return float(sum(comb(usual.units, k) * share**k * (1 - share) ** (usual.units - k) for k in range(there + 1)))


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
        """Some pairs of systems, by their `centred` sums; `rounding` is the relative rounding error of the sums of an
        exchange.
        """
        most, many = squares_of_usual(many, pairs), centred(many)
        first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        over, under = many.numerators.astype(np.float64), many.denominators.astype(np.float64)
        n, d = over.sum(axis=1), under.sum(axis=1)
        slope = (n[first] + n[second]) / (d[first] + d[second])
        # Σe² of each system of a pair, as large as it would be if nothing cancelled out, and Σe_A·e_B.
        nn, nd, dd, largest = (
            _dots(x, y) for x, y in ((over, over), (over, under), (under, under), (abs(over), under))
        )
        squares_a, squares_b = (nn[s] - 2 * slope * nd[s] + slope**2 * dd[s] for s in (first, second))
        size_a, size_b = (nn[s] + 2 * np.abs(slope) * largest[s] + slope**2 * dd[s] for s in (first, second))
        crossed = _products(over, under, first, second) + _products(under, over, first, second)
        across = _products(over, over, first, second) - slope * crossed
        across += slope**2 * _products(under, under, first, second)
        fixed, spread = (np.maximum(squares_a + squares_b + sign * 2 * across, 0) for sign in (-1, 1))
        reach = np.abs(over).sum(axis=1)
        return cls._of_sums(
            many.units,
            np.stack((n[first], n[second])),
            np.stack((d[first], d[second])),
            fixed,
            spread,
            squares_a - squares_b,
            lost=8 * rounding * (size_a + size_b),
            error=rounding * (reach[first] + reach[second] + np.abs(slope) * (d[first] + d[second])),
            # If no unit has a nonzero denominator in both systems, one system may be left with a denominator of 0.
            shared=_products(under > 0, under > 0, first, second) > 0,
            most=most,
            farthest=1.0,
            rounding=rounding,
        )

    @classmethod
    def alone(cls, paired: Sums, rounding: float = ROUNDING) -> RatioPairs:
        """Two systems by the residuals of each unit, which lose nothing where both are nearly the same in every unit
        and far from R; by their `centred` sums, too.
        """
        most, paired = squares_of_usual(paired, [(0, 1)]), centred(paired)
        n, d = (column.sum(axis=1).astype(np.float64)[:, None] for column in (paired.numerators, paired.denominators))
        slope, total = n.sum() / d.sum(), d.sum()
        apart, together = residuals(paired)
        (over, under), steep = (np.abs(column[0] - column[1]) for column in paired.columns), abs(slope)
        most_apart = over + steep * under
        most_together = np.abs(paired.numerators.sum(axis=0)) + steep * paired.denominators.sum(axis=0)
        farthest = float(under.sum() / total)
        size = (most_apart**2 + 2 * farthest * most_apart * most_together + (farthest * most_together) ** 2).sum()
        return cls._of_sums(
            paired.units,
            n,
            d,
            *(np.array([product.sum()]) for product in (apart**2, together**2, apart * together)),
            lost=np.array([8 * rounding * size]),
            error=np.array([rounding * most_apart.sum()]),
            shared=np.array([bool((paired.denominators > 0).all(axis=0).any())]),
            most=most,
            farthest=farthest,
            rounding=rounding,
        )

    @classmethod
    def _of_sums(
        cls,
        units: int,
        n: Floats,
        d: Floats,
        fixed: Floats,
        spread: Floats,
        tilted: Floats,
        *,
        lost: Floats,
        error: Floats,
        shared: Booleans,
        most: Floats,
        farthest: float,
        rounding: float,
    ) -> RatioPairs:
        """The pairs from S_N and S_D of both systems, of shape (2, pairs), Σδ², Σσ² and Σδ·σ, from what rounding may
        have changed in M (`lost`) and in U (`error`), from what the observed t² counts as at `most`, and from what
        |v| / S_D is at most in an exchange (`farthest`).
        """
        total, v = d.sum(axis=0), d[0] - d[1]
        slope, share = n.sum(axis=0) / total, v / total
        distance = n[0] - n[1] - slope * v
        variance = fixed - 2 * share * tilted + share**2 * spread
        none, varies = np.zeros_like(variance), variance > lost
        square = np.divide(distance * np.abs(distance), variance, out=none.copy(), where=varies)
        square = np.clip(square, -most, most)
        # Σz² is M·S_D² / (2·D_A·D_B)², and the variance in exchanges to first order 4·Σδ² / S_D² (see `Sums.spread`).
        rate = np.divide(np.maximum(variance, 0), fixed, out=np.ones_like(fixed), where=fixed > lost)
        # M of an exchange is at most so much, a multiple of the observed M, on which the error of t² depends.
        largest = 2 * (fixed + farthest**2 * spread)
        times = 1 + np.divide(largest, variance, out=none.copy(), where=varies)
        # Only ties matter, where |U| is |t|·√M.
        distance_of_ties = np.sqrt(np.abs(square) * largest)
        return cls(
            units=units,
            slope=slope,
            fixed=fixed,
            tilt=2 / total,
            curve=spread / total**2,
            square=square,
            widening=np.sqrt(rate) / (1 - share**2),
            lost=lost,
            band=(2 * error * distance_of_ties + error**2 + np.abs(square) * lost) * times,
            edge=np.where(shared, np.inf, (1 - rounding) * total),
        )

    @classmethod
    def joined(cls, several: Sequence[RatioPairs]) -> RatioPairs:
        """Several pairs, one after the other; their units are those of the first."""
        arrays = (field for field in cls.__struct_fields__ if field != "units")
        return cls(
            several[0].units, *(np.concatenate([getattr(pairs, field) for pairs in several]) for field in arrays)
        )

    @property
    def cancelled(self) -> list[int]:
        """The pairs whose sums of squares are mostly rounding error."""
        return np.flatnonzero(self.lost > CANCELLED * self.fixed).tolist()

    @property
    def t(self) -> Floats:
        """The observed t with units − 1 degrees of freedom; for denominators of 1 it is that of Student's t test.
        Infinite where all z are equal and not 0."""
        return centre(self.square, self.units)

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


NOTHING_VARIES = RatioPairs(0, *(np.zeros(1) for _ in range(9)))
"""A pair whose t is always 0."""


def centre(square: Floats, units: int) -> Floats:
    """Converts the signed t², computed without subtracting the mean of z, to Student's t, which subtracts it."""
    size = np.abs(square)
    rest = units - size
    # Rounding must not turn an infinite value into a finite one.
    finite = rest > 1e-9 * units
    squares = np.divide((units - 1) * size, rest, out=np.full_like(size, np.inf), where=finite)
    return np.asarray(np.sign(square) * np.sqrt(squares), dtype=np.float64)


def residuals(paired: Sums) -> tuple[Floats, Floats]:
    """δ and σ of two systems in each unit, each of shape (units,). Whole numbers are subtracted before anything is
    rounded, so that δ is precise where both systems are nearly the same.
    """
    (over_a, over_b), (under_a, under_b) = paired.columns
    ratio = int(over_a.sum() + over_b.sum()) / int(under_a.sum() + under_b.sum())
    return (over_a - over_b) - ratio * (under_a - under_b), (over_a + over_b) - ratio * (under_a + under_b)


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


# === other functions of sums ==========================================================================================
# For functions f such as MCC, a unit with the counts c of a system moves the value by g·c to first order, where g is
# the numerical gradient of f at the system's sums C. Under the hypothesis the common value f₀ is that of the mean of
# both systems' sums. The remainder f(C) − f₀ − g·C is distributed over the units in proportion to w·c, their counts
# divided by the largest count in each column:
#
#     z = h_A·c_A − h_B·c_B      h = g + w·(f(C) − f₀ − g·C) / w·C      Σz = f(C_A) − f(C_B)      t² = (Σz)² / Σz²
#
# Σz² follows from the sums of products of counts.

STEP = 1e-5
"""The relative step of a sum for numerical gradients."""

LOST = 1e-11
"""A bound on the error of Σz² from rounding and numerical gradients, as a share of its largest part."""

FUNCTION_TIE = 1e-8
"""Values of t that differ by no more than this share count as ties, for the same reason."""

_SUMS = 2.0**61
"""Sums of products are kept as whole numbers below this."""


class CommonValue(Struct, frozen=True, eq=False):
    """Two systems whose values are taken to be equal: the `sums` of both, of shape (2, columns), w as `weights`, and f₀
    as `middle`.
    """

    valuation: Valuation
    sums: Floats
    weights: Floats
    middle: float

    @classmethod
    def of(cls, paired: Sums) -> CommonValue:
        """The two systems of some counts."""
        a, b = (np.stack([column[system] for column in paired.columns]).astype(np.float64) for system in (0, 1))
        sums = np.stack((a.sum(axis=1), b.sum(axis=1)))
        largest = np.maximum(a, b).max(axis=1, initial=0)
        counted = (np.minimum(a, b).min(axis=1, initial=0) >= 0) & (largest > 0)
        return cls(
            valuation=paired.valuation,
            sums=sums,
            weights=np.divide(1.0, largest, out=np.zeros_like(largest), where=counted),
            middle=float(paired.valuation.values(sums.mean(axis=0)[:, None])[0]),
        )

    def exchanged(self, lost: Floats) -> tuple[Floats, Floats, Floats]:
        """The difference of the values where the first system loses sums of shape (columns, any) to the second, and h
        of both.
        """
        value_a, a = self._influence(self.sums[0][:, None] - lost)
        value_b, b = self._influence(self.sums[1][:, None] + lost)
        return value_a - value_b, a, b

    def _influence(self, sums: Floats) -> tuple[Floats, Floats]:
        """The values for sums of shape (columns, any), and h."""
        values, gradient = _gradient(self.valuation, sums)
        rest, total = values - self.middle - (gradient * sums).sum(axis=0), self.weights @ sums
        share = np.divide(rest, total, out=np.full_like(rest, np.nan), where=total > 0)
        return values, gradient + self.weights[:, None] * share


class Evidence(Struct, frozen=True):
    """What the observed t of two averages of ratios counts as at most. `rest` is what is left of the difference, as a
    share of it, without the test sets on which a system has the same value on all its units. `quantile` is the normal
    quantile of the chance that it shows no other value on any of them, though it is as good as the other system there.
    """

    rest: float = 1.0
    quantile: float = 0.0

    @classmethod
    def of(cls, paired: Sums) -> Evidence:
        """That of two systems; of what is no average of ratios, and without such test sets, all of t counts."""
        whole_difference = rest = 0.0
        chance, found = 1.0, False
        for over, under, factor in paired.valuation.ratios:
            many = Sums((paired.columns[over], paired.columns[under]))
            if not many.denominators.any(axis=1).all():
                return cls()
            first, second = many.numerators.sum(axis=1) / many.denominators.sum(axis=1)
            difference = factor * float(first - second)
            whole_difference += difference
            units = constant_units(many)
            if not units.any() or not are_apart(many, (0, 1)):
                rest += difference
                continue
            found = True
            for constant, other in ((0, 1), (1, 0)):
                usual = Usual.of(many, constant) if units[constant] else None
                if usual is not None:
                    chance *= _chance_of(many, constant, other, usual)
        if not found or not whole_difference:
            return cls()
        return cls(max(0.0, rest / whole_difference), _quantile_of(chance))

    def bound(self, t: float) -> float:
        """The t that counts, with the sign of t: at most the rest of it and the quantile together."""
        return copysign(min(abs(t), hypot(self.rest * t, self.quantile)), t)


class FunctionPair(Struct, frozen=True, eq=False):
    """Two systems: their common value, and how sums change if the counts of a unit change places.

    `evidence` says what the observed t counts as at most.
    `within` and `across` hold Σ c·cᵀ of each system and Σ c_A·c_Bᵀ, of shape (2, columns, columns) and (columns,
    columns). `changes` are whole numbers of shape (any, units): the counts, the products within and the products
    across, as the first system loses them in a unit; `worths` has the value of one in each row.
    """

    common: CommonValue
    within: Floats
    across: Floats
    changes: tuple[Integers, ...]
    worths: tuple[float, ...]
    units: int
    evidence: Evidence

    @classmethod
    def of(cls, paired: Sums) -> FunctionPair:
        """The two systems of some counts."""
        a, b = paired.counts.astype(np.float64)
        products = [a[k] * a[j] - b[k] * b[j] for k, j in _within(len(a))]
        products += [a[k] * b[j] - b[k] * a[j] for k, j in _across(len(a))]
        changes, worths = zip(*(whole(column, _SUMS) for column in (*(a - b), *products)), strict=True)
        return cls(
            common=CommonValue.of(paired),
            within=np.stack((a @ a.T, b @ b.T)),
            across=a @ b.T,
            changes=changes,
            worths=worths,
            units=paired.units,
            evidence=Evidence.of(paired),
        )

    def statistics(self, exchanged: Sequence[Integers]) -> Floats:
        """t, not centred, for the sums of `changes` over the exchanged units, each of shape (any,); NaN where there is
        no t.
        """
        columns = self.common.sums.shape[1]
        lost = [sums * worth for sums, worth in zip(exchanged, self.worths, strict=True)]
        counts, products = np.stack(lost[:columns]), iter(lost[columns:])
        difference, a, b = self.common.exchanged(counts)
        variance = _form(a, self.within[0], a) + _form(b, self.within[1], b) - 2 * _form(a, self.across, b)
        for k, j in _within(columns):
            variance -= (1 if k == j else 2) * (a[k] * a[j] - b[k] * b[j]) * next(products)
        for k, j in _across(columns):
            variance += 2 * (a[k] * b[j] - a[j] * b[k]) * next(products)
        both = self.within.sum(axis=0)
        return _standardized(difference, variance, variance > LOST * (_form(a, both, a) + _form(b, both, b)))

    @property
    def observed(self) -> float:
        """The observed t, not centred; 0 where nothing varies."""
        t = float(np.nan_to_num(self.statistics([np.zeros(1, dtype=np.int64)] * len(self.changes)))[0])
        return self.evidence.bound(t)


class InfluencePair(Struct, frozen=True, eq=False):
    """The same from what each unit adds to the difference, for so many counts that their products would not fit.

    `kept` are the counts of both systems, as long as no unit changes places.
    """

    common: CommonValue
    kept: tuple[Sparse, Sparse]
    units: int
    evidence: Evidence

    @classmethod
    def of(cls, paired: Sums) -> InfluencePair:
        """The two systems of some counts."""
        a, b = (Sparse.of(np.stack([column[system] for column in paired.columns])) for system in (0, 1))
        return cls(CommonValue.of(paired), (a, b), paired.units, Evidence.of(paired))

    def statistics(self, lost: Floats, coins: Iterable[tuple[int, Booleans]]) -> Floats:
        """t, not centred, where the first system loses sums of shape (columns, any); NaN where there is no t. `coins`
        say which units change places, of shape (units, any), some units at a time with the number of the first.
        """
        difference, a, b = self.common.exchanged(lost)
        variance, sizes = np.zeros(difference.shape), np.zeros(difference.shape)
        for first, exchanged in coins:
            of_a, of_b = (kept.part(slice(first, first + len(exchanged))) for kept in self.kept)
            added_a = np.where(exchanged, of_b.times(a), of_a.times(a))
            added_b = np.where(exchanged, of_a.times(b), of_b.times(b))
            variance += ((added_a - added_b) ** 2).sum(axis=0)
            sizes += (added_a**2 + added_b**2).sum(axis=0)
        return _standardized(difference, variance, variance > LOST * sizes)

    @property
    def observed(self) -> float:
        """The observed t, not centred; 0 where nothing varies."""
        nothing, nobody = np.zeros((self.common.sums.shape[1], 1)), np.zeros((self.units, 1), dtype=np.bool_)
        return self.evidence.bound(float(np.nan_to_num(self.statistics(nothing, [(0, nobody)]))[0]))


def function_pair(paired: Sums) -> FunctionPair | InfluencePair:
    """Two systems of a function of sums, by what is quicker for so many counts."""
    return InfluencePair.of(paired) if len(paired.columns) > MANY_COLUMNS else FunctionPair.of(paired)


def _standardized(difference: Floats, variance: Floats, varies: Booleans) -> Floats:
    error = np.sqrt(variance, out=np.ones_like(variance), where=varies)
    return np.divide(difference, error, out=np.full_like(error, np.nan), where=varies)


def _gradient(valuation: Valuation, sums: Floats) -> tuple[Floats, Floats]:
    """The values for sums of shape (columns, any), and their gradients: by formula, else central differences, one-sided
    ones where there is a value on one side only.
    """
    if valuation.slopes is not None:
        return valuation.values(sums), valuation.slopes(sums)
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
