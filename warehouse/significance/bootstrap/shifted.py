"""The bootstrap test: resampled differences, shifted so that they are centred at 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import Student
from evalhouse.warehouse.significance.bootstrap.estimates import Differences, standard_errors
from evalhouse.warehouse.significance.bootstrap.resamples import (
    CHUNK,
    TIE,
    VERY_MANY_UNITS,
    Resamples,
    SystemValues,
    resample_units,
    resampled_kinds,
)
from evalhouse.warehouse.significance.draws import (
    ALONE,
    RESAMPLES,
    Draws,
    Outcome,
    Sides,
    Work,
    approximate,
    check_sides,
)
from evalhouse.warehouse.significance.sums import Sums

FAR = 0.001
"""The tail probability at which a difference of very many units must be near to normal to be drawn from a normal
distribution.
"""


def bootstrap_test(paired: Sums, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Outcome:
    """The bootstrap test: how often a resampled difference is at least as far from the observed difference as that is
    from 0.

    The null distribution is that of the resampled differences, shifted so that it is centred at 0 (Noreen 1989; Efron &
    Tibshirani 1993, section 16.4). nge counts |d* − d| ≥ |d|, one-sided d* − d ≥ d, and p = (nge + 1) / (resamples +
    1). A resample without a value counts as extreme. Identical systems give p = 1.
    """
    check_sides(sides)
    differences = Differences.of(paired, [(0, 1)])
    (sign,), (observed,) = differences.signs.tolist(), (differences.signs * differences.values).tolist()
    tie = TIE + paired.tie
    nge = done = 0
    for deviations in _deviations(differences, draws, work):
        shifted = sign * deviations
        far = observed - abs(observed) * TIE - tie
        if sides == "two-sided":
            shifted, far = np.abs(shifted), abs(observed) * (1 - TIE) - tie
        nge += int(np.count_nonzero(~(shifted < far)))
        done += len(shifted)
        work.progress(done / draws.shuffles)
    return approximate(nge, draws.shuffles)


def _deviations(differences: Differences, draws: Draws, work: Work) -> Iterator[Floats]:
    """The deviation of a resampled difference from the observed one, chunk by chunk, NaN where it is undefined.

    From VERY_MANY_UNITS units on, a difference that is near to normal is drawn from a normal distribution; otherwise
    the number of units of each kind is drawn.
    """
    if int(differences.times.sum()) < VERY_MANY_UNITS:
        for counts in resample_units(len(differences.times), draws, work.threads):
            yield _of(differences, Resamples(differences.times, (counts,)))
        return
    only = np.array([0])
    influences = differences.influences(only)
    if not differences.near_normal(only, influences, Student(differences.units, differences.degrees, False), FAR)[0]:
        alone = differences.by_kind(0)
        for drawn in resampled_kinds(alone.times, draws):
            yield _of(alone, Resamples(alone.times, (drawn,)))
        return
    error = float(standard_errors(influences, differences.times)[0])
    for chunk, used in draws.chunks(CHUNK):
        yield error * draws.generator(chunk, RESAMPLES).standard_normal(CHUNK)[:used]


def _of(differences: Differences, resamples: Resamples) -> Floats:
    values, only = SystemValues.of(differences.many, resamples), np.array([0])
    observed = differences.of_values(values.observed[:, None], only)
    return np.asarray((differences.of_values(values.resampled, only) - observed)[0])
