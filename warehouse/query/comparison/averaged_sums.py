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

from grammar.value import replace
from warehouse.query.comparison.sums import Additive, FunctionSums, Orders, RatioSums, Sums
from warehouse.significance.paired import SUM_LIMIT, Floats, Integers
from warehouse.significance.valuation import ExactValue, Valuation, added, times


def average_of(of_test_sets: Sequence[Sums]) -> Additive:
    """The average of a statistic over test sets, from its sums on each. Raises ValueError for an order."""
    parts = [_summed(part) for part in of_test_sets]
    ratios = [part for part in parts if isinstance(part, RatioSums)]
    weighted = _weighted(ratios) if len(ratios) == len(parts) else None
    if weighted is not None:
        return weighted
    parts = [_coarsened(part, len(parts)) for part in parts]
    tables = [_columns(part) for part in parts]
    columns = list(accumulate((table.shape[1] for table in tables), initial=0))
    units = list(accumulate((table.shape[2] for table in tables), initial=0))
    counts = np.zeros((len(tables[0]), columns[-1], units[-1]), dtype=np.int64)
    for place, table in enumerate(tables):
        counts[:, columns[place] : columns[place + 1], units[place] : units[place + 1]] = table
    valuations = [_valuation(part) for part in parts]
    places = [slice(columns[place], columns[place + 1]) for place in range(len(parts))]

    def values(sums: Floats) -> Floats:
        of_parts = [valuation.values(sums[place]) for valuation, place in zip(valuations, places, strict=True)]
        return np.asarray(sum(of_parts[1:], of_parts[0]) / len(parts))

    def exactly(sums: tuple[int, ...]) -> ExactValue | None:
        of_parts = [valuation.exactly(sums[place]) for valuation, place in zip(valuations, places, strict=True)]
        total: ExactValue = Fraction(0)
        for value in of_parts:
            if value is None:
                return None
            total = added(total, value)
        return times(total, Fraction(1, len(parts)))

    known = np.logical_and.reduce([part.known for part in parts])
    return FunctionSums(Valuation(values, exactly), counts, known)


def _weighted(parts: Sequence[RatioSums]) -> RatioSums | None:
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
        numerators=np.concatenate(
            [part.numerators * (w * s) for part, w, s in zip(parts, weights, scales, strict=True)], axis=1
        ),
        denominators=np.concatenate([part.denominators * w for part, w in zip(parts, weights, strict=True)], axis=1),
        factor=Fraction(1, common),
        slack=sum(part.slack * w * s for part, w, s in zip(parts, weights, scales, strict=True)),
        known=np.logical_and.reduce([part.known for part in parts]),
        counted=np.zeros(len(parts[0].known), dtype=np.bool_),
        measured=None,
        is_total=False,
    )


def _summed(part: Sums) -> Additive:
    if isinstance(part, Orders):
        raise ValueError("an order has no sums to average")
    return part


def _coarsened(part: Additive, parts: int) -> Additive:
    """Sums that floating point holds together, for so many parts: numerators in fixed point give up digits.

    They keep 50 bits, and values that were equal stay equal.
    """
    if not isinstance(part, RatioSums):
        return part
    reach = 2 * parts * int(np.abs(part.numerators).sum(axis=1).max(initial=0))
    shift = max(0, reach.bit_length() - 52)
    half = (1 << shift) >> 1
    numerators = (part.numerators + half) >> shift
    return replace(part, numerators=numerators, factor=part.factor * 2**shift, slack=0, measured=None)


def _columns(part: Additive) -> Integers:
    """The counts of one test set, of shape (systems, columns, units)."""
    return np.stack((part.numerators, part.denominators), axis=1) if isinstance(part, RatioSums) else part.counts


def _valuation(part: Additive) -> Valuation:
    if isinstance(part, FunctionSums):
        return part.valuation
    factor = part.factor

    def values(sums: Floats) -> Floats:
        without = np.full(sums.shape[1:], np.nan)
        return float(factor) * np.asarray(np.divide(sums[0], sums[1], out=without, where=sums[1] != 0))

    def exactly(sums: tuple[int, ...]) -> ExactValue | None:
        return factor * Fraction(sums[0], sums[1]) if sums[1] else None

    return Valuation(values, exactly)
