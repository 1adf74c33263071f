"""How a measure changed over all systems from one test set to another: what Lewis and Tong (1992, Analysis) report.

Values may be printed or computed. They are read as decimal numbers, so that 0.82 − 0.79 is exactly 0.03 and a system
that did not change has a difference of exactly 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import lcm

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance import matched
from evalhouse.warehouse.significance.exact import counting
from evalhouse.warehouse.significance.sums import Sums

Quantity = Decimal | float

_FINEST = 2**50
"""Differences are scaled to integers that sum to no more than this."""


class ChangeSummary(Struct, frozen=True):
    """The differences of the systems, later minus earlier, in the unit of the values.

    `trimmed_mean` leaves out the `trim` highest and the `trim` lowest differences. Means are None where there is
    nothing to average. `p_sign` and `p_randomization` are two-sided p-values of the hypothesis that the two values of a
    system are exchangeable: by the sign test, and over all 2^systems sign changes of the differences. `p_randomization`
    is None if there are too many sign changes to count (about forty systems with values of many digits).
    """

    systems: int
    mean: float | None
    trimmed_mean: float | None
    trim: int
    rose: int
    fell: int
    unchanged: int
    mean_rise: float | None
    mean_fall: float | None
    p_sign: float
    p_randomization: float | None


def change_summary(values_from: Sequence[Quantity], values_to: Sequence[Quantity], trim: int = 0) -> ChangeSummary:
    """The summary of two sequences of values of shape (systems,), with each system at the same place in both.

    Raises ValueError if the two lengths differ, if a value is not a finite number, or if `trim` is negative.
    """
    if len(values_from) != len(values_to):
        raise ValueError(f"{len(values_from)} values before and {len(values_to)} after are not of the same systems")
    if trim < 0:
        raise ValueError(f"trim is {trim} and cannot be negative")
    differences = sorted(_exact(to) - _exact(before) for before, to in zip(values_from, values_to, strict=True))
    rises = [difference for difference in differences if difference > 0]
    falls = [difference for difference in differences if difference < 0]
    return ChangeSummary(
        systems=len(differences),
        mean=_mean(differences),
        trimmed_mean=_mean(differences[trim : max(trim, len(differences) - trim)]),
        trim=trim,
        rose=len(rises),
        fell=len(falls),
        unchanged=len(differences) - len(rises) - len(falls),
        mean_rise=_mean(rises),
        mean_fall=_mean(falls),
        p_sign=matched.sign([1] * len(rises) + [-1] * len(falls)).p,
        p_randomization=_sign_flips([*falls, *rises]),
    )


def _exact(value: Quantity) -> Fraction:
    """A value as the decimal number that is shown: 0.79, not the binary fraction nearest to it."""
    decimal = Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)
    if not decimal.is_finite():
        raise ValueError(f"a value is {value} and must be a number")
    return Fraction(decimal)


def _mean(differences: Sequence[Fraction]) -> float | None:
    return float(sum(differences, Fraction(0)) / len(differences)) if differences else None


def _sign_flips(differences: Sequence[Fraction]) -> float | None:
    """The share of all sign changes whose sum is at least as far from 0 as the observed sum. Every difference must be
    nonzero.
    """
    if not differences:
        return 1.0
    total = sum((abs(difference) for difference in differences), Fraction(0))
    scale = Fraction(lcm(*(difference.denominator for difference in differences)))
    slack = 0
    if scale * total > _FINEST:
        # Rounding moves each difference by at most ½, so sums that are equal before rounding differ by no more than
        # this.
        scale, slack = _FINEST / total, len(differences)
    scaled = np.array([round(scale * difference) for difference in differences], dtype=np.int64)
    ones = np.ones_like(scaled)
    paired = Sums.of_two(scaled, ones, np.zeros_like(scaled), ones, slack)
    return counting.exact_test(paired).p if counting.cost(paired).affordable else None
