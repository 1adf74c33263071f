"""Areas under the ROC curves of systems on the same documents, and the quantities that tests of two areas need.

The area is the probability that a relevant document has a higher confidence than a nonrelevant one, with ties counting
one half (Hanley and McNeil 1982). Only the order of a system's confidences matters, except when confidences are
exchanged between systems.

Let ψ(x, y) be 1 if x > y, ½ if they are equal and 0 otherwise, and let a and b be the confidences of two systems. Coins
ε = ±1 decide which documents are exchanged. Products of two coins cancel in the difference of the two areas, and

    δ = Σ ε·w / 2mn,  over m relevant documents p and n nonrelevant documents q, with
    w_p = Σ_q ψ(a_p, a_q) + ψ(a_p, b_q) − ψ(b_p, a_q) − ψ(b_p, b_q)
    w_q = Σ_p ψ(a_p, a_q) − ψ(a_p, b_q) + ψ(b_p, a_q) − ψ(b_p, b_q)

is linear in the coins (Bandos, Rockette and Gur 2005). So exchanges of confidences are counted or drawn like exchanges
of integers, and documents need not be ranked again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from math import sqrt
from statistics import NormalDist

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers
from evalhouse.warehouse.significance.bootstrap.interval_kinds import ConfidenceLimits, IntervalPlan
from evalhouse.warehouse.significance.distributions import normal_tail
from evalhouse.warehouse.significance.draws import Outcome, Sides, check_sides
from evalhouse.warehouse.significance.sums import Sums

LEAST = 15
"""The standard error needs at least this many documents of each kind. With fewer of one kind and many of the other,
DeLong's test rejects more than 7% of true hypotheses at the level 0.05 (benchmarks/delong.py).
"""


class Sorted(Struct, frozen=True, eq=False):
    """The confidences of a system on documents of one kind in ascending order, and their original positions."""

    values: Floats
    order: NDArray[np.intp]

    def twice_below(self, others: Sorted) -> Integers:
        """For each value, in the original positions, twice the number of `others` below it; ties count half."""
        found = np.searchsorted(others.values, self.values, "left") + np.searchsorted(
            others.values, self.values, "right"
        )
        placed = np.empty(self.values.size, dtype=np.int64)
        placed[self.order] = found
        return placed

    def twice_above(self, others: Sorted) -> Integers:
        """For each value, in the original positions, twice the number of `others` above it; ties count half."""
        return 2 * others.values.size - self.twice_below(others)


class Ranked(Struct, frozen=True, eq=False, dict=True):
    """The confidences of systems on relevant and nonrelevant documents, of shape (systems, documents), NaN where a
    system has none. `cluster` is the exchange unit of each document, numbered from 0.

    Raises ValueError if the shapes do not fit together.
    """

    confidences: Floats
    relevant: Booleans
    cluster: NDArray[np.intp]

    def __post_init__(self) -> None:
        documents = self.confidences.shape[1:]
        if documents != self.relevant.shape or documents != self.cluster.shape:
            raise ValueError(
                f"confidences, labels and units have the shapes {self.confidences.shape}, {self.relevant.shape} and "
                f"{self.cluster.shape}"
            )

    @property
    def orders(self) -> int:
        """The number of pairs of one relevant and one nonrelevant document."""
        relevant = int(np.count_nonzero(self.relevant))
        return relevant * (self.relevant.size - relevant)

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.cluster.max(initial=-1)) + 1

    @property
    def one_by_one(self) -> bool:
        """Whether each document is an exchange unit of its own."""
        return self.units == self.relevant.size

    def only(self, systems: NDArray[np.intp]) -> Ranked:
        """The same documents with only these systems."""
        return replace(self, confidences=self.confidences[systems])

    def area(self, system: int) -> Fraction | None:
        """The area of a system; None if there is no relevant or no nonrelevant document, or if a confidence is
        missing.
        """
        if not self.orders or np.isnan(self.confidences[system]).any():
            return None
        above, below = self._sorted_confidences[system]
        return Fraction(int(above.twice_below(below).sum()), 2 * self.orders)

    def exchanges(self, a: int, b: int) -> Sums:
        """The exchange of confidences of two systems as paired counts: the first system has 2·w in each exchange unit
        and the second has 0. The difference of the areas is the difference of the sums, divided by 4mn.
        """
        weights = np.zeros(self.relevant.size, dtype=np.int64)
        for own, sign in ((a, 1), (b, -1)):
            above, below = self._sorted_confidences[own]
            for beside in (a, b):
                above_beside, below_beside = self._sorted_confidences[beside]
                weights[self.relevant] += sign * above.twice_below(below_beside)
                weights[~self.relevant] += sign * below.twice_above(above_beside)
        summed = weights
        if not self.one_by_one:
            summed = np.zeros(self.units, dtype=np.int64)
            np.add.at(summed, self.cluster, weights)
        ones = np.ones_like(summed)
        return Sums.of_two(summed, ones, np.zeros_like(summed), ones)

    def of_two(self, a: int, b: int) -> TwoAreas:
        """The contribution of each document to the difference of the areas of two systems."""
        (above_a, below_a), (above_b, below_b) = self._sorted_confidences[a], self._sorted_confidences[b]
        return TwoAreas(
            above_a.twice_below(below_a) - above_b.twice_below(below_b),
            below_a.twice_above(above_a) - below_b.twice_above(above_b),
        )

    def differing(self, a: int, b: int) -> int:
        """The number of exchange units in which the confidences of two systems differ."""
        return int(np.unique(self.cluster[self.confidences[a] != self.confidences[b]]).size)

    def alike(self, a: int, b: int) -> bool:
        """Whether the confidences of two systems seem to be on one scale: the overlap of their central 90% ranges is at
        least half of the wider range.
        """
        (low_a, high_a), (low_b, high_b) = (np.quantile(self.confidences[system], (0.05, 0.95)) for system in (a, b))
        common = min(high_a, high_b) - max(low_a, low_b)
        return bool(common >= 0.5 * max(high_a - low_a, high_b - low_b))

    @cached_property
    def _sorted_confidences(self) -> list[tuple[Sorted, Sorted]]:
        """For each system its sorted confidences on relevant and on nonrelevant documents."""
        sides = ((own[self.relevant], own[~self.relevant]) for own in self.confidences)
        orders = (((above, np.argsort(above)), (below, np.argsort(below))) for above, below in sides)
        return [(Sorted(above[i], i), Sorted(below[j], j)) for (above, i), (below, j) in orders]


class TwoAreas(Struct, frozen=True, eq=False):
    """The difference of two areas by document. For each of m relevant documents it is how many more nonrelevant
    documents the first system ranks below it than the second does, of shape (m,). For each of n nonrelevant documents
    it is how many more relevant documents rank above it, of shape (n,). All counts are doubled, so that ties are
    integers.
    """

    relevant: Integers
    nonrelevant: Integers

    @property
    def difference(self) -> float:
        """The first area minus the second."""
        return int(self.relevant.sum()) / (2 * self.relevant.size * self.nonrelevant.size)

    @property
    def enough(self) -> bool:
        """Whether there are enough documents for a standard error."""
        return min(self.relevant.size, self.nonrelevant.size) >= LEAST

    @property
    def variance(self) -> float:
        """The variance of the difference, S10 / m + S01 / n (DeLong, DeLong and Clarke-Pearson 1988). It needs at least
        two documents of each kind.
        """
        m, n = self.relevant.size, self.nonrelevant.size
        return float(np.var(self.relevant / (2 * n), ddof=1) / m + np.var(self.nonrelevant / (2 * m), ddof=1) / n)


def one_area(above: Floats, below: Floats, level: float) -> tuple[float, float, float] | None:
    """The area for the confidences of relevant and of nonrelevant documents, with its lower and upper confidence limit.
    The limits use the standard error of DeLong, DeLong and Clarke-Pearson (1988) and the normal distribution, and lie
    within [0, 1].

    The limits are NaN with fewer than LEAST documents of one kind, and if the variance is 0, as for an area of 1.
    Returns None if there is no relevant or no nonrelevant document.
    """
    m, n = above.size, below.size
    if not m or not n:
        return None
    high, low = (Sorted(np.sort(side), np.arange(side.size)) for side in (above, below))
    relevant, nonrelevant = high.twice_below(low), low.twice_above(high)
    area = int(relevant.sum()) / (2 * m * n)
    if min(m, n) < LEAST:
        return area, np.nan, np.nan
    variance = np.var(relevant / (2 * n), ddof=1) / m + np.var(nonrelevant / (2 * m), ddof=1) / n
    if not variance:
        return area, np.nan, np.nan
    half = reach(1 - level) * sqrt(variance)
    return area, max(area - half, 0.0), min(area + half, 1.0)


def delong(areas: TwoAreas, sides: Sides = "two-sided") -> Outcome:
    """The test of two areas on the same documents (DeLong, DeLong and Clarke-Pearson 1988); the statistic is z.

    If both systems rank all documents in the same way, p is 1. Raises ValueError if the areas differ but their
    difference has no variance, and for fewer than LEAST documents of one kind.
    """
    check_sides(sides)
    if not areas.enough:
        m, n = areas.relevant.size, areas.nonrelevant.size
        raise ValueError(f"it needs {LEAST} relevant and {LEAST} nonrelevant documents, and there are {m} and {n}")
    variance = areas.variance
    if not areas.relevant.any() and not areas.nonrelevant.any():
        return Outcome(1.0, "analytic", statistic=0.0)
    if not variance:
        raise ValueError("the difference is the same on every document, so it has no standard error")
    z = areas.difference / sqrt(variance)
    return Outcome(normal_tail(z) if sides == "one-sided" else 2 * normal_tail(abs(z)), "analytic", statistic=z)


def area_intervals(ranked: Ranked, pairs: Sequence[tuple[int, int]], plan: IntervalPlan) -> ConfidenceLimits:
    """The confidence intervals of differences of areas, from their standard errors and the normal distribution (DeLong,
    DeLong and Clarke-Pearson 1988). For any family of pairs the level is divided among its members.

    Limits are NaN if the variance is 0. If there are too few documents of one kind, or if documents are exchanged in
    clusters, the standard error is NaN too.
    """
    share = plan.level if plan.family == "each" else plan.level / (plan.among or len(pairs))
    reached = reach(1 - share if plan.bounds == "both" else 1 - 2 * share)
    values, errors = np.full((2, len(pairs)), np.nan)
    for place, pair in enumerate(pairs):
        two = ranked.of_two(*pair)
        if ranked.one_by_one and two.enough:
            values[place], errors[place] = two.difference, sqrt(two.variance)
    half = np.where(errors > 0, reached * errors, np.nan)
    none, nothing = np.full(len(pairs), np.nan), np.zeros(len(pairs), dtype=np.int64)
    low = none if plan.bounds == "upper" else values - half
    high = none if plan.bounds == "lower" else values + half
    return ConfidenceLimits(low, high, errors, nothing, nothing, nothing.astype(np.bool_), 0)


def reach(level: float) -> float:
    """The number of standard errors to either side within which a normal variable stays with probability `level`."""
    return NormalDist().inv_cdf((1 + level) / 2)
