"""Tables with named columns: CSV, TSV, JSON lines, JSON, Parquet and Excel workbooks.

CSV, TSV, JSON and JSON lines may be compressed with gzip or zstd. DuckDB reads tables, with every column as text, and
Python reads them again only if something is wrong, to say on which line. Objects are split into cells by msgspec.
"""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError, Fault, UnreadableError
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.loading.staging.cells import column_from_spreadsheets, from_spreadsheets, quote_cell
from evalhouse.warehouse.loading.staging.json_rows import BY_LINE, Row, rows_of
from evalhouse.warehouse.loading.staging.lines import (
    LONGEST_ROW,
    Compression,
    Document,
    brief,
    compression_of,
    damage,
    damages,
    open_bytes,
    start_of,
    survey,
    text_of,
    text_of_cells,
)
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Matching, Staged, Staging, match, staged_columns
from evalhouse.warehouse.store.sql import Sql, name, pattern_of

if TYPE_CHECKING:
    from evalhouse.warehouse.store.database import Database


# === Excel workbooks ==================================================================================================
# A workbook is read as CSV: the one sheet that is not empty, one row per line. This needs the package openpyxl, from
# the extra `excel`.

WORKBOOKS = (".xlsx", ".xlsm")
"""The file name endings of workbooks."""


@contextlib.contextmanager
def csv_of_workbook(staging: Staging) -> Iterator[Path]:
    """A temporary CSV file with the rows of a workbook. Missing cells are empty.

    Raises DataError if the file is not a workbook, or if several of its sheets are not empty.
    """
    with tempfile.TemporaryDirectory(dir=staging.database.spill) as folder:
        made = Path(folder) / "sheet.csv"
        with made.open("w", encoding="utf-8", newline="") as out:
            csv.writer(out, lineterminator="\n").writerows(workbook_rows(staging))
        yield made


