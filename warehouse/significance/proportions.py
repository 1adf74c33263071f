"""The interval of a share, of items that are right or wrong or as a ratio of sums: Wilson's, and Clopper and Pearson's;
and what these say of a difference of ratios that are the same on every unit.

Nothing is resampled, so what is all right, or all wrong, has an interval too, and no limit leaves [0, 1].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.significance.bootstrap.interval_kinds import ConfidenceLimits, IntervalPlan
from evalhouse.warehouse.significance.distributions import incomplete, t_quantile
from evalhouse.warehouse.significance.standardized import are_apart, constant_units, near_ratio
from evalhouse.warehouse.significance.sums import Sums


class Share(Struct, frozen=True):
    """A share of items, so many of them `right`. Either the items were drawn one by one, or they are effective numbers:
    as many items drawn one by one would tell as much of the share as the `units` that were drawn.
    """

    right: float
    items: float
    units: int = 0
    """0 if the items were drawn one by one."""


class ShareInterval(Struct, frozen=True):
    """A kind of interval of a share, and how its two limits follow from the share and the probability that it
    misses.
    """

    name: str
    source: str
    limits: Callable[[Share, float], tuple[float, float]]


def shares_of(many: Sums, factor: float) -> list[Share | None]:
    """What factor · value, a measure of shares, is a share of, for each system. Of right or wrong items, at most one in
    a unit, it is their number. Other ratios have the effective number of items, p·(1 − p) / var(p) with the linearized
    variance between units (Korn and Graubard 1998, Survey Methodology 24, 193-201), or the number of units if these are
    all alike. It is None if the ratio of a unit is below 0 or above 1, and for fewer than two units.
    """
    if many.is_function:
        return [None] * many.systems
    right, under = factor * many.numerators, many.denominators
    single = np.isin(under, (0, 1)) & ((right == 0) | ((right == 1) & (under == 1)))
    bounded = (right >= 0) & (right <= under)
    found: list[Share | None] = []
    for place in range(many.systems):
        if single[place].all():
            found.append(Share(round(right[place].sum()), int(under[place].sum())))
        elif bounded[place].all() and np.count_nonzero(under[place]) > 1:
            found.append(_effective_share(many.only([place]), factor))
        else:
            found.append(None)
    return found


def _effective_share(alone: Sums, factor: float) -> Share:
    """The effective share of a system; see `shares_of`."""
    over, under = alone.numerators[0], alone.denominators[0]
    total, units = int(under.sum()), int(np.count_nonzero(under))
    value = min(max(factor * int(over.sum()) / total, 0.0), 1.0)
    if constant_units(alone)[0]:
        return Share(value * units, units, units)
    # Whole numbers near 0, so that large counts do not lose the digits in which the units differ.
    q, p = near_ratio(alone)
    near = (q * over - p * under) / q
    left = factor * (near - near.sum() / total * under)
    items = value * (1 - value) / (float(left @ left) / total**2 * units / (units - 1))
    return Share(value * items, items, units)


def wilson(share: Share, level: float) -> tuple[float, float]:
    """The shares from which the observed one is less than z standard errors away, the standard error being that of the
    share itself (Wilson 1927, Journal of the American Statistical Association 22, 209-212). Of effective numbers, t
    standard errors.
    """
    square = _quantile(share, level) ** 2
    right, items = share.right, share.items
    middle = (right + square / 2) / (items + square)
    half = sqrt(square * (right * max(items - right, 0.0) / items + square / 4)) / (items + square)
    return (0.0 if right == 0 else middle - half), (1.0 if right == items else middle + half)


def clopper_pearson(share: Share, level: float) -> tuple[float, float]:
    """The shares of which neither so many right items nor so few would be improbable: it misses the true share at most
    as often as promised, however few items there are (Clopper and Pearson 1934, Biometrika 26, 404-413). Effective
    numbers are made smaller by (z / t)², since they are estimated (Korn and Graubard 1998).
    """
    fewer = (NormalDist().inv_cdf(1 - level / 2) / _quantile(share, level)) ** 2 if share.units else 1.0
    right, wrong = fewer * share.right, fewer * max(share.items - share.right, 0.0)
    low = 0.0 if right == 0 else _beta_quantile(level / 2, right, wrong + 1)
    high = 1.0 if wrong == 0 else 1.0 - _beta_quantile(level / 2, wrong, right + 1)
    return low, high


def _quantile(share: Share, level: float) -> float:
    """How many standard errors a share is from its limits."""
    return t_quantile(level / 2, share.units - 1) if share.units else NormalDist().inv_cdf(1 - level / 2)


def _beta_quantile(below: float, a: float, b: float) -> float:
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


def allow_for_constant_values(
    limits: tuple[float, float], parts: Sequence[tuple[Sums, float]], level: float, within: tuple[float, float]
) -> tuple[float, float]:
    """The interval of one system's average over test sets, wider for each of them where it has the same value on every
    unit, as `allow_for_constants` is for differences. `parts` are its sums on each, with the factor of their values.
    """
    low, high = limits
    for many, factor in parts:
        units = int(constant_units(many)[0])
        if not units:
            continue
        most = clopper_pearson(Share(0, units), level)[1] * (within[1] - within[0])
        value = factor * float(many.values()[0])
        low -= max(0.0, min(most, value - within[0])) / len(parts)
        high += max(0.0, min(most, within[1] - value)) / len(parts)
    return low, high


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
        if not units.any():
            unmoved[:] = False
            continue
        for place, pair in enumerate(pairs):
            there = units[[*pair]] * are_apart(many, pair)
            unmoved[place] &= there.all()
            differences[place] += (values[pair[0]] - values[pair[1]]) / len(parts)
            for system, known, sign in zip(pair, there.tolist(), (1, -1), strict=True):
                if known:
                    most = clopper_pearson(Share(0, known), missed)[1] * (within[1] - within[0])
                    room = values[system] - within[0], within[1] - values[system]
                    less, more = (max(0.0, min(most, float(one))) / len(parts) for one in room)
                    below[place] += less if sign > 0 else more
                    above[place] += more if sign > 0 else less
    # Where nothing varies at all, there is nothing that could be resampled.
    low[unmoved & (plan.bounds != "upper")] = differences[unmoved & (plan.bounds != "upper")]
    high[unmoved & (plan.bounds != "lower")] = differences[unmoved & (plan.bounds != "lower")]
    return replace(limits, low=low - below, high=high + above)
