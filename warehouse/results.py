"""What a query returns: immutable tables with a caption, a signature and notes.

Values are in the units of the data: proportions from 0 to 1, and null (None) for undefined values. Rendering turns
them into percentages and dashes, according to the kind of each column. Nothing here prints or draws.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from math import nan
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar.errors import EvalhouseError
from evalhouse.warehouse.notes import fold

if TYPE_CHECKING:
    from evalhouse.warehouse.charts import Chart


# === tables and results ===============================================================================================

UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
"""Unicode categories of characters that could control a terminal or hide text. They are shown by their code instead."""

CellKind = Literal[
    "name", "text", "count", "proportion", "difference", "probability", "number", "whole", "letters", "passage"
]
"""What a column holds. A difference is a difference of proportions, shown in points; whole is a number without
separators (a seed); a passage is a text of any length, of which a screen shows the beginning.
"""

LETTERS = 26
"""Up to this many groups are read by their letters; of more, which would be aa, ab and so on, by their numbers."""

TEXTS: tuple[CellKind, ...] = ("name", "text", "letters", "passage")
"""The kinds that are not numbers."""

Cell = str | int | float | bool | None

UNEVEN = "≠"
"""The mark of values that rest on other documents than those of other systems beside them."""

UNEVEN_MEANS = f"{UNEVEN} scored on different documents, so not comparable"


def documents_behind(label: str) -> str:
    """The column of `score` that says on how many documents each value of one of several measures rests."""
    return f"documents({label})"


def count_behind(row: Mapping[str, Cell], label: str) -> Cell:
    """On how many documents the value of a measure rests in a row of `score`."""
    return row.get(documents_behind(label), row.get("documents"))


def none_if_nan(number: float) -> float | None:
    """A number as a cell, which is empty where it is undefined."""
    return None if number != number else float(number)


class Column(Struct, frozen=True):
    """A column: its name in the data, the kind of its values, and its heading on screen.

    A column that is not `on_screen` is only in the data. An `upper` limit is drawn together with the column before it,
    its lower limit, as one interval under the heading of that column. If a screen is too narrow, columns with a number
    in `spare` are left out, the highest number first.
    """

    name: str
    kind: CellKind
    heading: str = ""
    on_screen: bool = True
    upper: bool = False
    spare: int = 0


class Table(Struct, frozen=True):
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def records(self) -> list[dict[str, Cell]]:
        """The rows by column name."""
        return self._rows_by_name(self.rows)

    def records_where(self, name: str, holds: Callable[[Cell], bool]) -> list[dict[str, Cell]]:
        """The rows whose cell in one column satisfies a condition. Raises KeyError if there is no such column."""
        return self._rows_by_name([row for row, cell in zip(self.rows, self.column(name), strict=True) if holds(cell)])

    def _rows_by_name(self, rows: Sequence[tuple[Cell, ...]]) -> list[dict[str, Cell]]:
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in rows]

    def cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells of each column."""
        return tuple(zip(*self.rows, strict=True)) if self.rows else ((),) * len(self.columns)

    def column(self, name: str) -> tuple[Cell, ...]:
        """The cells of one column. Raises KeyError if there is no such column."""
        for place, column in enumerate(self.columns):
            if column.name == name:
                return tuple(row[place] for row in self.rows)
        raise KeyError(name)


EMPTY = Table((), ())

Met = Literal["met", "not met", "undecided"]
"""Whether the expectation of `expect` holds; undecided if the data, or this number of shuffles, cannot tell."""


class UnmetError(EvalhouseError):
    """What an `expect` statement says was not shown to hold; `result` has the details.

    Examples
    --------
    >>> import evalhouse as eh
    >>> r = eh.open().expect("not worse", "compare F1 for UMASS against GE on TST3 margin 2%")
    >>> try:
    ...     r.raise_for()
    ... except eh.UnmetError as error:
    ...     print(error.result.outcome)
    undecided
    """

    def __init__(self, result: Result) -> None:
        super().__init__(f"{result.statement}: {result.outcome}")
        self.result = result

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.result,)


class NotMetError(UnmetError):
    """What an `expect` statement says does not hold.

    Examples
    --------
    >>> import evalhouse as eh
    >>> r = eh.open().expect("better", "compare F1 for MDC against GE on TST3")
    >>> try:
    ...     r.raise_for()
    ... except eh.NotMetError as error:
    ...     print(error.result.outcome)
    not met
    """


