"""The interval of a system's value that is averaged over runs, for other documents and other runs.

If every run has the same documents, the variance has a part for documents, which includes the noise that remains after
averaging over runs, and a part for runs, without the noise that is already in the first part. These are the variance
components of a two-way layout (Scheffé 1959, chapter 7; for evaluations Miller 2024, section 3). If each document is in
one run only, as with folds, documents are nested in runs, and the variance is that between runs.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from msgspec.structs import replace

from warehouse.significance.analytic.beta import t_quantile
from warehouse.significance.bootstrap.interval_kinds import ConfidenceLimits
from warehouse.significance.bootstrap.standard_errors import numerical_gradient
from warehouse.significance.paired import Booleans, Floats
from warehouse.significance.sums import Sums


def over_runs(
    limits: ConfidenceLimits, value: float, influences: Floats, present: Booleans, level: float
) -> ConfidenceLimits:
    """The studentized interval of a system's value over documents, the first of `limits`, widened by the variance of
    its runs.

    `influences` has the influence of each run on the value in each unit, of shape (runs, units); `present`, of the same
    shape, says whether the run has the unit. The quantile is at least that of Student's t with the combined degrees of
    freedom of both parts (Satterthwaite 1946).
    """
    size, units = present.shape
    error = float(limits.errors[0])
    if size < 2 or units < 2 or not error > 0:
        return limits
    of_runs = size / (size - 1) * float((influences.sum(axis=1) ** 2).sum())
    counted = error**2 if (present.sum(axis=0) <= 1).all() else _noise(influences, present)
    added = max(0.0, of_runs - counted)
    total = error**2 + added
    degrees = total**2 / (error**4 / (units - 1) + added**2 / (size - 1))
    quantile = (float(limits.high[0]) - value) / error
    half = max(quantile, t_quantile(level / 2, degrees)) * sqrt(total) if quantile == quantile else quantile
    low, high, errors = (np.full_like(limits.errors, number) for number in (value - half, value + half, sqrt(total)))
    return replace(limits, low=low, high=high, errors=errors)


def influences_of(runs: Sums, factor: float) -> Floats:
    """The influence of each run of a system on its value in each unit, of shape (runs, units). The influences sum to 0.

    `runs` has the contribution of each run to the sums of the system. The value of the system is `factor` times the
    value of these sums.
    """
    if runs.is_ratio:
        over, under = int(runs.numerators.sum()), int(runs.denominators.sum())
        return factor * (runs.numerators - runs.denominators * (over / under)) / under

    def value(sums: Floats) -> Floats:
        return runs.valuation.values(sums[0])[None]

    totals = np.array([column.sum() for column in runs.columns], dtype=np.float64)[None, :, None]
    gradient = numerical_gradient(value, totals, runs.units)[0, :, 0]
    influences = sum(weight * column for weight, column in zip(gradient.tolist(), runs.columns, strict=True))
    return np.asarray(factor * (influences - np.mean(influences)))


def _noise(influences: Floats, present: Booleans) -> float:
    """The part of the variance between runs that is noise on single documents, estimated from the documents that all
    runs have.
    """
    size, units = len(present), len(present.T)
    everywhere: Floats = influences[:, present.all(axis=0)]
    if everywhere.shape[1] < 2:
        return 0.0
    rest: Floats = everywhere - everywhere.mean(axis=0) - everywhere.mean(axis=1, keepdims=True) + everywhere.mean()
    squares = float((rest**2).sum())
    return squares * size * units / ((size - 1) * (len(everywhere.T) - 1))
