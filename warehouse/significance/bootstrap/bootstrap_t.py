"""How many standard errors a studentized interval has to each side (Efron & Tibshirani 1993, section 12.5).

In each resample the deviation from the observed value is divided by its standard error there. With both limits it is
the size of these that counts, so that the interval is symmetric, and its coverage off by a multiple of 1/n² and not of
1/n (Hall 1988). It is never narrower than by Student's t with units − 1 degrees of freedom, which takes over where too
many resamples have no standard error, because too few units differ.
"""

from __future__ import annotations

from math import ceil, inf, sqrt
from statistics import NormalDist

import numpy as np

from grammar.value import value
from warehouse.significance.analytic.beta import t_quantile
from warehouse.significance.paired import Booleans, Floats, Integers

BEYOND = 10
"""So many resamples must lie beyond a limit that is read from them; further out the tail of Student's t goes on."""


@value
class Student:
    """Student's t for so many units and degrees of freedom, of both sides where `two_sided`; in standard errors that
    divide by units."""

    units: int
    degrees: int
    two_sided: bool

    def quantile(self, tail: float) -> float:
        """What a share `tail` is beyond; infinite without a degree of freedom."""
        if self.degrees < 1:
            return inf
        share = tail / 2 if self.two_sided else tail
        return sqrt(self.units / self.degrees) * t_quantile(min(share, 0.5), self.degrees)


WRONG = 0.05
"""By what share of itself the probability to miss may be off for resamples not to be needed."""

HEAVY = 0.1
"""Σψ⁴ / (Σψ²)² is as large where ten units alone decide, all by the same amount; more is never near enough."""


def near_student(influences: Floats, times: Integers, student: Student, tail: float) -> Booleans:
    """Whether estimates with influences ψ of shape (any, units) miss by Student's t as often as they should.

    By how much they do not follows from their skewness and kurtosis (Hall 1992, section 2.6, of the studentized mean;
    with both limits together the first term cancels).
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


@value(eq=False)
class Standardized:
    """Deviations in standard errors of their resamples, in the direction that counts, of shape (any, resamples); −∞
    where there is none.

    `undefined` says in how many resamples there is no value, and `without_error` in how many of the others there is no
    standard error.
    """

    statistics: Floats
    undefined: Integers
    without_error: Integers

    @classmethod
    def of(cls, deviations: Floats, variances: Floats, directions: Floats) -> Standardized:
        """From deviations, NaN where undefined, and variances; `directions` are 1 or −1, or 0 where both count."""
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
        """Whether so few resamples have no standard error that a tail of that size can be read from the others."""
        return np.asarray(self.without_error <= tail * (self.statistics.shape[1] - self.undefined))

    def quantiles(self, tail: float, student: Student) -> Floats:
        """What a share `tail` of the resamples is beyond, and never less than by Student's t; of shape (any,)."""
        defined = self.statistics.shape[1] - self.undefined
        nearest = np.maximum(tail, np.minimum(BEYOND / (defined + 1), 0.5))
        ranks = np.ceil((1 - nearest) * (defined + 1)).astype(np.intp)
        # What is undefined stands before all others, and what has no standard error counts as beyond them all.
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
    """What a share `tail` of the resamples is beyond with the largest of all deviations, of shape (resamples,)."""
    rank = min(ceil((1 - tail) * (len(largest) + 1)), len(largest))
    return float(np.partition(largest, rank - 1)[rank - 1])
