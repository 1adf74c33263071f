"""The interval of a share of items that are right or wrong: Wilson's, and Clopper and Pearson's; and what these say of
a ratio that is the same on every unit.

Nothing is resampled, so items that are all right, or all wrong, have an interval too, and no limit leaves [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.significance.arrays import Booleans, Integers
from evalhouse.warehouse.significance.bootstrap.interval_kinds import ConfidenceLimits, IntervalPlan
from evalhouse.warehouse.significance.distributions import incomplete
from evalhouse.warehouse.significance.sums import Sums


class ShareInterval(Struct, frozen=True):
    """A kind of interval of a share, and how its two limits follow from the number of right items, the number of items
    and the probability that it misses.
    """

    name: str
    source: str
    limits: Callable[[int, int, float], tuple[float, float]]


def right_or_wrong(many: Sums, factor: float) -> Booleans:
    """For which systems factor · value is a share of items, at most one of them in a unit; of shape (systems,)."""
    if many.is_function:
        return np.zeros(many.systems, dtype=np.bool_)
    right = factor * many.numerators
    items = np.isin(many.denominators, (0, 1)) & ((right == 0) | ((right == 1) & (many.denominators == 1)))
    return np.asarray(items.all(axis=1))


def wilson(right: int, items: int, level: float) -> tuple[float, float]:
    """The shares from which the observed one is less than z standard errors away, the standard error being that of the
    share itself (Wilson 1927, Journal of the American Statistical Association 22, 209-212).
    """
    square = NormalDist().inv_cdf(1 - level / 2) ** 2
    middle = (right + square / 2) / (items + square)
    half = sqrt(square * (right * (items - right) / items + square / 4)) / (items + square)
    return (0.0 if right == 0 else middle - half), (1.0 if right == items else middle + half)


def clopper_pearson(right: int, items: int, level: float) -> tuple[float, float]:
    """The shares of which neither so many right items nor so few would be improbable: it misses the true share at most
    as often as promised, however few items there are (Clopper and Pearson 1934, Biometrika 26, 404-413).
    """
    low = 0.0 if right == 0 else _beta_quantile(level / 2, right, items - right + 1)
    high = 1.0 if right == items else 1.0 - _beta_quantile(level / 2, items - right, right + 1)
    return low, high


def _beta_quantile(below: float, a: int, b: int) -> float:
    """The x with I_x(a, b) = below, by bisection to the last digit of a double."""
    low, high = 0.0, 1.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if incomplete(middle, a, b) < below else (low, middle)
    return low


WILSON = ShareInterval("Wilson", "Wilson 1927", wilson)
"""The interval that is shown: near its level on average over shares."""

CLOPPER_PEARSON = ShareInterval("Clopper-Pearson", "Clopper and Pearson 1934", clopper_pearson)
"""The interval that decides whether a share is beyond a bound: its level is never exceeded."""


# === ratios that are the same on every unit ===========================================================================


def constant_units(many: Sums) -> Integers:
    """On how many units each system of a ratio has a value, where it is the same on all of these, and else 0; of shape
    (systems,).
    """
    over, under = many.numerators, many.denominators
    there = under > 0
    values = np.divide(over, under, out=np.full(over.shape, -np.inf), where=there)
    largest = values.max(axis=1, initial=-np.inf, keepdims=True)
    constant = np.where(there, values == largest, over == 0).all(axis=1)
    return np.where(constant, there.sum(axis=1), 0)


def are_apart(many: Sums, pair: tuple[int, int]) -> bool:
    """Whether two systems have different denominators on some unit; else it is their differences that vary."""
    first, second = (many.denominators[system] for system in pair)
    return bool((first != second).any())


def allow_for_constants(
    limits: ConfidenceLimits,
    parts: Sequence[tuple[Sums, float]],
    pairs: Sequence[tuple[int, int]],
    plan: IntervalPlan,
    within: tuple[float, float],
) -> ConfidenceLimits:
    """The intervals of differences, wider where a system has the same value on every unit on which it has any:
    resamples of it never vary, whatever it may do on other units. As none of so many units has another value, the share
    that has one may be as large as the limit of Clopper and Pearson, and the system's value that share of the measure's
    range further away.

    `parts` are the sums of a test set, with the factor of their values; or those of each of several test sets, over
    which differences are averaged.
    """
    level = plan.level if plan.family == "each" else plan.level / len(pairs)
    missed = level if plan.bounds == "both" else 2 * level
    low, high = limits.low.copy(), limits.high.copy()
    unmoved, differences = np.ones(len(pairs), dtype=np.bool_), np.zeros(len(pairs))
    below, above = np.zeros((2, len(pairs)))
    for many, factor in parts:
        units, values = constant_units(many), factor * many.values()
        for place, pair in enumerate(pairs):
            there = units[[*pair]] * are_apart(many, pair)
            unmoved[place] &= there.all()
            differences[place] += (values[pair[0]] - values[pair[1]]) / len(parts)
            for system, known, sign in zip(pair, there.tolist(), (1, -1), strict=True):
                if known:
                    most = clopper_pearson(0, known, missed)[1] * (within[1] - within[0])
                    room = values[system] - within[0], within[1] - values[system]
                    less, more = (max(0.0, min(most, float(one))) / len(parts) for one in room)
                    below[place] += less if sign > 0 else more
                    above[place] += more if sign > 0 else less
    # Where nothing varies at all, there is nothing that could be resampled.
    low[unmoved & (plan.bounds != "upper")] = differences[unmoved & (plan.bounds != "upper")]
    high[unmoved & (plan.bounds != "lower")] = differences[unmoved & (plan.bounds != "lower")]
    return replace(limits, low=low - below, high=high + above)
