"""Bootstrap-t for a mean of some units that is corrected by what else is known of these and of other units.

The estimate is the mean of `own` minus λ times the difference between the two samples in `other`. Both samples are
resampled independently, and λ is estimated anew in each resample, because it follows large values (λ held at its
estimate gives intervals that are too narrow where values have a long tail). This module must not know what is
estimated.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import ROUNDING, Standardized, Student
from evalhouse.warehouse.significance.bootstrap.resamples import VERY_MANY_UNITS, Resamples
from evalhouse.warehouse.significance.draws import RESAMPLES, Draws


class TwoSamples(Struct, frozen=True, eq=False):
    """What each unit contributes to the estimate: `own` and `other` of the units of the first sample, and `rest`, which
    is `other` of those of the second sample; each with the mean 0, divided by the number of documents and, in `rest`,
    negative. The estimate deviates by Σ own − λ·(Σ other + Σ rest).

    `degrees` is the degrees of freedom of the first sample. If `pooled`, λ is estimated with one variance of `other`
    for both samples, else with that of each.
    """

    own: Floats
    other: Floats
    rest: Floats
    degrees: int
    pooled: bool

    def quantiles(self, tail: float, draws: Draws) -> tuple[float, float] | None:
        """How many standard errors the estimate is above and below what it estimates with this probability each, at
        least as many as by Student's t. None if too many resamples have no standard error.
        """
        deviations, variances = self._resampled(draws)
        student, found = Student(self.degrees, self.degrees, two_sided=False), []
        for direction in (1.0, -1.0):
            of = Standardized.of(deviations[None], variances[None], np.array([direction]))
            if not of.tells(tail)[0]:
                return None
            found.append(float(of.quantiles(tail, student)[0]))
        return found[0], found[1]

    def _resampled(self, draws: Draws) -> tuple[Floats, Floats]:
        """The deviation of the estimate in each resample and its variance, 0 where that is rounding error."""
        first, second = len(self.own), len(self.rest)
        own, other, squares, products, others = _sums(
            (self.own, self.other, self.own**2, self.own * self.other, self.other**2), draws
        )
        rest, rests = _sums_of_rest(self.rest, draws)
        covariance = products - own * other / first
        of_own, of_other = squares - own**2 / first, others - other**2 / first
        of_rest = rests - rest**2 / second if second else rests
        size = of_other + of_rest
        if self.pooled and second:
            both = first + second
            square = first**2 * others + second**2 * rests - (first * other - second * rest) ** 2 / both
            size = (1 / first + 1 / second) * square / (both - 1)
        weight = np.clip(np.divide(covariance, size, out=np.zeros_like(size), where=size > 0), 0.0, 1.0)
        ours = of_own - 2 * weight * covariance + weight**2 * of_other
        variances = first / self.degrees * ours + weight**2 * of_rest
        variances[variances <= ROUNDING * (squares + weight**2 * (others + rests))] = 0.0
        return own - weight * (other + rest), variances


def _sums(columns: tuple[Floats, ...], draws: Draws) -> Floats:
    return _units(len(columns[0]), draws).sums(np.stack(columns))


def _sums_of_rest(rest: Floats, draws: Draws) -> Floats:
    """The sums of the second sample and of its squares in each resample. Sums of very many units are normal."""
    apart = Draws(draws.shuffles, draws.seed, (*_words(draws), 1))
    square = float(rest @ rest)
    if not square:
        return np.zeros((2, draws.shuffles))
    if len(rest) >= VERY_MANY_UNITS:
        normal = apart.generator(0, RESAMPLES).normal(scale=square**0.5, size=draws.shuffles)
        return np.stack((normal, np.full(draws.shuffles, square)))
    return _sums((rest, rest**2), apart)


def _words(draws: Draws) -> tuple[int, ...]:
    return draws.stream if isinstance(draws.stream, tuple) else (draws.stream,)


@lru_cache(maxsize=4)
def _units(units: int, draws: Draws) -> Resamples:
    """Kept, because systems are often labelled and judged on equally many documents."""
    return Resamples.of_units(units, draws)
