"""Five systems that are equally good, the first of which answers a share of the documents: what `ranks.py` and
`validity.py` draw to find how often a test calls one of them better.

Each function draws one evaluation from a source of chance: so many documents, of which the first system answers the
share, at least one, and the others answer all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from evalhouse.warehouse.significance.sums import ExactValue, Sums, Valuation

# --- MCC --------------------------------------------------------------------------------------------------------------


def matthews(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    """The MCC of sums in the cells a, b, c and d (Matthews 1975), NaN if it is undefined."""
    a, b, c, d = sums
    square = (a + b) * (a + c) * (b + d) * (c + d)
    values = np.full(sums.shape[1], np.nan)
    np.divide(a * d - b * c, np.sqrt(np.maximum(square, 0)), out=values, where=square > 0)
    return values


def exactly_matthews(sums: tuple[int, ...]) -> ExactValue | None:
    """The same up to rounding in the last digit. No tie in these tables depends on it."""
    value = float(matthews(np.array(sums, dtype=np.float64)[:, None])[0])
    return None if value != value else Fraction(value)


MATTHEWS = Valuation(matthews, exactly_matthews)

PAIRS_OF_CELLS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 1]])
"""MCC is defined if there are documents of both kinds and answers of both kinds."""

# --- evaluations ------------------------------------------------------------------------------------------------------


def silent(chance: np.random.Generator, documents: int, share: float) -> NDArray[np.bool_]:
    """The documents that a system does not answer, of shape (documents,); it answers one at least."""
    none = chance.random(documents) >= share
    none[chance.integers(documents)] = False
    return none


def precision(chance: np.random.Generator, documents: int, share: float) -> Sums:
    """Right answers out of answers, of which a document has one to four; documents are easy or hard for all."""
    answered = 1 + chance.integers(0, 4, (5, documents))
    answered[0, silent(chance, documents, share)] = 0
    ease = chance.beta(4, 4, documents)
    return Sums.of_ratios(chance.binomial(answered, ease), answered)


def f(chance: np.random.Generator, documents: int, share: float) -> Sums:
    """2·right out of answers and keys: precision and recall of 90% on the share, and both as F for the others."""
    keys = 1 + chance.poisson(2, documents)
    value = 1.8 * share / (1 + share)
    rights = np.array([[0.9]] + [[value]] * 4)
    right = chance.binomial(keys, np.broadcast_to(rights, (5, documents)))
    answered = right + chance.poisson(keys * (1 - rights))
    none = silent(chance, documents, share)
    right[0, none], answered[0, none] = 0, 0
    return Sums.of_ratios(2 * right, answered + keys)


def mcc(chance: np.random.Generator, documents: int, share: float) -> Sums:
    """Decisions on documents of which half are relevant: right on 95% of the share and "no" elsewhere, or the same MCC
    with as many errors of both kinds.
    """
    hit, false = 0.95 * share, 0.05 * share
    decided = (hit + false) / 2
    value = (hit - false) / 2 / sqrt(decided * (1 - decided))
    chances = np.full((5, 2), ((1 - value) / 2, (1 + value) / 2))
    chances[0] = false, hit
    while True:
        relevant = chance.random(documents) < 0.5
        yes = chance.random((5, documents)) < chances[:, relevant.astype(int)]
        cells = (yes & relevant, yes & ~relevant, ~yes & relevant, ~yes & ~relevant)
        counts = np.stack(cells, axis=1).astype(np.int64)
        if (counts.sum(axis=2) @ PAIRS_OF_CELLS > 0).all():
            return Sums.of_counts(counts, MATTHEWS)


def recall(chance: np.random.Generator, documents: int, share: float) -> Sums:
    """Right answers out of keys: 90% on the share and none elsewhere, or that share of 90% everywhere."""
    keys = 1 + chance.poisson(2, documents)
    right = chance.binomial(keys, np.array([[0.9]] + [[0.9 * share]] * 4), (5, documents))
    right[0, silent(chance, documents, share)] = 0
    return Sums.of_ratios(right, np.broadcast_to(keys, (5, documents)).copy())


MEASURES: Mapping[str, tuple[Callable[[np.random.Generator, int, float], Sums], tuple[int, ...]]] = {
    "precision": (precision, (10, 50, 400)),
    "recall": (recall, (10, 50, 400)),
    "F": (f, (10, 50, 400)),
    "MCC": (mcc, (50, 200)),
}
"""By measure, what draws an evaluation, and the numbers of documents that are tried."""
