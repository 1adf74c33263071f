"""The sums of measures of predicted numbers, as tests and intervals take them: predictions are exchanged document by
document, the true numbers stay. Of systems with several runs, a run of one stands beside a run of the other, all runs
of a document are exchanged together, and the value is the mean over runs. No test is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import fsum, isqrt

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.measures import OfNumbers
from evalhouse.warehouse.measures.forms import (
    Constant,
    Count,
    Exact,
    Expression,
    MeanDistance,
    OfMoments,
    OfRanks,
    Operation,
    evaluate,
    exact,
    substitute,
    to_float,
)
from evalhouse.warehouse.measures.numbers import EE, XX, XY, YY, N, X, Y
from evalhouse.warehouse.significance.arrays import Floats, Integers, to_fixed_point
from evalhouse.warehouse.significance.rank_correlation import (
    Candidates,
    Codes,
    ExchangedNumbers,
    codes_of,
    kendall,
    spearman,
)
from evalhouse.warehouse.significance.sums import Columns, Sums, Valuation, mean_of

MOST_PLACES = 9
"""Decimals of up to so many places are computed with exactly."""

WHOLE = 2**24
"""Decimals are exact if they are at most so many units of their last place."""

HELD = 2**47
"""Sums below this are held by floating point together with those of other columns."""

LOW = 29
"""The bits of the lower part of a sum that floating point would not hold."""

CELLS = 2**23
"""The most cells of the columns that correlations of ranks are read from: exchange units squared, by systems."""


class Predicted(Struct, frozen=True):
    """True numbers and predictions of systems, of shape (systems, documents), and the exchange unit of each document.
    All are so many times `unit`; they are whole where they are decimals of few places.
    """

    truths: Floats
    predictions: Floats
    cluster: NDArray[np.intp]
    unit: Fraction

    @classmethod
    def of(cls, truths: Floats, predictions: Floats, cluster: NDArray[np.intp]) -> Predicted:
        """Those in the smallest decimal unit, if it is not too small."""
        both = np.stack((truths, predictions))
        for places in range(MOST_PLACES + 1):
            scaled = np.rint(both * 10**places)
            if np.abs(scaled).max(initial=0) > WHOLE:
                break
            if (scaled / 10**places == both).all():
                return cls(scaled[0], scaled[1], cluster, Fraction(1, 10**places))
        return cls(truths, predictions, cluster, Fraction(1))

    @property
    def distances(self) -> Floats:
        """The absolute errors."""
        return np.asarray(np.abs(self.predictions - self.truths) * float(self.unit))

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.cluster.max(initial=-1)) + 1

    def moment(self, name: str) -> Floats:
        """What each document adds to a sum; numbers are less their mean, and stay whole."""
        x, y = (numbers - np.rint(numbers.mean()) for numbers in (self.truths, self.predictions))
        return np.asarray(_MOMENTS[name](x, y, self.predictions - self.truths))


_Moment = Callable[[Floats, Floats, Floats], Floats]

_MOMENTS: Mapping[str, _Moment] = {
    N: lambda x, y, errors: np.ones(x.shape),
    X: lambda x, y, errors: x,
    Y: lambda x, y, errors: y,
    XX: lambda x, y, errors: x * x,
    YY: lambda x, y, errors: y * y,
    XY: lambda x, y, errors: x * y,
    EE: lambda x, y, errors: errors * errors,
}
"""What a document adds to each sum."""

_POWERS: Mapping[str, int] = {N: 0, X: 1, Y: 1, XX: 2, YY: 2, XY: 2, EE: 2}
"""How many numbers are multiplied in it."""


def on_one_scale(one: Floats, other: Floats) -> bool:
    """Whether the predictions of two systems seem to be on one scale: the central 90% of each have at least half of the
    wider range in common.
    """
    (low, high), (low_of_other, high_of_other) = (
        np.quantile(predictions, (0.05, 0.95)) for predictions in (one, other)
    )
    common = min(high, high_of_other) - max(low, low_of_other)
    return bool(common >= 0.5 * max(high - low, high_of_other - low_of_other))


def z_scores(predictions: Floats) -> Floats:
    """Predictions of shape (systems, documents), each system's less their mean and over their standard deviation; 0 for
    a system that predicts the same everywhere.
    """
    centred = predictions - predictions.mean(axis=1, keepdims=True)
    deviation = centred.std(axis=1, keepdims=True)
    constant = np.ptp(predictions, axis=1, keepdims=True) == 0
    return np.asarray(np.where(constant, 0.0, centred / np.where(constant, 1.0, deviation)))


def sums_of_moments(runs: Sequence[Predicted], of: OfMoments) -> Sums:
    """The sums of a function of moments over each exchange unit; of several runs, those of each behind one another."""
    parts = [_moments(numbers, of, HELD // len(runs)) for numbers in runs]
    if len(parts) == 1:
        return parts[0]
    average = Valuation.average([part.valuation for part in parts], [len(part.columns) for part in parts])
    return Sums(tuple(column for part in parts for column in part.columns), average)


def _moments(numbers: Predicted, of: OfMoments, most: int) -> Sums:
    """The sums of one run. A sum of `most` or more, which floating point would not hold beside the others, has a column
    for its higher and one for its lower part.
    """
    expression = of.function.expression
    columns: dict[str, Integers] = {}
    for name in of.function.columns:
        whole, unit, _ = to_fixed_point(_in_units(numbers.moment(name), numbers))
        summed: Expression = Count(name)
        columns[name] = whole
        if int(np.abs(whole).sum(axis=1).max()) >= most:
            high, low = f"{name}, high", f"{name}, low"
            del columns[name]
            columns[high] = whole >> LOW
            columns[low] = whole - (columns[high] << LOW)
            summed = Operation(Operation(Constant(Fraction(2**LOW)), "*", Count(high)), "+", Count(low))
        worth = Constant(unit * numbers.unit ** _POWERS[name])
        expression = substitute(expression, {name: Operation(worth, "*", summed)})
    names = tuple(columns)

    def values(sums: Floats) -> Floats:
        return evaluate(expression, dict(zip(names, sums, strict=True)))

    def exactly(sums: tuple[int, ...]) -> Exact | None:
        return exact(expression, dict(zip(names, sums, strict=True)))

    return Sums(tuple(columns.values()), Valuation(values, exactly))


def sums_of_ranks(runs: Sequence[Predicted], of: OfRanks) -> Sums:
    """The columns from which a correlation of ranks is read, the same for all runs. Exchange units that are too many
    for it are put together, and exchanged as one.
    """
    numbers = runs[0]
    systems = len(numbers.predictions)
    most = max(2, isqrt(CELLS // systems))
    units = min(numbers.units, most)
    cluster = numbers.cluster * units // max(numbers.units, 1)
    associate = kendall if of.by_pairs else spearman
    truths = codes_of(numbers.truths[0])
    exchanged = [ExchangedNumbers(truths, codes_of(run.predictions), cluster, associate) for run in runs]
    there = np.broadcast_to(np.eye(units, dtype=np.int64)[:, None, :], (units, systems, units))
    chosen = there * _first_alike(np.stack([run.predictions for run in exchanged]), cluster, units)
    return Sums((*there, *chosen), _valuation(exchanged))


def _valuation(runs: Sequence[ExchangedNumbers]) -> Valuation:
    """How correlations of ranks, or the means of those of several runs, are read from the columns of sums."""

    def values(sums: Floats) -> Floats:
        return _mean([run.values(sums) for run in runs])

    def slopes(sums: Floats) -> Floats:
        return _mean([run.slopes(sums) for run in runs])

    def exactly(sums: tuple[int, ...]) -> Exact | None:
        return mean_of(run.exactly(sums) for run in runs)

    def of_some(columns: Columns) -> tuple[Columns, Valuation]:
        there, places = columns[: len(columns) // 2], columns[len(columns) // 2 :]
        chosen = np.stack([column.sum(axis=1) for column in places], axis=1)
        # A system that predicts as another before it does keeps the place of that one.
        first = (chosen[:, None] == chosen[None]).argmax(axis=1)
        narrower = tuple(column * of_unit[:, None] for column, of_unit in zip(there, first.T, strict=True))
        documents = np.arange(runs[0].truths.size)
        some = [run._replace(predictions=run.predictions[chosen[:, run.cluster], documents]) for run in runs]
        return (*there, *narrower), _valuation(some)

    return Valuation(values, exactly, slopes=slopes, of_some=of_some)


def _mean(of_runs: Sequence[Floats]) -> Floats:
    return of_runs[0] if len(of_runs) == 1 else np.asarray(np.mean(of_runs, axis=0))


def _first_alike(predictions: Codes, cluster: NDArray[np.intp], units: int) -> Integers:
    """For each system and exchange unit the first system that predicts the same for all of its documents in all runs,
    so that units in which two systems do not differ are known as such. Predictions are of shape (runs, systems,
    documents).
    """
    systems = predictions.shape[1]
    first = np.tile(np.arange(systems)[:, None], units)
    for system in range(1, systems):
        for other in range(system - 1, -1, -1):
            differ = (predictions[:, system] != predictions[:, other]).any(axis=0)
            unlike = np.bincount(cluster, differ, minlength=units) > 0
            first[system] = np.where(unlike, first[system], first[other])
    return first


def value(of: OfNumbers, truths: Floats, predictions: Floats) -> float | None:
    """The value of one system; None where it is undefined."""
    numbers = Predicted.of(truths[None], predictions[None], np.arange(truths.size))
    if isinstance(of, MeanDistance):
        errors = np.abs(numbers.predictions - numbers.truths)[0]
        return float(Fraction(fsum(errors)) * numbers.unit / errors.size) if errors.size else None
    if isinstance(of, OfMoments):
        return to_float(sums_of_moments([numbers], of).exactly(0))
    associate = kendall if isinstance(of, OfRanks) and of.by_pairs else spearman
    candidates = Candidates(codes_of(truths), codes_of(predictions)[None], np.arange(truths.size))
    return to_float(associate(candidates, np.ones((1, truths.size, 1)), False).exactly(0)) if truths.size else None


def _in_units(moments: Floats, numbers: Predicted) -> Floats:
    """What documents add, summed over exchange units; of shape (systems, units)."""
    if numbers.units == numbers.cluster.size and (np.diff(numbers.cluster) > 0).all():
        return moments
    return np.stack([np.bincount(numbers.cluster, own, minlength=numbers.units) for own in moments])
