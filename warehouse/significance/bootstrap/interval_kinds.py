"""INTERVALS, the table of the kinds of interval, in display order; how an interval is asked for; and what comes of it.

Each member holds all that is known of it, as those of TESTS do. Nothing is computed here, and numpy is not imported.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from grammar.value import value

if TYPE_CHECKING:
    from warehouse.significance.paired import Booleans, Floats, Integers

LimitSides = Literal["both", "lower", "upper"]
"""Which limits an interval has: one-sided it has one."""

Simultaneous = Literal["each", "divided", "together"]
"""How many comparisons an interval stands for: itself; its share of the level, divided among all; or all together, so
that with the asked confidence every one of them holds its true difference."""


@value
class IntervalKind:
    """A kind of bootstrap interval by its name in the language.

    One that `studentizes` multiplies the standard error by a number; the others lie between two resampled values, which
    are others where it `corrects` for bias and skewness.
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
"""The first is meant where none is named."""

CORRECTED = next(kind for kind in INTERVALS if kind.corrects)
"""What decides against a margin."""


def named_interval(name: str) -> IntervalKind:
    """The kind of that name, in lower case. Raises KeyError where there is none."""
    return {kind.name: kind for kind in INTERVALS}[name]


@value
class IntervalPlan:
    """How an interval is asked for: the share of intervals that may miss, its kind, which limits it has, and for how
    many it stands.

    Raises ValueError for a level that is not between 0 and 1.
    """

    level: float = 0.05
    kind: IntervalKind = INTERVALS[0]
    bounds: LimitSides = "both"
    family: Simultaneous = "each"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise ValueError(f"the level of an interval is {self.level} and must be between 0 and 1")

    @property
    def turned(self) -> IntervalPlan:
        """The same for differences of the other sign."""
        opposite: dict[LimitSides, LimitSides] = {"both": "both", "lower": "upper", "upper": "lower"}
        return IntervalPlan(self.level, self.kind, opposite[self.bounds], self.family)


@value(eq=False)
class ConfidenceLimits:
    """The intervals of some pairs or systems, each array of that shape.

    A limit that there is not, because the interval is open there or nothing can be said, is NaN. `errors` are standard
    errors. Of the `resamples` that were drawn, 0 where none was needed, so many left the value `undefined`, and so many
    had no standard error. `by_formula` marks intervals for which Student's t was taken because the resamples have too
    often no standard error.
    """

    low: Floats
    high: Floats
    errors: Floats
    undefined: Integers
    without_error: Integers
    by_formula: Booleans
    resamples: int
