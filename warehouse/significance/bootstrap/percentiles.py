"""Intervals between two resampled values: percentile and BCa (Efron & Tibshirani 1993, chapters 13 and 14)."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from msgspec import Struct

from warehouse.significance.bootstrap.resamples import Resamples, whole
from warehouse.significance.paired import Floats, Integers
from warehouse.significance.sums import Sums

TIE = 1e-12
"""Values whose relative distance from the observed value is smaller than this count as equal to it."""

NORMAL = NormalDist()


class SystemValues(Struct, frozen=True, eq=False):
    """The values of systems: observed, of shape (systems,), in each resample, of shape (systems, resamples), and with
    one unit of each kind left out, of shape (systems, units); NaN where undefined."""

    observed: Floats
    resampled: Floats
    without_one: Callable[[], Floats]

    @classmethod
    def of(cls, many: Sums, resamples: Resamples) -> SystemValues:
        """The values of all systems."""
        columns = many.table
        systems, units = many.systems, many.units
        scaled, worth = whole(columns.reshape(-1, units), int(resamples.times.sum()))

        def value(sums: Floats) -> Floats:
            return _values(many, (sums * worth[:, None]).reshape(len(columns), systems, -1))

        observed = (scaled * resamples.times).sum(axis=1, keepdims=True)
        return cls(value(observed)[:, 0], value(resamples.sums(scaled)), lambda: value(observed - scaled))


def _values(many: Sums, sums: Floats) -> Floats:
    """The values for sums of shape (columns, systems, any), NaN where undefined."""
    if many.is_function:
        return many.valuation.values(sums.reshape(sums.shape[0], -1)).reshape(sums.shape[1:])
    without = np.full(sums.shape[1:], np.nan)
    return np.asarray(np.divide(sums[0], sums[1], out=without, where=sums[1] > 0))


def between(resampled: Floats, tails: tuple[float, float]) -> tuple[float, float]:
    """The resampled values that leave the given tails on both sides. `resampled` must be sorted and without undefined
    values; the limits are NaN if it is empty.

    For a tail of α the limit is the ⌊α·(n + 1)⌋-th of n values, counted from that end, and at least the first.
    """
    if not len(resampled):
        return float("nan"), float("nan")
    low, high = (min(max(1, int(tail * (len(resampled) + 1))), len(resampled)) for tail in tails)
    return float(resampled[low - 1]), float(resampled[len(resampled) - high])


def corrected_tails(
    resampled: Floats, observed: float, without_one: Floats, times: Integers, tails: tuple[float, float]
) -> tuple[float, float]:
    """The tails that a BCa interval leaves to both sides (Efron & Tibshirani 1993, section 14.3).

    `without_one` has, for each kind of unit, the value with one unit of that kind left out; `times` has the number of
    units of each kind.
    """
    near = TIE * max(abs(observed), 1e-300)
    ties = int(np.count_nonzero(np.abs(resampled - observed) <= near))
    below = (int(np.count_nonzero(resampled < observed - near)) + ties / 2) / max(len(resampled), 1)
    if not 0 < below < 1:
        return tails
    bias = NORMAL.inv_cdf(below)
    mean = float((np.nan_to_num(without_one) * times).sum()) / int(times.sum())
    influence = np.where(np.isnan(without_one), 0.0, mean - without_one)
    squares = float((influence**2 * times).sum())
    acceleration = float((influence**3 * times).sum()) / (6 * squares**1.5) if squares > 0 else 0.0

    def share(tail: float) -> float:
        z = NORMAL.inv_cdf(tail)
        return NORMAL.cdf(bias + (bias + z) / max(1 - acceleration * (bias + z), 1e-12))

    low, high = tails
    return share(low), 1 - share(1 - high)
