"""Estimate a ratio of means over all documents from a judge who labelled all of them and people who labelled some:
PPI++ (Angelopoulos, Duchi and Zrnic 2023, arXiv 2311.01453). A mean is a ratio with denominators of 1. This module must
not know what a judge is.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from math import sqrt

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.bootstrap.resamples import FOR_INTERVALS, VERY_MANY_UNITS
from evalhouse.warehouse.significance.bootstrap.two_samples import TwoSamples
from evalhouse.warehouse.significance.distributions import t_quantile
from evalhouse.warehouse.significance.draws import Draws

Sides = tuple[Floats, Floats]
"""Numerators and denominators of some documents."""

FEW = 30
"""With fewer labelled units, intervals may contain the value too rarely. If the labelled documents show no mistake of
the judge and are fewer, no interval is given, because it would assume that the judge makes no mistakes elsewhere.
"""

RARE = 5
"""If right or wrong answers occur less often than this among the labelled documents, an interval does not contain the
value as often as it should.
"""

MISTAKES = 2
"""The same, if mistakes of the judge occur less often than this."""


# === what the labelled documents show =================================================================================
# An interval cannot allow for what the labelled documents do not show. The limits here were chosen by
# benchmarks/judges.py, which measures how often the intervals that they let pass contain the value.


class Counts(Struct, frozen=True):
    """How many labelled documents count as right and as wrong, where people say nothing between. `mistakes` is on how
    many of them the judge, if it is believed and says nothing between either, says otherwise.
    """

    right: int
    wrong: int
    mistakes: int | None


class Shape(Struct, frozen=True):
    """How values are distributed over units.

    `lopsided` is the L-skewness (Hosking 1990), 0 if the distribution is symmetric and at most 1 or at least −1. It
    depends less on single values than the skewness, of which `skewed` is that of the mean of as many values as there
    are `labelled` units. `heaviest` is the share that one of so many equal values would have in the variance if all
    others were 0. `most` is how many of all `units` make half of the variance.
    """

    lopsided: float
    skewed: float
    heaviest: float
    most: int
    units: int
    labelled: int

    @classmethod
    def of(cls, values: Floats, labelled: int) -> Shape:
        """The shape of values with the mean 0; `labelled` is the number of labelled units."""
        squares = values * values
        second = float(squares.sum())
        if second <= 0:
            return cls(0.0, 0.0, 0.0, 0, len(values), labelled)
        most = int(np.searchsorted(np.cumsum(-np.sort(-squares)), second / 2)) + 1
        skewed = _skewness(values) * sqrt(len(values) / labelled)
        heaviest = float((squares * squares).sum()) / second**2
        return cls(_l_skewness(values), skewed, heaviest, most, len(values), labelled)

    @property
    def has_long_tail(self) -> bool:
        """Whether there may be larger values that too few labelled units show."""
        lopsided = abs(self.lopsided) > max(LOPSIDED, min(LOPSIDED_OF_FEW, 1.1 / sqrt(self.labelled)))
        return abs(self.skewed) > SKEWED or (lopsided and abs(self.skewed) > HARDLY_SKEWED)

    @property
    def depends_on_few(self) -> bool:
        """Whether a few units make nearly all of the variance."""
        return self.heaviest > HEAVIEST


LOPSIDED, LOPSIDED_OF_FEW = 0.15, 0.2
"""The L-skewness of many values, and of thirty, beyond which there may be a long tail. That of thirty normal values is
beyond in 2 of 100 samples.
"""

HEAVIEST = 1 / 6
"""The share of one grade in the variance beyond which a few documents make nearly all of it."""

SKEWED = 0.2
HARDLY_SKEWED = 0.08
"""The skewness of a mean beyond which there is a long tail in any case, and up to which there is none."""

GRADES = 10
"""Up to this many different values, of which at most one in so many documents has one of its own, are grades. They
have no tail beyond them.
"""


SYMMETRIC = 0.1
"""Up to this skewness of an estimate, two-sided intervals by Student's t miss about as often as they should (Hall 1992,
section 2.6).
"""


def _skewness(influences: Floats) -> float:
    """The skewness of the sum of influences with the mean 0."""
    squares = influences * influences
    second = float(squares.sum())
    return float((squares * influences).sum()) / second**1.5 if second > 0 else 0.0


def _l_skewness(values: Floats) -> float:
    """From probability-weighted moments (Hosking 1990, section 3)."""
    units = len(values)
    if units < 3:
        return 0.0
    in_order, ranks = np.sort(values), np.arange(units)
    first = float((ranks * in_order).sum()) / (units * (units - 1))
    second = float((ranks * (ranks - 1) * in_order).sum()) / (units * (units - 1) * (units - 2))
    mean = float(in_order.mean())
    scale = 2 * first - mean
    return (6 * second - 6 * first + mean) / scale if scale > 1e-12 * float(np.abs(values).max()) else 0.0


class Shown(Struct, frozen=True):
    """What the labelled documents show of how values vary: the number of `units` drawn; `counts` where answers are
    right or wrong; and else the shapes of people's values, of what the judge leaves of them, and of the judge's values.
    `grades` says that people give few different values.
    """

    units: int
    counts: Counts | None
    people: Shape
    left: Shape
    judge: Shape
    grades: bool

    @property
    def few_units(self) -> bool:
        """Whether too few units are labelled to know how values vary."""
        return self.units < FEW

    @property
    def few_answers(self) -> bool:
        """Whether too few answers are right, or too few are wrong."""
        return self.counts is not None and min(self.counts.right, self.counts.wrong) < RARE

    @property
    def few_mistakes(self) -> bool:
        """Whether the judge makes too few mistakes to know how often it makes them."""
        return self.counts is not None and self.counts.mistakes is not None and self.counts.mistakes < MISTAKES

    @property
    def shapes(self) -> tuple[Shape, Shape, Shape]:
        """Those that may have a long tail."""
        return self.people, self.left, self.judge

    @property
    def tails(self) -> tuple[bool, bool, bool]:
        """Whether people's values, what the judge leaves of them, and the judge's values have too long a tail."""
        if self.counts is not None:
            return False, False, False
        if self.grades:
            return self.people.depends_on_few, self.left.depends_on_few, False
        return self.people.has_long_tail, self.left.has_long_tail, self.judge.has_long_tail

    @property
    def too_little(self) -> bool:
        """Whether an interval may be too narrow."""
        return self.few_units or self.few_answers or self.few_mistakes or any(self.tails)


# === the estimate =====================================================================================================


class Corrected(Struct, frozen=True, eq=False, dict=True):
    """An estimate of the value that people's labels on all documents would give, and how it was found.

    `weight` is λ, the weight of the judge. With λ = 0 the value is `people`, from people's labels alone, whose standard
    error is `people_error`. `judge` is the judge's value on all judged documents. `degrees` is the degrees of freedom
    of Student's t; errors and limits are None if it is less than one. `exact` says that the documents labelled by
    people show no mistake of the judge. `apart` is the number of standard errors by which the judge's values on these
    documents differ from those on the rest; if the documents were chosen at random it rarely exceeds 3. `samples` and
    `shown` are None if there is no standard error.
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
    samples: TwoSamples | None = None
    shown: Shown | None = None

    def limits(self, level: float, draws: Draws = FOR_INTERVALS) -> tuple[float, float] | None:
        """The confidence interval with error probability `level`; None if there is no reliable standard error."""
        if self.value is None or not self.error or self.unseen:
            return None
        above, below = self._quantiles(level, draws) or (t_quantile(level / 2, self.degrees),) * 2
        return self.value - above * self.error, self.value + below * self.error

    def is_resampled(self, level: float, draws: Draws = FOR_INTERVALS) -> bool:
        """Whether the limits come from a bootstrap-t, and not from Student's t."""
        return self.limits(level, draws) is not None and self._quantiles(level, draws) is not None

    def _quantiles(self, level: float, draws: Draws) -> tuple[float, float] | None:
        """How many standard errors the interval extends below and above the value; None where Student's t says it."""
        found: dict[tuple[float, Draws], tuple[float, float] | None] = self._found
        if (level, draws) not in found:
            found[level, draws] = self._resample(level, draws)
        return found[level, draws]

    def _resample(self, level: float, draws: Draws) -> tuple[float, float] | None:
        samples = self.samples
        if samples is None or len(samples.own) >= VERY_MANY_UNITS or not self._is_skewed:
            return None
        return samples.quantiles(level / 2, draws)

    @property
    def _is_skewed(self) -> bool:
        """Whether the value or that of the people alone is too skewed for Student's t. λ follows the large values of
        people and judge, so that what the judge leaves does not say all.
        """
        assert self.samples is not None
        own, other, rest = self.samples.own, self.samples.other, self.samples.rest
        left = np.concatenate((own - self.weight * other, -self.weight * rest))
        return any(abs(_skewness(influences)) > SYMMETRIC for influences in (left, own))

    @cached_property
    def _found(self) -> dict[tuple[float, Draws], tuple[float, float] | None]:
        return {}

    @property
    def unseen(self) -> bool:
        """Whether the judge may make mistakes that are not seen because too few documents are labelled."""
        return self.exact and self.labelled < FEW

    @property
    def may_be_narrow(self) -> bool:
        """Whether the labelled documents show too little for the interval to contain the value often enough."""
        return self.exact or (self.shown is not None and self.shown.too_little)

    @property
    def effective(self) -> float | None:
        """The effective sample size: the number of labelled documents that would give the same standard error without
        the judge, at most the number of all documents. None if it cannot be found.
        """
        if not self.error or self.people_error is None or self.unseen:
            return None
        return min(self.labelled * self.people_error**2 / self.error**2, float(self.judged))


