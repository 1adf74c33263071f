"""How many documents of a test set without a key are relevant, as a share, from what a system did there and on a test
set with a key, if relevant and other documents are to the system there what they were here.

Decisions alone give adjusted counts (Forman 2008): the share q decided yes is R·g + fallout·(1 − g), so g is (q −
fallout) / (R − fallout). Confidences give the maximum of the likelihood that EM climbs to (Saerens, Latinne and
Decaestecker 2002). They need not be probabilities: they are calibrated in bins, and what a bin says is how many of the
relevant and of the other documents with a key are in it. Bins divide the documents decided yes and those decided no, so
that decisions count whatever the confidences are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from warehouse.filtering.weighted_documents import PRIOR, Weights, interval, mean_size
from warehouse.significance.paired import Booleans, Floats, Integers

Estimator = Literal["adjusted counts", "EM"]

ESTIMATORS: tuple[Estimator, ...] = get_args(Estimator)

MOST_BINS = 10

IN_A_BIN = 15
"""There are so many bins that each would hold so many documents of the rarer kind, were these spread evenly."""

_HALVINGS = 60


@dataclass(frozen=True, slots=True, eq=False)
class SystemDecisions:
    """What a system decided on some documents: `yes`, its `confidence`, NaN where it has none, and `cluster`, the
    exchange unit of each, numbered from 0; all of shape (documents,).
    """

    yes: Booleans
    confidence: Floats
    cluster: NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class ConfidenceBins:
    """Stretches of confidence: `inside` has the lowest confidence of each bin but the first, for documents decided no
    and for those decided yes.
    """

    no: Floats
    yes: Floats

    @property
    def size(self) -> int:
        return len(self.no) + len(self.yes) + 2

    @property
    def decided_yes(self) -> Booleans:
        """Which bins are of documents decided yes; these come last."""
        return np.arange(self.size) > len(self.no)

    def of(self, decided: SystemDecisions) -> Integers:
        """The bin of each document; equal confidences are in one."""
        no, yes = (np.searchsorted(edges, decided.confidence, side="right") for edges in (self.no, self.yes))
        return np.asarray(np.where(decided.yes, len(self.no) + 1 + yes, no), dtype=np.int64)


OF_DECISIONS = ConfidenceBins(np.empty(0), np.empty(0))
"""One bin of all that was decided no, and one of all that was decided yes."""


def bins(decided: SystemDecisions, relevant: Booleans, other: Booleans) -> ConfidenceBins:
    """ConfidenceBins that relevant and other documents fill alike, each kind taken to be one half of all."""
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


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """How documents are spread over bins: those with a key that are relevant and that are not, and those without, as
    shares of each that add up to 1. The last axis of `draws` are draws that say how sure this is.
    """

    relevant: Floats
    other: Floats
    stream: Floats
    decided_yes: Booleans

    @property
    def recall(self) -> Floats:
        return np.asarray(self.relevant[self.decided_yes].sum(axis=0))

    @property
    def fallout(self) -> Floats:
        return np.asarray(self.other[self.decided_yes].sum(axis=0))

    @property
    def above(self) -> Floats:
        """How often a relevant document stands in a higher bin than another one, one half in the same."""
        below = np.cumsum(self.other, axis=0) - self.other / 2
        return np.asarray((self.relevant * below).sum(axis=0))

    def adjusted_counts(self) -> Floats:
        """(q − fallout) / (R − fallout), which may lie outside of 0 and 1."""
        over, under = self.stream[self.decided_yes].sum(axis=0) - self.fallout, self.recall - self.fallout
        return np.asarray(np.divide(over, under, out=np.full(np.shape(over), np.nan), where=under != 0))

    def em(self) -> Floats:
        """The generality of the greatest likelihood, by halving where its slope changes sign; it has one maximum."""
        shape = self.stream.shape[1:]
        low, high = np.zeros(shape), np.ones(shape)
        apart = self.relevant - self.other
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            mixed = middle * self.relevant + (1 - middle) * self.other
            # What is in no bin of the documents with a key says nothing.
            slopes = np.divide(self.stream * apart, mixed, out=np.zeros(mixed.shape), where=mixed > 0)
            rising = slopes.sum(axis=0) > 0
            low, high = np.where(rising, middle, low), np.where(rising, high, middle)
        # Where nothing ever turned it back, it is at the end.
        return np.asarray(np.where(low == 0, 0.0, np.where(high == 1, 1.0, (low + high) / 2)))


@dataclass(frozen=True, slots=True, eq=False)
class KeyedDecisions:
    """What a system decided on the documents with a key, and which of them are relevant and which are not."""

    decided: SystemDecisions
    relevant: Booleans
    other: Booleans


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """The generality of a stream by one estimator: its value, which may lie outside of 0 and 1, its limits from 0 to 1,
    None where no generality agrees with the data, and draws of it and of recall and fallout.

    `tells` says how well the system tells relevant documents from others, and between what limits: R − fallout for
    adjusted counts, for EM how much more often than by chance a relevant document is above another. Where they hold 0,
    the generality cannot be had.
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
        """Whether the system tells relevant documents from others at all."""
        return self.tells_limits[0] > 0 or self.tells_limits[1] < 0

    @property
    def inside(self) -> bool:
        """Whether the value is a generality. A likelihood that is greatest at an end would be greater beyond it."""
        return 0 < self.value < 1 if self.estimator == "EM" else 0 <= self.value <= 1


