"""Correlations of ranks, of many samples at once: Spearman's, and Kendall's tau-b.

A sample says how often it has each document, and which number each is predicted. All numbers that may occur are ranked
among each other once, so that a sample is ranked by adding up and not by sorting. This module knows no systems.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Floats

Codes = NDArray[np.intp]

AT_ONCE = 2**22
"""So many cells are held at once, of documents or of different numbers by samples."""

_DIGITS = Context(prec=60)


class Association(NamedTuple):
    """How two orders go together, and how each goes with itself; of shape (samples,). The correlation is the first over
    the root of the product of the other two. Of samples with whole weights all three are whole.

    `slopes` are their derivatives by the weight of each document, of shape (documents, samples), where asked for.
    """

    together: Floats
    first: Floats
    second: Floats
    slopes: tuple[Floats, Floats, Floats] | None = None

    @property
    def _scale(self) -> Floats:
        return np.asarray(np.sqrt(np.maximum(self.first, 0.0)) * np.sqrt(np.maximum(self.second, 0.0)))

    def correlations(self) -> Floats:
        """The correlations, NaN where one of the two orders has no differences."""
        scale = self._scale
        found: Floats = np.divide(self.together, scale, out=np.full(scale.shape, np.nan), where=scale > 0)
        return found

    def gradients(self) -> Floats:
        """The derivatives of the correlations by the weight of each document, NaN where there is none."""
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


Associate = Callable[[Codes, Codes, Floats, bool], Association]
"""A correlation of the codes of true numbers, of shape (documents,), with those of predictions, of shape (documents,
samples), for documents with weights of the same shape; with slopes, if they are asked for.
"""


def codes_of(numbers: Floats) -> Codes:
    """The place of each number among the different ones, in the shape of the numbers."""
    return np.asarray(np.unique(numbers, return_inverse=True)[1].reshape(numbers.shape), dtype=np.intp)


def spearman(truths: Codes, predictions: Codes, weights: Floats, slopes: bool = False) -> Association:
    """The products of ranks, twice the mean rank of equal numbers each, less their mean."""
    wide = np.broadcast_to(truths[:, None], predictions.shape)
    x, y = _ranks(wide, weights), _ranks(predictions, weights)
    products = x * y, x * x, y * y
    together, first, second = ((weights * product).sum(axis=0) for product in products)
    if not slopes:
        return Association(together, first, second)
    # More of a document moves up what is above it, and down what is below.
    moved = (
        _above_less_below(wide, weights * y) + _above_less_below(predictions, weights * x),
        2 * _above_less_below(wide, weights * x),
        2 * _above_less_below(predictions, weights * y),
    )
    of_three = [product + shift for product, shift in zip(products, moved, strict=True)]
    return Association(together, first, second, (of_three[0], of_three[1], of_three[2]))


def _above_less_below(codes: Codes, amounts: Floats) -> Floats:
    """For each document the sum of what has a higher code less that of what has a lower one."""
    sums = _sizes(codes, amounts)
    return np.asarray((sums.sum(axis=0) - 2 * np.cumsum(sums, axis=0) + sums)[codes, np.arange(codes.shape[1])])


def _ranks(codes: Codes, weights: Floats) -> Floats:
    """Twice the ranks, less the mean of all, of shape (documents, samples)."""
    samples = np.arange(codes.shape[1])
    sizes = _sizes(codes, weights)
    twice = 2 * np.cumsum(sizes, axis=0) - sizes
    return np.asarray(twice[codes, samples] - sizes.sum(axis=0))


def _sizes(codes: Codes, weights: Floats) -> Floats:
    """The weight of each number in each sample, of shape (numbers, samples)."""
    numbers, samples = int(codes.max(initial=0)) + 1, codes.shape[1]
    places = codes * samples + np.arange(samples)
    added = np.bincount(places.reshape(-1), weights.reshape(-1), minlength=numbers * samples)
    return np.asarray(added.reshape(numbers, samples), dtype=np.float64)


def kendall(truths: Codes, predictions: Codes, weights: Floats, slopes: bool = False) -> Association:
    """Concordant less discordant pairs, and the pairs that each order tells apart."""
    order = np.argsort(truths, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(truths[order])) + 1)
    sizes = _sizes(predictions, weights)
    of_truths = _sizes(np.broadcast_to(truths[:, None], predictions.shape), weights)
    earlier = _lower_less_higher(groups, predictions, weights, sizes.shape[0])
    every = weights.sum(axis=0)
    first, second = ((every**2 - (of**2).sum(axis=0)) / 2 for of in (of_truths, sizes))
    together = (weights * earlier).sum(axis=0)
    if not slopes:
        return Association(together, first, second)
    later = _lower_less_higher(groups[::-1], predictions, weights, sizes.shape[0])
    samples = np.arange(predictions.shape[1])
    by_weight = earlier - later, every - of_truths[truths], every - sizes[predictions, samples]
    return Association(together, first, second, by_weight)


def _lower_less_higher(groups: Sequence[Codes], predictions: Codes, weights: Floats, numbers: int) -> Floats:
    """For each document the weight of those in earlier groups with lower predictions, less that of those with higher
    ones. A tree of sums (Fenwick 1994) has the weight below each prediction, so there are so many steps as documents
    and as digits of a rank.
    """
    samples = np.arange(predictions.shape[1])
    levels = max(1, int(numbers).bit_length())
    tree = np.zeros((2**levels + 1, samples.size))
    there, before = np.zeros((numbers, samples.size)), np.zeros(samples.size)
    found = np.zeros(predictions.shape)
    for group in groups:
        for document in group:
            code = predictions[document]
            below, place = np.zeros(samples.size), code.copy()
            for _ in range(levels):
                below += tree[place, samples]
                place &= place - (place > 0)
            found[document] = 2 * below + there[code, samples] - before
        for document in group:
            code, weight = predictions[document], weights[document]
            there[code, samples] += weight
            before += weight
            place = code + 1
            for _ in range(levels + 1):
                tree[place, samples] += weight
                place = np.minimum(place + (place & -place), 2**levels)
                weight = np.where(place < 2**levels, weight, 0.0)
    return found


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
        at_once = max(1, AT_ONCE // max(self.predictions.size, 1))
        parts = (sums[:, start : start + at_once] for start in range(0, sums.shape[1], at_once))
        found = [self._associated(part).correlations() for part in parts]
        return np.concatenate(found) if found else np.zeros(0)

    def slopes(self, sums: Floats) -> Floats:
        """Their derivatives by the sums, in the same shape: by how often each exchange unit is there."""
        at_once = max(1, AT_ONCE // max(self.predictions.size, 1))
        found = np.zeros(sums.shape)
        units, documents = len(sums) // 2, self.truths.size
        for start in range(0, sums.shape[1], at_once):
            part = slice(start, start + at_once)
            by_document = self._associated(sums[:, part], slopes=True).gradients()
            np.add.at(found[:units, part], self.cluster, by_document[:documents])
            if len(self.predictions) == 2:
                np.add.at(found[units:, part], self.cluster, by_document[documents:] - by_document[:documents])
        return found

    def exactly(self, sums: tuple[int, ...]) -> Decimal | None:
        """The correlation for whole sums of the columns."""
        return self._associated(np.array(sums, dtype=np.float64)[:, None]).exactly(0)

    def _associated(self, sums: Floats, slopes: bool = False) -> Association:
        often, places = np.split(sums, 2)
        if len(self.predictions) == 2 and (slopes or ((places != 0) & (places != often)).any()):
            return self._mixed(often - places, places, slopes)
        chosen = np.rint(np.divide(places, often, out=np.zeros(often.shape), where=often > 0)).astype(np.intp)
        documents = np.arange(self.truths.size)[:, None]
        predictions = self.predictions[chosen[self.cluster], documents]
        return self.associate(self.truths, predictions, often[self.cluster], slopes)

    def _mixed(self, first: Floats, second: Floats, slopes: bool) -> Association:
        """Every document with the prediction of each of two systems, at the weight that the system has there. The
        derivatives are by the weights of the first system, and then by those of the second.
        """
        weights = np.concatenate((first[self.cluster], second[self.cluster]))
        predictions = np.broadcast_to(self.predictions.reshape(-1, 1), weights.shape)
        return self.associate(np.tile(self.truths, 2), predictions, weights, slopes)
