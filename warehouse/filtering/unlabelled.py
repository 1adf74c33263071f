"""Estimates the generality of a test set without a key from the decisions of a system there.

The system's decisions on a test set with a key say how it treats relevant and nonrelevant documents. The assumption
is that it treats them in the same way on both test sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, get_args
from zlib import crc32

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers
from evalhouse.warehouse.significance.bootstrap.resamples import CHUNK, VERY_MANY_UNITS
from evalhouse.warehouse.significance.draws import RESAMPLES, Draws
from evalhouse.warehouse.significance.two_systems import distinct_columns

# === weights of documents =============================================================================================
# The uncertainty of shares of documents, by the Bayesian bootstrap (Rubin 1981) with Jeffreys' prior. Each document, or
# each cluster of documents, gets a random weight from the exponential distribution, the same for every system and every
# share, so the draws keep their dependence. Each side of a share gets half a document more; for clusters half a cluster
# of the mean size. Without clusters the weighted share of k among n documents has exactly the distribution Beta(k + ½,
# n − k + ½), whose quantiles are Jeffreys' interval. It has a positive width even if all documents are on one side,
# which an ordinary bootstrap does not give.

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


# === estimates of generality ==========================================================================================
# Decisions alone give adjusted counts (Forman 2008): the share q decided yes is R·g + fallout·(1 − g), so g is (q −
# fallout) / (R − fallout). Confidences give the maximum likelihood estimate that EM converges to (Saerens, Latinne and
# Decaestecker 2002). They need not be probabilities: they are sorted into bins, and a bin is described by its shares of
# the relevant and of the nonrelevant documents with a key. Documents decided yes and documents decided no have separate
# bins, so that the decision always counts.

Estimator = Literal["adjusted counts", "EM"]

ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)

MOST_BINS = 10

IN_A_BIN = 15
"""The number of bins is chosen so that a bin would hold this many documents of the rarer kind if they were spread
evenly.
"""

_HALVINGS = 60


class SystemDecisions(Struct, frozen=True, eq=False):
    """The decisions of a system on some documents: `yes`, its `confidence` (NaN where it has none) and the `cluster`,
    the exchange unit of each document, numbered from 0. All arrays have the shape (documents,).
    """

    yes: Booleans
    confidence: Floats
    cluster: NDArray[np.intp]


class ConfidenceBins(Struct, frozen=True, eq=False):
    """Bins of confidence. `no` and `yes` have the lowest confidence of each bin except the first, for documents decided
    no and for documents decided yes.
    """

    no: Floats
    yes: Floats

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.no) + len(self.yes) + 2

    @property
    def decided_yes(self) -> Booleans:
        """Which bins hold documents decided yes. These bins come last."""
        return np.arange(self.size) > len(self.no)

    def of(self, decided: SystemDecisions) -> Integers:
        """The bin of each document. Equal confidences fall into the same bin."""
        no, yes = (np.searchsorted(edges, decided.confidence, side="right") for edges in (self.no, self.yes))
        return np.asarray(np.where(decided.yes, len(self.no) + 1 + yes, no), dtype=np.int64)


OF_DECISIONS = ConfidenceBins(np.empty(0), np.empty(0))
"""One bin for all documents decided no, and one for all documents decided yes."""


def bins(decided: SystemDecisions, relevant: Booleans, other: Booleans) -> ConfidenceBins:
    """Bins that hold equal shares of the documents, where relevant and other documents each have half of the weight."""
    weight = relevant / max(relevant.sum(), 1) + other / max(other.sum(), 1)
    wanted = int(np.clip(min(relevant.sum(), other.sum()) // IN_A_BIN, 2, MOST_BINS))

    def edges(side: Booleans) -> Floats:
        share = weight[side].sum() / weight.sum()
        parts = max(1, round(wanted * share))
        order = np.argsort(decided.confidence[side], kind="stable")
        sorted_confidence, reached = decided.confidence[side][order], np.cumsum(weight[side][order])
        places = (
            np.searchsorted(reached, reached[-1] * np.arange(1, parts) / parts) if len(reached) else np.empty(0, int)
        )
        return np.asarray(np.setdiff1d(np.unique(sorted_confidence[places]), sorted_confidence[:1]), dtype=np.float64)

    counted = relevant | other
    return ConfidenceBins(edges(~decided.yes & counted), edges(decided.yes & counted))


class Sampled(Struct, frozen=True, eq=False):
    """The distribution over bins of three kinds of documents: relevant and nonrelevant ones with a key, and those
    without a key. The shares of each kind add up to 1. The last axis holds random draws, which show how uncertain the
    shares are.
    """

    relevant: Floats
    other: Floats
    stream: Floats
    decided_yes: Booleans

    @property
    def recall(self) -> Floats:
        """The share of relevant documents that are decided yes, for each draw."""
        return np.asarray(self.relevant[self.decided_yes].sum(axis=0))

    @property
    def fallout(self) -> Floats:
        """The share of nonrelevant documents that are decided yes, for each draw."""
        return np.asarray(self.other[self.decided_yes].sum(axis=0))

    @property
    def above(self) -> Floats:
        """The probability that a relevant document is in a higher bin than another one; the same bin counts one
        half.
        """
        below = np.cumsum(self.other, axis=0) - self.other / 2
        return np.asarray((self.relevant * below).sum(axis=0))

    def adjusted_counts(self) -> Floats:
        """(q − fallout) / (R − fallout), which may lie outside [0, 1]."""
        over, under = self.stream[self.decided_yes].sum(axis=0) - self.fallout, self.recall - self.fallout
        return np.asarray(np.divide(over, under, out=np.full(np.shape(over), np.nan), where=under != 0))

    def em(self) -> Floats:
        """The maximum likelihood estimate of generality, by bisection on the sign of the slope. The likelihood has one
        maximum.
        """
        shape = self.stream.shape[1:]
        low, high = np.zeros(shape), np.ones(shape)
        apart = self.relevant - self.other
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            mixed = middle * self.relevant + (1 - middle) * self.other
            # Documents in a bin without any document with a key carry no information.
            slopes = np.divide(self.stream * apart, mixed, out=np.zeros(mixed.shape), where=mixed > 0)
            rising = slopes.sum(axis=0) > 0
            low, high = np.where(rising, middle, low), np.where(rising, high, middle)
        # The maximum is at an end of the range if bisection always moved in the same direction.
        return np.asarray(np.where(low == 0, 0.0, np.where(high == 1, 1.0, (low + high) / 2)))


class KeyedDecisions(Struct, frozen=True, eq=False):
    """The decisions of a system on the documents with a key, and which documents are relevant and which are not."""

    decided: SystemDecisions
    relevant: Booleans
    other: Booleans


class Estimate(Struct, frozen=True, eq=False):
    """The generality of a stream by one estimator: its value, which may lie outside [0, 1]; its limits within [0, 1],
    None if no generality agrees with the data; and random draws of generality, recall and fallout.

    `tells` says how well the system separates relevant documents from others, with limits. For adjusted counts it is R
    − fallout; for EM it is how much more often than by chance a relevant document is above another. If the limits
    contain 0, generality cannot be estimated.
    """

    estimator: Estimator
    value: float
    limits: tuple[float, float] | None
    tells: float
    tells_limits: tuple[float, float]
    generality: Floats
    recall: Floats
    fallout: Floats

    @property
    def to_be_had(self) -> bool:
        """Whether generality can be estimated, because the system separates relevant documents from others."""
        return self.tells_limits[0] > 0 or self.tells_limits[1] < 0

    @property
    def inside(self) -> bool:
        """Whether the value lies inside the range of a generality. A likelihood with its maximum at 0 or 1 would be
        even greater beyond it.
        """
        return 0 < self.value < 1 if self.estimator == "EM" else 0 <= self.value <= 1


def estimate(
    estimator: Estimator,
    source: KeyedDecisions,
    stream: SystemDecisions,
    of_source: Weights,
    of_stream: Weights,
    level: float,
) -> Estimate:
    """The generality of a stream. Both test sets must have documents, and the source both relevant and other
    documents.
    """
    divided = OF_DECISIONS if estimator == "adjusted counts" else bins(source.decided, source.relevant, source.other)
    counted = _counts(divided, source.decided, (source.relevant, source.other))
    streamed = _counts(divided, stream, (np.ones(len(stream.yes), dtype=np.bool_),))
    plain = _sample_bins(divided, counted.sum(axis=1)[:, None], streamed.sum(axis=1)[:, None])
    prior = _prior(divided)
    kinds = [mean_size(kind.sum(axis=0)) for kind in (counted[: divided.size], counted[divided.size :], streamed)]
    of_kinds = np.repeat(kinds[:2], divided.size)[:, None]
    drawn = _sample_bins(
        divided,
        of_source.sums(counted, by_kind=True) + of_kinds * of_source.added(estimator, [*prior, *prior]),
        of_stream.sums(streamed, by_kind=True) + kinds[2] * of_stream.added(estimator, prior),
    )
    if estimator == "EM":
        values, draws, tells, tells_draws = plain.em(), drawn.em(), plain.above - 0.5, drawn.above - 0.5
    else:
        values, draws = plain.adjusted_counts(), drawn.adjusted_counts()
        tells, tells_draws = plain.recall - plain.fallout, drawn.recall - drawn.fallout
    value = float(values[0])
    limits = interval(draws, None, level)
    tells_limits = interval(tells_draws, float(tells[0]), level) or (0.0, 0.0)
    return Estimate(
        estimator,
        value,
        None if limits is None or _is_contradicted(estimator, limits) else _from_0_to_1(limits, value),
        float(tells[0]),
        tells_limits,
        np.clip(draws, 0, 1),
        drawn.recall,
        drawn.fallout,
    )


def _is_contradicted(estimator: Estimator, limits: tuple[float, float]) -> bool:
    """Whether no generality agrees with the data. The maximum likelihood estimate always lies in [0, 1]. If nearly all
    draws have it at the same end, the unrestricted estimate would lie beyond that end.
    """
    low, high = limits
    return high <= 0 or low >= 1 if estimator == "EM" else high < 0 or low > 1


def _from_0_to_1(limits: tuple[float, float], value: float) -> tuple[float, float]:
    low, high = (float(np.clip(limit, 0, 1)) for limit in limits)
    return (min(low, value), max(high, value)) if 0 <= value <= 1 else (low, high)


def _counts(divided: ConfidenceBins, decided: SystemDecisions, kinds: tuple[Booleans, ...]) -> Integers:
    """The number of documents of each kind in each bin, with one column per exchange unit: of shape (kinds · bins,
    units).
    """
    units = int(decided.cluster.max(initial=-1)) + 1
    inside = divided.of(decided)
    counted = [
        np.bincount(inside[kind] * units + decided.cluster[kind], minlength=divided.size * units) for kind in kinds
    ]
    return np.concatenate(counted).reshape(len(kinds) * divided.size, units)


def _prior(divided: ConfidenceBins) -> list[float]:
    """The prior: half a document over all bins decided no, and half a document over all bins decided yes."""
    sizes = len(divided.no) + 1, len(divided.yes) + 1
    return [PRIOR / size for size in sizes for _ in range(size)]


def _sample_bins(divided: ConfidenceBins, with_key: Floats | Integers, stream: Floats | Integers) -> Sampled:
    relevant, other = with_key[: divided.size], with_key[divided.size :]
    shares = [np.asarray(part / part.sum(axis=0), dtype=np.float64) for part in (relevant, other, stream)]
    return Sampled(shares[0], shares[1], shares[2], divided.decided_yes)
