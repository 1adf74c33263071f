"""Paired bootstrap: resampled test sets, intervals for a difference, and the shifted test.

A resample draws as many units as there are, with replacement, and takes both systems' counts of each (Efron &
Tibshirani 1993). Up to MOST_UNITS units the resamples depend on seed, stream and number of units alone, so they are the
same for all measures and pairs; above, units with the same counts of all systems are drawn together or, where there are
many kinds of them, the sums over a resample are drawn from the normal distribution that they have. A system whose
denominators sum to 0 in a resample counts there as 0. Resamples come in chunks, each with a generator of its own, and
memory is bounded by a chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from warehouse.significance.distinct import distinct_columns
from warehouse.significance.outcome import Outcome, Sides, approximate, check_shuffles, check_sides
from warehouse.significance.paired import Floats, Integers, Many, Paired
from warehouse.significance.parallel import in_order
from warehouse.significance.shuffles import coins
from warehouse.significance.shuffles.coins import Stream
from warehouse.significance.shuffles.randomization import Tick

Kind = Literal["percentile", "bca"]

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
    paired: Paired,
    factor: float = 1.0,
    resamples: int = 2000,
    seed: int = 1992,
    stream: Stream = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
    tick: Tick | None = None,
) -> tuple[float, float]:
    """The bootstrap interval of factor · (ΣN_A/ΣD_A − ΣN_B/ΣD_B) that covers `level`.

    `kind` is percentile or bca, bias-corrected and accelerated (Efron & Tibshirani 1993, chapters 13 and 14). Raises
    ValueError for a level that is not between 0 and 1 and for fewer than one resample.
    """
    low, high = intervals([_many(paired)], [(0, 1)], [factor], resamples, seed, stream, level, kind, tick)[0, 0]
    return float(low), float(high)


def intervals(
    measures: Sequence[Many],
    pairs: Sequence[tuple[int, int]],
    factors: Sequence[float],
    resamples: int = 2000,
    seed: int = 1992,
    stream: Stream = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
    tick: Tick | None = None,
    threads: int = 1,
) -> Floats:
    """The intervals of several measures, each with its factor, and pairs of systems over the same resamples.

    Returns an array of shape (measures, pairs, 2). Raises ValueError also where the measures have different units.
    """
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval is {level} and must be between 0 and 1")
    if kind not in ("percentile", "bca"):
        raise ValueError(f"an interval is percentile or bca, and not {kind!r}")
    if len(factors) != len(measures):
        raise ValueError(f"there are {len(measures)} measures and {len(factors)} factors")
    found = np.empty((len(measures), len(pairs), 2))
    if not pairs:
        return found
    first, second = np.array(pairs, dtype=np.intp).T
    values = _values(measures, resamples, seed, stream, tick, threads)
    tails = ((1 - level) / 2, (1 + level) / 2)
    parts = [slice(start, start + PAIRS_AT_ONCE) for start in range(0, len(pairs), PAIRS_AT_ONCE)]
    for index, many in enumerate(measures):
        if kind == "percentile":
            limits = partial(_percentiles, values[index], first, second, tails)
            for some, of_some in zip(parts, in_order(limits, parts, threads), strict=True):
                found[index, some] = np.sort(factors[index] * of_some)
            continue
        for place, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            differences = values[index, a] - values[index, b]
            shares = _corrected(differences, many.pair(a, b), level)
            found[index, place] = np.sort(factors[index] * _quantiles(differences, shares))
    return found


def value_intervals(
    many: Many,
    factor: float = 1.0,
    resamples: int = 2000,
    seed: int = 1992,
    stream: Stream = 0,
    level: float = 0.95,
) -> Floats:
    """The percentile interval of each system's own factor · ΣN / ΣD, of shape (systems, 2), for a picture.

    Two systems whose intervals overlap may still differ: their difference has an interval of its own. Raises ValueError
    for a level that is not between 0 and 1 and for fewer than one resample.
    """
    if not 0 < level < 1:
        raise ValueError(f"the level of an interval is {level} and must be between 0 and 1")
    values = factor * _values([many], resamples, seed, stream, None)[0]
    return _quantiles(values, ((1 - level) / 2, (1 + level) / 2))


def pair(
    paired: Paired,
    resamples: int = 9999,
    seed: int = 1992,
    stream: Stream = 0,
    sides: Sides = "two-sided",
    tick: Tick | None = None,
    threads: int = 1,
) -> Outcome:
    """The bootstrap test: how often a resampled difference is as far from the observed one as that is from 0.

    The null distribution is that of the resampled differences, shifted so that its centre is no difference (Noreen
    1989; Efron & Tibshirani 1993, section 16.4). nge counts |d* − d| ≥ |d|, one-sided d* − d ≥ d, and
    p = (nge + 1) / (resamples + 1). Identical systems give p = 1.
    """
    check_sides(sides)
    values = _values([_many(paired)], resamples, seed, stream, tick, threads)[0]
    numerator_a, denominator_a, numerator_b, denominator_b = paired.totals
    observed = numerator_a / denominator_a - numerator_b / denominator_b
    shifted = values[0] - values[1] - observed
    # A slack of the numerators moves a difference of two ratios over the same denominator so far.
    tie = TIE + 2 * paired.slack / denominator_a
    if sides == "two-sided":
        nge = int(np.count_nonzero(np.abs(shifted) >= abs(observed) * (1 - TIE) - tie))
    else:
        nge = int(np.count_nonzero(shifted >= observed - abs(observed) * TIE - tie))
    return approximate(nge, resamples)


def _many(paired: Paired) -> Many:
    return Many(
        np.stack((paired.numerator_a, paired.numerator_b)),
        np.stack((paired.denominator_a, paired.denominator_b)),
        paired.slack,
    )


def _values(
    measures: Sequence[Many], resamples: int, seed: int, stream: Stream, tick: Tick | None, threads: int = 1
) -> NDArray[np.float64]:
    """ΣN / ΣD of each system in each resample, of shape (measures, systems, resamples)."""
    check_shuffles(resamples)
    if not measures:
        raise ValueError("no measure to resample")
    if len({many.numerators.shape for many in measures}) > 1:
        raise ValueError("the measures have different systems or units")
    systems = measures[0].systems
    table = np.concatenate([rows for many in measures for rows in (many.numerators, many.denominators)])
    table, repeats = _distinct(table)
    found = np.empty((len(measures), systems, resamples))
    done = 0
    if repeats is not None and _is_smooth(table, repeats):
        draw = _normal_sums(table, repeats, seed, stream)
    else:
        columns = np.ascontiguousarray(table.T, dtype=np.float64)
        draw = _drawn_sums(columns, repeats, seed, stream)
    for drawn_sums in in_order(draw, coins.chunks(resamples, CHUNK), threads):
        used = int(drawn_sums.shape[0])
        sums = drawn_sums.T.reshape(len(measures), 2, systems, used)
        found[:, :, done : done + used] = np.divide(
            sums[:, 0], sums[:, 1], out=np.zeros((len(measures), systems, used)), where=sums[:, 1] > 0
        )
        done += used
        if tick is not None:
            tick(done)
    return found


def _distinct(table: Integers) -> tuple[Integers, Integers | None]:
    """The distinct columns with how often each occurs, where there are too many columns to draw them one by one."""
    if table.shape[1] <= MOST_UNITS:
        return table, None
    return distinct_columns(table)


def resampled(
    units: int, repeats: Integers | None, resamples: int, seed: int, stream: Stream
) -> Iterator[NDArray[np.float64]]:
    """How often each unit is drawn in each resample of a chunk, of shape (resamples in it, units)."""
    for chunk, used in coins.chunks(resamples, CHUNK):
        yield _resample(units, repeats, used, coins.generator(seed, stream, chunk, purpose=coins.RESAMPLES))


def _resample(units: int, repeats: Integers | None, used: int, source: np.random.Generator) -> Floats:
    """`resampled` for one chunk."""
    if repeats is not None:
        total = int(repeats.sum())
        return source.multinomial(total, repeats / total, size=used).astype(np.float64)
    drawn = source.integers(0, units, size=(CHUNK, units), dtype=np.int64)[:used]
    drawn += np.arange(used)[:, None] * units
    return np.bincount(drawn.reshape(-1), minlength=used * units).reshape(used, units).astype(np.float64)


Draw = Callable[[tuple[int, int]], Floats]
"""From the number of a chunk, and how many of its resamples are used, to the sums over each, of shape (used, sums)."""


def _drawn_sums(columns: Floats, repeats: Integers | None, seed: int, stream: Stream) -> Draw:
    """The sums over each resample of columns of shape (units, sums)."""

    def draw(numbered: tuple[int, int]) -> Floats:
        chunk, used = numbered
        source = coins.generator(seed, stream, chunk, purpose=coins.RESAMPLES)
        return _resample(columns.shape[0], repeats, used, source) @ columns

    return draw


def _percentiles(
    values: Floats, first: NDArray[np.intp], second: NDArray[np.intp], shares: Sequence[float], some: slice
) -> Floats:
    """The quantiles of the differences of some pairs, for values of shape (systems, resamples)."""
    return _quantiles(values[first[some]] - values[second[some]], shares)


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


def _normal_sums(table: Integers, repeats: Integers, seed: int, stream: Stream) -> Draw:
    """The sums of each row of the table over each resample, drawn from the normal distribution that has the mean and
    the covariance of the sums over resamples.
    """
    totals = (table @ repeats).astype(np.float64)
    off = table - (totals / repeats.sum())[:, None]
    factor = _cholesky((off * repeats) @ off.T)

    def draw(numbered: tuple[int, int]) -> Floats:
        chunk, used = numbered
        source = coins.generator(seed, stream, chunk, purpose=coins.RESAMPLES)
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


def _corrected(differences: Floats, paired: Paired, level: float) -> tuple[float, float]:
    """The shares between which a BCa interval lies (Efron & Tibshirani 1993, section 14.3)."""
    numerator_a, denominator_a, numerator_b, denominator_b = paired.totals
    observed = numerator_a / denominator_a - numerator_b / denominator_b
    near = TIE * max(abs(observed), 1e-300)
    below = float(np.mean(differences < observed - near) + np.mean(np.abs(differences - observed) <= near) / 2)
    if not 0 < below < 1:
        return (1 - level) / 2, (1 + level) / 2
    normal = NormalDist()
    bias = normal.inv_cdf(below)
    left_a = _without_each(numerator_a - paired.numerator_a, denominator_a - paired.denominator_a)
    left_b = _without_each(numerator_b - paired.numerator_b, denominator_b - paired.denominator_b)
    influence = left_a - left_b
    influence = influence.mean() - influence
    squares = float((influence**2).sum())
    acceleration = float((influence**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    z_low, z_high = normal.inv_cdf((1 - level) / 2), normal.inv_cdf((1 + level) / 2)
    low, high = (normal.cdf(bias + (bias + z) / max(1 - acceleration * (bias + z), 1e-12)) for z in (z_low, z_high))
    return low, high


def _without_each(numerators: Integers, denominators: Integers) -> Floats:
    """The measure with one unit left out, for each unit."""
    ratio: Floats = np.divide(numerators, denominators, out=np.zeros(numerators.shape), where=denominators > 0)
    return ratio
