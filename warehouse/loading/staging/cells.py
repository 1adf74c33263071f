"""What a cell may contain, by kind of field: a check in SQL, a conversion in SQL and a sentence for errors.

All input is staged as text and checked here, because a typed reader rounds 1.5 to 2 and takes 0x10 for a number.
Checks see trimmed cells; an empty cell is null. The parts of a check may run in any order, so casts in them must not
fail. This module builds SQL only from quoted names and its own constants, and runs none.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from evalhouse.warehouse.kinds.records import FieldKind
from evalhouse.warehouse.store.sql import Sql

# === kinds of cells ===================================================================================================

LONGEST_NAME = 200
LONGEST_TEXT = 10_000_000
LARGEST_COUNT = 999_999_999
LARGEST_VALUE = "1e15"
"""Sums of values are exact, in units of 2^-50. A hundred million values of this size fit into 128 bits."""

_NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_DECIMAL = r"([0-9]{1,9}\.?[0-9]{0,9}|\.[0-9]{1,9})"
_CONTROL = r"[\p{Cc}\p{Zl}\p{Zp}]"


class Check(Struct, frozen=True):
    """How one kind of cell is checked. In `good` and `typed`, CELL is the placeholder for the cell; `wanted` completes
    the sentence "x is '1', not …".
    """

    good: str
    typed: str
    wanted: str

    def passed_by(self, column: Sql) -> Sql:
        """A condition that holds if the cells of a column are of this kind."""
        return Sql(self.good.replace("CELL", column.text))

    def of(self, column: Sql) -> Sql:
        """The SQL for the stored values of a column whose cells passed the check."""
        return Sql(self.typed.replace("CELL", column.text))


CHECKS: dict[FieldKind, Check] = {
    "name": Check(
        good=f"length(CELL) <= {LONGEST_NAME} and not regexp_matches(CELL, '{_CONTROL}')",
        typed="CELL",
        wanted="a name",
    ),
    "count": Check(
        good="regexp_full_match(CELL, '[0-9]{1,9}')",
        typed="CELL::integer",
        wanted=f"a whole number from 0 to {LARGEST_COUNT}",
    ),
    "rank": Check(
        good="regexp_full_match(CELL, '[1-9][0-9]{0,8}')",
        typed="CELL::integer",
        wanted=f"a whole number from 1 to {LARGEST_COUNT}",
    ),
    "grade": Check(
        good="regexp_full_match(CELL, '[+-]?[0-9]{1,9}')",
        typed="CELL::integer",
        wanted="a whole number of at most 9 digits",
    ),
    "decision": Check(
        good="lower(CELL) in ('yes', 'no', 'true', 'false', '1', '0')",
        typed="lower(CELL) in ('yes', 'true', '1')",
        wanted="yes or no, true or false, 1 or 0",
    ),
    "label": Check(
        good="lower(CELL) in ('relevant', 'optional', 'nonrelevant')",
        typed="lower(CELL)::label",
        wanted="relevant, optional or nonrelevant",
    ),
    "number": Check(
        good=f"regexp_full_match(CELL, '{_NUMBER}') and coalesce(isfinite(try_cast(CELL as double)), false)",
        typed="CELL::double",
        wanted="a finite number",
    ),
    "value": Check(
        good=f"regexp_full_match(CELL, '{_NUMBER}') "
        f"and coalesce(abs(try_cast(CELL as double)) <= {LARGEST_VALUE}, false)",
        typed="CELL::double",
        wanted=f"a number from -{LARGEST_VALUE} to {LARGEST_VALUE}",
    ),
    "decimal": Check(
        good=f"regexp_full_match(CELL, '[+-]?{_DECIMAL}')",
        typed="CELL::decimal(18, 9)",
        wanted="a decimal number of at most 9 digits on each side of the point",
    ),
    "size": Check(
        good=f"regexp_full_match(CELL, '{_DECIMAL}') and coalesce(try_cast(CELL as decimal(18, 9)) > 0, false)",
        typed="CELL::decimal(18, 9)",
        wanted="a decimal number above 0, such as 0.01",
    ),
    "task": Check(
        good="lower(CELL) in ('extraction', 'filtering', 'counts', 'values')",
        typed="lower(CELL)",
        wanted="extraction, filtering, counts or values",
    ),
    "kind": Check(good="CELL in ('input', 'reference', 'output')", typed="CELL", wanted="input, reference or output"),
    "length": Check(
        good=f"regexp_full_match(CELL, '[0-9]{{1,9}}') and try_cast(CELL as integer) <= {LONGEST_TEXT}",
        typed="CELL::integer",
        wanted=f"at most {LONGEST_TEXT:,}",
    ),
}

AS_NUMBERS: dict[FieldKind, Check] = {
    "count": Check(good=f"CELL between 0 and {LARGEST_COUNT}", typed="CELL::integer", wanted=CHECKS["count"].wanted),
    "length": Check(good=f"CELL <= {LONGEST_TEXT}", typed="CELL::integer", wanted=CHECKS["length"].wanted),
    "rank": Check(good=f"CELL between 1 and {LARGEST_COUNT}", typed="CELL::integer", wanted=CHECKS["rank"].wanted),
    "number": Check(good="isfinite(CELL)", typed="CELL", wanted=CHECKS["number"].wanted),
}
"""Checks for cells that are already numbers, in the file or from its reader."""


def check_of(kind: FieldKind, is_number: bool) -> Check:
    """The check for cells of a kind that are staged as texts or as numbers."""
    return AS_NUMBERS[kind] if is_number else CHECKS[kind]


def for_spreadsheets(cell: str) -> str:
    """The SQL that writes a text to a text table: a text that a spreadsheet would take for a formula gets an apostrophe
    in front, and so does a text that already looks like that.
    """
    return f"case when regexp_matches({cell}, '^''*[=+@-]') then '''' || {cell} else {cell} end"


def from_spreadsheets(cell: Sql) -> Sql:
    """The SQL that removes the apostrophe which keeps a spreadsheet from taking a text for a formula."""
    bare = "regexp_replace(" + cell + ", '^''(''*[=+@-])', '\\1')"
    return "case when starts_with(" + cell + ", '''') then " + bare + " else " + cell + " end"


def column_for_spreadsheets(column: str) -> str:
    """The name of a column as it is written to a text table."""
    return re.sub("^(?='*[=+@-])", "'", column)


def column_from_spreadsheets(column: str) -> str:
    """The name of a column without such an apostrophe."""
    return re.sub("^'('*[=+@-])", r"\1", column)


def complaint(kind: FieldKind, column: str, cell: str | None) -> str:
    """The error for a cell that failed its check, in one sentence."""
    if cell is None:
        return f"{column} is empty"
    if kind == "name":
        if len(cell) > LONGEST_NAME:
            return f"{column} is {len(cell)} characters long, and a name has at most {LONGEST_NAME}: {quote_cell(cell)}"
        return f"{column} is {quote_cell(cell)}, which has a control character in it"
    if kind == "length":
        return f"a text has {int(cell):,} characters, and {CHECKS[kind].wanted} are stored"
    return f"{column} is {quote_cell(cell)}, not {CHECKS[kind].wanted}"


def is_number(text: str) -> bool:
    """Whether a text is a number as tables write them, ignoring blanks around it."""
    return re.fullmatch(rf"\s*{_NUMBER}\s*", text) is not None


def finite(item: object) -> float | None:
    """A value from JSON as a float; None if it is not a number, not finite or too large."""
    if not isinstance(item, (bool, int, float)):
        return None
    try:
        number = float(item)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


LONGEST_ARGUMENT, LONGEST_ARGUMENTS = 40, 120


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments as a part of a name, in alphabetical order: lang=de,level=2; without those that are null or redacted.
    Instead of a long text stand the first digits of its SHA-256, which tell it from others.
    """
    said = {name: argument for name, argument in sorted(arguments.items()) if argument not in (None, _REDACTED)}
    text = ",".join(f"{name}={_argument(argument)}" for name, argument in said.items())
    return text if len(text) <= LONGEST_ARGUMENTS else _digest(text)


