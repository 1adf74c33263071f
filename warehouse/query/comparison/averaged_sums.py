"""The sums of an average over test sets, from the sums of a statistic on each.

The average of ratios is not a ratio of sums, but a function of the sums of each test set; where all systems have the
same denominators everywhere, as with means over documents, it is one ratio with weighted counts. Units of the test sets
stand behind one another, and those of one count nothing for the others, so that every test of a function of sums holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm

import numpy as np
from msgspec.structs import replace

from warehouse.query.comparison.sums import Orders
from warehouse.significance.paired import SUM_LIMIT, Booleans
from warehouse.significance.sums import Sums
from warehouse.significance.valuation import Valuation


def average_of(of_test_sets: Sequence[Sums | Orders]) -> Sums:
    """The average of a statistic over test sets, from its sums on each. Raises ValueError for an order."""
    parts = [_summed(part) for part in of_test_sets]
    weighted = _weighted(parts) if all(part.is_ratio for part in parts) else None
    if weighted is not None:
        return weighted
    parts = [_coarsened(part, len(parts)) for part in parts]
    units = list(accumulate((part.units for part in parts), initial=0))
    columns = []
    for part, start, stop in zip(parts, units, units[1:], strict=False):
        for own in part.columns:
            column = np.zeros((part.systems, units[-1]), dtype=np.int64)
            column[:, start:stop] = own
            columns.append(column)
    valuations = [part.valuation.multiply(part.factor) for part in parts]
    valuation = Valuation.average(valuations, [len(part.columns) for part in parts])
    return Sums(tuple(columns), valuation, known=_known(parts))


def _known(parts: Sequence[Sums]) -> Booleans | None:
    known = [part.known for part in parts if part.known is not None]
    return np.logical_and.reduce(known) if known else None


def _weighted(parts: Sequence[Sums]) -> Sums | None:
    """The average as one ratio; None where systems differ in a denominator, or where the weights are too large.

    With w = L / ΣD on each test set, L being a common multiple, Σw·N / Σw·D is the mean of ΣN / ΣD.
    """
    totals = []
    for part in parts:
        if (part.denominators != part.denominators[0]).any() or not part.denominators[0].any():
            return None
        totals.append(int(part.denominators[0].sum()))
    common = lcm(*(part.factor.denominator for part in parts))
    scales = [int(part.factor * common) for part in parts]
    multiple = lcm(*totals)
    weights = [multiple // total for total in totals]
    reach = [
        weight * scale * int(np.abs(part.numerators).sum(axis=1).max(initial=0))
        for part, weight, scale in zip(parts, weights, scales, strict=True)
    ]
    if max(sum(reach), multiple * len(parts)) >= SUM_LIMIT:
        return None
    return replace(
        parts[0],
        columns=(
            np.concatenate(
                [part.numerators * (w * s) for part, w, s in zip(parts, weights, scales, strict=True)], axis=1
            ),
            np.concatenate([part.denominators * w for part, w in zip(parts, weights, strict=True)], axis=1),
        ),
        factor=Fraction(1, common),
        slack=sum(part.slack * w * s for part, w, s in zip(parts, weights, scales, strict=True)),
        known=_known(parts),
        counted=False,
        measured=None,
        is_total=False,
    )


def _summed(part: Sums | Orders) -> Sums:
    if isinstance(part, Orders):
        raise ValueError("an order has no sums to average")
    return part


def _coarsened(part: Sums, parts: int) -> Sums:
    """Sums that floating point holds together, for so many parts: numerators in fixed point give up digits.

    They keep 50 bits, and values that were equal stay equal.
    """
    if not part.is_ratio:
        return part
    reach = 2 * parts * int(np.abs(part.numerators).sum(axis=1).max(initial=0))
    shift = max(0, reach.bit_length() - 52)
    half = (1 << shift) >> 1
    numerators = (part.numerators + half) >> shift
    return replace(part, columns=(numerators, part.denominators), factor=part.factor * 2**shift, slack=0, measured=None)
