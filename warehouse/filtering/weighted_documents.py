"""The uncertainty of shares of documents, by the Bayesian bootstrap (Rubin 1981) with Jeffreys' prior.

Each document, or each cluster of documents, gets a random weight from the exponential distribution. The weight is the
same for every system and every share. Each side of a share gets half a document more; for clusters it gets half a
cluster of the mean size. Without clusters the weighted share of k among n documents has exactly the distribution Beta(k
+ ½, n − k + ½), whose quantiles are Jeffreys' interval. This interval has a positive width even if all documents are on
one side, which an ordinary bootstrap does not give. Since systems share the weights, the draws keep their dependence.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np
from msgspec import Struct

from warehouse.significance.bootstrap.resamples import CHUNK, VERY_MANY_UNITS
from warehouse.significance.distinct import distinct_columns
from warehouse.significance.draws import RESAMPLES, Draws
from warehouse.significance.paired import Floats, Integers

PRIOR = 0.5
"""How many documents, or clusters, are added to each side of a share (Jeffreys 1946)."""

FEW = 10
"""With fewer clusters intervals are rough, because the variance between clusters is hardly known."""

DRAWS = 2000

STEP = 2.0**-28
"""Weights are multiples of this. So sums of weights below 2^25 are exact, and the same in whatever order and with
whatever other columns a machine computes them.
"""


class Weights(Struct, frozen=True, eq=False):
    """Random weights of the exchange units of one test set; they are the same for all systems and measures."""

    seed: int
    stream: str

    def sums(self, columns: Integers, by_kind: bool = False) -> Floats:
        """The weighted sums of columns of shape (any, units), as an array of shape (any, draws). With very many units,
        or if `by_kind` is set, units with equal columns are weighted together. Set `by_kind` only if these sums are not
        combined with others.
        """
        table, times = columns, np.ones(columns.shape[1], dtype=np.int64)
        if by_kind or columns.shape[1] > VERY_MANY_UNITS:
            table, times = distinct_columns(columns)
        factors = table.astype(np.float64)
        return np.concatenate([factors @ weights.T for weights in self._chunks(times)], axis=1)

    def _chunks(self, times: Integers) -> Iterator[Floats]:
        draws = Draws(DRAWS, self.seed, crc32(self.stream.encode()))
        for chunk, used in draws.chunks(CHUNK):
            weights = draws.generator(chunk, RESAMPLES).standard_gamma(times, size=(CHUNK, len(times)))[:used]
            yield np.rint(weights / STEP) * STEP

    def added(self, what: str, prior: Sequence[float]) -> Floats:
        """The random weights of what the prior adds to each part, of shape (parts, draws)."""
        draws = Draws(DRAWS, self.seed, (crc32(self.stream.encode()), crc32(what.encode())))
        return draws.generator(0, RESAMPLES).standard_gamma(np.asarray(prior), size=(DRAWS, len(prior))).T

    def shares(self, names: Sequence[str], inside: Integers, outside: Integers) -> Floats:
        """Random draws of the named shares, of shape (shares, draws), from the counts on each side, of shape (shares,
        units).

        The draws of a share depend on its name and not on which other shares are requested.
        """
        sums = self.sums(np.concatenate((inside, outside)))
        sides = zip(names, sums[: len(names)], sums[len(names) :], strict=True)
        drawn = []
        weighing = map(mean_size, inside + outside)
        for (name, one, other), size in zip(sides, weighing, strict=True):
            more, less = size * self.added(name, (PRIOR, PRIOR))
            drawn.append((one + more) / (one + more + other + less))
        return np.stack(drawn)


def mean_size(documents: Integers) -> float:
    """The mean size of the unit that a document is in, over documents. `documents` has the shape (units,). The result
    is 1 if each document is its own unit.
    """
    total = int(documents.sum())
    return int((documents**2).sum()) / total if total else 1.0


def interval(draws: Floats, value: float | None = None, level: float = 0.05) -> tuple[float, float] | None:
    """The central interval of some draws with probability 1 − level, extended to include the value itself (Brown, Cai
    and DasGupta 2001 correct Jeffreys' interval in this way if all or no documents are on one side). None if no draw
    has a value.
    """
    known = draws[~np.isnan(draws)]
    if not known.size:
        return None
    low, high = (float(limit) for limit in np.quantile(known, (level / 2, 1 - level / 2)))
    return (low, high) if value is None else (min(low, value), max(high, value))
