"""A measure in the form that curves need: its sums over the cells of contingency tables, its value, and intervals of a
given width around it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from warehouse.significance.curves.thresholds import CELLS
from warehouse.significance.paired import Floats

SPARSE = ((1, 0, 0), (0, 1, 0), (0, 0, 1), (2, 3, 5), (7, 1, 4), (11, 13, 2))
"""Unrelated counts for three cells. A measure with the same value for all of them is constant."""


class CurveMeasure(Struct, frozen=True, eq=False):
    """A measure of contingency tables.

    `forms`, of shape (sums, 6), has the coefficients of the cells in each sum that the value is computed from.
    `of_sums` takes sums of shape (sums, …) and returns values of the remaining shape, NaN where undefined.

    A `share` is a ratio of two sums in which each document counts in the numerator with all that it has in the
    denominator, or not at all: recall, precision, F, accuracy. `within` is where its values lie.
    """

    forms: Floats
    of_sums: Callable[[Floats], Floats]
    share: bool = False
    lower_is_better: bool = False
    within: tuple[float, float] | None = None

    def sums(self, cells: Floats) -> Floats:
        """The sums for cells of shape (6, …)."""
        return np.tensordot(self.forms, cells, axes=1)

    def values(self, cells: Floats) -> Floats:
        """The values for cells of shape (6, …)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.of_sums(self.sums(cells))

    def is_constant(self, cells: Sequence[int]) -> bool:
        """Whether the value is the same for all tables in which only these cells have documents."""
        tables = np.zeros((len(CELLS), len(SPARSE)))
        tables[list(cells)] = np.array(SPARSE, dtype=np.float64).T
        known = self.values(tables)
        known = known[~np.isnan(known)]
        return bool(known.size) and float(np.ptp(known)) <= 1e-12

    def trials(self, cells: Floats) -> Floats:
        """The denominator of a share divided by the weight of one trial, so that the variance of the share is v(1 − v)
        / trials (the delta method). If all documents have equal weights, a document is one trial.
        """
        under = self.forms[1]
        hit = np.where(self.forms[0] != 0, under, 0.0)
        worth = [_worth(side, cells) for side in (hit, under - hit)]
        value = self.values(cells)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.tensordot(under, cells, axes=1) / (worth[0] * (1 - value) + worth[1] * value)


def _worth(weights: Floats, cells: Floats) -> Floats:
    """The mean weight of documents, weighted by these weights; the largest weight if there are no documents."""
    total = np.tensordot(weights, cells, axes=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(total > 0, np.tensordot(weights**2, cells, axes=1) / total, weights.max())


def score_interval(value: Floats, trials: Floats, reach: float, steps: float = 0.0) -> tuple[Floats, Floats]:
    """Wilson's (1927) interval: the lowest and the highest share for which the value, moved by `steps` trials, is
    within `reach` standard errors of that share. A step of half a trial is the continuity correction (Newcombe 1998).
    """
    extra = reach**2 / trials

    def end(of: Floats, side: float) -> Floats:
        half = np.sqrt(of * (1 - of) * extra + (extra / 2) ** 2)
        return np.asarray(((of + extra / 2 + side * half) / (1 + extra)).clip(0.0, 1.0))

    step = steps / trials
    return end((value - step).clip(0.0, 1.0), -1.0), end((value + step).clip(0.0, 1.0), 1.0)
