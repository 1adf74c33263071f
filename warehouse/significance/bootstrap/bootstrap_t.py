"""The number of standard errors that a studentized interval extends to each side (Efron & Tibshirani 1993, section
12.5).

In each resample the deviation from the observed value is divided by its standard error there. For two-sided intervals
the absolute value of this ratio is used, so that the interval is symmetric and its coverage error is of order 1/n²
instead of 1/n (Hall 1988). The interval is never narrower than that of Student's t with units − 1 degrees of freedom.
Student's t replaces the resamples if too many of them have no standard error because too few units differ.
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from warehouse.significance.analytic.beta import t_quantile
from warehouse.significance.paired import Booleans, Floats, Integers

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
