"""Studentized bootstrap intervals: standard errors, and how many of them an interval extends to each side.

In each resample the deviation from the observed value is divided by its standard error there (Efron & Tibshirani
1993, section 12.5).
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, inf, sqrt
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance.arrays import MANY_COLUMNS, Booleans, Floats, Integers, Places, Sparse
from evalhouse.warehouse.significance.bootstrap.resamples import Resamples, whole
from evalhouse.warehouse.significance.distributions import t_quantile
from evalhouse.warehouse.significance.sums import Valuation

# === standard errors ==================================================================================================
# By linear approximation, for the observed data and for each resample. A value is a function of sums: the influence of
# a unit is the gradient of this function times the counts of the unit, and the variance of the value is the sum of the
# squared influences (Efron & Tibshirani 1993, section 21.3). In a resample the gradient is taken at the sums of the
# resample.

STEP = 1e-5
"""The step of a numerical gradient, as a share of the sum or of the number of units."""

MOVED = 2.0**-44
"""Two values that differ by no larger share than this differ by rounding."""

ROUNDING = 1e-9
"""A variance computed as a difference counts as rounding error if it is no larger than this share of the terms."""


INFLUENCES = 1 << 22
"""The number of influences held at once."""


class Smooth(Struct, frozen=True, eq=False):
    """The values of some systems as a smooth function of sums.

    `columns` has the shape (systems, columns, units), and `times` says how many units each entry represents.
    `deviation` and `gradient` take sums of shape (systems, columns, any). `deviation` gives the distances of the values
    from the observed ones, of shape (systems, any), NaN where undefined; `gradient` gives gradients of shape (systems,
    columns, any). `influences`, of shape (systems, units), has the influence of each unit on the value of a system;
    those of a ratio are computed by themselves. `may_move` says that their mean in a resample may differ from 0; for a
    ratio it is always 0.
    """

    columns: Floats
    times: Integers
    deviation: Callable[[Floats], Floats]
    gradient: Callable[[Floats], Floats]
    influences: Floats | None = None
    may_move: bool = True

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.times.sum())

    @property
    def many_columns(self) -> bool:
        """Whether variances in resamples come from the influences of the units, and not from products of columns."""
        return bool(self.columns.shape[1] > MANY_COLUMNS)


def ratio_influences(numerators: Integers, denominators: Integers, times: Integers) -> Floats:
    """The influences (N − θ·D) / ΣD of each unit on the ratios θ = ΣN/ΣD, of shape (systems, units), without what only
    resamples need.
    """
    residuals, bottoms = _residuals(numerators, denominators, times)
    residuals /= bottoms[:, None]
    return residuals


def _residuals(numerators: Integers, denominators: Integers, times: Integers) -> tuple[Floats, Integers]:
    """N − θ·D of each unit, of shape (systems, units), and ΣD of each system. Row by row, since products of all counts
    with their times would be two more copies of them.
    """
    residuals, bottoms = np.empty(numerators.shape), np.empty(len(numerators), dtype=np.int64)
    for row, over, under, place in zip(residuals, numerators, denominators, range(len(bottoms)), strict=True):
        bottoms[place] = (under * times).sum()
        np.multiply(under, int((over * times).sum()) / int(bottoms[place]), out=row)
        np.subtract(over, row, out=row)
    return residuals, bottoms


def ratios(numerators: Integers, denominators: Integers, times: Integers) -> Smooth:
    """The ratios θ = ΣN/ΣD of numerators and denominators of shape (systems, units).

    The columns of a unit are its residual N − θ·D and its D, so that no digits are lost if values differ by little.
    """
    units = int(times.sum())
    columns, worth = np.empty((len(numerators), 2, numerators.shape[1])), np.empty((len(numerators), 1))
    # System by system: each is scaled by itself, and copies of all would be twice as large as the columns.
    for place, (over, under) in enumerate(zip(numerators, denominators, strict=True)):
        columns[place, 0], of_residual = whole(_residuals(over[None], under[None], times)[0], units, factors=2)
        columns[place, 1], of_under = whole(under[None], units, factors=2)
        worth[place] = of_residual / of_under

    def deviation(sums: Floats) -> Floats:
        without = np.full(sums[:, 1].shape, np.nan)
        return np.asarray(np.divide(worth * sums[:, 0], sums[:, 1], out=without, where=sums[:, 1] > 0))

    def gradient(sums: Floats) -> Floats:
        gradients = np.full(sums.shape, np.nan)
        known = sums[:, 1] > 0
        np.divide(worth, sums[:, 1], out=gradients[:, 0], where=known)
        np.divide(-gradients[:, 0] * sums[:, 0], sums[:, 1], out=gradients[:, 1], where=known)
        return gradients

    return Smooth(columns, times, deviation, gradient, may_move=False)


def functions(counts: Integers, valuation: Valuation, times: Integers) -> Smooth:
    """Any function of the sums of counts of shape (systems, columns, units). Its gradient is computed numerically if
    there is no formula for it.
    """
    systems, columns, _ = counts.shape
    units = int(times.sum())
    flat, worths = whole(counts.reshape(systems * columns, -1), units, factors=2)
    scaled, worth = flat.reshape(counts.shape), worths.reshape(systems, columns, 1)

    def value(sums: Floats) -> Floats:
        flat = (sums * worth).transpose(1, 0, 2).reshape(columns, -1)
        return valuation.values(flat).reshape(systems, -1)

    def gradient(sums: Floats) -> Floats:
        if valuation.slopes is not None:
            return gradient_of(valuation, sums * worth, units) * worth
        return numerical_gradient(value, sums, units)

    totals = (scaled * times).sum(axis=2, keepdims=True)
    observed, influences = value(totals), first_order_influences(value, gradient, scaled, times)
    return Smooth(scaled, times, lambda sums: value(sums) - observed, gradient, influences)


def first_order_influences(
    value: Callable[[Floats], Floats], gradient: Callable[[Floats], Floats], columns: Floats, times: Integers
) -> Floats:
    """The influences of units on the values of systems, of shape (systems, units), for counts of shape (systems,
    columns, units): the gradient times the counts, less the mean. A unit without which the value is the same has none,
    whatever the error of the gradient.
    """
    totals, units = (columns * times).sum(axis=2, keepdims=True), int(times.sum())
    gradients = gradient(totals)
    influences = np.zeros((len(columns), columns.shape[2]))
    for column in range(columns.shape[1]):
        influences += gradients[:, column] * columns[:, column]
    influences -= (gradients * totals).sum(axis=1) / units
    observed = value(totals)
    influences[np.abs(value(totals - columns) - observed) <= MOVED * np.abs(observed)] = 0.0
    return influences


def gradient_of(valuation: Valuation, sums: Floats, units: int) -> Floats:
    """The gradients of a valuation at sums of shape (systems, columns, any): by its formula, or by central
    differences.
    """
    if valuation.slopes is not None:
        return np.stack([valuation.slopes(of_system) for of_system in sums])

    def value(sums: Floats) -> Floats:
        return np.stack([valuation.values(of_system) for of_system in sums])

    return numerical_gradient(value, sums, units)


def numerical_gradient(value: Callable[[Floats], Floats], sums: Floats, units: int) -> Floats:
    """The gradients of the values of systems at sums of shape (systems, columns, any), by central differences."""
    gradients = np.empty_like(sums)
    for column in range(sums.shape[1]):
        step = STEP * np.maximum(np.abs(sums[:, column]), units)
        ahead, behind = sums.copy(), sums.copy()
        ahead[:, column] += step
        behind[:, column] -= step
        # Sums of counts are not moved below 0, where a root or a logarithm may be undefined.
        counted = sums[:, column] >= 0
        behind[:, column][counted] = np.maximum(behind[:, column][counted], 0.0)
        gradients[:, column] = (value(ahead) - value(behind)) / (ahead[:, column] - behind[:, column])
    return gradients


class Resampled(Struct, frozen=True, eq=False):
    """The values of some systems in each resample: their deviations from the observed ones, of shape (systems,
    resamples), NaN where undefined; their gradients, of shape (systems, columns, resamples); and the sums of the
    influences, None if these are 0.
    """

    smooth: Smooth
    resamples: Resamples
    deviations: Floats
    gradients: Floats
    totals: Floats | None

    @classmethod
    def of(cls, smooth: Smooth, resamples: Resamples) -> Resampled:
        """The values in these resamples."""
        systems, columns, units = smooth.columns.shape
        sums = resamples.sums(smooth.columns.reshape(-1, units)).reshape(systems, columns, -1)
        gradients = smooth.gradient(sums)
        totals = (gradients * sums).sum(axis=1) if smooth.may_move else None
        return cls(smooth, resamples, smooth.deviation(sums), gradients, totals)

    def covariances(self, first: Places, second: Places) -> Floats:
        """The covariances of the values of the first and the second system of each pair, of shape (pairs,
        resamples).
        """
        if self.smooth.many_columns:
            return self._of_influences(first, second)[0]
        return self._bilinear(self._products(first, second), first, second)

    def variances(self) -> Floats:
        """The variances of the values of all systems, of shape (systems, resamples)."""
        everyone = np.arange(len(self.deviations))
        if self.smooth.many_columns:
            variances, sizes = self._of_influences(everyone, everyone)
            return np.where(variances <= ROUNDING * sizes, 0.0, variances)
        products = self._products(everyone, everyone)
        with np.errstate(invalid="ignore"):
            largest = sum(self.gradients[:, j] ** 2 * products[:, j, j] for j in range(products.shape[1]))
            variances = self._bilinear(products, everyone, everyone)
            return np.where(variances <= ROUNDING * largest, 0.0, variances)

    def _products(self, first: Places, second: Places) -> Floats:
        """The sums of the products of each column with each, of shape (pairs, columns, columns, resamples)."""
        a, b = self.smooth.columns[first], self.smooth.columns[second]
        pairs, columns, units = a.shape
        sums = self.resamples.sums((a[:, :, None] * b[:, None]).reshape(-1, units))
        return sums.reshape(pairs, columns, columns, -1)

    def _of_influences(self, first: Places, second: Places) -> tuple[Floats, Floats]:
        """The covariances from the influences of the units in each resample, and the sums of their products; both of
        shape (pairs, resamples). This takes no products of columns, of which there may be too many.
        """
        products = np.empty((len(first), self.resamples.size))
        systems = {
            place: Sparse.of(self.smooth.columns[place]) for place in sorted({*first.tolist(), *second.tolist()})
        }
        for start, counts in self.resamples.blocks(max(1, INFLUENCES // len(systems))):
            block = slice(start, start + len(counts))
            influences = {place: of.times(self.gradients[place][:, block]) for place, of in systems.items()}
            for row, a, b in zip(products, first.tolist(), second.tolist(), strict=True):
                row[block] = np.einsum("ru,ur,ur->r", counts, influences[a], influences[b])
        if self.totals is None:
            return products, products
        return products - self.totals[first] * self.totals[second] / self.smooth.units, products

    def _bilinear(self, products: Floats, first: Places, second: Places) -> Floats:
        """The sums of the products of influences, minus the part that is due to their means."""
        pairs, columns, _, resamples = products.shape
        covariances, inner, term = np.zeros((pairs, resamples)), np.empty(resamples), np.empty(resamples)
        # Row by row in memory that is reused, so that the working set fits into the processor's first cache.
        for row, a, b, of_pair in zip(covariances, first.tolist(), second.tolist(), products, strict=True):
            for j in range(columns):
                np.multiply(self.gradients[b, 0], of_pair[j, 0], out=inner)
                for k in range(1, columns):
                    inner += np.multiply(self.gradients[b, k], of_pair[j, k], out=term)
                row += np.multiply(inner, self.gradients[a, j], out=inner)
            if self.totals is not None:
                row -= self.totals[a] * self.totals[b] / self.smooth.units
        return covariances


def of_differences(resampled: Resampled, variances: Floats, first: Places, second: Places) -> tuple[Floats, Floats]:
    """The deviation of each pair's difference from the observed one in each resample, and its variance; both of shape
    (pairs, resamples).
    """
    squares, deviations = resampled.covariances(first, second), np.empty((len(first), variances.shape[1]))
    both, nothing = np.empty(variances.shape[1]), np.empty(variances.shape[1], dtype=np.bool_)
    for row, difference, a, b in zip(squares, deviations, first.tolist(), second.tolist(), strict=True):
        np.subtract(resampled.deviations[a], resampled.deviations[b], out=difference)
        np.add(variances[a], variances[b], out=both)
        row *= -2
        row += both
        both *= ROUNDING
        if np.less_equal(row, both, out=nothing).any():
            row[nothing] = 0.0
    return deviations, squares


# === number of standard errors ========================================================================================
# For two-sided intervals the absolute value of the ratio is used, so that the interval is symmetric and its coverage
# error is of order 1/n² instead of 1/n (Hall 1988). The interval is never narrower than that of Student's t with units
# − 1 degrees of freedom. Student's t replaces the resamples if too many of them have no standard error because too few
# units differ.

BEYOND = 10
"""At least this many resamples must lie beyond a limit that is read from them. Further out the tail is extrapolated
with Student's t.
"""


class Student(Struct, frozen=True):
    """Student's t for this number of units and degrees of freedom, scaled for standard errors that divide by units and
    not by degrees of freedom. `two_sided` says that a tail is shared by both sides.
    """

    units: int
    degrees: int
    two_sided: bool

    def quantile(self, tail: float) -> float:
        """The upper quantile with tail probability `tail`; infinite without degrees of freedom."""
        if self.degrees < 1:
            return inf
        share = tail / 2 if self.two_sided else tail
        return sqrt(self.units / self.degrees) * t_quantile(min(share, 0.5), self.degrees)


WRONG = 0.05
"""The largest relative error of the probability of missing the value for which resamples are not needed."""

HEAVY = 0.1
"""Σψ⁴ / (Σψ²)² has this value if just ten units have equal influence and all others none. With a larger value an
estimate never counts as near to normal.
"""


def near_student(influences: Floats, times: Integers, student: Student, tail: float) -> Booleans:
    """Whether intervals by Student's t miss as often as they should, for estimates with influences ψ of shape (any,
    units).

    The error is computed from skewness and kurtosis (Hall 1992, section 2.6, for the studentized mean; in a two-sided
    interval the first term cancels).
    """
    squares = influences * influences
    second = (squares * times).sum(axis=1)
    skewed = (squares * influences * times).sum(axis=1) ** 2
    heavy = (squares * squares * times).sum(axis=1)
    normal = NormalDist()
    share = tail / 2 if student.two_sided else tail
    z = -normal.inv_cdf(share)
    allowed = WRONG * share / normal.pdf(z)
    if student.two_sided:
        most_skewed = 18 * allowed / (z**5 + 2 * z**3 - 3 * z) if z > 1 else 0.0
    else:
        most_skewed = (6 * allowed / (2 * z**2 + 1)) ** 2
    most_heavy = min(HEAVY, 12 * allowed / max(z * abs(z**2 - 3), 1e-9))
    return np.asarray((skewed <= most_skewed * second**3) & (heavy <= most_heavy * second**2))


class Standardized(Struct, frozen=True, eq=False):
    """Deviations divided by the standard error in their resample, in the direction that counts, of shape (any,
    resamples); −∞ where there is none.

    `undefined` is the number of resamples without a value, and `without_error` the number of those with a value but
    without a standard error.
    """

    statistics: Floats
    undefined: Integers
    without_error: Integers

    @classmethod
    def of(cls, deviations: Floats, variances: Floats, directions: Floats) -> Standardized:
        """Standardizes deviations, NaN where undefined, by their variances. `directions` is 1 or −1, or 0 if both
        directions count.
        """
        statistics, undefined, without_error = np.empty_like(deviations), [], []
        for row, deviation, variance, direction in zip(statistics, deviations, variances, directions, strict=True):
            known = variance > 0
            np.sqrt(variance, out=row, where=known)
            np.divide(deviation, row, out=row, where=known)
            if direction:
                row *= direction
            else:
                np.abs(row, out=row)
            if known.all():
                missing = unknown = 0
            else:
                row[~known] = -np.inf
                missing = int(np.count_nonzero(np.isnan(deviation)))
                unknown = int(np.count_nonzero(~known)) - missing
            undefined.append(missing)
            without_error.append(unknown)
        return cls(statistics, np.array(undefined, dtype=np.int64), np.array(without_error, dtype=np.int64))

    def tells(self, tail: float) -> Booleans:
        """Whether enough resamples have a standard error to read a tail of this size from them."""
        return np.asarray(self.without_error <= tail * (self.statistics.shape[1] - self.undefined))

    def quantiles(self, tail: float, student: Student) -> Floats:
        """The upper quantile of the resamples with tail probability `tail`, but never below that of Student's t; of
        shape (any,).
        """
        defined = self.statistics.shape[1] - self.undefined
        nearest = np.maximum(tail, np.minimum(BEYOND / (defined + 1), 0.5))
        ranks = np.ceil((1 - nearest) * (defined + 1)).astype(np.intp)
        # Undefined resamples sort before all others; those without a standard error count as beyond all others.
        places = np.minimum(self.undefined + self.without_error + ranks, self.statistics.shape[1]) - 1
        quantiles = np.empty(len(places))
        # Sets, since numpy.unique would import masked arrays.
        for place in sorted(set(places.tolist())):
            here = places == place
            quantiles[here] = np.partition(self.statistics[here], place, axis=1)[:, place]
        least = student.quantile(tail)
        for near in sorted(set(nearest[nearest > tail].tolist())):
            quantiles[nearest == near] *= least / student.quantile(near)
        return np.maximum(quantiles, least)


def quantile_of_largest(largest: Floats, tail: float) -> float:
    """The upper quantile, with tail probability `tail`, of the largest deviation in each resample, of shape
    (resamples,).
    """
    rank = min(ceil((1 - tail) * (len(largest) + 1)), len(largest))
    return float(np.partition(largest, rank - 1)[rank - 1])
