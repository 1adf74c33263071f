"""The last part of a signature: twelve hexadecimal digits of the numbers themselves, so that whoever repeats a question
sees whether the answer is the same. It knows only the resulting table, not the question.
"""

# Without numpy, which most scores do not need and which takes longer to import than they take.
from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Sequence
from hashlib import sha256
from math import nan

from msgspec.structs import replace

from warehouse.results import TEXTS, Cell, Result, Table

SEAL = "numbers "
"""What the part begins with."""

SEEN_BYTES = range(2, 8)
"""The bytes of a floating-point number that the seal sees, from its end: about ten decimal digits. Machines whose numpy
sums in another order may differ behind them, in a correlation or a bound of an interval.
"""

AWAY = 1 + 0.61 * 2.0**-38
"""What numbers are multiplied by, so that none of the simple fractions (measured: those with denominators up to 300) is
at the edge of what is seen.
"""


def sealed(result: Result) -> Result:
    """The result of a question, its signature with the seal. What has no signature but its statement stays as it is."""
    if not result.signed:
        return result
    return replace(result, signature=f"{result.signature} | {SEAL}{seal(result)}")


def seal(result: Result) -> str:
    """The twelve digits: of the names of the columns, the rows and the summary, however they are drawn."""
    digest = sha256()
    for table in (result.table, result.summary_table):
        digest.update(f"{len(table.rows)} rows\n".encode())
        _add(table, digest.update)
    return digest.hexdigest()[:12]


def _add(table: Table, update: Callable[[bytes], None]) -> None:
    for place, column in enumerate(table.columns):
        if column.kind == "passage":
            # Texts do not affect the numbers and may be loaded later.
            continue
        # One column at a time: all of them would be one more copy of half a million pairs.
        cells = [row[place] for row in table.rows]
        update(f"{column.name}\n".encode())
        if column.kind in TEXTS:
            update("\x1f".join(["\x00" if cell is None else str(cell) for cell in cells]).encode())
        else:
            packed = _packed(cells)
            for byte in SEEN_BYTES:
                update(packed[byte::8])


def _packed(cells: Sequence[Cell]) -> bytes:
    """Numbers as floating point, the lowest byte of each first; null as NaN."""
    numbers = array("d", [nan if cell is None else cell * AWAY for cell in cells])  # type: ignore[operator]
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
