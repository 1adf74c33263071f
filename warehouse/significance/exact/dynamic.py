"""The exact significance level by a table of all sums, built up unit by unit.

The method is that of Pagano & Tritchler (1983), for ratios that of Zmigrod, Vieira & Cotterell (2022).

Up to WHOLE units exchanges are counted in integers, above that in floating point. All steps add positive numbers, so
that even then the smallest p-values are accurate to a few units in the last place. The table has a cell for each
reachable (X, Y) of the lattice in the requested tail.
"""

from __future__ import annotations

from fractions import Fraction
from math import ldexp
from typing import TYPE_CHECKING, Any

import numpy as np

from warehouse.significance.exact.lattice import Lattice
from warehouse.significance.extreme import Extreme
from warehouse.significance.paired import Integers

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_UNITS = 1000
"""Above this many differing units the number of exchanges, 2^units, would leave the range of floating point."""

WHOLE = 62
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
    a fraction for up to WHOLE units.

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
    whole = lattice.units <= WHOLE
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
