"""The generality at which one system overtakes another, and the range where the data do not say which system is better.

The difference of two systems at one generality has an interval. If the interval contains 0, the better system is not
known there. All these generalities together are a confidence set for the crossing, constructed as Fieller (1954) does
for a ratio: at the true crossing the difference is 0, and the interval contains 0 with its nominal probability. So the
set may reach an end of the scale, and it may be nonempty although the estimates never cross.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import exp, log

import numpy as np
from msgspec import Struct

from warehouse.significance.paired import Floats

LEAST = 1e-6
"""The lowest generality examined; the highest is 1 minus this value."""

_HALVINGS = 40

DifferenceAt = Callable[[Floats], Floats]
"""The value of the first system minus that of the second at each of some generalities; NaN where that is undefined."""


class Crossings(Struct, frozen=True):
    """The generalities where the estimates cross, and whether the first system is above the second (1), below it (-1)
    or neither (0) at the lowest and at the highest generality.
    """

    at: tuple[float, ...]
    first: int
    last: int


class Undecided(Struct, frozen=True):
    """The lowest and the highest generality at which neither system is shown to be better; 0 and 1 are the ends of the
    scale. `parts` is the number of separate intervals in this set. If it is 0, one system is shown to be better at
    every generality.
    """

    low: float | None
    high: float | None
    parts: int


def scale(points: int) -> Floats:
    """Generalities that are equally spaced in log odds and symmetric about one half."""
    end = log(1 / LEAST - 1)
    return np.asarray(1 / (1 + np.exp(-np.linspace(-end, end, points))))


ESTIMATES, INTERVALS = scale(601), scale(121)
"""The grids on which estimates and intervals are evaluated before crossings between grid points are located."""


def crossings(difference: DifferenceAt) -> Crossings:
    """Where the estimates cross."""
    signs = [(at, sign) for at, sign in zip(ESTIMATES.tolist(), _signs(difference(ESTIMATES)), strict=True) if sign]
    if not signs:
        return Crossings((), 0, 0)
    found = tuple(
        _between(low, high, before, difference) for (low, before), (high, after) in pairwise(signs) if before != after
    )
    return Crossings(found, signs[0][1], signs[-1][1])


def undecided(low: Floats, high: Floats) -> Undecided:
    """The confidence set for the crossing, from the intervals of the difference at INTERVALS."""
    shown = [
        1 if below > 0 else -1 if above < 0 else 0 for below, above in zip(low.tolist(), high.tolist(), strict=True)
    ]
    odds = np.log(INTERVALS / (1 - INTERVALS)).tolist()
    edges: list[tuple[float, float]] = []
    opened: float | None = 0.0 if not shown[0] else None
    for place, (before, after) in enumerate(pairwise(shown)):
        if before == after:
            continue
        if before:
            opened = _zero(odds, low if before > 0 else high, place)
        if after and opened is not None:
            edges.append((opened, _zero(odds, low if after > 0 else high, place)))
            opened = None
    if opened is not None:
        edges.append((opened, 1.0))
    if not edges:
        return Undecided(None, None, 0)
    return Undecided(edges[0][0], edges[-1][1], len(edges))


def _zero(odds: list[float], limit: Floats, place: int) -> float:
    """The generality where a limit is 0 between a grid point and the next, by linear interpolation in log odds."""
    before, after = float(limit[place]), float(limit[place + 1])
    at = odds[place] + (odds[place + 1] - odds[place]) * before / (before - after)
    return 1 / (1 + exp(-at))


def _between(low: float, high: float, before: int, difference: DifferenceAt) -> float:
    """The generality between `low` and `high` where the difference changes sign, by bisection in log odds."""
    a, b = (log(at / (1 - at)) for at in (low, high))
    for _ in range(_HALVINGS):
        middle = (a + b) / 2
        (sign,) = _signs(difference(np.array([1 / (1 + exp(-middle))])))
        if sign == before:
            a = middle
        else:
            b = middle
    return 1 / (1 + exp(-(a + b) / 2))


def _signs(differences: Floats) -> list[int]:
    return [(difference > 0) - (difference < 0) for difference in differences.tolist()]


def told_apart(first: Floats, second: Floats) -> Floats:
    """first − second, set to exactly 0 where it is no larger than the rounding error."""
    difference = first - second
    return np.asarray(
        np.where(np.abs(difference) <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, difference)
    )
