"""The sums of one statistic in each exchange unit, made from observations, as significance tests take them.

A statistic that is not computed from sums has `Orders` in their place, the confidences on the documents. Both tell a
system's value and its values unit by unit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import lcm
from typing import ClassVar, TypeVar

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.warehouse.comparing.numbers import Predicted, sums_of_moments, sums_of_ranks, z_scores
from evalhouse.warehouse.comparing.observations import Observations
from evalhouse.warehouse.kinds import NUMBERS
from evalhouse.warehouse.measures import Function, OfNumbers, OverUnits, Probabilities, Ranking, Ratio, Statistic
from evalhouse.warehouse.measures.forms import (
    LinearForm,
    OfMoments,
    OfRanks,
    Summary,
    are_probabilities,
    evaluate_form,
    integers,
)
from evalhouse.warehouse.significance.areas import Ranked
from evalhouse.warehouse.significance.arrays import (
    OFF,
    SUM_LIMIT,
    Booleans,
    Floats,
    Integers,
    RoundedFrom,
    slack_of,
    to_fixed_point,
)
from evalhouse.warehouse.significance.sums import FLOAT_LIMIT, ExactValue, Sums, Valuation

# === sums of one test set =============================================================================================

_COMMON = 2**20
"""The largest common denominator that the values of documents are put over."""

Numbers = TypeVar("Numbers", Integers, Floats)


class Orders(Struct, frozen=True):
    """The confidences that areas are computed from, on the documents that are relevant or not."""

    ranked: Ranked

    is_ratio: ClassVar[bool] = False
    is_function: ClassVar[bool] = False

    @property
    def factor(self) -> Fraction:
        """What the difference of a pair's exchanges, a mean over exchange units, is multiplied by."""
        return Fraction(self.ranked.units, 4 * self.ranked.orders)

    def exact_value(self, system: int) -> Fraction | None:
        """The value of a system, None where it is undefined."""
        return self.ranked.area(system)

    def unit_values(self, system: int) -> Floats:
        """NaN: an order has no value unit by unit."""
        return np.full(self.ranked.units, np.nan)

    def own_values(self, system: int) -> Floats:
        """NaN, as there are none."""
        return self.unit_values(system)

    def differing(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """In how many exchange units the two systems of each pair differ."""
        return [self.ranked.differing(a, b) for a, b in pairs]

    def pair(self, a: int, b: int) -> Sums:
        """Their exchanges as those of two systems by sums."""
        return self.ranked.exchanges(a, b)

    def only(self, places: Sequence[int]) -> Orders:
        """Those of some systems."""
        return Orders(self.ranked.only(np.array(places, dtype=np.intp)))


def systems_of(sums: Sums, rows: Sequence[int] | None = None) -> Sums:
    """The sums of all systems, or of some, as statistics take them. A single system is paired with itself."""
    if rows is None and sums.systems > 1:
        return sums.data()
    places = list(range(sums.systems) if rows is None else rows)
    return sums.data(places * 2 if len(places) == 1 else places)


def sums(observations: Observations, statistic: Statistic) -> Sums | Orders:
    """What tests take of a statistic. Raises ValueError for one that observations do not give."""
    if isinstance(statistic.computation, Ranking) and observations.confidences is not None:
        return _orders(observations, statistic.computation, observations.confidences)
    return additive(observations, statistic)


def additive(observations: Observations, statistic: Statistic) -> Sums:
    """The sums of a statistic over each exchange unit. Raises ValueError for one that is not computed from sums."""
    known = np.ones(len(observations.systems), dtype=np.bool_)
    if observations.values is not None:
        everything = np.ones(observations.values.shape, dtype=np.bool_)
        means = _of_values(observations, observations.values, everything, Fraction(1), known)
        return _summed_up(statistic.computation, means) if isinstance(statistic.computation, Summary) else means
    if isinstance(statistic.computation, OfNumbers):
        return _of_numbers(observations, statistic.computation, known)
    for column in statistic.columns:
        known &= observations.known[column].all(axis=1)
    if isinstance(statistic.computation, Probabilities) and observations.confidences is not None:
        return _of_probabilities(observations, statistic.computation, observations.confidences)
    if statistic.averaged:
        return _average(observations, statistic, known)
    match statistic.computation:
        case Ratio() as ratio:
            over, under = ratio.read(observations.counts)
            return _ratios(observations, over, under, ratio.factor, known)
        case Function() as function if (total := function.total) is not None:
            return _of_total(observations, total, known)
        case Function() as function:
            counts = [sum_clusters(observations, observations.counts[column]) for column in function.columns]
            return Sums(tuple(counts), _valuation(function), known=known)
        case OverUnits() as average:
            forms = (evaluate_form(form, observations.counts) for form in average.forms)
            valuation = Valuation(average.values, average.exact, slopes=average.gradients)
            return Sums(tuple(sum_clusters(observations, form) for form in forms), valuation, known=known)
    raise ValueError(f"{statistic.label} is not computed from sums")


def _of_numbers(observations: Observations, of: OfNumbers, known: Booleans) -> Sums:
    """The sums of predicted numbers beside the true ones."""
    runs = [
        Predicted.of(truths, z_scores(predictions) if of.standardized else predictions, observations.cluster)
        for truths, predictions in zip(*map(observations.run_by_run, NUMBERS.counts), strict=True)
    ]
    match of:
        case OfMoments():
            return sums_of_moments(runs, of)
        case OfRanks():
            return sums_of_ranks(runs, of)
    distances = np.sum([run.distances for run in runs], axis=0)
    everywhere = np.ones(distances.shape, dtype=np.bool_)
    return _of_values(observations, distances, everywhere, Fraction(1, len(runs)), known)


def _of_total(observations: Observations, total: LinearForm, known: Booleans) -> Sums:
    """A total as a ratio, so that it is compared exactly: the mean over the observations, as many times."""
    form, factor = integers(total)
    over = evaluate_form(form, observations.counts)
    summed = _ratios(observations, over, np.ones_like(over), factor * observations.cluster.size, known)
    return replace(summed, is_total=True)


def _summed_up(summary: Summary, means: Sums) -> Sums:
    """The sums of a mean of values, for what else stands for all of them."""
    match summary.taken:
        case "sum":
            return replace(means, factor=means.factor * int(means.denominators[0].sum()), is_total=True)
        case "geometric mean":
            return _of_logarithms(summary, means)
    return means


def _of_logarithms(summary: Summary, means: Sums) -> Sums:
    """The geometric mean of values whose logarithms have a mean. Numerators are coarser than those of a mean, because
    functions of sums are computed in floating point.
    """
    largest = int(np.abs(means.numerators).sum(axis=1).max(initial=0))
    spare = max(0, largest.bit_length() - FLOAT_LIMIT.bit_length() + 2)
    worth = means.factor * 2**spare

    def values(sums: Floats) -> Floats:
        over, under = sums
        mean = np.divide(over, under, out=np.full(over.shape, np.nan), where=under != 0)
        return np.asarray(np.exp(float(worth) * mean))

    def exactly(sums: tuple[int, ...]) -> ExactValue | None:
        over, under = sums
        return summary.of_values(worth * over, under)

    return Sums((means.numerators >> spare, means.denominators), Valuation(values, exactly), known=means.known)


def _valuation(function: Function) -> Valuation:
    """A function as tests take it."""

    def values(sums: Floats) -> Floats:
        return function.values(dict(zip(function.columns, sums, strict=True)))

    return Valuation(values, function.exact)


def _labels(observations: Observations) -> NDArray[np.str_]:
    """The label of each document, from the cells that the decisions of all systems fall into."""
    cells = {cell: counts.any(axis=0) for cell, counts in observations.counts.items()}
    return np.select([cells["a"] | cells["c"], cells["x"] | cells["y"]], ["relevant", "optional"], "nonrelevant")


def _of_probabilities(observations: Observations, measured: Probabilities, confidences: Floats) -> Sums:
    """The mean of what probabilities are off: the values of the documents that count over how many there are; of bins,
    of whether the more likely class is right, less its probability, of which the sizes are added up.
    """
    relevant, nonrelevant = measured.sides(_labels(observations))
    judged = (relevant | nonrelevant) & observations.present
    known = np.asarray((are_probabilities(confidences) | ~judged).all(axis=1))
    usable = np.where(are_probabilities(confidences), confidences, 0.0)
    if measured.bin_of is None:
        values = np.where(judged, measured.of_documents(usable, relevant), 0.0)
        return _of_values(observations, values, judged, Fraction(1), known)
    # What is rounded are the probabilities, not what they are off: 1 − 0.9 is 0.1 in decimals, and not in binary
    # fractions, so that exchanges which tie with what was observed would not be counted.
    stated, unit, _ = to_fixed_point(usable)
    whole = int(1 / unit)
    right = (usable > 0.5) == relevant
    over = np.where(judged, right * whole - np.maximum(stated, whole - stated), 0)
    spare = max(0, int(np.abs(over).sum()).bit_length() + 1 - (FLOAT_LIMIT.bit_length() - 1))
    over = (over + ((1 << spare) >> 1)) >> spare
    places = measured.bin_of(usable)
    binned = [sum_clusters(observations, np.where(places == place, over, 0)) for place in range(measured.bins)]
    documents = sum_clusters(observations, judged.astype(np.int64))
    return Sums((*binned, documents), _OF_BINS, factor=unit * 2**spare, known=known)


def _sizes_of_bins(sums: Floats) -> Floats:
    without = np.full(sums.shape[1:], np.nan)
    return np.asarray(np.divide(np.abs(sums[:-1]).sum(axis=0), sums[-1], out=without, where=sums[-1] != 0))


def _sizes_of_bins_exactly(sums: tuple[int, ...]) -> Fraction | None:
    *binned, documents = sums
    return Fraction(sum(map(abs, binned)), documents) if documents else None


_OF_BINS = Valuation(_sizes_of_bins, _sizes_of_bins_exactly)


def _orders(observations: Observations, ranking: Ranking, confidences: Floats) -> Orders:
    """The confidences on the documents that should be above or below others."""
    above, below = ranking.sides(_labels(observations))
    either = above | below
    cluster = np.unique(observations.cluster[either], return_inverse=True)[1].reshape(-1)
    return Orders(Ranked(confidences[:, either], above[either], cluster))


def run_sums(observations: Observations, statistic: Statistic, common: int) -> Sums:
    """The sums of the runs of one system: what each contributes to their average, put over `common`, or over a multiple
    of it that all numbers of runs of an observation divide.
    """
    runs = np.maximum(observations.present.sum(axis=0), 1)
    common = lcm(common, *np.unique(runs).tolist())
    weights = np.where(observations.present, common // runs, 0)
    if observations.values is None:
        weighted = {name: grid * weights for name, grid in observations.counts.items()}
        summed = additive(replace(observations, counts=weighted), statistic)
        if summed.is_total:
            # Each run has the denominator 1 of its own, so that all together have as many.
            return replace(summed, factor=summed.factor * summed.systems)
        return summed
    over, unit, _ = to_fixed_point(observations.values)
    spare = max(0, int(np.abs(over).sum(axis=1).max(initial=0)).bit_length() + common.bit_length() - 58)
    known = np.ones(len(over), dtype=np.bool_)
    return _ratios(observations, (over >> spare) * weights, weights, unit * 2**spare, known)


def add_runs(runs: Sums) -> Sums:
    """The sums of a system from those of its runs."""
    return replace(
        runs,
        columns=tuple(column.sum(axis=0, keepdims=True) for column in runs.columns),
        known=None if runs.known is None else np.array([runs.known.all()]),
        slack=0,
        counted=False,
        measured=None,
    )


def present_units(observations: Observations) -> Booleans:
    """Which systems have anything in each exchange unit, of shape (systems, exchange units)."""
    return np.asarray(sum_clusters(observations, observations.present.astype(np.int64)) > 0)


def _average(observations: Observations, statistic: Statistic, known: Booleans) -> Sums:
    """The mean over documents as a ratio: the values of the documents in fixed point over how many have one."""
    factor = Fraction(1)
    if isinstance(statistic.computation, Ratio):
        factor = statistic.computation.factor
        over, under = statistic.computation.read(observations.counts)
        defined = under != 0
        common = lcm(*(int(denominator) for denominator in np.unique(under) if denominator)) if defined.any() else 1
        if common <= _COMMON:
            whole = np.where(defined, over * (common // np.where(defined, under, 1)), 0)
            return _ratios(observations, whole, defined.astype(np.int64), factor / common, known)
        values = np.divide(over, under, out=np.zeros(over.shape), where=defined)
    elif isinstance(statistic.computation, Function):
        undefined_as_nan = statistic.computation.values(_floats(observations.counts, statistic.columns))
        defined = ~np.isnan(undefined_as_nan)
        values = np.where(defined, undefined_as_nan, 0.0)
    else:
        raise ValueError(f"{statistic.label} has no value for single documents")
    return _of_values(observations, values, defined, factor, known)


def _of_values(
    observations: Observations, values: Floats, defined: Booleans, factor: Fraction, known: Booleans
) -> Sums:
    """The mean of the values that are defined, but for a factor; both have the shape (systems, observations)."""
    alike = bool((defined == defined[0]).all())
    counted = np.asarray((defined & np.isin(values, (0.0, 1.0))).all(axis=1))
    over, unit, rest = to_fixed_point(values)
    under = sum_clusters(observations, defined.astype(np.int64))
    plain = Sums((sum_clusters(observations, over), under), factor=factor * unit, known=known, counted=counted)
    if rest is None:
        return plain
    fractional = np.where(values == np.rint(values), 0.0, np.abs(values))
    doubts = np.asarray(
        OFF * sum_clusters(observations, fractional) * np.bincount(observations.cluster), dtype=np.float64
    )
    slack = slack_of(values.shape[1], doubts, unit) if alike else 0
    return replace(plain, slack=slack, measured=RoundedFrom(sum_clusters(observations, values), doubts, rest, unit))


def _floats(counts: Mapping[str, Integers], columns: tuple[str, ...]) -> dict[str, Floats]:
    return {column: counts[column].astype(np.float64) for column in columns}


def _ratios(observations: Observations, over: Integers, under: Integers, factor: Fraction, known: Booleans) -> Sums:
    return Sums((sum_clusters(observations, over), sum_clusters(observations, under)), factor=factor, known=known)


def sum_clusters(observations: Observations, counts: Numbers) -> Numbers:
    """Counts of shape (systems, observations) summed over the observations of each exchange unit."""
    if observations.units == observations.cluster.size:
        in_order = bool((np.diff(observations.cluster) > 0).all())
        return counts if in_order else counts[:, np.argsort(observations.cluster)]
    order = np.argsort(observations.cluster, kind="stable")
    edges = np.flatnonzero(np.diff(observations.cluster[order], prepend=-1))
    return np.asarray(np.add.reduceat(counts[:, order], edges, axis=1), dtype=counts.dtype)


# === averages over test sets ==========================================================================================
# The average of ratios is not a ratio of sums, but a function of the sums of each test set. If all systems have the
# same denominators everywhere, as with means over documents, it is one ratio with weighted counts. Units of the test
# sets follow one another, and the units of one test set count nothing for the others, so every test of a function of
# sums is valid.


def average_of(of_test_sets: Sequence[Sums | Orders]) -> Sums:
    """The average of a statistic over test sets, from its sums on each. Raises ValueError for an order."""
    parts = [_additive_sums(part) for part in of_test_sets]
    weighted = _weigh(parts) if all(part.is_ratio for part in parts) else None
    if weighted is not None:
        return weighted
    parts = [_coarsen(part, len(parts)) for part in parts]
    units = list(accumulate((part.units for part in parts), initial=0))
    columns = []
    for part, start, stop in zip(parts, units, units[1:], strict=False):
        for own in part.columns:
            column = np.zeros((part.systems, units[-1]), dtype=np.int64)
            column[:, start:stop] = own
            columns.append(column)
    valuations = [part.valuation.multiply(part.factor) for part in parts]
    valuation = Valuation.average(valuations, [len(part.columns) for part in parts])
    if all(part.is_ratio for part in parts):
        ratios = ((2 * place, 2 * place + 1, float(part.factor)) for place, part in enumerate(parts))
        valuation = replace(valuation, ratios=tuple(ratios))
    return Sums(tuple(columns), valuation, known=_known_values(parts))


def _known_values(parts: Sequence[Sums]) -> Booleans | None:
    known = [part.known for part in parts if part.known is not None]
    return np.logical_and.reduce(known) if known else None


def _weigh(parts: Sequence[Sums]) -> Sums | None:
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
        columns=(
            np.concatenate(
                [part.numerators * (w * s) for part, w, s in zip(parts, weights, scales, strict=True)], axis=1
            ),
            np.concatenate([part.denominators * w for part, w in zip(parts, weights, strict=True)], axis=1),
        ),
        factor=Fraction(1, common),
        slack=sum(part.slack * w * s for part, w, s in zip(parts, weights, scales, strict=True)),
        known=_known_values(parts),
        counted=False,
        measured=None,
        is_total=False,
    )


def _additive_sums(part: Sums | Orders) -> Sums:
    if isinstance(part, Orders):
        raise ValueError("an order has no sums to average")
    return part


def _coarsen(part: Sums, parts: int) -> Sums:
    """Sums that floating point holds together, for so many parts: numerators in fixed point give up digits.

    They keep 50 bits, and values that were equal stay equal.
    """
    if not part.is_ratio:
        return part
    reach = 2 * parts * int(np.abs(part.numerators).sum(axis=1).max(initial=0))
    shift = max(0, reach.bit_length() - 52)
    half = (1 << shift) >> 1
    numerators = (part.numerators + half) >> shift
    return replace(part, columns=(numerators, part.denominators), factor=part.factor * 2**shift, slack=0, measured=None)
