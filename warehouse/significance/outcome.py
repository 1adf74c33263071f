"""What every significance test gives back. Only what was found: no verdict, no level, no text."""

from __future__ import annotations

from math import isnan
from sys import float_info
from typing import Literal

from grammar.value import value

Sides = Literal["two-sided", "one-sided"]
"""One-sided asks whether the first system is the better: it counts signed differences, first less second."""

Method = Literal["exact", "approximate", "analytic"]

SMALLEST = float_info.min
"""What p is where it would leave the range of floating point: no significance level is 0."""


@value
class Outcome:
    """The significance level of one comparison and how it was found.

    `p` lies in (0, 1]; below SMALLEST it is SMALLEST, and what rounding puts above 1 is 1. `method` is exact (every
    exchange was counted), approximate (random shuffles) or analytic (a formula with a known distribution). `shuffles`
    and `nge` are the numbers of shuffles and of those that came out at least as extreme as what was observed; None
    where nothing was shuffled. `statistic` is the test's own, None where it has none beside the difference itself.
    Raises ValueError where p is not a number.
    """

    p: float
    method: Method
    shuffles: int | None = None
    nge: int | None = None
    statistic: float | None = None

    def __post_init__(self) -> None:
        if isnan(self.p):
            raise ValueError("p is not a number")
        object.__setattr__(self, "p", min(1.0, max(SMALLEST, float(self.p))))


def approximate(nge: int, shuffles: int) -> Outcome:
    """The outcome of so many shuffles: p = (nge + 1) / (shuffles + 1) (Chinchor 1992, table 2)."""
    return Outcome((nge + 1) / (shuffles + 1), "approximate", shuffles, nge)


def check_sides(sides: str) -> None:
    """ValueError for anything but two-sided and one-sided."""
    if sides not in ("two-sided", "one-sided"):
        raise ValueError(f"sides is {sides!r} and can be 'two-sided' or 'one-sided'")


def check_shuffles(shuffles: int) -> None:
    """ValueError for less than one shuffle."""
    if shuffles < 1:
        raise ValueError(f"shuffles is {shuffles} and must be at least 1")