class UndecidedError(UnmetError):
    """It cannot be decided whether what an `expect` statement says holds.

    Examples
    --------
    >>> import evalhouse as eh
    >>> r = eh.open().expect("not worse", "compare F1 for UMASS against GE on TST3 margin 2%")
    >>> try:
    ...     r.raise_for()
    ... except eh.UndecidedError as error:
    ...     print(error.result.outcome)
    undecided
    """


class SideBySide(Struct, frozen=True):
    """How rows become columns on screen: one line for each combination of the `key` columns in `lines`, and the
    `spread` columns repeated for each value of `across`, which come with their headings.
    """

    key: tuple[str, ...]
    lines: tuple[tuple[Cell, ...], ...]
    across: str
    values: tuple[tuple[str, str], ...]
    spread: tuple[str, ...]


class TableSection(Struct, frozen=True):
    """Rows that the screen shows as a table of their own under a title, in their own order. They may include rows that
    the data do not have, such as the row of the system that all others are compared with.
    """

    title: str
    rows: tuple[tuple[Cell, ...], ...]
    shown: int | None = None
    """How many rows a screen or paper shows; a page that can be scrolled shows all."""
    more: int = 0
    """How many rows were cut off, where there are very many."""

    @property
    def lines(self) -> int:
        """How many rows are shown."""
        return len(self.rows) if self.shown is None else min(self.shown, len(self.rows))


class Triangle(Struct, frozen=True):
    """How rows about pairs become triangles on screen, one for each value of the `within` columns.

    `first` and `second` name the two systems of a pair, and `first_value` and `second_value` their values. `cell` is
    shown where they meet, and `mark` is the column whose value marks it; `legend` explains the marks. Systems are
    sorted by value, highest first, except in the triangles of `lowest_first`.
    """

    within: tuple[str, ...]
    first: str
    second: str
    first_value: str
    second_value: str
    cell: str
    mark: str
    legend: str
    lowest_first: frozenset[tuple[Cell, ...]] = frozenset()


class Matrix(Struct, frozen=True):
    """How rows about two names become matrices on screen, one for each value of the `within` columns: a line for each
    value of `row`, a column for each value of `column`, and `cell` where they meet. `corner` says which is which, and
    `absent` stands for a name that is null.
    """

    within: tuple[str, ...]
    row: str
    column: str
    cell: str
    corner: str
    absent: str


class GridMeasure(Struct, frozen=True):
    """A measure of a grid: its name in the data, its heading in the grid, the kind of its values, and whether lower is
    better.
    """

    label: str
    heading: str
    kind: CellKind
    lower_is_better: bool


class Grid(Struct, frozen=True):
    """How rows about a system, a test set and a measure become a table as papers print it: one line per system, and
    under each test set one column per measure.

    `test_sets` come with their headings. `counted` are the test sets on which systems were scored on different numbers
    of documents; these get a column for the number. `letters` are the names of systems beside values. Where rows are
    split by what documents have, it is in the column `across`, and its values stand in place of the test sets.
    """

    systems: tuple[str, ...]
    system_heading: str
    test_sets: tuple[tuple[str, str], ...]
    measures: tuple[GridMeasure, ...]
    across: str = "test_set"
    counted: frozenset[str] = frozenset()
    count_heading: str = ""
    letters: tuple[tuple[str, str], ...] = ()
    digits: int | None = None
    label: str = ""
    """The label for references to the table."""
    width: Literal["", "column", "page"] = ""
    """Whether a paper sets it in a column of text, or over pages; empty where that follows from its size."""
    legend: tuple[str, ...] = ()
    """The text below the table: what the marks mean, and how they were computed."""

    @property
    def is_split(self) -> bool:
        """Whether one measure stands above its values by what documents have."""
        return self.across != "test_set" and len(self.measures) == 1 and not self.counted


