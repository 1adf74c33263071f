"""Measures at another generality, and the generality at which one system overtakes another.

Recall and fallout stay as measured (Lewis and Tong 1992, Analysis). All shares are proportions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from math import exp, isclose, isfinite, log
from typing import Literal

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.measures import Function, Ratio
from evalhouse.warehouse.measures.forms import evaluate, of_ratio
from evalhouse.warehouse.significance.arrays import Floats

# === measures at another generality ===================================================================================
# At generality g a document is a hit with probability R·g, a miss with (1 − R)·g, a false alarm with fallout·(1 − g),
# and otherwise a rejection. So recall, fallout and generality determine every measure of these four counts that does
# not depend on the number of documents; for a sum over documents, such as a utility, they determine the mean per
# document.
#
# This is exact if the generality is the share of documents for which yes is the right answer, (a + c + x) / n. With
# optional documents that share depends on the system. Generality (4'') is used in its place; it is larger unless every
# optional document was decided yes.

_LARGEST = 700.0
"""exp of a larger number overflows. A fallout multiplied by exp of this number is 1 anyway."""

_TABLES = ((7, 3, 2, 11), (1, 9, 8, 2), (2, 1, 0, 5), (3, 0, 4, 6))
"""Contingency tables on which `growth` tests how a measure changes with the number of documents."""


@lru_cache(maxsize=256)
def growth(computation: Ratio | Function) -> Literal["share", "sum"] | None:
    """How a measure changes if every count is multiplied by the same number: a "share" does not change, and a "sum"
    over documents is multiplied by that number too. None for any other measure; it cannot be projected.
    """
    found: set[Literal["share", "sum"]] = {"share", "sum"}
    for table in _TABLES:
        alone = _of_counts(computation, table)
        for times in (100, 10_000):
            many = _of_counts(computation, tuple(times * count for count in table))
            if alone is None or many is None:
                found &= {"share", "sum"} if alone is many else set()
                continue
            if not isclose(many, alone, rel_tol=1e-9, abs_tol=1e-12):
                found.discard("share")
            if not isclose(many, times * alone, rel_tol=1e-9, abs_tol=1e-12):
                found.discard("sum")
    return "share" if "share" in found else "sum" if found else None


def _of_counts(computation: Ratio | Function, table: tuple[int, ...]) -> float | None:
    counts = dict(zip("abcd", table, strict=True), x=0, y=0)
    sums = [sum(weight * counts[column] for column, weight in form) for form in computation.forms]
    return computation.value(sums)


def project_fallout(fallout: Floats, start: Floats, generality: Floats, exponent: float = 0.0) -> Floats:
    """Fallout at `generality` if it was measured at generality `start`: fallout · (generality / start)^exponent, at
    most 1. The shapes of the arrays must broadcast.

    Exponent 0 means constant fallout. Salton (1972, as quoted by Lewis and Tong) found that fallout fell by a factor of
    2 to 3 when generality fell by a factor of 7, which is an exponent between 0.36 and 0.56. Raises ValueError for
    values outside [0, 1], and if `start` is 0 and the exponent is not.
    """
    fallout, start, generality = (np.asarray(shares, dtype=np.float64) for shares in (fallout, start, generality))
    _check(fallout=fallout, start=start, generality=generality)
    if not isfinite(exponent):
        raise ValueError(f"the exponent is {exponent} and must be a number")
    if exponent == 0:
        return fallout
    if not start.all():
        raise ValueError("fallout cannot be scaled from a generality of 0")
    with np.errstate(divide="ignore"):
        scale = np.exp(np.minimum(exponent * (np.log(generality) - np.log(start)), _LARGEST))
    # A fallout of 0 stays 0 at any generality. It must not become NaN when it is multiplied by infinity.
    return np.asarray(np.where(fallout == 0, 0.0, np.minimum(1.0, fallout * scale)))


def project(computation: Ratio | Function, recall: Floats, fallout: Floats, generality: Floats) -> Floats:
    """A measure of filtering at a generality, from recall and fallout at that generality. For a sum over documents it
    is the mean per document. The shapes of the arrays must broadcast; the result is NaN where the measure is undefined.

    Raises ValueError for values outside [0, 1].
    """
    r, f, g = np.broadcast_arrays(*(np.asarray(shares, dtype=np.float64) for shares in (recall, fallout, generality)))
    _check(recall=r, fallout=f, generality=g)
    none = np.zeros(r.shape)
    cells = {"a": r * g, "b": f * (1 - g), "c": (1 - r) * g, "d": (1 - f) * (1 - g), "x": none, "y": none}
    expression = of_ratio(computation) if isinstance(computation, Ratio) else computation.expression
    return evaluate(expression, cells)


def _check(**shares: Floats) -> None:
    for name, given in shares.items():
        outside = given[~((given >= 0) & (given <= 1))]
        if outside.size:
            raise ValueError(f"{name} is {outside.flat[0]} and must be between 0 and 1")


# === where one system overtakes another ===============================================================================
# The range where the data do not say which system is better. At each generality the difference of two systems has an
# interval, and if the interval contains 0, the better system is not known there. All these generalities together are a
# confidence set for the crossing, constructed as Fieller (1954) does for a ratio: at the true crossing the difference
# is 0, and the interval contains 0 with its nominal probability. So the set may reach an end of the scale, and it may
# be nonempty although the estimates never cross.

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


def crossing_region(low: Floats, high: Floats) -> Undecided:
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


def subtract(first: Floats, second: Floats) -> Floats:
    """first − second, set to exactly 0 where it is no larger than the rounding error."""
    difference = first - second
    return np.asarray(
        np.where(np.abs(difference) <= 1e-12 * np.maximum(np.abs(first), np.abs(second)), 0.0, difference)
    )