def estimate(
    estimator: Estimator,
    source: KeyedDecisions,
    stream: SystemDecisions,
    of_source: Weights,
    of_stream: Weights,
    level: float,
) -> Estimate:
    """The generality of a stream. Both test sets have documents, the source relevant ones and others."""
    divided = OF_DECISIONS if estimator == "adjusted counts" else bins(source.decided, source.relevant, source.other)
    counted = _counts(divided, source.decided, (source.relevant, source.other))
    streamed = _counts(divided, stream, (np.ones(len(stream.yes), dtype=np.bool_),))
    plain = _sampled(divided, counted.sum(axis=1)[:, None], streamed.sum(axis=1)[:, None])
    prior = _prior(divided)
    kinds = [mean_size(kind.sum(axis=0)) for kind in (counted[: divided.size], counted[divided.size :], streamed)]
    of_kinds = np.repeat(kinds[:2], divided.size)[:, None]
    drawn = _sampled(
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
        None if limits is None or _contradicted(estimator, limits) else _from_0_to_1(limits, value),
        float(tells[0]),
        tells_limits,
        np.clip(draws, 0, 1),
        drawn.recall,
        drawn.fallout,
    )


def _contradicted(estimator: Estimator, limits: tuple[float, float]) -> bool:
    """Whether no generality agrees with the data. The greatest likelihood lies from 0 to 1 whatever they are; where it
    is at the same end in so many draws, it would be beyond.
    """
    low, high = limits
    return high <= 0 or low >= 1 if estimator == "EM" else high < 0 or low > 1


def _from_0_to_1(limits: tuple[float, float], value: float) -> tuple[float, float]:
    low, high = (float(np.clip(limit, 0, 1)) for limit in limits)
    return (min(low, value), max(high, value)) if 0 <= value <= 1 else (low, high)


def _counts(divided: ConfidenceBins, decided: SystemDecisions, kinds: tuple[Booleans, ...]) -> Integers:
    """How many documents of each kind are in each bin, a column an exchange unit: of shape (kinds · bins, units)."""
    units = int(decided.cluster.max(initial=-1)) + 1
    inside = divided.of(decided)
    counted = [
        np.bincount(inside[kind] * units + decided.cluster[kind], minlength=divided.size * units) for kind in kinds
    ]
    return np.concatenate(counted).reshape(len(kinds) * divided.size, units)


def _prior(divided: ConfidenceBins) -> list[float]:
    """Half a document for all bins decided no, and half a one for all decided yes."""
    sizes = len(divided.no) + 1, len(divided.yes) + 1
    return [PRIOR / size for size in sizes for _ in range(size)]


def _sampled(divided: ConfidenceBins, with_key: Floats | Integers, stream: Floats | Integers) -> Sampled:
    relevant, other = with_key[: divided.size], with_key[divided.size :]
    shares = [np.asarray(part / part.sum(axis=0), dtype=np.float64) for part in (relevant, other, stream)]
    return Sampled(shares[0], shares[1], shares[2], divided.decided_yes)