class Result(Struct, frozen=True):
    """The answer to one statement."""

    statement: str
    caption: str
    signature: str
    table: Table
    summary_table: Table = EMPTY
    notes: tuple[str, ...] = ()
    """What else a reader has to know, each note in full, as data have them."""
    side_by_side: SideBySide | None = None
    triangle: Triangle | None = None
    matrix: Matrix | None = None
    grid: Grid | None = None
    sections: tuple[TableSection, ...] = ()
    how: str = ""
    """The last part of the caption: how much was observed, and how it was tested."""
    sentence: str = ""
    """What the rows say, as one would say it; empty where no sentence can sum them up. It stands first, in place of the
    caption, wherever people read the answer.
    """
    proof: str = ""
    """How that was found, in few words: the line below the table, which ends with the digits of the numbers."""
    chart: Chart | None = None
    """The requested picture; the tables then hold its data."""
    outcome: Met | None = None
    """Whether the expectation holds; None if there was none."""
    p_values: tuple[float, ...] = ()
    """The unadjusted p-value of each comparison that was tested, whether a column shows it or not."""
    one_by_one: bool = False
    """Whether people read its rows one at a time, as they read documents."""
    uneven: frozenset[tuple[str, str]] = frozenset()
    """The test sets and columns of measures whose values rest on different documents. Such values are not comparable:
    each is marked so wherever it is shown, and none is called the best.
    """

    def raise_for(self) -> Result:
        """Return the result itself if what `expect` says holds, or if the statement is not an `expect`.

        Returns
        -------
        Result

        Raises
        ------
        NotMetError
            If what was expected does not hold.
        UndecidedError
            If it cannot be decided whether it holds.

        Examples
        --------
        >>> import evalhouse as eh
        >>> r = eh.open().expect("better", "compare F1 for MDC against GE on TST3")
        >>> try:
        ...     r.raise_for()
        ... except eh.NotMetError as error:
        ...     print(error.result.outcome)
        not met
        """
        if self.outcome == "not met":
            raise NotMetError(self)
        if self.outcome == "undecided":
            raise UndecidedError(self)
        return self

    @property
    def signed(self) -> bool:
        """Whether the signature says more than the statement. Results that list or change something have only their
        statement.
        """
        return self.signature not in ("", self.statement)

    @property
    def headline(self) -> str:
        """What stands first where people read it: the sentence, or the caption of what no sentence can sum up."""
        return self.sentence or self.caption

    @property
    def foot(self) -> str:
        """What stands below it: how it was found, and the digits that name the numbers."""
        return " | ".join(filter(None, (self.proof, self.digits and f"{SEAL}{self.digits}")))

    @property
    def digits(self) -> str:
        """The first digits of the seal, which name the numbers; empty where there is none."""
        _, sealed, digits = self.signature.rpartition(f" | {SEAL}")
        return digits[:NAMING] if sealed else ""

    @property
    def folded_notes(self) -> tuple[str, ...]:
        """The notes as people read them: those of one kind as one."""
        return fold(self.notes)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(column.name for column in self.table.columns)

    @property
    def rows(self) -> list[dict[str, Cell]]:
        """The rows by column name."""
        return self.table.records()

    @property
    def summary(self) -> list[dict[str, Cell]]:
        """The rows of the summary by column name."""
        return self.summary_table.records()

    def as_dict(self) -> dict[str, Any]:
        """The whole answer as plain lists and dictionaries.

        Returns
        -------
        dict
            statement, sentence, caption, signature, columns, rows, summary, notes

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().score("F1", "GE", on="TST3").as_dict()["caption"]
        'F1 on TST3: 100 messages (extraction, simulated data)'
        """
        return {
            "statement": self.statement,
            "sentence": self.sentence,
            "caption": self.caption,
            "signature": self.signature,
            "columns": list(self.columns),
            "rows": self.rows,
            "summary": self.summary,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """The whole answer as one JSON object.

        Returns
        -------
        str

        Examples
        --------
        >>> import json
        >>> import evalhouse as eh
        >>> json.loads(eh.open().score("F1", "GE", on="TST3").to_json())["rows"][0]["system"]
        'GE'
        """
        return as_json(self.as_dict())

    def to_arrow(self) -> Any:
        """A pyarrow.Table, null where something is undefined.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        ImportError
            If pyarrow is not installed.

        Examples
        --------
        >>> import evalhouse as eh
        >>> eh.open().score("F1", "GE", on="TST3").to_arrow().column_names
        ['test_set', 'task', 'system', 'documents', 'F1', 'source']
        """
        import pyarrow

        arrays = {}
        for column in self.table.columns:
            cells = self.table.column(column.name)
            if column.kind in TEXTS:
                truths = all(cell is None or isinstance(cell, bool) for cell in cells) and any(cells)
                kind = pyarrow.bool_() if truths else pyarrow.string()
                cells = cells if truths else tuple(None if cell is None else str(cell) for cell in cells)
            else:
                kind = pyarrow.int64() if column.kind in ("count", "whole") else pyarrow.float64()
            arrays[column.name] = pyarrow.array(cells, kind)
        return pyarrow.table(arrays)

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of the columns of `to_numpy`.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ImportError
            If pandas is not installed.

        Examples
        --------
        >>> import evalhouse as eh
        >>> frame = eh.open().score("F1", "GE", "UMASS", on="TST3").to_pandas()
        >>> frame.set_index("system")["F1"].round(4).to_dict()
        {'GE': 0.5601, 'UMASS': 0.5161}
        """
        import pandas

        return pandas.DataFrame(self.to_numpy())

    def to_numpy(self) -> dict[str, Any]:
        """One array per column: text as objects, numbers as float64 with NaN for null, and whole numbers without nulls
        as int64.

        Returns
        -------
        dict of str to numpy.ndarray

        Examples
        --------
        >>> import evalhouse as eh
        >>> arrays = eh.open().score("F1", "GE", "UMASS", on="TST3").to_numpy()
        >>> arrays["F1"].round(4)
        array([0.5601, 0.5161])
        """
        import numpy as np

        def converted(column: Column) -> Any:
            cells = self.table.column(column.name)
            if column.kind in TEXTS:
                return np.array(cells, dtype=object)
            if column.kind in ("count", "whole") and None not in cells:
                return np.array(cells, dtype=np.int64)
            return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)

        return {column.name: converted(column) for column in self.table.columns}


def as_json(value: Any) -> str:
    """A value as JSON on one line. Characters that could control a terminal or hide text are escaped."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if text.isascii():
        return text
    return "".join(json.dumps(c)[1:-1] if unicodedata.category(c) in UNSAFE else c for c in text)


# === rows by column name ==============================================================================================
# No cell is read or written by its position.


class TableRows:
    """Rows that are added one at a time, for columns whose names are known beforehand and whose looks may not be."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.rows: list[tuple[Cell, ...]] = []

    @classmethod
    def of(cls, columns: Iterable[Column]) -> TableRows:
        """Rows for these columns."""
        return cls(column.name for column in columns)

    def add(self, **cells: Cell) -> None:
        """Adds a row. Raises TypeError for a cell too many or too few."""
        if len(cells) != len(self.names):
            raise TypeError(f"a row of {', '.join(self.names)} is given {', '.join(cells)}")
        try:
            self.rows.append(tuple(map(cells.__getitem__, self.names)))
        except KeyError as missing:
            raise TypeError(f"a row is given no {missing}") from None

    def cells(self, name: str) -> tuple[Cell, ...]:
        """The cells of one name. Raises ValueError where there are none."""
        place = self.names.index(name)
        return tuple(row[place] for row in self.rows)

    def records(self) -> list[dict[str, Cell]]:
        """The rows by name."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def table(self, columns: Sequence[Column]) -> Table:
        """The rows as a table. The columns stand in the order of the names; where measures are called as columns are,
        the names here differ from theirs. Raises ValueError for another number of columns.
        """
        if len(columns) != len(self.names):
            raise ValueError(f"the rows are of {', '.join(self.names)}")
        return Table(tuple(columns), tuple(self.rows))


# === the seal of a signature ==========================================================================================
# The last part of a signature: twelve hexadecimal digits of the numbers themselves, so that whoever repeats a question
# sees whether the answer is the same. It depends only on the resulting table, not on the question. The digits must not
# change, because saved results are checked against them.

# Without numpy, which most scores do not need and which takes longer to import than they take.


SEAL = "numbers "
"""What the part begins with."""

NAMING = 8
"""So many of its digits name the numbers where people read them."""

SEEN_BYTES = range(2, 8)
"""The bytes of a floating-point number that the seal sees, from its end: about ten decimal digits. Machines whose numpy
sums in another order may differ behind them, in a correlation or a bound of an interval.
"""

AWAY = 1 + 0.61 * 2.0**-38
"""What numbers are multiplied by, so that none of the simple fractions (measured: those with denominators up to 300) is
at the edge of what is seen.
"""


def seal_result(result: Result) -> Result:
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
            packed = _pack_cells(cells)
            for byte in SEEN_BYTES:
                update(packed[byte::8])


def _pack_cells(cells: Sequence[Cell]) -> bytes:
    """Numbers as floating point, the lowest byte of each first; null as NaN."""
    numbers = array("d", [nan if cell is None else cell * AWAY for cell in cells])  # type: ignore[operator]
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()
