"""Estimate a ratio of means over all documents from a judge who labelled all of them and people who labelled some:
PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453). A mean is a ratio with denominators of 1. This module must
not know what a judge is.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.distributions import t_quantile

FEW = 30
"""With fewer labelled documents, intervals may contain the value too rarely. If these documents show no mistake of the
judge, no interval is given, because it would assume that the judge makes no mistakes elsewhere.
"""

RARE = 10
"""If right answers, wrong answers or mistakes of the judge occur less often than this among the labelled documents, an
interval does not contain the value as often as it should.
"""


class Corrected(Struct, frozen=True):
    """An estimate of the value that people's labels on all documents would give, and how it was found.

    `weight` is λ, the weight of the judge. With λ = 0 the value is `people`, from people's labels alone, whose standard
    error is `people_error`. `judge` is the judge's value on all judged documents. `degrees` is the degrees of freedom
    of Student's t; errors and limits are None if it is less than one. `exact` says that the documents labelled by
    people show no mistake of the judge. `apart` is the number of standard errors by which the judge's values on these
    documents differ from those on the rest; if the documents were chosen at random it rarely exceeds 3.
    """

    value: float | None
    weight: float
    error: float | None
    degrees: int
    labelled: int
    judged: int
    people: float | None
    people_error: float | None
    judge: float | None
    exact: bool = False
    apart: float = 0.0
    unlimited: float = 0.0
    """The λ before it was clipped to [0, 1]."""

    def limits(self, level: float) -> tuple[float, float] | None:
        """The confidence interval with error probability `level`; None if there is no reliable standard error."""
        if self.value is None or not self.error or self.unseen:
            return None
        half = t_quantile(level / 2, self.degrees) * self.error
        return self.value - half, self.value + half

    @property
    def unseen(self) -> bool:
        """Whether the judge may make mistakes that are not seen because too few documents are labelled."""
        return self.exact and self.labelled < FEW

    @property
    def effective(self) -> float | None:
        """The effective sample size: the number of labelled documents that would give the same standard error without
        the judge, at most the number of all documents. None if it cannot be found.
        """
        if not self.error or self.people_error is None or self.unseen:
            return None
        return min(self.labelled * self.people_error**2 / self.error**2, float(self.judged))


def correct_mean(
    people: tuple[Floats, Floats],
    judge: tuple[Floats, Floats],
    labelled: Booleans,
    unit: NDArray[np.intp] | None = None,
) -> Corrected:
    """The corrected ratio of means. `people` and `judge` are numerators and denominators, each of shape (documents,),
    for the documents that the judge has labelled.

    Values of people are used only where `labelled`. `unit` is the sampling unit of each document; None if each document
    is its own unit.
    """
    n, rest = int(labelled.sum()), int((~labelled).sum())
    believed = _ratio(judge[0].sum(), judge[1].sum())
    alone = _ratio(people[0][labelled].sum(), people[1][labelled].sum()) if n else None
    if alone is None:
        return Corrected(None, 0.0, None, 0, n, n + rest, None, None, believed)
    said, by_judge = _scores(people, alone)[labelled], _scores(judge, alone)
    known, others = by_judge[labelled], by_judge[~labelled]
    parts = _DrawnTogether(labelled, unit)
    unlimited = parts.weight(said, known, others) if rest else 0.0
    weight = min(max(unlimited, 0.0), 1.0)
    over, under = (
        float(np.mean(side[labelled] - weight * mine[labelled]))
        + (weight * float(np.mean(mine[~labelled])) if rest else 0)
        for side, mine in zip(people, judge, strict=True)
    )
    value = over / under if under > 0 else None
    scale = float(people[1][labelled].mean())
    plain = parts.error(said / scale, np.zeros(0), 0.0, 1)
    error, degrees, exact = plain, parts.labelled - 1, False
    if value is None:
        error, degrees = None, 0
    elif rest and np.ptp(by_judge):
        # λ is estimated from the same documents, which costs one more degree of freedom.
        mine = _scores(judge, value)
        left = _scores(people, value)[labelled] - weight * mine[labelled]
        error, degrees = parts.error(left / under, weight * mine[~labelled] / under, weight, 2), parts.labelled - 2
        exact = weight > 0 and _goes_with(said, known)
    if degrees < 1:
        error = None
    return Corrected(
        value, weight, error, degrees, n, n + rest, alone, plain, believed, exact, _apart(known, others), unlimited
    )


class _DrawnTogether(Struct, frozen=True):
    """The sampling units of the labelled documents and of the others."""

    mask: Booleans
    unit: NDArray[np.intp] | None

    @property
    def labelled(self) -> int:
        """The number of units with labelled documents."""
        return int(self.mask.sum()) if self.unit is None else len(np.unique(self.unit[self.mask]))

    def weight(self, said: Floats, known: Floats, others: Floats) -> float:
        """The λ with the least variance; 0 if the judge gives every document the same value."""
        n, rest = len(known), len(others)
        if self.unit is None:
            variance = np.concatenate((known, others)).var(ddof=1) * (1 + n / rest)
            covariance = ((said - said.mean()) * (known - known.mean())).mean()
            return float(covariance / variance) if variance > 0 else 0.0
        ours = self._sum_units((said - said.mean()) / n, self.mask)
        theirs = self._sum_units((known - known.mean()) / n, self.mask) - self._sum_units(
            (others - others.mean()) / rest, ~self.mask
        )
        square = float(theirs @ theirs)
        return float(ours @ theirs) / square if square > 0 else 0.0

    def error(self, left: Floats, others: Floats, weight: float, estimated: int) -> float | None:
        """The standard error of mean(left) + mean(others). `estimated` is the number of parameters estimated from the
        labelled documents. None if no degrees of freedom are left.
        """
        free = self.labelled - estimated
        if free < 1:
            return None
        ours = (left - left.mean()) / len(left)
        theirs = (others - others.mean()) / len(others) if weight else np.zeros(int((~self.mask).sum()))
        more = self.labelled / free - 1
        if self.unit is None:
            return sqrt((1 + more) * float(ours @ ours) + float(theirs @ theirs))
        of_units, of_others = self._sum_units(ours, self.mask), self._sum_units(theirs, ~self.mask)
        both = of_units + of_others
        return sqrt(float(both @ both) + more * float(of_units @ of_units))

    def _sum_units(self, values: Floats, mask: Booleans) -> Floats:
        assert self.unit is not None
        sums = np.bincount(self.unit[mask], weights=values, minlength=int(self.unit.max()) + 1)
        return np.asarray(sums, dtype=np.float64)


def _goes_with(said: Floats, known: Floats) -> bool:
    """Whether the judge's values determine those of people, on any scale."""
    ours, theirs = said - said.mean(), known - known.mean()
    square = float(ours @ ours) * float(theirs @ theirs)
    return square > 0 and float(ours @ theirs) ** 2 >= square * (1 - 1e-12)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else 0.0


def _ratio(over: float, under: float) -> float | None:
    return float(over / under) if under > 0 else None


def _scores(sides: tuple[Floats, Floats], ratio: float) -> Floats:
    """The contribution of each document to the estimating equation of the ratio."""
    return np.asarray(sides[0] - ratio * sides[1], dtype=np.float64)


def _apart(known: Floats, others: Floats) -> float:
    """The number of standard errors by which the judge's values differ between the documents that people labelled and
    the rest.
    """
    if len(known) < 2 or len(others) < 2:
        return 0.0
    error = sqrt(float(known.var(ddof=1) / len(known) + others.var(ddof=1) / len(others)))
    return float(known.mean() - others.mean()) / error if error > 0 else 0.0
