"""Agreement as functions of sums over documents, so that it can be resampled like a measure: kappa of two annotators, F
of one annotator with the other taken as the key, and alpha of all annotators.

The labels of two annotators are summed into the nine cells of a confusion table, in the order of
`PairAgreement.confusion`. This module must not know what a unit is: it can be one document, or all documents that share
an attribute.
"""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import TYPE_CHECKING

import numpy as np

from warehouse.filtering.agreement import LEVELS, MISSING, Scale, alpha_of, kappa
from warehouse.significance.paired import Floats, Integers
from warehouse.significance.valuation import Valuation

if TYPE_CHECKING:
    from numpy.typing import NDArray

SIZE = len(LEVELS)

MOST_PARTS = 10**9
"""One coincidence is divided into at most this many integer parts; a finer fraction is rounded."""


# --- pairs ------------------------------------------------------------------------------------------------------------


def cells(first: Integers, second: Integers, unit: NDArray[np.intp]) -> Integers:
    """The confusion cells of two annotators in each unit, of shape (9, units). `unit` has the unit of each document,
    numbered from 0.
    """
    counts = np.zeros((SIZE**2, int(unit.max(initial=-1)) + 1), dtype=np.int64)
    both = (first != MISSING) & (second != MISSING)
    np.add.at(counts, (first[both] * SIZE + second[both], unit[both]), 1)
    return counts


def _kappas(sums: Floats) -> Floats:
    table = sums.reshape(SIZE, SIZE, -1)
    documents = table.sum(axis=(0, 1))
    by_chance = (table.sum(axis=1) * table.sum(axis=0)).sum(axis=0)
    return _divided(documents * np.einsum("kka->a", table) - by_chance, documents**2 - by_chance)


def _exact_kappa(sums: tuple[int, ...]) -> Fraction | None:
    value = kappa(np.array(sums).reshape(SIZE, SIZE))
    return None if value is None else Fraction(value)


KAPPA = Valuation(_kappas, _exact_kappa)
"""Cohen's kappa (1960)."""

_YES = np.array([0, 1, 2])
"""The credit of a label as a decision for relevant, in halves. An optional document counts one half, because either
decision on it is right.
"""


def _halves(sums: Floats | Integers) -> tuple[Floats | Integers, Floats | Integers]:
    """Numerator and denominator of F(beta=1) of the second annotator against the first as the key, in half documents.

    Optional documents of the key are credited: one that is decided yes is a hit, and one that is decided no is not a
    miss.
    """
    nonrelevant, optional, relevant = sums.reshape(SIZE, SIZE, -1)
    hits, misses = (_YES @ (relevant + optional), (2 - _YES) @ relevant)
    return 2 * hits, 2 * hits + _YES @ nonrelevant + misses


def _exact_f(sums: tuple[int, ...]) -> Fraction | None:
    over, under = (int(part[0]) for part in _halves(np.array(sums)))
    return Fraction(over, under) if under else None


F = Valuation(lambda sums: _divided(*_halves(sums)), _exact_f)
"""F(beta=1) of the second annotator against the first as the key."""


def turned(sums: Integers) -> Integers:
    """The cells with the two annotators swapped. Input and result have the shape (9, any)."""
    return np.asarray(sums.reshape(SIZE, SIZE, -1).transpose(1, 0, 2).reshape(SIZE**2, -1))


def f_of_second(confusion: Integers) -> float | None:
    """F(beta=1) of the second annotator against the first as the key, from their confusion table."""
    value = F.exactly(tuple(int(cell) for cell in confusion.ravel()))
    return None if value is None else float(value)


# --- all together -----------------------------------------------------------------------------------------------------


def coincidences(labels: Integers, unit: NDArray[np.intp]) -> tuple[Integers, int]:
    """The coincidences in each unit, in integer parts, of shape (9, units), and the number of parts in one coincidence.

    `labels` has the shape (annotators, documents), `unit` the shape (documents,). Each pair of the m labels of a
    document, in both orders, counts 1 / (m − 1) (Krippendorff 2011).
    """
    counts = np.stack([(labels == level).sum(axis=0) for level in range(SIZE)])
    labelled = counts.sum(axis=0)
    several = np.unique(labelled[labelled > 1])
    one = min(lcm(*(int(m) - 1 for m in several)), MOST_PARTS)
    met = counts[:, None] * counts[None, :]
    met[np.arange(SIZE), np.arange(SIZE)] -= counts
    parts = np.where(labelled > 1, met * np.rint(one / np.maximum(labelled - 1, 1)).astype(np.int64), 0)
    sums = np.zeros((int(unit.max(initial=-1)) + 1, SIZE**2), dtype=np.int64)
    np.add.at(sums, unit, parts.reshape(SIZE**2, -1).T)
    return np.ascontiguousarray(sums.T), one


def alpha_over(one: int, scale: Scale = "nominal") -> Valuation:
    """Krippendorff's alpha as a function of coincidences, where one coincidence has `one` integer parts."""

    def values(sums: Floats) -> Floats:
        met = sums.reshape(SIZE, SIZE, -1) / one
        totals = met.sum(axis=1)
        distances = _distances(totals, scale)
        expected = (totals[:, None] * totals[None, :] * distances).sum(axis=(0, 1))
        return 1 - _divided((totals.sum(axis=0) - 1) * (met * distances).sum(axis=(0, 1)), expected)

    def exactly(sums: tuple[int, ...]) -> Fraction | None:
        return alpha_of([[Fraction(sums[SIZE * c + k], one) for k in range(SIZE)] for c in range(SIZE)], scale)

    return Valuation(values, exactly)


def _distances(totals: Floats, scale: Scale) -> Floats:
    """The squared distance between every two levels, of shape (levels, levels, any)."""
    if scale == "nominal":
        apart = 1.0 - np.eye(SIZE)
        return np.broadcast_to(apart[:, :, None], (SIZE, SIZE, totals.shape[1]))
    upto = np.cumsum(totals, axis=0) - totals / 2
    return np.asarray((upto[:, None] - upto[None, :]) ** 2)


def _divided(over: Floats | Integers, under: Floats | Integers) -> Floats:
    without = np.full(np.shape(over), np.nan)
    return np.asarray(np.divide(over, under, out=without, where=np.asarray(under) != 0), dtype=np.float64)