def correct_mean(people: Sides, judge: Sides, labelled: Booleans, unit: NDArray[np.intp] | None = None) -> Corrected:
    """The corrected ratio of means. `people` and `judge` are numerators and denominators, each of shape (documents,),
    for the documents that the judge has labelled.

    Values of people are used only where `labelled`. `unit` is the sampling unit of each document; None if each document
    is its own unit. The order of the documents and the numbers of the units change no digit.
    """
    people, judge, labelled, unit = _in_order(people, judge, labelled, unit)
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
    samples = shown = None
    if degrees < 1:
        error = None
    elif value is not None:
        samples = parts.samples(_scores(people, value) / under, _scores(judge, value) / under, degrees)
        shown = _shown(people, judge, labelled, samples, weight)
    return Corrected(
        value,
        weight,
        error,
        degrees,
        n,
        n + rest,
        alone,
        plain,
        believed,
        exact,
        _apart(known, others),
        unlimited,
        samples,
        shown,
    )


def _in_order(
    people: Sides, judge: Sides, labelled: Booleans, unit: NDArray[np.intp] | None
) -> tuple[Sides, Sides, Booleans, NDArray[np.intp] | None]:
    """The same in an order that depends on values alone, so that sums are rounded alike and resamples draw the same."""
    columns = [~labelled, *(np.where(labelled, side, 0.0) for side in people), *judge]
    order = np.lexsort(columns[::-1])
    if unit is not None:
        # Units are numbered by what they hold, and documents come in the order of their units.
        in_order = unit[order]
        held = [
            np.bincount(in_order, weights=np.where(labelled == whether, column, 0.0)[order])
            for whether in (True, False)
            for column in (np.ones(len(labelled)), *columns[1:])
        ]
        number = np.argsort(np.lexsort(held))
        order = order[np.argsort(number[in_order], kind="stable")]
        unit = number[unit][order].astype(np.intp)
    people, judge = ((over[order], under[order]) for over, under in (people, judge))
    return people, judge, labelled[order], unit


