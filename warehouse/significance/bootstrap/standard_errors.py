"""Standard errors of values and of differences by linear approximation, for the observed data and for each resample.

A value is a function of sums. The influence of a unit is the gradient of this function times the counts of the unit,
and the variance of the value is the sum of the squared influences (Efron & Tibshirani 1993, section 21.3). In a
resample the gradient is taken at the sums of the resample.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from warehouse.significance.bootstrap.resamples import Resamples, whole
from warehouse.significance.paired import Floats, Integers, Places

STEP = 1e-5
"""The step of a numerical gradient, as a share of the sum or of the number of units."""

ROUNDING = 1e-9
"""A variance computed as a difference counts as rounding error if it is no larger than this share of the terms."""


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


def functions(counts: Integers, valuation: Callable[[Floats], Floats], times: Integers) -> Smooth:
    """Any function of the sums of counts of shape (systems, columns, units). Its gradient is computed numerically."""
    systems, columns, _ = counts.shape
    units = int(times.sum())
    flat, worths = whole(counts.reshape(systems * columns, -1), units, factors=2)
    scaled, worth = flat.reshape(counts.shape), worths.reshape(systems, columns, 1)

    def value(sums: Floats) -> Floats:
        flat = (sums * worth).transpose(1, 0, 2).reshape(columns, -1)
        return valuation(flat).reshape(systems, -1)

    def gradient(sums: Floats) -> Floats:
        return numerical_gradient(value, sums, units)

    totals = (scaled * times).sum(axis=2, keepdims=True)
    observed, gradients = value(totals), gradient(totals)
    influences = np.zeros((systems, counts.shape[2]))
    for column in range(columns):
        influences += gradients[:, column] * scaled[:, column]
    influences -= (gradients * totals).sum(axis=1) / units
    return Smooth(scaled, times, lambda sums: value(sums) - observed, gradient, influences)


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
        return self._bilinear(self._products(first, second), first, second)

    def variances(self) -> Floats:
        """The variances of the values of all systems, of shape (systems, resamples)."""
        everyone = np.arange(len(self.deviations))
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
