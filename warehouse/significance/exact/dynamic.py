"""Exact significance levels by counting exchanges without listing them.

Up to a number of units exchanges are counted in integers, above that in floating point. All steps add positive
numbers, so that even then the smallest p-values are accurate to a few units in the last place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, fsum, ldexp, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalhouse.warehouse.significance.arrays import Floats, Integers
from evalhouse.warehouse.significance.draws import Outcome, Sides
from evalhouse.warehouse.significance.exact.lattice import Cost, Lattice
from evalhouse.warehouse.significance.extreme import Extreme, ExtremeFunction
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.sums import Sums
from evalhouse.warehouse.significance.two_systems import distinct_columns

# === a table of all sums ==============================================================================================
# The table is built up unit by unit, as by Pagano & Tritchler (1983) and for ratios by Zmigrod, Vieira & Cotterell
# (2022). It has a cell for each reachable (X, Y) of the lattice in the requested tail. Up to WHOLE_UNITS units
# exchanges are counted in integers.

MOST_UNITS = 1000
"""Above this many differing units the number of exchanges, 2^units, would leave the range of floating point."""

WHOLE_UNITS = 62
"""Up to this many differing units, int64 holds the number of all exchanges."""


def operations(lattice: Lattice) -> tuple[float, int]:
    """The approximate number of cells computed in all, and the bytes held at once."""
    x, y = _units(lattice)
    # Half of the range of X is the tail, and cells beyond it are never filled.
    columns = np.minimum(np.cumsum(x), lattice.top_x // 2) + 1
    rows = np.cumsum(np.abs(y)) + 1
    cells = columns.astype(np.float64) * rows
    return float(cells.sum()), int(16 * cells[-1])


def tail(lattice: Lattice, extreme: Extreme, strict: bool) -> Fraction | float:
    """The probability of an exchange whose signed difference is at least the observed one, or more than it if `strict`;
    a fraction for up to WHOLE_UNITS units.

    The observed difference must be at least 0.
    """
    x, y = _units(lattice)
    lowest = int(y[y < 0].sum())
    rows = int(np.abs(y).sum()) + 1
    # A cell (row, column) holds Y = top_y − 2·(row + lowest) and X = top_x − 2·column.
    last = np.full(rows, -1)
    for row in range(rows):
        least = lattice.least_x(lattice.top_y - 2 * (row + lowest), extreme, strict)
        if least is not None:
            last[row] = min(max((lattice.top_x - least) // 2, -1), lattice.top_x)
    columns = int(last.max()) + 1
    if not columns:
        return 0.0
    whole = lattice.units <= WHOLE_UNITS
    table: NDArray[Any] = np.zeros((rows, columns), dtype=np.int64 if whole else np.float64)
    spare = np.zeros_like(table)
    table[-lowest, 0] = 1
    width, top, bottom = 1, -lowest, -lowest
    for across, down in zip(x.tolist(), y.tolist(), strict=True):
        new_width = min(width + across, columns)
        new_top, new_bottom = min(top, top + down), max(bottom, bottom + down)
        old = table[top : bottom + 1, :width]
        spare[new_top:top, :new_width] = 0
        spare[bottom + 1 : new_bottom + 1, :new_width] = 0
        spare[top : bottom + 1, width:new_width] = 0
        spare[top : bottom + 1, :width] = old
        moved = min(width, new_width - across)
        if moved > 0:
            spare[top + down : bottom + down + 1, across : across + moved] += old[:, :moved]
        table, spare = spare, table
        width, top, bottom = new_width, new_top, new_bottom
    reached = [table[row, : last[row] + 1].sum() for row in range(rows)]
    if whole:
        return Fraction(sum(map(int, reached)), 1 << lattice.units)
    exchanges = 0.0
    # Not `sum`, which rounds differently from Python 3.12 on.
    for of_row in reached:
        exchanges += float(of_row)
    return ldexp(exchanges, -lattice.units)


def _units(lattice: Lattice) -> tuple[Integers, Integers]:
    """x and y of every differing unit, small ones first, so that the table stays small for most of the run."""
    order = np.argsort(np.hypot(lattice.x, lattice.y), kind="stable")
    return np.repeat(lattice.x[order], lattice.count[order]), np.repeat(lattice.y[order], lattice.count[order])


# === combinations of kinds of units ===================================================================================
# For a function of summed counts. Units with the same differences of counts, up to sign, are of one kind, and it
# matters only how many units of a kind change places. So the test goes through all combinations of these numbers, each
# with its binomial probability. A measure of decisions that are right or wrong has few kinds, however many units there
# are. For up to WHOLE_UNITS units exchanges are counted in integers, and p is correct to its last digit.

OPERATIONS = 40.0
"""The approximate cost of one combination in operations, as `Cost` counts them. Five million combinations are
affordable by default.
"""

AT_ONCE = 1 << 16
"""Combinations worked on at once."""

_MANY = 10**300


def cost(paired: Sums) -> Cost:
    """The cost of the exact test of these data."""
    return _cost(*_kinds(paired))


def exact_functional_test(paired: Sums, sides: Sides = "two-sided") -> Outcome:
    """The exact p-value of the difference of two systems in a function of sums.

    The value of a pseudo system counts as 0 if it is undefined. Raises ValueError if `cost` says that the test is not
    possible.
    """
    extreme = ExtremeFunction.of(paired, sides)
    differences, counts = _kinds(paired)
    _cost(differences, counts).check()
    if not counts.size or (extreme.two_sided and not extreme.least):
        return Outcome(1.0, "exact")
    units = int(counts.sum())
    if units <= WHOLE_UNITS:
        ways = [np.array([comb(count, number) for number in range(count + 1)]) for count in counts.tolist()]
        return Outcome(sum(map(int, _extreme(extreme, differences, counts, ways))) / (1 << units), "exact")
    likely = [_binomial(count) for count in counts.tolist()]
    return Outcome(fsum(map(float, _extreme(extreme, differences, counts, likely))), "exact")


def _kinds(paired: Sums) -> tuple[Integers, Integers]:
    """The distinct differences up to sign, of shape (columns, kinds), and the number of units with each. Units without
    a difference are left out.
    """
    differences = np.stack(paired.differences())
    differences = differences[:, (differences != 0).any(axis=0)]
    first = np.take_along_axis(differences, (differences != 0).argmax(axis=0)[None, :], axis=0)
    return distinct_columns(differences * np.sign(first))


def _cost(differences: Integers, counts: Integers) -> Cost:
    units = int(counts.sum())
    if not units:
        return Cost("identical", 0.0, 0, 0, 0)
    combinations = prod(count + 1 for count in counts.tolist())
    memory = AT_ONCE * 8 * (8 * len(differences) + 2 * counts.size) + 8 * (units + counts.size)
    return Cost("combinations", OPERATIONS * min(combinations, _MANY), memory, units, int(counts.size))


def _extreme(
    extreme: ExtremeFunction, differences: Integers, counts: Integers, weights: Sequence[NDArray[Any]]
) -> Iterator[Any]:
    """The total weight of the extreme combinations, block by block. The weight of a combination is the product of the
    weights of its numbers, one for each kind.
    """
    shape = tuple((counts + 1).tolist())
    for start in range(0, prod(shape), AT_ONCE):
        stop = min(start + AT_ONCE, prod(shape))
        exchanged = np.unravel_index(np.arange(start, stop), shape)
        sums = np.repeat(extreme.totals[:, None], stop - start, axis=1)
        for difference, count, number in zip(differences.T, counts.tolist(), exchanged, strict=True):
            sums += difference[:, None] * (count - 2 * number)
        reached = np.flatnonzero(extreme.contains((sums // 2).astype(np.float64)))
        of_kinds = [of_kind[number[reached]] for of_kind, number in zip(weights, exchanged, strict=True)]
        yield np.multiply.reduce(of_kinds).sum()


def _binomial(count: int) -> Floats:
    """The probability of each number of heads among `count` fair coins, of shape (count + 1,)."""
    _, likely = coins.weights(count, count)
    probabilities: Floats = likely / likely.sum()
    return probabilities
