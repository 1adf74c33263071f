"""How well annotators agree on labels: observed agreement, Cohen's kappa, Krippendorff's alpha.

A label is the number of its level, counted from 0; for keys of text filtering 0 is nonrelevant, 1 optional and 2
relevant. All counting is in integers and every result is rounded once.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any, Literal

import numpy as np
from msgspec import Struct
from numpy.typing import ArrayLike, NDArray

from evalhouse.warehouse.significance.arrays import Floats, Integers
from evalhouse.warehouse.significance.sums import Valuation

# === agreement of annotators ==========================================================================================

Scale = Literal["nominal", "ordinal"]

MISSING = -1
"""The label of a document that an annotator did not label."""

LEVELS = ("nonrelevant", "optional", "relevant")
"""The levels of key labels, in order."""


class PairAgreement(Struct, frozen=True):
    """Two annotators, named by their row numbers, on the documents that both labelled.

    `confusion` has shape (levels, levels) and counts documents: rows are the levels of the first annotator, columns
    those of the second. `agreement` is the share of documents with the same label, None if there are no documents.
    `kappa` is also None if both annotators gave every document the same level, because no agreement beyond chance is
    possible then.
    """

    first: int
    second: int
    documents: int
    agreement: float | None
    kappa: float | None
    confusion: Integers


class Agreement(Struct, frozen=True):
    """All pairs of annotators, in order of their rows, and alpha for all annotators together."""

    annotators: int
    pairs: tuple[PairAgreement, ...]
    alpha_nominal: float | None
    alpha_ordinal: float | None


def agree(labels: ArrayLike, levels: int = len(LEVELS)) -> Agreement:
    """The agreement of annotators, from labels of shape (annotators, documents), integers from 0 to levels − 1 or
    MISSING.

    Raises ValueError for anything else.
    """
    rows = _check_labels(labels, levels)
    return Agreement(
        annotators=rows.shape[0],
        pairs=tuple(_pair(rows, first, second, levels) for first, second in combinations(range(rows.shape[0]), 2)),
        alpha_nominal=alpha(rows, "nominal", levels),
        alpha_ordinal=alpha(rows, "ordinal", levels),
    )


def kappa(confusion: ArrayLike) -> float | None:
    """Cohen's kappa (1960) of a confusion table of shape (levels, levels), None where it is undefined."""
    table = np.asarray(confusion, dtype=np.int64)
    documents = int(table.sum())
    by_chance = sum(int(row) * int(column) for row, column in zip(table.sum(axis=1), table.sum(axis=0), strict=True))
    beyond = documents**2 - by_chance
    return (documents * int(np.trace(table)) - by_chance) / beyond if beyond else None


def alpha(labels: ArrayLike, scale: Scale = "nominal", levels: int = len(LEVELS)) -> float | None:
    """Krippendorff's alpha for labels of shape (annotators, documents) with any missing: 1 − D_o / D_e.

    On the nominal scale any two different levels are equally far apart. On the ordinal scale their squared distance is
    the square of the number of labels from one to the other, where the labels at both ends count half (Krippendorff
    2011, *Computing Krippendorff's alpha-reliability*). Documents with fewer than two labels do not count. Returns None
    if no two labels can be compared, or if all comparable labels have the same level. Raises ValueError as `agree`
    does.
    """
    value = alpha_of(_coincidences(_check_labels(labels, levels), levels), scale)
    return None if value is None else float(value)


def alpha_of(coincidences: list[list[Fraction]], scale: Scale) -> Fraction | None:
    """Alpha from the coincidence matrix, of shape (levels, levels); None where it is undefined."""
    totals = [sum(row, Fraction(0)) for row in coincidences]
    distances = _distances(totals, scale)
    cells = [(first, second) for first in range(len(totals)) for second in range(len(totals))]
    observed = sum((coincidences[c][k] * distances[c][k] for c, k in cells), Fraction(0))
    expected = sum((totals[c] * totals[k] * distances[c][k] for c, k in cells), Fraction(0))
    return 1 - (sum(totals) - 1) * observed / expected if expected else None


