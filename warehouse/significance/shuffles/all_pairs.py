"""Shuffling all pairs of systems at once.

A pair's sums after an exchange are differences of two rows of the systems' signed sums, so the sums over units are
computed once for each system and not for each pair. Whether a shuffle is extreme is decided in floating point outside a
band of rounding errors, and exactly inside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers
from evalhouse.warehouse.significance.draws import ALONE, Draws, Sides, Work, check_sides, in_order
from evalhouse.warehouse.significance.extreme import Extreme, fraction
from evalhouse.warehouse.significance.shuffles import coins, randomization
from evalhouse.warehouse.significance.shuffles.coins import Reals, Shuffler, Slice
from evalhouse.warehouse.significance.sums import Sums

_TINY = 1e-30
"""The least width of the band, so that it is never empty even if all numbers are 0."""

_SMALL = 2**29
"""If sums are below this, products of two of them fit into int64."""


def all_pairs_test(measures: Sequence[Sums], draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Integers:
    """Approximate randomization of every pair of systems for one or more measures over the same shuffles.

    Returns nge, of shape (measures, systems, systems): entry [m, a, b] compares system a, as the first, with system b;
    the diagonal is the number of shuffles. p is (nge + 1) / (shuffles + 1) (Chinchor 1992, table 2). The shuffles are
    those of `randomization_test`: common coins, except for pairs with few distinct differences, which have draws of
    their own. Raises ValueError if the measures do not have the same number of systems and units.
    """
    check_sides(sides)
    if len({many.numerators.shape for many in measures}) != 1:
        raise ValueError("no measure to compare by, or measures that have different systems or units")
    by_themselves = [pairs_by_themselves(many) for many in measures]
    shared = [index for index, pairs in enumerate(by_themselves) if len(pairs) < comb(measures[index].systems, 2)]
    systems = measures[0].systems
    nge = np.zeros((len(measures), systems, systems), dtype=np.int64)
    if shared:
        part = work.part(0, len(measures), len(shared))
        nge[shared] = _by_common_coins([measures[index] for index in shared], draws, sides, part)
    for index, pairs in enumerate(by_themselves):
        draw_by_themselves(measures[index], pairs, draws, sides, nge[index])
    nge[:, np.arange(systems), np.arange(systems)] = draws.shuffles
    return nge


def _nge(paired: Sums, draws: Draws, sides: Sides) -> int:
    outcome = randomization.randomization_test(paired, draws, sides)
    return outcome.nge or 0


def draw_by_themselves(many: Sums, pairs: Sequence[tuple[int, int]], draws: Draws, sides: Sides, nge: Integers) -> None:
    """Sets nge, of shape (systems, systems), for pairs with draws of their own."""
    for a, b in pairs:
        nge[a, b] = nge[b, a] = _nge(many.pair(a, b), draws, sides)
        if sides == "one-sided":
            nge[b, a] = _nge(many.pair(b, a), draws, sides)


def pairs_by_themselves(many: Sums) -> list[tuple[int, int]]:
    """The pairs with so few distinct differences that they have draws of their own."""
    if many.units < randomization.GROUPED_UNITS:
        return []
    return [
        (a, b)
        for a, b in combinations(range(many.systems), 2)
        if randomization.few_distinct(many.pair(a, b)) is not None
    ]


def _by_common_coins(measures: Sequence[Sums], draws: Draws, sides: Sides, work: Work) -> Integers:
    """The same with the common coins."""
    shuffler = Shuffler([(many.numerators, many.denominators) for many in measures])
    systems = measures[0].systems
    nge = np.zeros((len(measures), systems, systems), dtype=np.int64)
    if shuffler.dtype is None:
        _count_by_pairs(measures, draws, sides, nge, work)
    else:
        bounds = [_PairBounds(shuffler, index, many, sides) for index, many in enumerate(measures)]

        def counted(part: Slice) -> tuple[Integers, int]:
            workspace, nge_here = _Workspace(part), np.zeros_like(nge)
            for a in range(systems - 1):
                workspace.take(a)
                for index, bound in enumerate(bounds):
                    bound.count(workspace, nge_here[index])
            return nge_here, part.shuffles

        done = 0
        for nge_here, shuffles in in_order(counted, shuffler.slices(draws), work.threads):
            nge += nge_here
            done += shuffles
            work.progress(done / draws.shuffles)
    if sides == "two-sided":
        nge += nge.transpose(0, 2, 1)
    return nge


class _Workspace:
    """The memory in which the pairs of one system after another are computed for one slice; it is allocated once.

    Allocating memory for every step would cost more than the steps themselves.
    """

    def __init__(self, part: Slice) -> None:
        systems, shuffles = part.sums[0].shape
        size = max(systems - 1, 1) * shuffles
        self._part = part
        self._differences = np.empty((len(part.sums), size), dtype=part.sums[0].dtype)
        self._reals = np.empty((2, size), dtype=part.sums[0].dtype)
        self._answers = np.empty((2, size), dtype=np.bool_)
        self._taken: dict[int, Reals] = {}
        self.system = 0

    def take(self, system: int) -> None:
        """Go on with the pairs of this system and those after it."""
        self.system = system
        self._taken = {}

    def difference(self, place: int) -> Reals:
        """The system's sums minus those of the systems after it, computed once for all measures that share them; of
        shape (systems after it, shuffles).
        """
        if place not in self._taken:
            sums = self._part.sums[place]
            self._taken[place] = np.subtract(
                sums[self.system], sums[self.system + 1 :], out=self._shape(self._differences[place])
            )
        return self._taken[place]

    def real(self, place: int) -> Reals:
        """Memory for floating-point numbers, of the same shape."""
        return self._shape(self._reals[place])

    def answers(self, place: int) -> Booleans:
        """Memory for booleans, of the same shape."""
        return self._shape(self._answers[place])

    def _shape(self, memory: NDArray[Any]) -> NDArray[Any]:
        systems, shuffles = self._part.sums[0].shape
        after = systems - 1 - self.system
        return memory[: after * shuffles].reshape(after, shuffles)


class _PairBounds:
    """The bounds that the pairs must reach in one measure, for all pairs (a, b > a) of a system a at once.

    Divided by S_D and by the scale of the numerators, the inequality of `Extreme` reads |u − ρ·v| + κ·v² ≥ κ·S_D²,
    where ρ = S_N / S_D and κ = |L| / (S_D·(S_D² − v₀²)); one-sided it has no absolute value. `lows` and `highs` are the
    ends of the band around κ·S_D² within which rounding could decide; all are lists of arrays of shape (systems − 1 −
    a, 1).
    """

    def __init__(self, shuffler: Shuffler, index: int, many: Sums, sides: Sides) -> None:
        self.many = many
        self.two_sided = sides == "two-sided"
        self.numerators, self.denominators = shuffler.places[index]
        top, bottom = shuffler.counts[self.numerators], shuffler.counts[self.denominators]
        self.scales = (top.scale, bottom.scale)
        self.flat = not bottom.rows.any()
        self.observed = _ObservedPairs.of(self.many)
        first, second = self.observed.pairs
        if self.flat:
            slopes, curves, lows, highs = self._flat(top.scale)
        else:
            dtype = shuffler.dtype or np.dtype(np.float64)
            u_reach, v_reach = (
                (counts.reach[first] + counts.reach[second]).astype(np.float64) for counts in (top, bottom)
            )
            slopes, curves, lows, highs = self._curve(u_reach, v_reach, float(np.finfo(dtype).eps))
        ends = np.cumsum(np.arange(self.many.systems - 1, 0, -1))[:-1]
        self.slopes, self.curves, self.lows, self.highs = (
            [part.astype(shuffler.dtype or np.float64)[:, None] for part in np.split(column, ends)]
            for column in (slopes, curves, lows, highs)
        )

    def count(self, workspace: _Workspace, nge: Integers) -> None:
        """Adds the shuffles of one slice to nge, of shape (systems, systems): above the diagonal, and below if one-
        sided, for the pairs of the workspace's system and those after it.
        """
        if self.flat:
            self._count_flat(workspace, nge)
        else:
            self._count_curved(workspace, nge)

    def _flat(self, scale: int) -> tuple[Floats, Floats, Floats, Floats]:
        """The bounds with ρ = κ = 0: u must reach the high bound; one-sided, it favours the second system if it falls
        to the low one.
        """
        u, slack = self.observed.u, self.many.slack
        if self.two_sided:
            lows = highs = -(-(np.abs(u) - slack) // scale)
        else:
            lows, highs = (u + slack) // scale, -(-(u - slack) // scale)
        none = np.zeros(u.shape)
        return none, none, lows.astype(np.float64), highs.astype(np.float64)

    def _curve(self, u_reach: Floats, v_reach: Floats, eps: float) -> tuple[Floats, Floats, Floats, Floats]:
        """ρ, κ and the band."""
        top_scale, bottom_scale = self.scales
        observed, total = self.observed, self.observed.denominators
        slope = _quotient(observed.numerators * bottom_scale, total * top_scale)
        cross = observed.u * total - observed.v * observed.numerators
        same = np.asarray(cross == 0)
        if self.two_sided:
            cross = np.abs(cross)
        share = _quotient(cross, total * total - observed.v * observed.v)
        curve = share * bottom_scale**2 / _quotient(total * top_scale, 1)
        bound = share * _quotient(total, top_scale)
        # No intermediate number is larger than this, and it is rounded fewer than fourteen times, by half an eps each.
        band = 8 * eps * (u_reach + np.abs(slope) * v_reach + np.abs(curve) * v_reach**2 + np.abs(bound)) + _TINY
        lows, highs = bound - band, bound + band
        lows[observed.may_lack], highs[observed.may_lack] = -np.inf, np.inf
        if self.two_sided:
            # If the systems do not differ, every shuffle is at least as extreme.
            curve[same], lows[same], highs[same] = 0.0, -np.inf, -np.inf
        return slope, curve, lows, highs

    def _count_flat(self, workspace: _Workspace, nge: Integers) -> None:
        a, u, answers = workspace.system, workspace.difference(self.numerators), workspace.answers(0)
        if self.two_sided:
            size = np.abs(u, out=workspace.real(0))
            nge[a, a + 1 :] += _ones(np.greater_equal(size, self.highs[a], out=answers))
        else:
            nge[a, a + 1 :] += _ones(np.greater_equal(u, self.highs[a], out=answers))
            nge[a + 1 :, a] += _ones(np.less_equal(u, self.lows[a], out=answers))

    def _count_curved(self, workspace: _Workspace, nge: Integers) -> None:
        a, u, v = workspace.system, workspace.difference(self.numerators), workspace.difference(self.denominators)
        distance = np.multiply(v, self.slopes[a], out=workspace.real(0))
        np.subtract(u, distance, out=distance)
        if self.two_sided:
            np.abs(distance, out=distance)
        curved = np.multiply(v, v, out=workspace.real(1))
        curved *= self.curves[a]
        distance += curved
        sure = np.greater_equal(distance, self.highs[a], out=workspace.answers(0))
        not_below = np.greater_equal(distance, self.lows[a], out=workspace.answers(1))
        counted = _ones(sure)
        nge[a, a + 1 :] += counted
        # Rounding leaves hardly any shuffle undecided, and a single count shows whether there is one.
        if self.two_sided and int(counted.sum()) == int(np.count_nonzero(not_below)):
            return
        possible = _ones(not_below)
        if not self.two_sided:
            nge[a + 1 :, a] += u.shape[1] - possible
        doubtful = np.flatnonzero(sure != not_below)
        rows = doubtful // u.shape[1]
        exact_u = self.scales[0] * u.reshape(-1)[doubtful].astype(np.int64)
        exact_v = self.scales[1] * v.reshape(-1)[doubtful].astype(np.int64)
        reached, other = self.observed.decide(a, rows, exact_u, exact_v, self.many, self.two_sided)
        nge[a, a + 1 :] += np.bincount(rows[reached], minlength=u.shape[0])
        if not self.two_sided:
            nge[a + 1 :, a] += np.bincount(rows[other], minlength=u.shape[0])


class _ObservedPairs(Struct, frozen=True, eq=False):
    """The observed values of all pairs (a, b > a), those of system 0 first, as integers of any size.

    u, v, S_N and S_D are as in `Extreme`, and `parts` has L, K, a and b of `fraction`. `fits` says for which pairs all
    of these fit into int64. `may_lack` marks pairs for which an exchange may leave one system with a denominator of 0.
    """

    pairs: tuple[Integers, Integers]
    u: Integers
    v: Integers
    numerators: Integers
    denominators: Integers
    parts: tuple[Integers, Integers, Integers, Integers]
    fits: Booleans
    may_lack: Booleans

    @classmethod
    def of(cls, many: Sums) -> _ObservedPairs:
        """The pairs of a measure."""
        tops, bottoms = many.numerators.sum(axis=1), many.denominators.sum(axis=1)
        reach = np.abs(many.numerators).sum(axis=1)
        if int(reach.max(initial=0)) >= _SMALL or int(bottoms.max(initial=0)) >= _SMALL:
            # Python integers are slower but not limited in size.
            tops, bottoms, reach = (sums.astype(object) for sums in (tops, bottoms, reach))
        first, second = np.triu_indices(many.systems, 1)
        u, v = tops[first] - tops[second], bottoms[first] - bottoms[second]
        numerators, denominators = tops[first] + tops[second], bottoms[first] + bottoms[second]
        cross, square, a, b = fraction(numerators, denominators, u, v, np.gcd)
        largest = ((reach[first] + reach[second]) * a).astype(np.float64) + (denominators * np.abs(b)).astype(
            np.float64
        )
        left = largest * square.astype(np.float64)
        right = np.abs(cross).astype(np.float64) * denominators.astype(np.float64) ** 2
        has = (many.denominators > 0).astype(np.float32)
        # If no unit has a nonzero denominator in both systems, one of the two may be left with a denominator of 0.
        may_lack = (has @ has.T == 0)[first, second]
        fits = (np.maximum(left, right) < 2.0**62) & ~may_lack & (u.dtype != object)
        return cls((first, second), u, v, numerators, denominators, (cross, square, a, b), fits, may_lack)

    def decide(
        self, system: int, rows: Integers, u: Integers, v: Integers, many: Sums, two_sided: bool
    ) -> tuple[Booleans, Booleans]:
        """Decides exactly which exchanges are at least as extreme as observed; one-sided also which are extreme in
        favour of the second system of the pair.

        `rows` has the pair of each exchange, counted from (system, system + 1).
        """
        start = int(np.searchsorted(self.pairs[0], system))
        places = start + rows
        cross, square, a, b = (part[places] for part in self.parts)
        total = self.denominators[places]
        left, right = u * a - v * b, cross * (total * total - v * v)
        if two_sided:
            left, right = np.abs(left), np.abs(right)
        left = left * square
        reached, other = np.asarray(left >= right), np.asarray(left <= right)
        # There are rarely any. numpy.unique would import masked arrays, which takes a twentieth of the time of a short
        # comparison.
        for row in np.flatnonzero(np.bincount(rows[~self.fits[places]])).tolist():
            here = rows == row
            sides: Sides = "two-sided" if two_sided else "one-sided"
            second = system + 1 + row
            reached[here] = Extreme.of(many.pair(system, second), sides).contains(u[here], v[here])
            if not two_sided:
                other[here] = Extreme.of(many.pair(second, system), sides).contains(-u[here], -v[here])
        return reached, other


def _quotient(over: Integers, under: Integers | int) -> Floats:
    """A quotient in floating point; the integers may exceed int64."""
    return np.asarray(over / under, dtype=np.float64)


def _ones(answers: Booleans) -> Integers:
    """The number of true values in each row. If a row is made of whole words, eight bytes are counted at once, since a
    true byte has one bit set.
    """
    bytes_ = np.bitwise_count(answers.view(np.uint64)) if answers.shape[1] % 8 == 0 else answers.view(np.uint8)
    ones: Integers = np.add.reduce(bytes_, axis=1, dtype=np.int64)
    return ones


def _count_by_pairs(measures: Sequence[Sums], draws: Draws, sides: Sides, nge: Integers, work: Work) -> None:
    """The same for counts that are too large for the matrix product: pair by pair, with the same coins."""
    systems = measures[0].systems
    pairs = [(a, b) for a in range(systems) for b in range(systems) if a < b or (a != b and sides == "one-sided")]
    for index, many in enumerate(measures):
        for a, b in pairs:
            paired = many.pair(a, b)
            extreme = Extreme.of(paired, sides)
            for numerator, denominator in coins.sums_over_exchanged(paired.differences(), draws):
                u, v = extreme.u - 2 * numerator, extreme.v - 2 * denominator
                nge[index, a, b] += int(np.count_nonzero(extreme.contains(u, v)))
        work.progress((index + 1) / len(measures))