def _shown(people: Sides, judge: Sides, labelled: Booleans, samples: TwoSamples, weight: float) -> Shown:
    units = len(samples.own)
    judged = np.concatenate((samples.other * units, -samples.rest * max(len(samples.rest), 1)))
    return Shown(
        units,
        _counts(people, judge, labelled, weight > 0),
        Shape.of(samples.own, units),
        Shape.of(samples.own - weight * samples.other, units),
        Shape.of(judged - judged.mean(), units),
        _are_grades(people[0][labelled]),
    )


def _are_grades(values: Floats) -> bool:
    often = Counter(values.tolist())
    return len(often) <= GRADES and sum(times == 1 for times in often.values()) * GRADES <= len(values)


def _counts(people: Sides, judge: Sides, labelled: Booleans, believed: bool) -> Counts | None:
    """None where people say more than right and wrong."""
    (over, under), (theirs, below) = ((top[labelled], down[labelled]) for top, down in (people, judge))
    if not _right_or_wrong(over, under):
        return None
    counts, right = under > 0, over > 0
    mistakes = None
    if believed and _right_or_wrong(theirs, below):
        mistakes = int(((over != theirs) | (under != below)).sum())
    return Counts(int((counts & right).sum()), int((counts & ~right).sum()), mistakes)


def _right_or_wrong(over: Floats, under: Floats) -> bool:
    """Whether each document counts fully or not at all: there are at most two numerators, and one is 0."""
    return len(set(over[under > 0].tolist()) - {0.0}) <= 1


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

    def samples(self, said: Floats, judged: Floats, degrees: int) -> TwoSamples:
        """What units contribute, from the scores of people and judge on all documents."""
        mask, rest = self.mask, int((~self.mask).sum())
        ours, theirs = ((scores[mask] - scores[mask].mean()) / int(mask.sum()) for scores in (said, judged))
        others = -(judged[~mask] - judged[~mask].mean()) / rest if rest else np.zeros(0)
        if self.unit is None:
            return TwoSamples(ours, theirs, others, degrees, pooled=True)
        has = np.bincount(self.unit[mask], minlength=int(self.unit.max()) + 1) > 0
        of_judge, of_others = self._sum_units(theirs, mask), self._sum_units(others, ~mask)
        rest_of_units = of_others[~has & (np.bincount(self.unit) > 0)]
        return TwoSamples(
            self._sum_units(ours, mask)[has], (of_judge + of_others)[has], rest_of_units, degrees, pooled=False
        )

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
