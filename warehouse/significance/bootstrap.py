"""Paired bootstrap: resampled test sets, intervals for a difference, and the shifted test.

A resample draws as many units as there are, with replacement, and takes both systems' counts of each (Efron &
Tibshirani 1993). Up to MOST_UNITS units the resamples depend on seed, stream and number of units alone, so they are the
same for all measures and pairs; above, for ratios of sums, units with the same counts of all systems are drawn together
or, where there are many kinds of them, the sums over a resample are drawn from the normal distribution that they have.
A system whose value is undefined in a resample counts there as 0. Resamples come in chunks, each with a generator of
its own, and memory is bounded by a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from warehouse.significance.distinct import distinct_columns
from warehouse.significance.draws import RESAMPLES, Draws
from warehouse.significance.outcome import Outcome, Sides, approximate, check_sides
from warehouse.significance.paired import Floats, Integers, Many, Paired
from warehouse.significance.valuation import ManySystems, PairedCounts
from warehouse.significance.work import ALONE, Work, in_order

IntervalKind = Literal["percentile", "bca"]

FOR_INTERVALS = Draws(2000)
"""The resamples of an interval where nothing is said."""

MOST_UNITS = 20_000
"""Up to here units are drawn one by one."""

FEW_DISTINCT = 256
"""Up to so many distinct units, the numbers of each in a resample are drawn."""

SMOOTH = 0.02
"""How far from normal a sum may be to be drawn as one; see `_is_smooth`."""

CHUNK = 256
"""Resamples in a chunk. Part of what the seed means."""

PAIRS_AT_ONCE = 64
"""Pairs whose resampled differences are held at once, by each thread."""

TIE = 1e-12
"""Differences nearer than this to each other, as a share of the observed one, count as ties in the test."""


def interval(
    paired: Paired | PairedCounts,
    factor: float = 1.0,
    draws: Draws = FOR_INTERVALS,
    level: float = 0.95,
    kind: IntervalKind = "percentile",
    work: Work = ALONE,
) -> tuple[float, float]:
    """The bootstrap interval of factor · (value of A − value of B) that covers `level`.

    `kind` is percentile or bca, bias-corrected and accelerated (Efron & Tibshirani 1993, chapters 13 and 14). Raises
    ValueError for a level that is not between 0 and 1.
    """
    low, high = intervals([paired.many], [(0, 1)], [factor], draws, level, kind, work)[0, 0]
    return float(low), float(high)


def intervals(
    measures: Sequence[ManySystems],
    pairs: Sequence[tuple[int, int]],
    factors: Sequence[float],
    draws: Draws = FOR_INTERVALS,
    level: float = 0.95,
    kind: IntervalKind = "percentile",
    work: Work = ALONE,
) -> Floats:
    """The intervals of several measures, each with its factor, and pairs of systems over the same resamples.

    Returns an array of shape (measures, pairs, 2). Raises ValueError also where the measures have different units.
    """
    _check_level(level)
    if kind not in ("percentile", "bca"):
        raise ValueError(f"an interval is percentile or bca, and not {kind!r}")
    if len(factors) != len(measures):
        raise ValueError(f"there are {len(measures)} measures and {len(factors)} factors")
    limits = np.empty((len(measures), len(pairs), 2))
    if not pairs:
        return limits
    first, second = np.array(pairs, dtype=np.intp).T
    values = _values(measures, draws, work)
    tails = ((1 - level) / 2, (1 + level) / 2)
    parts = [slice(start, start + PAIRS_AT_ONCE) for start in range(0, len(pairs), PAIRS_AT_ONCE)]
    for index, many in enumerate(measures):
        if kind == "percentile":
            percentiles = partial(_percentiles, values[index], first, second, tails)
            for part, of_part in zip(parts, in_order(percentiles, parts, work.threads), strict=True):
                limits[index, part] = np.sort(factors[index] * of_part)
            continue
        observed, left_out = many.values(), _without_each(many)
        for place, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            differences = values[index, a] - values[index, b]
            shares = _corrected(differences, observed[a] - observed[b], left_out[a] - left_out[b], level)
            limits[index, place] = np.sort(factors[index] * _quantiles(differences, shares))
    return limits


def value_intervals(
    many: ManySystems, factor: float = 1.0, draws: Draws = FOR_INTERVALS, level: float = 0.95
) -> Floats:
    """The percentile interval of each system's own factor · value, of shape (systems, 2), for a picture.

    Two systems whose intervals overlap may still differ: their difference has an interval of its own. Raises ValueError
    for a level that is not between 0 and 1.
    """
    _check_level(level)
    return _quantiles(factor * _values([many], draws, ALONE)[0], ((1 - level) / 2, (1 + level) / 2))


def bootstrap_test(
    paired: Paired | PairedCounts, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE
) -> Outcome:
    """The bootstrap test: how often a resampled difference is as far from the observed one as that is from 0.

    The null distribution is that of the resampled differences, shifted so that its centre is no difference (Noreen
    1989; Efron & Tibshirani 1993, section 16.4). nge counts |d* − d| ≥ |d|, one-sided d* − d ≥ d, and
    p = (nge + 1) / (resamples + 1). Identical systems give p = 1.
    """
    check_sides(sides)
    many = paired.many
    values = _values([many], draws, work)[0]
    first, second = many.values().tolist()
    observed = first - second
    shifted = values[0] - values[1] - observed
    tie = TIE + many.tie
    if sides == "two-sided":
        nge = int(np.count_nonzero(np.abs(shifted) >= abs(observed) * (1 - TIE) - tie))
    else:
        nge = int(np.count_nonzero(shifted >= observed - abs(observed) * TIE - tie))
    return approximate(nge, draws.shuffles)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval is {level} and must be between 0 and 1")


def _values(measures: Sequence[ManySystems], draws: Draws, work: Work) -> Floats:
    """The value of each system in each resample, of shape (measures, systems, resamples)."""
    if not measures:
        raise ValueError("no measure to resample")
    columns = [many.columns for many in measures]
    if len({of_measure.shape[1:] for of_measure in columns}) > 1:
        raise ValueError("the measures have different systems or units")
    systems, units = columns[0].shape[1:]
    table = np.concatenate([of_measure.reshape(-1, units) for of_measure in columns])
    ends = np.cumsum([len(of_measure) * systems for of_measure in columns])[:-1]
    repeats = None
    # Only a ratio can be taken of sums that are drawn as normal ones: they may be below 0, and are not whole.
    if units > MOST_UNITS and all(isinstance(many, Many) for many in measures):
        table, repeats = distinct_columns(table)
    if repeats is not None and _is_smooth(table, repeats):
        draw = _normal_sums(table, repeats, draws)
    else:
        draw = _drawn_sums(np.ascontiguousarray(table.T, dtype=np.float64), repeats, draws)
    values = np.empty((len(measures), systems, draws.shuffles))
    done = 0
    for drawn_sums in in_order(draw, draws.chunks(CHUNK), work.threads):
        used = int(drawn_sums.shape[0])
        for index, sums in enumerate(np.split(drawn_sums.T, ends)):
            values[index, :, done : done + used] = measures[index].value(sums.reshape(-1, systems, used))
        done += used
        work.progress(done / draws.shuffles)
    return values


def resampled(units: int, draws: Draws) -> Iterator[Floats]:
    """How often each unit is drawn in each resample of a chunk, of shape (resamples in it, units)."""
    for chunk, used in draws.chunks(CHUNK):
        yield _resample(units, None, used, draws.generator(chunk, RESAMPLES))


def _resample(units: int, repeats: Integers | None, used: int, source: np.random.Generator) -> Floats:
    """`resampled` for one chunk; with `repeats`, for that many units of each kind."""
    if repeats is not None:
        total = int(repeats.sum())
        return source.multinomial(total, repeats / total, size=used).astype(np.float64)
    drawn = source.integers(0, units, size=(CHUNK, units), dtype=np.int64)[:used]
    drawn += np.arange(used)[:, None] * units
    return np.bincount(drawn.reshape(-1), minlength=used * units).reshape(used, units).astype(np.float64)


SumsOfChunk = Callable[[tuple[int, int]], Floats]
"""From the number of a chunk, and how many of its resamples are used, to the sums over each, of shape (used, sums)."""


def _drawn_sums(columns: Floats, repeats: Integers | None, draws: Draws) -> SumsOfChunk:
    """The sums over each resample of columns of shape (units, sums)."""

    def draw(numbered: tuple[int, int]) -> Floats:
        chunk, used = numbered
        return _resample(columns.shape[0], repeats, used, draws.generator(chunk, RESAMPLES)) @ columns

    return draw


def _percentiles(
    values: Floats, first: NDArray[np.intp], second: NDArray[np.intp], shares: Sequence[float], part: slice
) -> Floats:
    """The quantiles of the differences of some pairs, for values of shape (systems, resamples)."""
    return _quantiles(values[first[part]] - values[second[part]], shares)


def _quantiles(values: Floats, shares: Sequence[float]) -> Floats:
    """What np.quantile gives for the last axis, with one column a share; sorting takes a seventh of its time."""
    in_order = np.sort(values, axis=-1)
    places = np.array(shares) * (in_order.shape[-1] - 1)
    before = places.astype(np.intp)
    after = np.minimum(before + 1, in_order.shape[-1] - 1)
    low, high, part = in_order[..., before], in_order[..., after], places - before
    step = high - low
    return np.asarray(np.where(part < 0.5, low + step * part, high - step * (1 - part)))


def _is_smooth(table: Integers, repeats: Integers) -> bool:
    """Whether the sums over a resample are normal as nearly as anyone could tell from a few thousand resamples.

    So they are where no few units decide a sum: Σ|x − μ|³ / (Σ(x − μ)²)^(3/2), which bounds how far a distribution
    function is from the normal (Berry and Esseen; the factor is below 0.56), is at most SMOOTH for every sum. Few
    distinct units are drawn by their counts in no time.
    """
    if table.shape[1] <= FEW_DISTINCT:
        return False
    off = np.abs(table - (table @ repeats / repeats.sum())[:, None])
    squares, cubes = (off**2) @ repeats, (off**3) @ repeats
    return bool((cubes <= SMOOTH * squares**1.5).all())


def _normal_sums(table: Integers, repeats: Integers, draws: Draws) -> SumsOfChunk:
    """The sums of each row of the table over each resample, drawn from the normal distribution that has the mean and
    the covariance of the sums over resamples.
    """
    totals = (table @ repeats).astype(np.float64)
    off = table - (totals / repeats.sum())[:, None]
    factor = _cholesky((off * repeats) @ off.T)

    def draw(numbered: tuple[int, int]) -> Floats:
        chunk, used = numbered
        source = draws.generator(chunk, RESAMPLES)
        return np.asarray(totals + source.standard_normal((CHUNK, len(totals)))[:used] @ factor.T)

    return draw


def _cholesky(covariance: Floats) -> Floats:
    """L with L·Lᵀ = covariance, which may be singular: what follows from earlier rows has no column of its own."""
    size = len(covariance)
    factor = np.zeros((size, size))
    for row in range(size):
        rest = covariance[row:, row] - factor[row:, :row] @ factor[row, :row]
        if rest[0] > 1e-12 * covariance[row, row]:
            factor[row:, row] = rest / np.sqrt(rest[0])
    return factor


def _corrected(differences: Floats, observed: float, left_out: Floats, level: float) -> tuple[float, float]:
    """The shares between which a BCa interval lies (Efron & Tibshirani 1993, section 14.3).

    `left_out` has the difference with one unit left out, for each unit.
    """
    near = TIE * max(abs(observed), 1e-300)
    below = float(np.mean(differences < observed - near) + np.mean(np.abs(differences - observed) <= near) / 2)
    if not 0 < below < 1:
        return (1 - level) / 2, (1 + level) / 2
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    influence = left_out.mean() - left_out
    squares = float((influence**2).sum())
    acceleration = float((influence**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    z_low, z_high = normal.inv_cdf((1 - level) / 2), normal.inv_cdf((1 + level) / 2)
    low, high = (normal.cdf(bias + (bias + z) / max(1 - acceleration * (bias + z), 1e-12)) for z in (z_low, z_high))
    return low, high


def _without_each(many: ManySystems) -> Floats:
    """The value of each system with one unit left out, of shape (systems, units)."""
    columns = many.columns
    return many.value(columns.sum(axis=2)[:, :, None] - columns)
