"""INTERVALS, the table of the kinds of interval, in display order; the request for an interval; and its result.

Each member holds everything that is known about a kind, like the members of TESTS. This module must not compute
anything or import numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers

LimitSides = Literal["both", "lower", "upper"]
"""The limits of an interval; a one-sided interval has only one."""

Simultaneous = Literal["each", "divided", "together"]
"""How intervals share the level: each has the whole level for itself; the level is divided among all; or all are found
together, so that with the requested confidence every interval contains its true difference.
"""


class IntervalKind(Struct, frozen=True):
    """A kind of bootstrap interval, with its name in the language.

    If it `studentizes`, the interval extends a multiple of the standard error to each side. Otherwise it lies between
    two resampled values. If it `corrects`, these are chosen to correct for bias and skewness.
    """

    name: str
    meaning: str
    source: str
    studentizes: bool = False
    corrects: bool = False


INTERVALS: tuple[IntervalKind, ...] = (
    IntervalKind(
        "studentized",
        "the value ± a multiple of its standard error; the multiple comes from the resamples, each in its own "
        "standard errors, and is at least that of Student's t",
        "Efron and Tibshirani 1993, section 12.5; Hall 1988",
        studentizes=True,
    ),
    IntervalKind(
        "percentile",
        "the range of the middle of the resamples",
        "Efron and Tibshirani 1993, section 13.3",
    ),
    IntervalKind(
        "bca",
        "the percentile interval corrected for bias and skewness",
        "Efron and Tibshirani 1993, section 14.3",
        corrects=True,
    ),
)
"""The first is the default."""


def find_interval(name: str) -> IntervalKind:
    """The kind with this name, in lower case. Raises KeyError if there is none."""
    return {kind.name: kind for kind in INTERVALS}[name]


class IntervalPlan(Struct, frozen=True):
    """The request for an interval: the share of intervals that may miss, the kind, the limits, and how intervals share
    the level. Where intervals are found in parts, `among` says how many there are in all, and `tail` how often each may
    miss where that was found from all of them together.

    Raises ValueError for a level that is not between 0 and 1.
    """

    level: float = 0.05
    kind: IntervalKind = INTERVALS[0]
    bounds: LimitSides = "both"
    family: Simultaneous = "each"
    among: int = 0
    tail: float = 0.0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"the level of an interval is {self.level} and must be between 0 and 1")

    @property
    def turned(self) -> IntervalPlan:
        """The same plan for differences of the opposite sign."""
        opposite: dict[LimitSides, LimitSides] = {"both": "both", "lower": "upper", "upper": "lower"}
        return IntervalPlan(self.level, self.kind, opposite[self.bounds], self.family, self.among, self.tail)


class ConfidenceLimits(Struct, frozen=True, eq=False):
    """The intervals of some pairs or systems, each array of that shape.

    A limit is NaN if the interval is open on that side or if it cannot be found. `errors` are standard errors.
    `resamples` is the number of resamples drawn, 0 if none were needed; `undefined` counts those in which the value was
    undefined, and `without_error` those that had no standard error. `by_formula` marks intervals that use Student's t
    because too many resamples have no standard error. Simultaneous limits keep the `deviations` that they follow from,
    so that other pairs of the family can be added.
    """

    low: Floats
    high: Floats
    errors: Floats
    undefined: Integers
    without_error: Integers
    by_formula: Booleans
    resamples: int
    deviations: StudentizedDeviations | None = None


class StudentizedDeviations(Struct, frozen=True, eq=False):
    """What studentized intervals follow from: values, standard errors, and how many of these lie on each side.

    Simultaneous intervals depend on `largest`, the largest deviation in each resample of the estimates that are
    `readable`, and extend at least `least` standard errors. For other intervals `largest` is empty. Limits are
    `half_steps` wider, and are multiplied by `factor`.
    """

    level: float
    bounds: LimitSides
    factor: float
    least: float
    shuffles: int
    drawn: int
    largest: Floats
    values: Floats
    errors: Floats
    half_steps: Floats
    quantiles: Floats
    readable: Booleans
    undefined: Integers
    without_error: Integers
