"""At which generality one system overtakes another, and where that is not known.

The difference of two systems at one generality has an interval; where that holds 0 it is not known which of them is the
better. All such generalities together are a confidence set for the crossing, as Fieller (1954) made one for a ratio: at
the true crossing the difference is 0, and its interval holds 0 as often as it is meant to. So the set may go on to an
end of the scale, or be there although the estimates never cross.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from math import exp, log

import numpy as np

from warehouse.significance.paired import Floats

LEAST = 1e-6
"""The lowest generality that is looked at; the highest is 1 less this."""

_HALVINGS = 40

DifferenceAt = Callable[[Floats], Floats]
"""By how much the one system is above the other at some generalities; NaN where that is undefined."""


@dataclass(frozen=True, slots=True)
class Crossings:
    """Where the estimates cross, and whether the first system is above the second (1), below (-1) or neither (0) at the
    least and at the greatest generality.
    """

    at: tuple[float, ...]
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Undecided:
    """From where to where no system is shown to be the better: 0 and 1 are the ends of the scale. `parts` are how many
    stretches that is; with none the one system is the better everywhere.
    """

    low: float | None
    high: float | None
    parts: int


def scale(points: int) -> Floats:
    """Generalities as far from one another as their odds are, symmetric about a half."""
    end = log(1 / LEAST - 1)
    return np.asarray(1 / (1 + np.exp(-np.linspace(-end, end, points))))


ESTIMATES, INTERVALS = scale(601), scale(121)
"""Where estimates and intervals are looked at, before crossings between these generalities are sought."""


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
    """Where a limit is 0 between a place and the next, as a straight line between the two is."""
    before, after = float(limit[place]), float(limit[place + 1])
    at = odds[place] + (odds[place + 1] - odds[place]) * before / (before - after)
    return 1 / (1 + exp(-at))


def _between(low: float, high: float, before: int, difference: DifferenceAt) -> float:
    """Where a difference changes its sign between two generalities, halving the distance of their odds."""
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
    """first − second, and exactly 0 where that is no more than rounding."""
    difference = first - second
    return np.asarray(
        np.where(np.abs(difference) <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, difference)
    )
