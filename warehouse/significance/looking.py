"""Looking more than once at two systems while units come: an e-value that holds at every look, and a plan of looks.

Both rest on the exchange that randomization rests on. If the systems' tuples are exchangeable, then in each unit a fair
coin decides which of the two tuples is whose, whatever came before. `looks_at_any_time` bets on these coins and reports
the most that the bets ever were worth (de la Peña 1999; Howard, Ramdas, McAuliffe and Sekhon 2021). `look_by_plan`
shuffles the units that have come at each look, and spends the level over the looks (Lan and DeMets 1983).

Units stand in the order in which they came. What is found of the first units depends on them alone, so units that come
later change nothing of it. This module must not know what units, imports or measures are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np
from msgspec import Struct

from evalhouse.warehouse.significance.arrays import SUM_LIMIT, Booleans, Floats, Integers
from evalhouse.warehouse.significance.draws import ALONE, Draws, Sides, Work, check_sides
from evalhouse.warehouse.significance.extreme import Extreme
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.spending import Spending
from evalhouse.warehouse.significance.sums import Sums

# === at any time ======================================================================================================

STAKES = tuple(2.0**power for power in range(-5, 1))
"""What is bet on each unit, in units of the usual size of a contribution: little for small differences, which take many
units to be seen, and much for large ones. Every stake begins with the same share of the capital.
"""

NOISE = 1e-13
"""Values of a function that differ by less than this share of them are equal but for rounding."""


class AtAnyTime(Struct, frozen=True):
    """The largest e-value so far, and after how many units it was reached; 1 and 0 where it never was above 1."""

    e_value: float
    reached: int

    @property
    def p(self) -> float:
        """The p that holds at every look (Ville 1939)."""
        return 1 / self.e_value


def looks_at_any_time(paired: Sums, sides: Sides = "two-sided") -> AtAnyTime:
    """The largest e-value of two systems over all numbers of units, from none to all."""
    check_sides(sides)
    capital = log_capital(contributions(paired), sides)
    most = int(np.argmax(capital)) if capital.size else 0
    if not capital.size or capital[most] <= 0:
        return AtAnyTime(1.0, 0)
    return AtAnyTime(float(np.exp(min(capital[most], 700.0))), most + 1)


def contributions(paired: Sums) -> Floats:
    """What each unit adds to the difference of two systems, at the value that both together have so far, of shape
    (units,). An exchange of the two tuples of a unit turns its sign, and changes nothing else.
    """
    return _of_ratio(paired) if paired.is_ratio else _of_function(paired)


def _of_ratio(paired: Sums) -> Floats:
    """N_A − R·D_A − (N_B − R·D_B), R being what both systems together have on the units before, or on the first that
    has a denominator, that unit's own.
    """
    over, under = paired.differences()
    both, weights = (column[0] + column[1] for column in (paired.numerators, paired.denominators))
    before, weight = np.cumsum(both) - both, np.cumsum(weights) - weights
    unknown = weight == 0
    before, weight = np.where(unknown, both, before), np.where(unknown, weights, weight)
    weight = np.where(weight == 0, 1, weight)
    reach = max(int(np.abs(column).max(initial=0)) for column in (over, under, before, weight))
    if reach * reach < SUM_LIMIT:
        return np.asarray((over * weight - under * before) / weight, dtype=np.float64)
    # Whole numbers of Python, so that a contribution of nothing is 0 and not what rounding left.
    columns = zip(over.tolist(), under.tolist(), before.tolist(), weight.tolist(), strict=True)
    return np.array([(n * w - d * b) / w for n, d, b, w in columns], dtype=np.float64)


def _of_function(paired: Sums) -> Floats:
    """How much higher the value of half of what both systems have on the units before is with the unit's tuple of the
    first system than with that of the second, as many times as there are units so far: then units count alike.
    """
    counts = paired.counts.astype(np.float64)
    both = counts.sum(axis=0)
    before = (np.cumsum(both, axis=1) - both) / 2
    first, second = (paired.valuation.or_zero(before + own) for own in counts)
    differences = first - second
    alike = np.abs(differences) <= NOISE * np.maximum(np.abs(first), np.abs(second))
    return np.where(alike, 0.0, differences) * np.arange(1, paired.units + 1)


def log_capital(bets: Floats, sides: Sides) -> Floats:
    """The logarithm of what is left after each unit of a capital of 1, of shape (units,): the mean over the stakes of
    ∏ exp(λd) / cosh(λd), and two-sided over both directions.

    λ is a stake over Σd² / Σ|d| of the units up to this one, their usual size. It depends on sizes alone, and an
    exchange turns signs alone, so that given the past no bet gains or loses on average. A common factor changes
    nothing.
    """
    # A power of 2 changes no digit, and squares stay in range.
    bets = np.ldexp(bets, -int(np.frexp(np.abs(bets).max(initial=0.0))[1]))
    sizes, squares = np.cumsum(np.abs(bets)), np.cumsum(bets * bets)
    scaled = np.divide(bets * sizes, squares, out=np.zeros_like(bets), where=squares > 0)
    totals = []
    for stake in STAKES:
        x = stake * scaled
        # log cosh x without overflow
        lost = np.cumsum(np.abs(x) + np.log1p(np.exp(-2 * np.abs(x))) - np.log(2))
        gained = np.cumsum(x)
        totals += [gained - lost] if sides == "one-sided" else [gained - lost, -gained - lost]
    table = np.stack(totals)
    largest = table.max(axis=0)
    return np.asarray(largest + np.log(np.exp(table - largest).mean(axis=0)))


# === by a plan ========================================================================================================


SPARE = 1e-9
"""What rounding may take from a number of paths."""


class ByPlan(Struct, frozen=True):
    """What a plan has found by the last of its looks so far.

    `p` is the smallest level at which the plan would have stopped by now. `look` is the number of the look that
    stopped it, or the last. `boundary` is the p of that look alone at or below which it stops, 0 where no shuffle is
    rare enough, and `nge` how many of the `shuffles` of that look are at least as extreme as the observed difference.
    """

    p: float
    crossed: bool
    look: int
    boundary: float
    nge: int
    shuffles: int


def look_by_plan(
    paired: Sums,
    ends: Sequence[int],
    shares: Sequence[float],
    spending: Spending,
    level: float,
    draws: Draws,
    sides: Sides = "two-sided",
    work: Work = ALONE,
) -> ByPlan:
    """Looks at the first `ends` units of two systems, when these shares of the planned documents had come.

    The coins of a unit are the same at every look. The observed data and the shuffles are one path each over all looks,
    and if the systems are exchangeable, each path is as likely as any to be the observed one. At each look the most
    extreme paths stop, as many as may have stopped by then out of all.
    """
    check_sides(sides)
    looks = [_Look.of(_statistics(paired, end, draws, sides, work), paired.slack) for end in ends]
    paths = draws.shuffles + 1

    def walk(wanted: float, looks: Sequence[_Look]) -> _Walked:
        return _walk(looks, [floor(paths * spending.of(wanted, share) + SPARE) for share in shares])

    found = walk(level, looks)
    # A plan that stopped looks no more.
    looks = looks[: found.look]
    # Ranks out of all paths: at the level of the lower one the plan goes on, at that of the upper one it has stopped.
    kept = floor(paths * level + SPARE)
    going, stopped = (0, kept) if found.crossed else (kept, paths)
    while stopped - going > 1:
        middle = (going + stopped) // 2
        going, stopped = (going, middle) if walk(middle / paths, looks).crossed else (middle, stopped)
    nge = looks[found.look - 1].nge
    return ByPlan(stopped / paths, found.crossed, found.look, found.boundary, nge, draws.shuffles)


class _Look(Struct, frozen=True):
    """The statistics of all paths at one look, the observed one first, and the places of the paths in falling order.
    `tied` says whether each path in that order ties with the one before it.
    """

    statistics: Floats
    order: Integers
    tied: Booleans

    @classmethod
    def of(cls, statistics: Floats, slack: float) -> _Look:
        order = np.argsort(-statistics, kind="stable")
        falling = statistics[order]
        near = slack + 1e-12 * float(np.abs(falling).max(initial=0.0))
        tied = np.concatenate(([False], falling[:-1] - falling[1:] <= near))
        return cls(statistics, order, tied)

    @property
    def nge(self) -> int:
        """How many shuffles are at least as extreme as the observed data."""
        return self._at_least(0) - 1

    def stopping(self, going: Booleans, at_most: int) -> Integers:
        """The places of the most extreme paths of those still going, at most so many; of ties all or none."""
        if at_most < 1:
            return self.order[:0]
        group = np.cumsum(~self.tied)
        mine = going[self.order]
        order, group = self.order[mine], group[mine]
        if at_most >= len(order):
            return order
        # The first path beyond, and all that tie with it, go on.
        return order[: int(np.searchsorted(group, group[at_most]))]

    def boundary(self, stopped: Integers) -> float:
        """The share of all paths that are at least as extreme as the least extreme of those that stopped."""
        return self._at_least(int(stopped[-1])) / len(self.order) if stopped.size else 0.0

    def _at_least(self, path: int) -> int:
        """How many paths are at least as extreme as one of them, itself and ties included."""
        behind = int(np.flatnonzero(self.order == path)[0]) + 1
        beyond = np.flatnonzero(~self.tied[behind:])
        return behind + int(beyond[0]) if beyond.size else len(self.order)


class _Walked(Struct, frozen=True):
    """Whether the observed path has stopped, at which look or else the last one, and the boundary there."""

    crossed: bool
    look: int
    boundary: float


def _walk(looks: Sequence[_Look], allowed: Sequence[int]) -> _Walked:
    """What becomes of the observed path, where so many paths are allowed to have stopped by each look."""
    going = np.ones(len(looks[0].statistics), dtype=np.bool_)
    stopped, boundary = 0, 0.0
    for number, (look, most) in enumerate(zip(looks, allowed, strict=False), start=1):
        stopping = look.stopping(going, most - stopped)
        going[stopping] = False
        stopped += len(stopping)
        boundary = look.boundary(stopping)
        if not going[0]:
            return _Walked(True, number, boundary)
    return _Walked(False, len(looks), boundary)


def _statistics(paired: Sums, end: int, draws: Draws, sides: Sides, work: Work) -> Floats:
    """The differences of the observed data and of each shuffle of the first units, in size where both directions
    count. A value that is undefined counts as 0.
    """
    some = paired.first(end)
    differences = some.differences()
    found = []
    if some.is_ratio:
        extreme = Extreme.of(some, sides)
        start = [np.array([total]) for total in (extreme.u, extreme.v)]
        for lost in [[np.zeros(1, dtype=np.int64)] * 2, *coins.sums_over_exchanged(differences, draws, work.threads)]:
            u, v = (total - 2 * exchanged for total, exchanged in zip(start, lost, strict=True))
            found.append(u.astype(np.float64) if extreme.flat else extreme.difference(u, v))
    else:
        first, second = (np.array(some.totals(system), dtype=np.float64)[:, None] for system in (0, 1))
        nothing = [np.zeros(1, dtype=np.int64)] * len(differences)
        for lost in [nothing, *coins.sums_over_exchanged(differences, draws, work.threads)]:
            moved = np.stack(lost)
            found.append(some.valuation.or_zero(first - moved) - some.valuation.or_zero(second + moved))
    values = np.concatenate(found)
    return np.abs(values) if sides == "two-sided" else values