def _check_labels(labels: Any, levels: int) -> Integers:
    rows = np.asarray(labels)
    if rows.ndim != 2:
        raise ValueError(f"labels have {rows.ndim} dimensions and need 2, annotators and documents")
    if rows.dtype.kind not in "iu" and rows.size:
        raise ValueError(f"labels hold {rows.dtype} and must hold integers")
    if rows.size and (rows.min() < MISSING or rows.max() >= levels):
        raise ValueError(f"labels go from {rows.min()} to {rows.max()} and must go from 0 to {levels - 1}")
    return rows.astype(np.int64)


def _pair(rows: Integers, first: int, second: int, levels: int) -> PairAgreement:
    both = (rows[first] != MISSING) & (rows[second] != MISSING)
    places = rows[first, both] * levels + rows[second, both]
    confusion = np.bincount(places, minlength=levels**2).reshape(levels, levels)
    documents = int(both.sum())
    agreement = int(np.trace(confusion)) / documents if documents else None
    return PairAgreement(first, second, documents, agreement, kappa(confusion), confusion)


def _coincidences(rows: Integers, levels: int) -> list[list[Fraction]]:
    """The coincidence matrix: each pair of the m labels of a document, in both orders, counts 1 / (m − 1)."""
    counts = np.stack([(rows == level).sum(axis=0) for level in range(levels)], axis=1)
    labelled = counts.sum(axis=1)
    total = [[Fraction(0)] * levels for _ in range(levels)]
    for m in np.unique(labelled[labelled > 1]).tolist():
        alike = counts[labelled == m]
        pairs = alike.T @ alike - np.diag(alike.sum(axis=0))
        total = [
            [whole + Fraction(part, m - 1) for whole, part in zip(*both, strict=True)]
            for both in zip(total, pairs.tolist(), strict=True)
        ]
    return total


def _distances(totals: list[Fraction], scale: Scale) -> list[list[Fraction]]:
    """The squared distance between every two levels."""
    levels = range(len(totals))
    if scale == "nominal":
        return [[Fraction(first != second) for second in levels] for first in levels]
    upto = [sum(totals[: level + 1], Fraction(0)) - totals[level] / 2 for level in levels]
    return [[(upto[first] - upto[second]) ** 2 for second in levels] for first in levels]


# === agreement as functions of sums ===================================================================================
# So that it can be resampled like a measure: kappa of two annotators, F of one annotator with the other taken as the
# key, and alpha of all annotators, as functions of sums over documents. The labels of two annotators are summed into
# the nine cells of a confusion table, in the order of `PairAgreement.confusion`. This part must not know what a unit
# is: it can be one document, or all documents that share an attribute.

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
    return _divide(documents * np.einsum("kka->a", table) - by_chance, documents**2 - by_chance)


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


F = Valuation(lambda sums: _divide(*_halves(sums)), _exact_f)
"""F(beta=1) of the second annotator against the first as the key."""


def swap_annotators(sums: Integers) -> Integers:
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
        distances = _squared_distances(totals, scale)
        expected = (totals[:, None] * totals[None, :] * distances).sum(axis=(0, 1))
        return 1 - _divide((totals.sum(axis=0) - 1) * (met * distances).sum(axis=(0, 1)), expected)

    def exactly(sums: tuple[int, ...]) -> Fraction | None:
        return alpha_of([[Fraction(sums[SIZE * c + k], one) for k in range(SIZE)] for c in range(SIZE)], scale)

    return Valuation(values, exactly)


def _squared_distances(totals: Floats, scale: Scale) -> Floats:
    """The squared distance between every two levels, of shape (levels, levels, any)."""
    if scale == "nominal":
        apart = 1.0 - np.eye(SIZE)
        return np.broadcast_to(apart[:, :, None], (SIZE, SIZE, totals.shape[1]))
    upto = np.cumsum(totals, axis=0) - totals / 2
    return np.asarray((upto[:, None] - upto[None, :]) ** 2)


def _divide(over: Floats | Integers, under: Floats | Integers) -> Floats:
    without = np.full(np.shape(over), np.nan)
    return np.asarray(np.divide(over, under, out=without, where=np.asarray(under) != 0), dtype=np.float64)
