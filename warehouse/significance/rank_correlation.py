"""Correlations of ranks, of many samples at once: Spearman's, and Kendall's tau-b.

A sample gives a weight to each prediction of each system, so an exchange, a resample and a mixture of two systems are
samples alike. All predictions are ordered once: ranks in a sample follow by adding up weights, and concordant pairs are
a quadratic form of the weights, of which a matrix product computes many. This module knows no systems by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Context, Decimal
from functools import cached_property
from itertools import compress, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Floats

Codes = NDArray[np.intp]

AT_ONCE = 2**22
"""So many cells are held at once, of predictions by samples or of predictions by predictions."""

FEW = 16
"""Fewer samples than this are counted one by one, without a matrix of all pairs."""

STEPS = 8
"""A symmetric quadratic form is computed in so many blocks of rows, each without the columns of those before it."""

SINGLE = 2**24
"""Whole numbers below this are held by single precision."""

_DIGITS = Context(prec=60)


class Association(NamedTuple):
    """How two orders go together, and how each goes with itself; of shape (samples,). The correlation is the first over
    the root of the product of the other two. Of samples with whole weights all three are whole.

    `slopes` are their derivatives by the weights, in the shape of these, where asked for.
    """

    together: Floats
    first: Floats
    second: Floats
    slopes: tuple[Floats, ...] | None = None

    @property
    def _scale(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(self.first, 0.0)) * np.sqrt(np.maximum(self.second, 0.0)))

    def correlations(self) -> Floats:
        """The correlations, NaN where one of the two orders has no differences."""
        scale = self._scale
        found: Floats = np.divide(self.together, scale, out=np.full(scale.shape, np.nan), where=scale > 0)
        return found

    def gradients(self) -> Floats:
        """The derivatives of the correlations by the weights, NaN where there is none."""
        assert self.slopes is not None
        scale = np.where(self._scale > 0, self._scale, np.nan)
        together, first, second = self.slopes
        shares = first / np.where(self.first > 0, self.first, np.nan)
        shares = shares + second / np.where(self.second > 0, self.second, np.nan)
        return np.asarray(together / scale - self.together / scale * shares / 2)

    def exactly(self, sample: int) -> Decimal | None:
        """The correlation of a sample with whole weights to 60 digits; None where it is undefined."""
        together, first, second = (round(float(part[sample])) for part in self[:3])
        if first <= 0 or second <= 0:
            return None
        return _DIGITS.divide(Decimal(together), _DIGITS.sqrt(Decimal(first * second)))


def codes_of(numbers: Floats) -> Codes:
    """The place of each number among the different ones, in the shape of the numbers."""
    return np.asarray(np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape), dtype=np.intp)


class Ordered:
    """Numbers in their order, given as codes of shape (numbers,). Weights have the shape (numbers, samples)."""

    def __init__(self, codes: Codes) -> None:
        self.order = np.argsort(codes, kind="stable")
        self.back = np.argsort(self.order)
        starts = np.diff(codes[self.order], prepend=-1) > 0
        self.first, self.after = _ends(starts)
        self.groups = np.split(self.order, np.flatnonzero(starts)[1:])
        """The places of numbers that are equal, in order."""

    def sums(self, weights: Floats) -> Floats:
        """For each number in order the sum of the weights before it, and that of all; of shape (numbers + 1,
        samples). NumPy's own running sum along the first axis takes several times as long.
        """
        sums = np.zeros((len(weights) + 1, *weights.shape[1:]))
        for before, place, total in zip(sums[:-1], self.order, sums[1:], strict=True):
            np.add(before, weights[place], out=total)
        return sums

    def lower_less_higher(self, weights: Floats) -> Floats:
        """For each number the weight of lower ones less that of higher ones: twice its rank, that of equal numbers
        being their mean, less the mean of all.
        """
        sums = self.sums(weights)
        ranks = sums[self.first]
        ranks += sums[self.after]
        ranks -= sums[-1]
        return np.asarray(ranks[self.back])

    def products(self, weights: Floats, others: Floats) -> Floats:
        """The sum of such ranks times those of another order, so often as the weight says, of shape (samples,). The
        `others`, of the first numbers and again of the next, add up to 0. It goes from number to number, so that all
        that it needs of one stays in the processor's first cache.
        """
        lower, upto, product = (np.zeros(weights.shape[1]) for _ in range(3))
        total, many = np.zeros(weights.shape[1]), len(others)
        for group in self.groups:
            first, *more = group.tolist()
            np.add(lower, weights[first], out=upto)
            np.multiply(weights[first], others[first % many], out=product)
            for place in more:
                upto += weights[place]
                product += weights[place] * others[place % many]
            lower += upto
            product *= lower
            total += product
            lower, upto = upto, lower
        return total

    def powers(self, weights: Floats, power: int) -> Floats:
        """The weights of the different numbers to a power, added up; of shape (samples,)."""
        added = np.einsum(",".join(["dj"] * power) + "->j", *[weights] * power)
        for group in self.groups:
            if len(group) > 1:
                equal = weights[group]
                added += equal.sum(axis=0) ** power - (equal**power).sum(axis=0)
        return np.asarray(added)

    def equals(self, weights: Floats) -> Floats:
        """For each number the weight of those that equal it, of the shape of the weights."""
        sums = self.sums(weights)
        return np.asarray((sums[self.after] - sums[self.first])[self.back])


def _ends(starts: NDArray[np.bool_]) -> tuple[Codes, Codes]:
    """For each place where its group begins, and where the next one does; given is which places begin one."""
    first = np.flatnonzero(starts)
    group = np.cumsum(starts) - 1
    return first[group], np.append(first[1:], starts.size)[group]


class Candidates:
    """What may be predicted: `truths` of shape (documents,) and `predictions` of shape (systems, documents), as codes,
    with the exchange unit of each document, all of which occur. Weights have the shape (systems, units, samples).
    """

    def __init__(self, truths: Codes, predictions: Codes, cluster: NDArray[np.intp]) -> None:
        by_unit = np.argsort(cluster, kind="stable")
        self.truths, self.predictions = truths[by_unit], predictions[:, by_unit]
        self.cluster = cluster[by_unit]
        self.starts = np.flatnonzero(np.diff(self.cluster, prepend=-1))

    @property
    def systems(self) -> int:
        """How many systems there are."""
        return len(self.predictions)

    @cached_property
    def by_truth(self) -> Ordered:
        """The true numbers."""
        return Ordered(self.truths)

    @cached_property
    def by_prediction(self) -> Ordered:
        """The predictions of all systems, those of the first before those of the second."""
        return Ordered(self.predictions.reshape(-1))

    def of_documents(self, weights: Floats) -> Floats:
        """The weights of documents, from those of units."""
        return weights if self.starts.size == self.cluster.size else weights[:, self.cluster]

    def of_units(self, *amounts: Floats) -> tuple[Floats, ...]:
        """Amounts of shape (systems, documents, samples) added up in each unit."""
        if self.starts.size == self.cluster.size:
            return amounts
        return tuple(np.add.reduceat(amount, self.starts, axis=1) for amount in amounts)

    @cached_property
    def agreements(self) -> NDArray[np.float32]:
        """In how many documents of two units two systems order as the true numbers do, less in how many the other way
        round; of shape (systems, units, systems, units).
        """
        units, documents = self.starts.size, self.truths.size
        found = np.empty((self.systems, units, self.systems, units), dtype=np.float32)
        truths, predictions = (codes.astype(np.int32) for codes in (self.truths, self.predictions))
        stops = np.append(self.starts, documents)
        step = max(1, AT_ONCE * units // documents**2)
        for first in range(0, units, step):
            last = min(first + step, units)
            rows = slice(stops[first], stops[last])
            of_truths = _signs(truths[rows], truths)
            for a, b in product(range(self.systems), repeat=2):
                signs = _signs(predictions[a, rows], predictions[b]) * of_truths
                if units < documents:
                    signs = np.add.reduceat(signs, self.starts, axis=1, dtype=np.int32)
                    signs = np.add.reduceat(signs, stops[first:last] - stops[first], axis=0)
                found[a, first:last, b] = signs
        return found


def _signs(numbers: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.int8]:
    """1 where a number is above another, −1 where it is below, 0 where they are equal."""
    above, below = numbers[:, None] > others, numbers[:, None] < others
    return above.view(np.int8) - below.view(np.int8)


Associate = Callable[[Candidates, Floats, bool], Association]
"""A correlation of candidates for weights; with slopes, if they are asked for."""


def spearman(candidates: Candidates, weights: Floats, slopes: bool = False) -> Association:
    """The products of ranks, twice the mean rank of equal numbers each, less their mean."""
    by_truth, by_prediction = candidates.by_truth, candidates.by_prediction
    of_documents = candidates.of_documents(weights)
    shape, samples = of_documents.shape, weights.shape[2]
    flat, totals = of_documents.reshape(-1, samples), _once_if_alike(of_documents.sum(axis=0))
    x, every = by_truth.lower_less_higher(totals), totals.sum(axis=0)
    together = by_prediction.products(flat, x)
    # The squares of such ranks, so many times as each is there, add up to a third of this.
    first, second = (
        np.broadcast_to((every**3 - powers) / 3, samples)
        for powers in (by_truth.powers(totals, 3), by_prediction.powers(flat, 3))
    )
    if not slopes:
        return Association(together, first, second)
    x, y = np.broadcast_to(x, shape), by_prediction.lower_less_higher(flat).reshape(shape)
    # More of a document moves up what is above it, and down what is below.
    moved = by_truth.lower_less_higher((of_documents * y).sum(axis=0))
    moved = moved + by_prediction.lower_less_higher((of_documents * x).reshape(-1, samples)).reshape(shape)
    alike = by_truth.equals(totals), by_prediction.equals(flat).reshape(shape)
    apart = (np.broadcast_to(every**2 - of**2, shape) for of in alike)
    return Association(together, first, second, candidates.of_units(x * y - moved, *apart))


def kendall(candidates: Candidates, weights: Floats, slopes: bool = False) -> Association:
    """Concordant less discordant pairs, and the pairs that each order tells apart."""
    by_truth, by_prediction = candidates.by_truth, candidates.by_prediction
    of_documents = candidates.of_documents(weights)
    shape, samples = of_documents.shape, weights.shape[2]
    flat, totals = of_documents.reshape(-1, samples), _once_if_alike(of_documents.sum(axis=0))
    every = totals.sum(axis=0)
    first, second = (
        np.broadcast_to((every**2 - powers) / 2, samples)
        for powers in (by_truth.powers(totals, 2), by_prediction.powers(flat, 2))
    )
    if samples < FEW and not slopes:
        return Association(_concordant(candidates, flat), first, second)
    if not slopes:
        exchanged = candidates.systems == 2 and totals.shape[1] < samples
        form = _form_of_exchanges if exchanged else _form
        return Association(form(candidates.agreements, weights) / 2, first, second)
    by_weight = _products(_square(candidates.agreements), weights.reshape(-1, samples)).reshape(weights.shape)
    together = np.einsum("suj,suj->j", weights, by_weight) / 2
    alike = by_truth.equals(totals), by_prediction.equals(flat).reshape(shape)
    apart = candidates.of_units(*(np.broadcast_to(every - of, shape) for of in alike))
    return Association(together, first, second, (by_weight, *apart))


def _once_if_alike(weights: Floats) -> Floats:
    """The weights of shape (documents, samples), those of one sample if all samples have the same."""
    return weights[:, :1] if (weights == weights[:, :1]).all() else weights


# --- concordant pairs -------------------------------------------------------------------------------------------------


def _square(agreements: NDArray[np.float32]) -> NDArray[np.float32]:
    """The matrix of all systems' units by all systems' units."""
    return agreements.reshape(agreements.shape[0] * agreements.shape[1], -1)


def _products(matrix: NDArray[np.float32], weights: Floats) -> Floats:
    """The matrix times the weights, of shape (rows, samples). Single precision, which is twice as fast, is used where
    it is exact.
    """
    return np.asarray(np.matmul(*_precise(matrix, weights)), dtype=np.float64)


def _precise(matrix: NDArray[np.float32], weights: Floats) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both in the precision that their products, and these times a weight, need; weights may be halves."""
    doubled = 2 * weights
    single = doubled.astype(np.float32)
    largest = float(np.abs(matrix).max(initial=0)) * float(np.abs(single).max(initial=0)) ** 2 * matrix.shape[1]
    if largest < SINGLE and (single == doubled).all() and (single == np.rint(single)).all():
        return matrix, single / 2
    return matrix.astype(np.float64), weights


