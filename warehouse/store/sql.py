"""SQL with its parameters beside it.

A value never becomes part of the text: the text has `?`, and the values are in `params`, in order. Only identifiers are
written into the text, quoted by `name`. Nothing here runs SQL or knows the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

PLACEHOLDER = re.compile(r""" "(?:[^"]|"")*" | '(?:[^']|'')*' | [?] """, flags=re.VERBOSE)
"""A question mark that stands for a value, or quoted text, in which a question mark is only a character."""

Value = str | int | float | bool | None


class Sql(Struct, frozen=True):
    """A piece of SQL and the values of its question marks, in order."""

    text: str
    params: tuple[Value, ...] = ()

    def __add__(self, other: Sql | str) -> Sql:
        if isinstance(other, str):
            return Sql(self.text + other, self.params)
        return Sql(self.text + other.text, self.params + other.params)

    def __radd__(self, other: str) -> Sql:
        return Sql(other + self.text, self.params)


def name(identifier: str) -> Sql:
    """A quoted identifier."""
    return Sql('"' + identifier.replace('"', '""') + '"')


def value(it: Value) -> Sql:
    """One value, as a parameter."""
    return Sql("?", (it,))


def values(them: Iterable[Value]) -> Sql:
    """(?, ?, …): a list of values for IN. Without values it is (NULL), which matches nothing."""
    listed = [value(it) for it in them]
    return "(" + join(", ", listed or [Sql("null")]) + ")"


def literal(text: object) -> str:
    """A text in quotes, for what takes no parameters."""
    return "'" + str(text).replace("'", "''") + "'"


def pattern_of(file: Path) -> str:
    """A path for DuckDB, which treats paths as patterns: each special character is put in brackets."""
    return re.sub(r"([*?\[])", r"[\1]", str(file.absolute()))


def parquet(files: Iterable[Path]) -> Sql:
    """The rows of Parquet files with the same columns. The paths are written into the text, because views, which take
    no parameters, use it.
    """
    listed = (literal(pattern_of(file)) for file in files)
    return Sql("read_parquet([" + ", ".join(listed) + "])")


def join(separator: str, parts: Iterable[Sql | str]) -> Sql:
    """The parts with the separator between them."""
    text: list[str] = []
    params: tuple[Value, ...] = ()
    for part in parts:
        if isinstance(part, str):
            text.append(part)
        else:
            text.append(part.text)
            params += part.params
    return Sql(separator.join(text), params)