_REDACTED = "***"


def _argument(argument: object) -> str:
    text = argument if isinstance(argument, str) else json.dumps(argument, sort_keys=True, ensure_ascii=False)
    return text if len(text) <= LONGEST_ARGUMENT and text.isprintable() else _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def quote_cell(cell: str, longest: int = 60) -> str:
    """A cell in quotes, with control characters escaped, and shortened if it is long."""
    cut = cell if len(cell) <= longest else cell[: longest - 1] + "…"
    return "'" + "".join(character if character.isprintable() else ascii(character)[1:-1] for character in cut) + "'"


# === printed figures ==================================================================================================
# Figures without documents as they are stored: the decimal digits of a number, and the size of the last digit.

FIGURES = (
    *("test_set", "system", "task", "measure", "value", "resolution", "documents", "standard_error"),
    *("ci_low", "ci_high", "ci_level"),
)
"""The columns of a sheet of such figures."""

MOST_DIGITS = 9
"""How many digits a figure may have on each side of the point. No published figure has more."""


def decimal_text(value: float) -> tuple[str, str] | None:
    """A number as decimal text and the size of its last digit: 0.4486 and 0.0001. None if it is not finite, or has too
    many digits before the point.
    """
    if not math.isfinite(value) or abs(value) >= 10**MOST_DIGITS:
        return None
    whole, _, digits = f"{value:.{MOST_DIGITS}f}".partition(".")
    digits = digits.rstrip("0")
    return (f"{whole}.{digits}", f"0.{'1'.zfill(len(digits))}") if digits else (whole, "1")