def _form(agreements: NDArray[np.float32], weights: Floats) -> Floats:
    """Σ weight · agreement · weight over all pairs of candidates, for each sample."""
    return _symmetric_form(_square(agreements), weights.reshape(-1, weights.shape[2]))


def _form_of_exchanges(agreements: NDArray[np.float32], weights: Floats) -> Floats:
    """The same for two systems whose weights add up to the same in all samples. With their sum t and difference d, it
    is a constant, a linear form and a quadratic form of d, which has half as many rows and columns.
    """
    (aa, ab), (ba, bb) = ([agreements[a, :, b] for b in range(2)] for a in range(2))
    total, difference = weights.sum(axis=0)[:, :1], weights[0] - weights[1]
    constant = total.T @ (aa + ab + ba + bb) @ total
    linear = total.T @ (aa - ab + ba - bb) @ difference
    return np.asarray((constant + 2 * linear)[0] + _symmetric_form(aa - ab - ba + bb, difference)) / 4


def _symmetric_form(matrix: NDArray[np.float32], weights: Floats) -> Floats:
    """Σ weight · matrix · weight of a symmetric matrix, for each sample, by the part on and above the diagonal."""
    matrix, weights = _precise(matrix, weights)
    found = np.zeros(weights.shape[1])
    step = max(1, -(-len(matrix) // STEPS))
    for start in range(0, len(matrix), step):
        own, later = slice(start, start + step), slice(start + step, None)
        products = matrix[own, own] @ weights[own]
        products += 2 * (matrix[own, later] @ weights[later])
        found += (weights[own] * products).sum(axis=0, dtype=np.float64)
    return found


def _concordant(candidates: Candidates, weights: Floats) -> Floats:
    """Concordant less discordant pairs of each sample, for weights of shape (predictions, samples).

    Two different true numbers, as binary codes, agree in some leading digits, and the next is 0 in the lower and 1 in
    the higher. So for each digit, candidates that agree in those before it are put in the order of their predictions,
    where the weights of lower and of higher predictions add up.
    """
    by_prediction = candidates.by_prediction
    order, group = by_prediction.order, by_prediction.first[by_prediction.back]
    truths = np.tile(candidates.truths, candidates.systems)
    found = np.zeros(weights.shape[1])
    for digit in range(int(truths.max(initial=0)).bit_length()):
        places = order[np.argsort(truths[order] >> (digit + 1), kind="stable")]
        block = truths[places] >> (digit + 1)
        is_higher = (truths[places] >> digit & 1).astype(np.bool_)
        blocks = np.diff(block, prepend=-1) > 0
        equals = blocks | (np.diff(group[places], prepend=-1) != 0)
        own = weights[places]
        lower = np.concatenate((np.zeros((1, own.shape[1])), np.cumsum(np.where(is_higher[:, None], 0.0, own), axis=0)))
        (from_block, to_block), (from_equal, to_equal) = (_ends(starts) for starts in (blocks, equals))
        below, above = lower[from_equal] - lower[from_block], lower[to_block] - lower[to_equal]
        found += ((below - above) * np.where(is_higher[:, None], own, 0.0)).sum(axis=0)
    return found


# === exchanges ========================================================================================================


class ExchangedNumbers(NamedTuple):
    """What systems predict for documents, `predictions` of shape (systems, documents) as codes, beside the `truths`.
    `cluster` is the exchange unit of each document.

    Sums are read in a way of their own: in the first column of each exchange unit how often it is there, and in the
    second so many times the place of the system that is there with its predictions. So any exchange of units and any
    choice of them is a sum. Of two systems each may be there with a part of the weight of a unit.
    """

    truths: Codes
    predictions: Codes
    cluster: NDArray[np.intp]
    associate: Associate

    def values(self, sums: Floats) -> Floats:
        """The correlations for sums of shape (2 · units, samples)."""
        found = np.full(sums.shape[1], np.nan)
        for samples, _, association in self._associated(sums):
            found[samples] = association.correlations()
        return found

    def slopes(self, sums: Floats) -> Floats:
        """Their derivatives by the sums, in the same shape: by how often each exchange unit is there. Of two systems
        also by how often the second is there in place of the first.
        """
        found = np.zeros(sums.shape)
        units = len(sums) // 2
        for samples, weights, association in self._associated(sums, slopes=True):
            by_weight = association.gradients()
            if len(self.predictions) == 2:
                found[:units, samples], found[units:, samples] = by_weight[0], by_weight[1] - by_weight[0]
            else:
                there = weights if len(weights) > 1 else np.ones((1, 1, 1))
                found[:units, samples] = np.where(there > 0, by_weight, 0.0).sum(axis=0)
        return found

    def exactly(self, sums: tuple[int, ...]) -> Decimal | None:
        """The correlation for whole sums of the columns."""
        for _, _, association in self._associated(np.array(sums, dtype=np.float64)[:, None]):
            return association.exactly(0)
        return None

    def _associated(self, sums: Floats, slopes: bool = False) -> Iterator[tuple[Codes, Floats, Association]]:
        """The samples by the systems that are there, some at once, with the weights of these systems."""
        everyone = range(len(self.predictions))
        at_once = max(1, AT_ONCE // max(self.predictions.size, 1))
        known: dict[tuple[int, ...], Candidates] = {}
        for start in range(0, sums.shape[1], at_once):
            weights = self._weights(sums[:, start : start + at_once])
            there = (weights != 0).any(axis=1)
            if slopes and len(self.predictions) == 2:
                there[:] = True
            patterns, which = np.unique(there, axis=1, return_inverse=True)
            which = which.reshape(-1)  # NumPy 2.0 alone gives it a second dimension
            for place, pattern in enumerate(patterns.T.tolist()):
                systems = tuple(compress(everyone, pattern))
                if not systems:
                    continue
                if systems not in known:
                    known[systems] = Candidates(self.truths, self.predictions[list(systems)], self.cluster)
                samples = np.flatnonzero(which == place)
                everything = len(systems) == len(weights) and len(samples) == len(which)
                own = weights if everything else weights[np.array(systems)][..., samples]
                yield start + samples, own, self.associate(known[systems], own, slopes)

    def _weights(self, sums: Floats) -> Floats:
        """The weights of systems, of shape (systems, units, samples)."""
        often, places = np.split(sums, 2)
        if len(self.predictions) == 2:
            return np.stack((often - places, places))
        chosen = np.rint(np.divide(places, often, out=np.zeros(often.shape), where=often > 0))
        return np.stack([np.where(chosen == system, often, 0.0) for system in range(len(self.predictions))])
