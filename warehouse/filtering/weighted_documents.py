"""How sure shares of documents are: the Bayesian bootstrap (Rubin 1981) with Jeffreys' prior.

Each document, or each cluster of documents that belong together, gets a random weight from the exponential
distribution, the same for every system and every share, and each side of a share gets half a document more, or half a
cluster of the size that documents are in on average. For
documents one by one the weighted share of k among n then has exactly the distribution Beta(k + ½, n − k + ½), whose
quantiles are Jeffreys' interval: that has a width where all of them, or none, are on one side, which resampled
documents would not give. What systems have in common they have in common in every draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from warehouse.significance.bootstrap.resamples import CHUNK, VERY_MANY_UNITS
from warehouse.significance.distinct import distinct_columns
from warehouse.significance.draws import RESAMPLES, Draws
from warehouse.significance.paired import Floats, Integers

PRIOR = 0.5
"""How many documents, or clusters, each side of a share gets beside those there are (Jeffreys 1946)."""

FEW = 10
"""Of fewer clusters intervals are rough: how much clusters differ is hardly known."""

DRAWS = 2000


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Random weights of the exchange units of one test set, the same whoever is asked about."""

    seed: int
    stream: str

    def sums(self, columns: Integers, by_kind: bool = False) -> Floats:
        """The weighted sums of columns of shape (any, units), of shape (any, draws). Units that are alike are weighted
        together where there are very many, and `by_kind`, where these sums are not put beside others.
        """
        table, times = columns, np.ones(columns.shape[1], dtype=np.int64)
        if by_kind or columns.shape[1] > VERY_MANY_UNITS:
            table, times = distinct_columns(columns)
        factors = table.astype(np.float64)
        return np.concatenate([factors @ weights.T for weights in self._chunks(times)], axis=1)

    def _chunks(self, times: Integers) -> Iterator[Floats]:
        draws = Draws(DRAWS, self.seed, crc32(self.stream.encode()))
        for chunk, used in draws.chunks(CHUNK):
            yield draws.generator(chunk, RESAMPLES).standard_gamma(times, size=(CHUNK, len(times)))[:used]

    def added(self, what: str, prior: Sequence[float]) -> Floats:
        """The weights of what the prior adds to each part of something, of shape (parts, draws)."""
        draws = Draws(DRAWS, self.seed, (crc32(self.stream.encode()), crc32(what.encode())))
        return draws.generator(0, RESAMPLES).standard_gamma(np.asarray(prior), size=(DRAWS, len(prior))).T

    def shares(self, names: Sequence[str], inside: Integers, outside: Integers) -> Floats:
        """Draws of shares of these names, of shape (shares, draws), from counts on each side, of shape (shares, units).

        What is drawn of a share depends on its name and not on which others are asked for.
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
    """Of how many documents the unit is that a document is in, on average; of shape (units,). It is 1 of documents one
    by one.
    """
    total = int(documents.sum())
    return int((documents**2).sum()) / total if total else 1.0


def interval(draws: Floats, value: float | None = None, level: float = 0.05) -> tuple[float, float] | None:
    """The middle of some draws, which the value itself never lies outside of (Brown, Cai and DasGupta 2001 so mend
    Jeffreys' interval where all or none are on one side). None where no draw has a value.
    """
    known = draws[~np.isnan(draws)]
    if not known.size:
        return None
    low, high = (float(limit) for limit in np.quantile(known, (level / 2, 1 - level / 2)))
    return (low, high) if value is None else (min(low, value), max(high, value))
