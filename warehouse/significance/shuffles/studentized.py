"""The studentized exchange: shuffles that compare differences divided by their standard errors.

A plain exchange tests whether two systems are exchangeable. Systems with equal measures are not exchangeable if one
of them answers much less than the other. Here every difference is divided by its own standard error, which is
recomputed in each shuffle. In large samples this is a test of equal measures (Janssen 1997; Chung and Romano 2013),
and it remains exact for exchangeable systems. The coins are those of randomization, and p = (nge + 1) / (shuffles +
1).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, Places
from evalhouse.warehouse.significance.draws import (
    ALONE,
    Draws,
    Outcome,
    Sides,
    Work,
    approximate,
    check_sides,
    in_order,
)
from evalhouse.warehouse.significance.multiple import MAXIMUM_TIE, Family, SpreadFamily
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test, draw_by_themselves, pairs_by_themselves
from evalhouse.warehouse.significance.shuffles.coins import Shuffler, Slice
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.standardized import (
    FUNCTION_TIE,
    ROUNDING,
    FunctionPair,
    InfluencePair,
    RatioPairs,
    centre,
    centred,
    function_pair,
    residuals,
    whole,
)
from evalhouse.warehouse.significance.sums import Sums

# === one pair =========================================================================================================

_PRODUCT = 2.0**51
"""Sums in a matrix product stay below this, so that floating point adds and subtracts integers without rounding."""

_LOOKUP = 2.0**61
"""The same bound for sums from lookup tables."""

_WIDTH = 8192
"""The number of shuffles of a pair that are computed at once: few enough for the processor's cache, and enough to make
call overhead small.
"""

_SUMS = 1 << 20
"""The number of systems × shuffles whose sums are held at once."""


def studentized_test(paired: Sums, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Outcome:
    """The studentized exchange of two systems (Janssen 1997, Statistics & Probability Letters 36, 9-21; Chung and
    Romano 2013, Annals of Statistics 41, 484-507); the statistic is t.

    If the denominators of a ratio are equal in every unit, t has the same order as the differences, so this test is the
    same as randomization. An exchange after which a system has no value, or nothing varies, counts as extreme.
    """
    check_sides(sides)
    if paired.is_ratio and steady(paired):
        return replace(randomization_test(paired, draws, sides, work), statistic=float(student(paired, [(0, 1)])[0]))
    nge = _extreme_shuffles(paired, draws, sides, work)
    return replace(approximate(nge, draws.shuffles), statistic=float(student(paired, [(0, 1)])[0]))


def _extreme_shuffles(paired: Sums, draws: Draws, sides: Sides, work: Work = ALONE) -> int:
    """How many of the shuffles are extreme."""
    extremes = (_of_ratio if paired.is_ratio else _of_function)(paired, draws, sides, work.threads)
    nge = done = 0
    for extreme in extremes:
        nge += int(np.count_nonzero(extreme))
        done += extreme.size
        work.progress(done / draws.shuffles)
    return nge


def student(many: Sums, pairs: Sequence[tuple[int, int]]) -> Floats:
    """The observed t of pairs, of shape (pairs,), with units − 1 degrees of freedom, equal to that of Student's test
    for denominators of 1. It is infinite if all units add the same amount to the difference and that is not 0.
    """
    if many.is_ratio:
        return np.array([RatioPairs.alone(many.pair(a, b)).t[0] for a, b in pairs])
    observed = np.array([function_pair(many.pair(a, b)).observed for a, b in pairs])
    return centre(observed * np.abs(observed), many.units)


def null_statistics(paired: Sums, draws: Draws) -> Floats:
    """t in each of the shuffles, of shape (shuffles,), for a picture. It is not centred; where an exchange has no t,
    the observed t is given.
    """
    if paired.is_function:
        pair = function_pair(paired)
        statistics = np.concatenate(list(_function_statistics(pair, paired, draws, 1)))
        return np.where(np.isnan(statistics), pair.observed, statistics)
    pairs, sums = RatioPairs.alone(paired), _signed_sums(centred(paired), draws, 1)
    return np.concatenate([pairs.statistics(u[None], v[None], w[None], two_sided=False)[0] for u, v, w in sums])


def _observed(paired: Sums) -> float:
    """The observed t, not centred."""
    if paired.is_function:
        return function_pair(paired).observed
    return float(RatioPairs.alone(paired).observed[0])


def _of_ratio(paired: Sums, draws: Draws, sides: Sides, threads: int) -> Iterator[Booleans]:
    """Which shuffles are extreme, a chunk at a time."""
    pairs = RatioPairs.alone(paired, ROUNDING + paired.units / _LOOKUP)
    for u, v, w in _signed_sums(centred(paired), draws, threads):
        yield pairs.excess(0, u, v, w, np.empty_like(u), sides == "two-sided") >= -pairs.band[0]


def _of_function(paired: Sums, draws: Draws, sides: Sides, threads: int) -> Iterator[Booleans]:
    """The same for a function of sums."""
    pair = function_pair(paired)
    observed = abs(pair.observed) if sides == "two-sided" else pair.observed
    least = observed - FUNCTION_TIE * max(abs(observed), 1.0)
    for statistics in _function_statistics(pair, paired, draws, threads):
        # "not below" also counts undefined values.
        yield ~((np.abs(statistics) if sides == "two-sided" else statistics) < least)


def _function_statistics(
    pair: FunctionPair | InfluencePair, paired: Sums, draws: Draws, threads: int
) -> Iterator[Floats]:
    """t of a function of sums in each shuffle, not centred, a chunk at a time; NaN where there is no t."""
    if isinstance(pair, FunctionPair):
        for sums in coins.sums_over_exchanged(pair.changes, draws, threads):
            yield pair.statistics(sums)
        return
    sums_of_chunks = coins.sums_over_exchanged(paired.differences(), draws, threads)
    for (chunk, used), lost in zip(draws.chunks(coins.CHUNK), sums_of_chunks, strict=True):
        exchanged = coins.exchanged_units(paired.units, draws, chunk, used)
        yield pair.statistics(np.stack(lost).astype(np.float64), exchanged)


def _signed_sums(paired: Sums, draws: Draws, threads: int) -> Iterator[tuple[Floats, Floats, Floats]]:
    """u, v and w of each shuffle, of shape (shuffles,), a chunk at a time."""
    apart, together = residuals(paired)
    squares, worth = whole(apart * together, _LOOKUP)
    columns = [*paired.differences(), squares]
    totals = [int(column.sum()) for column in columns]
    for exchanged in coins.sums_over_exchanged(columns, draws, threads):
        u, v, w = ((total - 2 * part).astype(np.float64) for total, part in zip(totals, exchanged, strict=True))
        yield u, v, w * worth


def steady(many: Sums) -> bool:
    """Whether all systems have the same denominator in every unit."""
    return bool((many.denominators == many.denominators[0]).all())


# === all pairs ========================================================================================================


def all_pairs_studentized(
    measures: Sequence[Sums], draws: Draws, sides: Sides = "two-sided", work: Work = ALONE
) -> Integers:
    """The studentized exchange of every pair of systems for one or more measures over the same shuffles.

    Returns nge, of shape (measures, systems, systems), as `all_pairs_test` does, over the coins of `studentized_test`.
    Raises ValueError if the measures do not have the same number of systems and units.
    """
    check_sides(sides)
    plain = [index for index, many in enumerate(measures) if steady(many)]
    others = [index for index in range(len(measures)) if index not in plain]
    if not others:
        return all_pairs_test(measures, draws, sides, work)
    systems = measures[0].systems
    nge = np.zeros((len(measures), systems, systems), dtype=np.int64)
    if plain:
        part = work.part(0, len(measures), len(plain))
        nge[plain] = all_pairs_test([measures[index] for index in plain], draws, sides, part)
    ratios = [measures[index] for index in others]
    moments = Moments([centred(many) for many in ratios])
    pairs = list(combinations(range(systems), 2))
    families = [RatioPairs.of(many, pairs, moments.rounding) for many in ratios]

    def counted(part: Slice) -> tuple[Integers, int]:
        nge_here = np.zeros((len(others), systems, systems), dtype=np.int64)
        for place, family in enumerate(families):
            _count(moments.of(place, part), family, sides, nge_here[place])
        return nge_here, part.shuffles

    width = min(_WIDTH, max(1, _SUMS // systems))
    rest, done = work.part(len(plain), len(measures), len(others)), 0
    for nge_here, shuffles in in_order(counted, moments.shuffler.slices(draws, width), work.threads):
        nge[others] += nge_here
        done += shuffles
        rest.progress(done / draws.shuffles)
    if sides == "two-sided":
        nge[others] += nge[others].transpose(0, 2, 1)
    for index, family in zip(others, families, strict=True):
        for a, b in (pairs[place] for place in family.cancelled):
            nge[index, a, b] = _extreme_shuffles(measures[index].pair(a, b), draws, sides)
            nge[index, b, a] = nge[index, a, b]
            if sides == "one-sided":
                nge[index, b, a] = _extreme_shuffles(measures[index].pair(b, a), draws, sides)
        # With equal denominators the test is randomization, so it uses the same draws.
        alike = [pair for pair in pairs_by_themselves(measures[index]) if steady(measures[index].pair(*pair))]
        draw_by_themselves(measures[index], alike, draws, sides, nge[index])
    nge[:, np.arange(systems), np.arange(systems)] = draws.shuffles
    return nge


def _count(sums: SystemSums, family: RatioPairs, sides: Sides, nge: Integers) -> None:
    """Adds the shuffles of a slice to nge, of shape (systems, systems): above the diagonal, and below if one-sided."""
    systems, shuffles = sums.columns[0].shape
    memory, two_sided = np.empty((4, shuffles)), sides == "two-sided"
    u, v, w, spare = memory
    for pair, (a, b) in enumerate(combinations(range(systems), 2)):
        sums.differences(a, b, family.slope[pair], u, v, w, spare)
        excess, band = family.excess(pair, u, v, w, spare, two_sided), float(family.band[pair])
        nge[a, b] += np.count_nonzero(excess >= -band)
        if not two_sided:
            nge[b, a] += np.count_nonzero(excess <= band)


Index: TypeAlias = int | NDArray[np.intp]


class SystemSums(Struct, frozen=True):
    """The signed sums of N, D, N², N·D and D² of all systems in some shuffles, each of shape (systems, shuffles), as
    multiples of a `worth` for each column.
    """

    columns: tuple[Floats, ...]
    worths: tuple[float, ...]

    def differences(self, a: Index, b: Index, slope: Floats, u: Floats, v: Floats, w: Floats, spare: Floats) -> None:
        """Writes u, v and w of a pair, of shape (shuffles,), or of several pairs, of shape (pairs, shuffles); `spare`
        is overwritten. `slope` has the shape () or (pairs, 1).
        """
        n, d, nn, nd, dd = self.columns
        worths = self.worths
        for into, column, factor in ((u, n, worths[0]), (v, d, worths[1]), (w, nn, worths[2])):
            np.subtract(column[a], column[b], out=into)
            if factor != 1:
                into *= factor
        for column, factors in ((nd, -2 * worths[3] * slope), (dd, worths[4] * slope**2)):
            np.subtract(column[a], column[b], out=spare)
            spare *= factors
            w += spare


class Moments:
    """The shuffles of some measures, as sums of N, D, N², N·D and D² that are computed once for each system.

    `rounding` is the relative rounding error of such a sum.
    """

    def __init__(self, measures: Sequence[Sums]) -> None:
        """Raises ValueError if the measures do not have the same number of systems and units."""
        columns = [list(_moments(many)) for many in measures]
        self._worths = [[worth for _, worth in of_measure] for of_measure in columns]
        self.shuffler = Shuffler([[column for column, _ in of_measure] for of_measure in columns])
        exact = all(worth == 1 for worths in self._worths for worth in worths)
        self.rounding = ROUNDING if exact else ROUNDING + measures[0].units / _PRODUCT

    def of(self, place: int, part: Slice) -> SystemSums:
        """The sums of a measure, by its place, in some shuffles."""
        places = self.shuffler.places[place]
        scales = (self.shuffler.counts[column].scale for column in places)
        worths = tuple(scale * worth for scale, worth in zip(scales, self._worths[place], strict=True))
        # In double precision from here on, because converting for each pair would cost more than the sums.
        return SystemSums(tuple(part.sums[column].astype(np.float64, copy=False) for column in places), worths)


def _moments(many: Sums) -> Iterator[tuple[Integers, float]]:
    """N, D, N², N·D and D² as integers of shape (systems, units), each with the value of one."""
    over, under = many.numerators, many.denominators
    for first, second in ((over, None), (under, None), (over, over), (over, under), (under, under)):
        product = first.astype(np.float64) * (1.0 if second is None else second)
        if np.abs(product).sum(axis=1).max(initial=0.0) < _PRODUCT:
            yield first if second is None else first * second, 1.0
        else:
            yield whole(product, _PRODUCT)


# === families of pairs ================================================================================================
# The statistics of many pairs over common shuffles, as step-down maxima need them.


def studentized_family(many: Sums, pairs: Sequence[tuple[int, int]], sides: Sides) -> Family:
    """The family of t statistics of some pairs of systems. If all denominators are equal, `SpreadFamily` has the same
    order.
    """
    if many.is_function:
        return _PairByPair(many, pairs, sides)
    if steady(many):
        return SpreadFamily(many, pairs, sides)
    ratios = _Ratios(many, pairs, sides)
    return _PairByPair(many, pairs, sides) if ratios.cancelled else ratios


class _Ratios:
    """The family for ratios: all pairs from one matrix product over systems."""

    def __init__(self, many: Sums, pairs: Sequence[tuple[int, int]], sides: Sides) -> None:
        self._two_sided = sides == "two-sided"
        self._moments = Moments([centred(many)])
        self._pairs = RatioPairs.of(many, pairs, self._moments.rounding)
        self.cancelled = bool(self._pairs.cancelled)
        self._first, self._second = np.array(pairs, dtype=np.intp).T
        self.observed = np.abs(self._pairs.observed) if self._two_sided else self._pairs.observed
        self.bounds = self.observed - MAXIMUM_TIE * np.maximum(np.abs(self.observed), 1.0)

    def blocks(self, draws: Draws, order: Places) -> Iterator[Iterable[Floats]]:
        """The statistics of all pairs at once, for a slice of the shuffles."""
        for part in self._moments.shuffler.slices(draws):
            yield (self._statistics(part)[order],)

    def _statistics(self, part: Slice) -> Floats:
        u, v, w, spare = np.empty((4, len(self._first), part.shuffles))
        sums, slopes = self._moments.of(0, part), self._pairs.slope[:, None]
        sums.differences(self._first, self._second, slopes, u, v, w, spare)
        return self._pairs.statistics(u, v, w, self._two_sided)


class _PairByPair:
    """The family for functions of sums, and for ratios of which a pair is lost in the sums of all."""

    def __init__(self, many: Sums, pairs: Sequence[tuple[int, int]], sides: Sides) -> None:
        self._two_sided = sides == "two-sided"
        self._pairs = [many.pair(a, b) for a, b in pairs]
        observed = np.array([_observed(pair) for pair in self._pairs])
        self.observed = np.abs(observed) if self._two_sided else observed
        self.bounds = self.observed - FUNCTION_TIE * np.maximum(np.abs(self.observed), 1.0)

    def blocks(self, draws: Draws, order: Places) -> Iterator[Iterable[Floats]]:
        """The statistics of one pair after another, for a chunk of shuffles."""
        for chunk, used in draws.chunks(coins.CHUNK):
            part = replace(draws, shuffles=used, before=chunk * coins.CHUNK)
            yield (self._of_pair(place, part) for place in order)

    def _of_pair(self, place: int, draws: Draws) -> Floats:
        statistics = null_statistics(self._pairs[place], draws)[None]
        return np.abs(statistics) if self._two_sided else statistics
