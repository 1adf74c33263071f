"""Agreement of two rankings of the same systems: Kendall's tau-b. Numbers in, a number out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt

Value = float | Fraction


def kendall(first: Sequence[Value], second: Sequence[Value]) -> float | None:
    """Kendall's tau-b of two lists of values of the same systems; ties count for neither order (Kendall 1945).

    None where all values of a list are the same. Raises ValueError for lists of unlike length.
    """
    agreeing = tied_first = tied_second = 0
    for (a, x), (b, y) in combinations(zip(first, second, strict=True), 2):
        one, other = (a > b) - (a < b), (x > y) - (x < y)
        agreeing += one * other
        tied_first += one == 0
        tied_second += other == 0
    pairs = len(first) * (len(first) - 1) // 2
    under = (pairs - tied_first) * (pairs - tied_second)
    return agreeing / sqrt(under) if under else None