def workbook_rows(staging: Staging) -> Iterator[list[str]]:
    """The rows of a workbook as texts. Raises DataError as `csv_of_workbook` does."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        said = 'reading a workbook needs the package openpyxl: pip install "evalhouse[excel]"'
        raise staging.refusal(said) from None
    with staging.door.open(staging.source) as binary, warnings.catch_warnings():
        # What openpyxl leaves out, such as pictures, does not matter here.
        warnings.simplefilter("ignore")
        try:
            book = openpyxl.load_workbook(binary, read_only=True, data_only=True)
        except (zipfile.BadZipFile, KeyError, ValueError, OSError, SyntaxError):
            raise staging.refusal("this is not a sound Excel workbook") from None
        sheets = [sheet for sheet in book.worksheets if any(_texts(row) for row in sheet.iter_rows(values_only=True))]
        if len(sheets) != 1:
            names = ", ".join(quote_cell(sheet.title) for sheet in sheets)
            several = f"several sheets have rows: {names}; save the one that is meant as a file of its own"
            raise staging.refusal(several if sheets else "no sheet of the workbook has rows")
        width = 0
        for row in sheets[0].iter_rows(values_only=True):
            texts = _texts(row)
            width = width or len(texts)
            yield texts + [""] * (width - len(texts))
        book.close()


def _texts(row: tuple[Any, ...]) -> list[str]:
    """The cells of a row as texts, up to the last one that is not empty."""
    texts = [_text(cell) for cell in row]
    while texts and not texts[-1]:
        texts.pop()
    return texts


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, datetime.datetime | datetime.date | datetime.time):
        return cell.isoformat()
    return str(cell)


# === tables ===========================================================================================================

LONGEST_CELL = 1_000_000

SEPARATORS = {".csv": ",", ".tsv": "\t"}
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER")
"""The Parquet types that fit into signed 64-bit integers."""


Match = Callable[[Staging, tuple[str, ...], int | None], Matching]
"""A function that matches the columns of a table, given their names and the line of the header."""


def stage_table(staging: Staging, match: Match = match) -> Staged:
    """Stages a file according to its ending. With an unknown ending, it is TSV if the first line has a tab, else CSV.

    Raises DataError if the file does not exist, does not have the format of its ending, or has the wrong columns.
    """
    start_of(staging)
    source = staging.source
    endings = [ending.lower() for ending in source.suffixes]
    compression = compression_of(source)
    if compression != "uncompressed":
        endings.pop()
    ending = endings[-1] if endings else ""
    if ending == ".parquet":
        return _stage_parquet(staging, match)
    if ending in WORKBOOKS:
        with csv_of_workbook(staging) as sheet:
            rows = _Text(replace(staging, source=sheet, called=staging.called or str(staging.source)), "uncompressed")
            return replace(_stage_csv(rows, ",", match), lines=None)
    text = _Text(staging, compression)
    if ending in BY_LINE:
        return _stage_json(text, match, by_line=BY_LINE[ending])
    separator = SEPARATORS.get(ending) or ("\t" if "\t" in next(text.lines(), "") else ",")
    return _stage_csv(text, separator, match)


def _stage_csv(text: _Text, separator: str, match: Match) -> Staged:
    staging = text.staging
    with text.document() as document:
        surveyed = survey(document)
    written = text.header(separator)
    header = tuple(map(column_from_spreadsheets, written))
    matching = match(staging, header, 1)

    def cell(place: int) -> Sql:
        column = Sql(f"c{place}")
        return from_spreadsheets(column) if surveyed.apostrophes else column

    select = (
        Sql("select ")
        + staged_columns(staging, matching, cell)
        + ", "
        + text_of_cells(len(header), surveyed.quotes)
        + Sql(
            " as text_of_cells from read_csv(?, header=true, auto_detect=false, strict_mode=true, null_padding=false, ",
            (pattern_of(text.staging.source),),
        )
        + f"encoding='utf-8', compression='{text.compression}', delim='{separator}', quote='\"', escape='\"', "
        + "columns={"
        + ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(header)))
        # In a file with one column, DuckDB reads a blank line as an empty cell; in other files it skips blank lines.
        + ("}) where c0 is not null" if len(header) == 1 else "})")
    )
    try:
        staging.database.read(staging.table, select)
    except UnreadableError as error:
        raise text.diagnosis(separator, len(header), str(error)) from None
    [(arrived,)] = staging.database.rows(
        "select coalesce(sum(text_of_cells), 0)::bigint from temp." + name(staging.table)
    )
    if arrived + text_of(written) != surveyed.text:
        raise text.diagnosis(separator, len(header), "DuckDB left something of it out")
    return matching.staged(staging.form, header, lambda rows: text.record_lines(separator, rows))


def _stage_json(text: _Text, match: Match, *, by_line: bool) -> Staged:
    staging, headings = text.staging, dict[str, int]()
    cells = Sql("temp.staged_json")
    staging.database.run(Sql("create or replace temp table staged_json (c0 varchar)"))
    with text.document() as document:
        for rows in rows_of(staging, document, by_line=by_line):
            _bring_rows(staging.database, rows, headings)
    if not headings:
        raise staging.refusal("the file holds no objects with named values")
    header = tuple(headings)
    matching = match(staging, header, None)
    columns = staged_columns(staging, matching, lambda place: Sql(f"c{place}"))
    made = "create or replace temp table " + name(staging.table) + " as select " + columns + " from " + cells
    staging.database.run(made)
    staging.database.forget("staged_json")
    return matching.staged(staging.form, header, text.json_lines if by_line else None)


def _bring_rows(database: Database, rows: Sequence[Row], headings: dict[str, int]) -> None:
    """Appends rows to the table `staged_json`, which gets a column c3 for the fourth heading."""
    import numpy

    for heading in dict.fromkeys(heading for row in rows for heading in row):
        place = headings.setdefault(heading, len(headings))
        database.run(Sql(f"alter table temp.staged_json add column if not exists c{place} varchar"))
    if rows:
        columns = {
            f"c{place}": numpy.array([row.get(heading) for row in rows], dtype=object)
            for heading, place in headings.items()
        }
        database.bring("staged_json", columns, more=True)


def _parquet(source: Path, numbered: bool = False) -> Sql:
    rows = ", file_row_number=true" if numbered else ""
    return Sql(f" from read_parquet(?, hive_partitioning=false{rows})", (pattern_of(source),))


def parquet_columns(source: Path, database: Database) -> dict[str, str]:
    """The columns of a Parquet file with their types. Raises UnreadableError if it is not one."""
    database.read("staged_header", "select *" + _parquet(source) + " limit 0")
    described = database.rows(Sql("select column_name, column_type from (describe staged_header)"))
    database.run(Sql("drop table temp.staged_header"))
    return dict(described)


def first_rows(staging: Staging, most: int = 50) -> tuple[tuple[str, ...], list[list[str]]]:
    """The names of the columns of a Parquet file or a workbook, and its first rows as texts.

    Raises UnreadableError or DataError if the file is neither.
    """
    if staging.source.suffix.lower() in WORKBOOKS:
        names, *rows = islice(workbook_rows(staging), most + 1)
        return tuple(names), rows
    header = tuple(parquet_columns(staging.source, staging.database))
    texts = "select coalesce(columns(*)::varchar, '')" + _parquet(staging.source) + f" limit {most}"
    return tuple(header), [list(row) for row in staging.database.rows(texts)]


def _stage_parquet(staging: Staging, match: Match) -> Staged:
    """Stages a Parquet file as a view: its columns are read when they are needed, possibly several times, and not
    copied. Writing their texts to a table would take several times as long as all work on them.
    """
    try:
        types = parquet_columns(staging.source, staging.database)
        header = tuple(types)
        matching = match(staging, header, None)
        counts = {field.name for field in staging.form.fields if field.kind == "count"}
        whole = {
            field: place
            for field, place in matching.positions.items()
            if field in counts and types[header[place]] in _WHOLE
        }

        def cell(place: int) -> Sql:
            return name(header[place]) + ("::bigint" if place in whole.values() else "::varchar")

        columns = "select " + staged_columns(staging, matching, cell, whole)
        taken = {column.casefold() for column in header} & {"rowid", "file_row_number"}
        numbered = columns + ", file_row_number as rowid" + _parquet(staging.source, numbered=True)
        if taken:
            staging.database.read(staging.table, columns + _parquet(staging.source))
        else:
            staging.database.look(staging.table, numbered)
    except UnreadableError as error:
        raise staging.refusal(f"this is not a sound Parquet file: {brief(str(error))}") from None
    return replace(matching.staged(staging.form, header, None), numbers=frozenset(whole))


class _Text(Struct, frozen=True):
    """A text file as Python reads it, for its header and to find the line of an error."""

    staging: Staging
    compression: Compression

    @contextlib.contextmanager
    def document(self) -> Iterator[Document]:
        """The bytes of the file."""
        with open_bytes(self.staging.door, self.staging.source, self.compression) as binary:
            yield Document(self.staging, binary)

    def lines(self) -> Iterator[str]:
        """The physical lines with their ends. Raises DataError if one is not UTF-8, or if the file is cut off."""
        with self._open() as text:
            yield from text

    @contextlib.contextmanager
    def _open(self) -> Iterator[io.TextIOWrapper]:
        try:
            with (
                open_bytes(self.staging.door, self.staging.source, self.compression) as binary,
                io.TextIOWrapper(binary, encoding="utf-8-sig", newline="") as text,
            ):
                yield text
        except UnicodeDecodeError:
            raise self.staging.refusal("this line is not UTF-8", self._first_undecodable()) from None
        except (
            Exception
        ) as error:  # but not exceptions that end a program or a generator; the damage exceptions are imported here
            if not isinstance(error, damages()):
                raise
            raise self.staging.refusal(*damage(self.staging.door, self.staging.source)) from None

    def _first_undecodable(self) -> int | None:
        # Latin-1 accepts every byte, and lines end in the same places as in UTF-8.
        with (
            open_bytes(self.staging.door, self.staging.source, self.compression) as binary,
            io.TextIOWrapper(binary, encoding="latin-1") as text,
        ):
            for number, line in enumerate(text, start=1):
                try:
                    line.encode("latin-1").decode("utf-8")
                except UnicodeDecodeError:
                    return number
        return None

    def header(self, separator: str) -> tuple[str, ...]:
        """The names of the columns."""
        try:
            with _long_cells():
                first = next(csv.reader(_Rows(self.lines()), delimiter=separator), None)
        except csv.Error as error:
            raise self.staging.refusal(_csv_sentence(error), 1) from None
        if not first:
            raise self.staging.refusal("the first line is blank; it must name the columns", 1)
        return tuple(first)

    def record_lines(self, separator: str, rows: Iterable[int]) -> dict[int, int]:
        """The lines on which records begin. Records count from 0 after the header."""
        wanted = set(rows)
        last = max(wanted, default=-1)
        records = islice(self._records(separator), 1, last + 2)
        return {row: line for row, (line, _) in enumerate(records) if row in wanted}

    def _records(self, separator: str) -> Iterator[tuple[int, list[str]]]:
        """Each record that is not a blank line, the header first, and the line on which it begins."""
        begins, width = 1, 0
        with _long_cells():
            rows = _Rows(self.lines())
            reader = csv.reader(rows, delimiter=separator, strict=True)
            try:
                for record in reader:
                    rows.begin()
                    width = width or len(record)
                    if record and not (width == 1 and record == [""]):
                        yield begins, record
                    begins = reader.line_num + 1
            except csv.Error as error:
                raise self.staging.refusal(_csv_sentence(error), begins) from None

    def diagnosis(self, separator: str, width: int, said: str) -> DataError:
        """Why DuckDB could not read the table: reads it again to find the error, or else returns DuckDB's message."""
        faults: list[Fault] = []
        try:
            for line, record in self._records(separator):
                if len(record) != width:
                    cells = quantity(len(record), "cell")
                    faults.append(self.staging.fault(f"{cells} in this row, and {width} in the header", line))
        except DataError as error:
            faults += error.faults
        if faults:
            return DataError(tuple(faults[:MOST_FAULTS]), len(faults))
        if other_end := self._mixed_line_end():
            return self.staging.refusal("this line ends differently from the first one (CRLF, LF or CR)", other_end)
        return self.staging.refusal(f"the table cannot be read: {brief(said)}")

    def _mixed_line_end(self) -> int | None:
        first = ""
        for number, line in enumerate(self.lines(), start=1):
            end = line[len(line.rstrip("\r\n")) :]
            first = first or end
            if end and end != first:
                return number
        return None

    def json_lines(self, rows: Iterable[int]) -> dict[int, int]:
        """The lines of records, one record per line; blank lines have none."""
        wanted = set(rows)
        filled = (number for number, line in enumerate(self.lines(), start=1) if line.strip())
        return {row: line for row, line in enumerate(filled) if row in wanted}


class _Rows:
    """Lines for a reader of rows, which may span several lines. Raises an error if one row is too long."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines, self._size = lines, 0

    def begin(self) -> None:
        """Starts the next row."""
        self._size = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self._size += len(line)
            if self._size > LONGEST_ROW:
                raise csv.Error("row longer than there may be")
            yield line


def _csv_sentence(error: csv.Error) -> str:
    if "unexpected end of data" in str(error):
        return "a quote is opened and never closed"
    if "row longer than" in str(error):
        return f"a row is longer than {LONGEST_ROW:,} bytes"
    if "field larger than" in str(error):
        return f"a cell is longer than {LONGEST_CELL} characters"
    return "text follows the quote that closes a cell"


@contextlib.contextmanager
def _long_cells() -> Iterator[None]:
    """Lets Python's csv module read cells of up to a million characters, inside the block."""
    before = csv.field_size_limit(LONGEST_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(before)
