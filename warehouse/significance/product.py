"""Shuffling all pairs of systems at once: one matrix product of the systems' counts with the coins.

A pair's sums after an exchange are differences of two rows of that product, so the work with the units is done once for
each system and not for each pair. The product is exact because its sums are integers below 2^24 (float32) or 2^53
(float64). What a shuffle's difference is compared with is decided in floating point outside a band of rounding errors,
and exactly within.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.significance import coins, lookup
from warehouse.significance.extreme import Extreme
from warehouse.significance.outcome import Sides, check_sides
from warehouse.significance.paired import Integers, Many

Reals = NDArray[np.floating[Any]]

THREADS = min(4, os.cpu_count() or 1)
"""How many slices are counted at once; numpy lets go of the interpreter while it works."""

SLICE = 1 << 16
"""Pairs × shuffles worked on at once, so that they stay in the processor's cache."""

_TINY = 1e-30
"""A band that is never empty, also where all numbers are 0."""

SPREAD = 1 << 20
"""Coins spread out to numbers at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """The counts of the systems, reduced: less the smallest of each unit, divided by what is common to all.

    Both leave the pairs' differences as they are but for the factor `scale`. `rows` has the shape (systems, units);
    `reach` bounds a system's sum over any units.
    """

    rows: Integers
    scale: int
    reach: Integers

    @classmethod
    def of(cls, rows: Integers) -> Counts:
        """Reduces counts of shape (systems, units)."""
        reduced = rows - rows.min(axis=0)
        scale = int(np.gcd.reduce(reduced, axis=None)) or 1
        reduced = reduced // scale
        return cls(reduced, scale, reduced.sum(axis=1))


@dataclass(frozen=True, slots=True)
class Slice:
    """The systems' signed sums in some shuffles: for each of `Shuffler.counts` an array of shape (systems,
    shuffles)."""

    sums: tuple[Reals, ...]
    shuffles: int


class Shuffler:
    """The distinct numerators and denominators of some measures, and the product of them with the coins."""

    __slots__ = ("counts", "dtype", "measures", "places")

    def __init__(self, measures: Sequence[Many]) -> None:
        """Raises ValueError where the measures are none or differ in the number of systems or units."""
        if not measures:
            raise ValueError("no measure to compare by")
        shapes = {many.numerators.shape for many in measures}
        if len(shapes) > 1:
            raise ValueError(f"the measures have different systems or units: shapes {sorted(shapes)}")
        self.measures = tuple(measures)
        self.counts: list[Counts] = []
        self.places: list[tuple[int, int]] = []
        arrays: dict[bytes, int] = {}
        for many in measures:
            place = []
            for rows in (many.numerators, many.denominators):
                key = rows.tobytes()
                if key not in arrays:
                    arrays[key] = len(self.counts)
                    self.counts.append(Counts.of(rows))
                place.append(arrays[key])
            self.places.append((place[0], place[1]))
        # A pair's sum is the difference of two, so it needs one bit more.
        reach = 2 * max(int(counts.reach.max()) for counts in self.counts)
        self.dtype: np.dtype[np.floating[Any]] | None = None
        if reach < 2**24:
            self.dtype = np.dtype(np.float32)
        elif reach < 2**53:
            self.dtype = np.dtype(np.float64)

    def slices(self, shuffles: int, seed: int, stream: coins.Stream) -> Iterator[Slice]:
        """The signed sums of every shuffle, in order. Not for counts whose sums exceed 2^53, where `dtype` is None."""
        dtype = self.dtype or np.dtype(np.float64)
        systems, units = self.counts[0].rows.shape
        table = np.concatenate([counts.rows for counts in self.counts]).astype(dtype)
        differing: NDArray[np.bool_] = np.any(table != 0, axis=0)
        whole = table.sum(axis=1, dtype=np.float64).astype(dtype)[:, None]
        width = max(64, min(coins.CHUNK, SLICE // systems) // 8 * 8)
        height = max(1, SPREAD // (8 * width))
        for chunk, used in coins.chunks(shuffles):
            product = np.zeros((table.shape[0], used), dtype=dtype)
            for first, block in coins.blocks(units, seed, stream, chunk, used):
                for row in range(0, block.shape[0], height):
                    some = block[row : row + height]
                    start = 8 * (first + row)
                    here = np.flatnonzero(differing[start : start + 8 * some.shape[0]])
                    if not here.size:
                        continue
                    counts = table[:, start + here]
                    for left in range(0, used, width):
                        right = left + width
                        spread = np.unpackbits(some[:, left:right], axis=0, bitorder="little")
                        if here.size < spread.shape[0]:
                            spread = spread[here]
                        product[:, left:right] += counts @ spread.astype(dtype)
            product *= -2
            product += whole
            for left, right in _spans(used, width):
                part = product[:, left:right]
                sums = tuple(part[index * systems : (index + 1) * systems] for index in range(len(self.counts)))
                yield Slice(sums, int(part.shape[1]))


def count(
    measures: Sequence[Many],
    shuffles: int,
    seed: int,
    stream: coins.Stream,
    sides: Sides,
    tick: Callable[[int], None] | None = None,
) -> Integers:
    """nge of every pair of systems by every measure, of shape (measures, systems, systems); see
    `randomization.all_pairs`."""
    check_sides(sides)
    shuffler = Shuffler(measures)
    systems = measures[0].systems
    nge = np.zeros((len(measures), systems, systems), dtype=np.int64)
    if shuffler.dtype is None:
        _count_by_pairs(measures, shuffles, seed, stream, sides, nge, tick)
    else:
        questions = [_Question(shuffler, index, sides) for index in range(len(measures))]

        def counted(part: Slice) -> tuple[Integers, int]:
            found = np.zeros_like(nge)
            for a in range(systems - 1):
                # Measures often share their numerators, so a difference is taken once for all of them.
                differences: dict[int, Reals] = {}
                for index, question in enumerate(questions):
                    question.count(a, part, differences, found[index])
            return found, part.shuffles

        done = 0
        for found, used in _in_threads(counted, shuffler.slices(shuffles, seed, stream)):
            nge += found
            done += used
            if tick is not None:
                tick(done)
    if sides == "two-sided":
        nge += nge.transpose(0, 2, 1)
    nge[:, np.arange(systems), np.arange(systems)] = shuffles
    return nge


class _Question:
    """What the pairs must reach by one measure, as numbers for all pairs (a, b > a) of a system a at once.

    Divided by S_D and by the scale of the numerators, the question of `Extreme` reads |u − ρ·v| + κ·v² ≥ κ·S_D², where
    ρ = S_N / S_D and κ = |L| / (S_D·(S_D² − v₀²)); one-sided without the bars. `lows` and `highs` are the ends of the
    band around κ·S_D² within which rounding could decide; all are lists of arrays of shape (systems − 1 − a, 1).
    """

    __slots__ = ("curves", "denominators", "flat", "highs", "lows", "many", "numerators", "scales", "slopes", "totals",
                 "two_sided")  # fmt: skip

    def __init__(self, shuffler: Shuffler, index: int, sides: Sides) -> None:
        self.many = shuffler.measures[index]
        self.two_sided = sides == "two-sided"
        self.numerators, self.denominators = shuffler.places[index]
        top, bottom = shuffler.counts[self.numerators], shuffler.counts[self.denominators]
        self.scales = (top.scale, bottom.scale)
        self.flat = not bottom.rows.any()
        self.totals = [
            (int(numerator.sum()), int(denominator.sum()), int(np.abs(numerator).sum()))
            for numerator, denominator in zip(self.many.numerators, self.many.denominators, strict=True)
        ]
        dtype = shuffler.dtype or np.dtype(np.float64)
        has = (self.many.denominators > 0).astype(np.float64)
        # Where no unit has a denominator in both systems, one of the two may be left without any.
        may_lack = has @ has.T == 0
        self.slopes: list[Reals] = []
        self.curves: list[Reals] = []
        self.lows: list[Reals] = []
        self.highs: list[Reals] = []
        for a in range(self.many.systems - 1):
            pairs = [(a, b) for b in range(a + 1, self.many.systems)]
            if self.flat:
                rows = [self._flat(self.extreme(a, b), top.scale) for a, b in pairs]
            else:
                rows = [
                    self._curved(
                        self.extreme(a, b),
                        float(top.reach[a] + top.reach[b]),
                        float(bottom.reach[a] + bottom.reach[b]),
                        float(np.finfo(dtype).eps),
                        bool(may_lack[a, b]),
                    )
                    for a, b in pairs
                ]
            for column, values in zip(
                (self.slopes, self.curves, self.lows, self.highs), zip(*rows, strict=True), strict=True
            ):
                column.append(np.array(values, dtype=dtype)[:, None])

    def extreme(self, a: int, b: int) -> Extreme:
        """What was observed for two systems."""
        (top_a, bottom_a, reach_a), (top_b, bottom_b, reach_b) = self.totals[a], self.totals[b]
        return Extreme(
            numerators=top_a + top_b,
            denominators=bottom_a + bottom_b,
            u=top_a - top_b,
            v=bottom_a - bottom_b,
            reach=reach_a + reach_b,
            flat=self.flat,
            slack=self.many.slack,
            two_sided=self.two_sided,
        )

    def count(self, a: int, part: Slice, differences: dict[int, Reals], nge: Integers) -> None:
        """Adds the shuffles of one slice to nge, of shape (systems, systems): above the diagonal, and below if one-
        sided, for the pairs of system a and those after it. `differences` keeps the sums less those of the others.
        """
        for place in (self.numerators, self.denominators):
            if place not in differences:
                differences[place] = part.sums[place][a] - part.sums[place][a + 1 :]
        if self.flat:
            self._count_flat(a, differences[self.numerators], nge)
        else:
            self._count_curved(a, differences[self.numerators], differences[self.denominators], nge)

    def _flat(self, seen: Extreme, scale: int) -> tuple[float, float, float, float]:
        """No slope and no curve: u must reach the high bound, or one-sided fall to the low one to favour the other."""
        if self.two_sided:
            bound = -(-(abs(seen.u) - seen.slack) // scale)
            return 0.0, 0.0, float(bound), float(bound)
        return 0.0, 0.0, float((seen.u + seen.slack) // scale), float(-(-(seen.u - seen.slack) // scale))

    def _curved(
        self, seen: Extreme, u_reach: float, v_reach: float, eps: float, may_lack: bool
    ) -> tuple[float, float, float, float]:
        """ρ, κ and the band."""
        top_scale, bottom_scale = self.scales
        slope = seen.numerators * bottom_scale / (seen.denominators * top_scale)
        if self.two_sided and seen.sign == 0:
            return slope, 0.0, -np.inf, -np.inf
        cross = seen.u * seen.denominators - seen.v * seen.numerators
        square = seen.denominators**2 - seen.v**2
        if self.two_sided:
            cross = abs(cross)
        curve = cross * bottom_scale**2 / (seen.denominators * square * top_scale)
        if may_lack:
            return slope, curve, -np.inf, np.inf
        bound = cross * seen.denominators / (square * top_scale)
        # No number that occurs is larger than this, and fewer than ten roundings of half an eps each happen to it.
        band = 6 * eps * (u_reach + abs(slope) * v_reach + abs(curve) * v_reach**2 + abs(bound)) + _TINY
        return slope, curve, bound - band, bound + band

    def _count_flat(self, a: int, u: Reals, nge: Integers) -> None:
        if self.two_sided:
            nge[a, a + 1 :] += _ones(np.abs(u) >= self.highs[a])
        else:
            nge[a, a + 1 :] += _ones(u >= self.highs[a])
            nge[a + 1 :, a] += _ones(u <= self.lows[a])

    def _count_curved(self, a: int, u: Reals, v: Reals, nge: Integers) -> None:
        distance = v * self.slopes[a]
        np.subtract(u, distance, out=distance)
        if self.two_sided:
            np.abs(distance, out=distance)
        curved = v * v
        curved *= self.curves[a]
        distance += curved
        sure = distance >= self.highs[a]
        not_below = distance >= self.lows[a]
        counted = _ones(sure)
        nge[a, a + 1 :] += counted
        # Rounding leaves hardly any shuffle in doubt, and one count of all tells whether it does.
        if self.two_sided and int(counted.sum()) == int(np.count_nonzero(not_below)):
            return
        possible = _ones(not_below)
        if not self.two_sided:
            nge[a + 1 :, a] += u.shape[1] - possible
        for row in np.flatnonzero(counted != possible).tolist():
            b = a + 1 + row
            doubtful = np.flatnonzero(not_below[row] & ~sure[row])
            exact_u = self.scales[0] * u[row, doubtful].astype(np.int64)
            exact_v = self.scales[1] * v[row, doubtful].astype(np.int64)
            nge[a, b] += int(np.count_nonzero(self.extreme(a, b).contains(exact_u, exact_v)))
            if not self.two_sided:
                nge[b, a] += int(np.count_nonzero(self.extreme(b, a).contains(-exact_u, -exact_v)))


def _in_threads(
    work: Callable[[Slice], tuple[Integers, int]], parts: Iterator[Slice]
) -> Iterator[tuple[Integers, int]]:
    """The work on each part, in order, a few parts at a time; counts do not depend on who counted them."""
    with ThreadPoolExecutor(THREADS) as pool:
        waiting: deque[Future[tuple[Integers, int]]] = deque()
        for part in parts:
            waiting.append(pool.submit(work, part))
            if len(waiting) > 2 * THREADS:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _ones(answers: NDArray[np.bool_]) -> Integers:
    """How many are true in each row. Eight at once where rows are whole words, since a true byte has one bit."""
    bytes_ = np.bitwise_count(answers.view(np.uint64)) if answers.shape[1] % 8 == 0 else answers.view(np.uint8)
    ones: Integers = np.add.reduce(bytes_, axis=1, dtype=np.int64)
    return ones


def _spans(used: int, width: int) -> Iterator[tuple[int, int]]:
    """Where slices begin and end: whole words as far as there are some, then what is left."""
    whole = used // 8 * 8
    for left in range(0, whole, width):
        yield left, min(left + width, whole)
    if whole < used:
        yield whole, used


def _count_by_pairs(
    measures: Sequence[Many],
    shuffles: int,
    seed: int,
    stream: coins.Stream,
    sides: Sides,
    nge: Integers,
    tick: Callable[[int], None] | None,
) -> None:
    """The same for counts too large for a product: pair by pair, with the same coins."""
    systems = measures[0].systems
    pairs = [(a, b) for a in range(systems) for b in range(systems) if a < b or (a != b and sides == "one-sided")]
    for index, many in enumerate(measures):
        for a, b in pairs:
            paired = many.pair(a, b)
            seen = Extreme.of(paired, sides)
            sums = lookup.Sums.of(*paired.differences())
            for numerator, denominator in lookup.shuffled(sums, shuffles, seed, stream):
                u, v = seen.u - 2 * numerator, seen.v - 2 * denominator
                nge[index, a, b] += int(np.count_nonzero(seen.contains(u, v)))
        if tick is not None:
            tick(shuffles * (index + 1) // len(measures))
