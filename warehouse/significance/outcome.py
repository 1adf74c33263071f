"""The result of every significance test. It holds only what the test found and must not hold a verdict, a level or
text.
"""

from __future__ import annotations

from math import isnan
from sys import float_info
from typing import Literal

from msgspec import Struct
from msgspec.structs import force_setattr

Sides = Literal["two-sided", "one-sided"]
"""One-sided asks whether the first system is better: it counts signed differences, first minus second."""

Method = Literal["exact", "approximate", "analytic"]

SMALLEST = float_info.min
"""The smallest p: a p-value below the range of floating point is set to this, because p is never 0."""


class Outcome(Struct, frozen=True):
    """The p-value of one comparison and how it was found.

    `p` lies in (0, 1]; a smaller value is set to SMALLEST, and a value that rounding puts above 1 is set to 1. `method`
    is exact (every exchange was counted), approximate (random shuffles) or analytic (a formula with a known
    distribution). `shuffles` is the number of shuffles, and `nge` the number of those that are at least as extreme as
    the observed data; both are None if nothing was shuffled. `statistic` is the test's own statistic, None if it has
    none besides the difference itself. Raises ValueError if p is NaN.
    """

    p: float
    method: Method
    shuffles: int | None = None
    nge: int | None = None
    statistic: float | None = None

    def __post_init__(self) -> None:
        if isnan(self.p):
            raise ValueError("p is not a number")
        force_setattr(self, "p", min(1.0, max(SMALLEST, float(self.p))))


def approximate(nge: int, shuffles: int) -> Outcome:
    """The outcome for nge extreme ones among `shuffles` shuffles: p = (nge + 1) / (shuffles + 1) (Chinchor 1992, table
    2).
    """
    return Outcome((nge + 1) / (shuffles + 1), "approximate", shuffles, nge)


def check_sides(sides: str) -> None:
    """Raises ValueError for anything but two-sided and one-sided."""
    if sides not in ("two-sided", "one-sided"):
        raise ValueError(f"sides is {sides!r} and can be 'two-sided' or 'one-sided'")


def check_shuffles(shuffles: int) -> None:
    """Raises ValueError for less than one shuffle."""
    if shuffles < 1:
        raise ValueError(f"shuffles is {shuffles} and must be at least 1")
