"""Predicted classes, as people write them for scikit-learn: a CSV table with the columns id, y_true and y_pred.

Two classes that mean yes and no in some spelling (1 and 0, true and false, yes and no) are loaded as filtering: y_true
becomes labels, y_pred becomes decisions, and the column `score` the confidence. All other classes are loaded as
extraction: each class is a unit. A document has one possible item in the unit of its class, or of each of its classes
if it has several, and one actual item in the unit of each predicted class.

Columns may name the test set and the system. Unless they do, the file names the system, and its folder the test set; if
a column names the system, the file names the test set. Columns that identify replicates, such as a seed, tell the runs
of a system, under the names that tables of samples have for them.
"""

from __future__ import annotations

import ast
import csv
import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import inf
from shlex import quote

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import DECISIONS, LABELS, SCORES, SYSTEMS
from evalhouse.warehouse.loading.readers.numbers import are_numbers
from evalhouse.warehouse.loading.staging.cells import is_number, quote_cell
from evalhouse.warehouse.loading.staging.columns import (
    REPLICATES,
    CellColumn,
    UnclearError,
    parts_of,
    roles_of,
    tells_document,
    words_apart,
)
from evalhouse.warehouse.loading.staging.json_rows import RECORDS, is_by_line, rows_of
from evalhouse.warehouse.loading.staging.lines import Document, documents
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Start, filled
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.spans import COLUMNS
from evalhouse.warehouse.loading.staging.staged import Run, Staged, Staging

EXAMPLE = "id,y_true,y_pred,score\nD1,1,1,0.93\nD2,0,1,0.58\nD3,0,0,0.11\n"

YES, NO = frozenset({"1", "1.0", "true", "yes"}), frozenset({"0", "0.0", "false", "no"})

NAMED = ("id", "y_true", "y_pred")

FIELDS = ("evaluation", "test_set", "system")
"""Fields that columns of other names may hold, too."""

INPUTS = ("input", "text", "question", "prompt", "sentence")
"""Names of the column with the classified text."""

SEPARATORS = "|;"
"""These separate the classes of a document wherever they are. A comma may also be part of the name of a class."""

UNCLEAR = "/+& "
"""These may separate classes or be part of the name of one."""

ONE = "none"
"""The value of --separator for documents with one class each."""

Classes = Callable[[str], frozenset[str]]
"""What a cell says: the classes in it."""

NumberedRow = tuple[int | None, dict[str, str]]
"""The line number of a row, if it has one, and its cells by heading."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages labels and decisions, or score tuples by class. Raises DataError if a column or a cell is missing."""
    names: set[str] = set()
    row: dict[str, str] = {}
    for _, row in _rows(staging):
        names |= {row["y_true"], row["y_pred"]}
    if not names:
        raise staging.refusal("there is a header, but no rows")
    binary = all(name.casefold() in YES | NO for name in names)
    classes_in = _classes_in(staging, names)
    said_of = _said_of_systems(staging, row)
    staging = said_of.staging
    column = next((name for name in INPUTS if name in row), None) if staging.texts else None
    texts = ((column,) if column else ()) if staging.texts else ()
    read = {*NAMED, *staging.columns.values(), *said_of.columns, *(("score",) if binary else ()), *texts}
    left_out = ", ".join(column for column in row if column not in read)
    forms = (LABELS, DECISIONS) if binary else (SCORES,)
    with Sheets(staging, *forms, named=(*NAMED, *FIELDS, *REPLICATES)) as sheets:
        said_of.name_runs(sheets)
        _identify(sheets, said_of)
        if binary:
            labels = sheets.open(LABELS, *said_of.on, "document", "label")
            decisions = sheets.open(DECISIONS, *said_of.on, *said_of.by, "document", "decision", "confidence")
            for line, row in _rows(staging):
                on, by = said_of.row(row)
                labels.add(line, *on, row["id"], "relevant" if row["y_true"].casefold() in YES else "nonrelevant")
                decision = "yes" if row["y_pred"].casefold() in YES else "no"
                decisions.add(line, *on, *by, row["id"], decision, row.get("score"))
        else:
            scores = sheets.open(SCORES, *said_of.on, *said_of.by, "document", "unit", *COLUMNS)
            classes: dict[tuple[str, ...], set[str]] = {}
            for _, row in _rows(staging):
                on, _ = said_of.row(row)
                classes.setdefault(on, set()).update(classes_in(row["y_true"]), classes_in(row["y_pred"]))
            for line, row in _rows(staging):
                on, by = said_of.row(row)
                right, said = classes_in(row["y_true"]), classes_in(row["y_pred"])
                for name in sorted(classes[on]):
                    wanted, given = int(name in right), int(name in said)
                    both = wanted * given
                    of_class = wanted, given, both, 0, 0, given - both, wanted - both
                    scores.add(line, *on, *by, row["id"], name, *of_class)
        for line, row in _rows(staging) if sheets.texts.wanted else ():
            on, by = said_of.row(row)
            of: dict[str, str] = {**dict(zip(said_of.on, on, strict=True)), "document": row["id"]}
            sheets.texts.input(line, row[column] if column else None, **of)
            sheets.texts.references(line, [row["y_true"]], **of)
            sheets.texts.outputs(line, [row["y_pred"]], **of, **dict(zip(said_of.by, by, strict=True)))
        return sheets.staged((f"left out (not fields): {left_out}",) if left_out else ())


def _identify(sheets: Sheets, said_of: _SaidOfSystems) -> None:
    """Adds what the columns say that a document is: its text, and the split that it is from."""
    telling: list[str] = []
    for line, row in _rows(said_of.staging):
        if not telling:
            free = [heading for heading in row if heading not in (*NAMED, *said_of.columns)]
            telling = list(filter(tells_document, free))
            if "test_set" not in said_of.fields:
                sheets.told_apart |= {heading: words_apart("test_set", heading) for heading in parts_of(telling)}
            if not telling:
                return
        on, _ = said_of.row(row)
        of: dict[str, str] = {**dict(zip(said_of.on, on, strict=True)), "document": row["id"]}
        sheets.identify(line, {heading: row[heading] for heading in telling}, **of)


class _SaidOfSystems(Struct, frozen=True):
    """What the columns of a table say of test sets and systems: the headings of fields, by field, and the headings that
    identify replicates. `on` and `by` are the fields that each row names.
    """

    staging: Staging
    fields: Mapping[str, str]
    replicates: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return *self.fields.values(), *self.replicates

    @property
    def on(self) -> tuple[str, ...]:
        evaluations = ("evaluation",) if "evaluation" in self.fields else ()
        return (*evaluations, "test_set") if self.columns else ()

    @property
    def by(self) -> tuple[str, ...]:
        return ("system",) if self.columns else ()

    def row(self, row: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """What a row says of its test set, and of its system."""
        if not self.columns:
            return (), ()
        run = self.run_of(row)
        system = self.staging.replicate(run.model, run.test_set, run=run.id)
        return tuple(run.test_set if field == "test_set" else row[self.fields[field]] for field in self.on), (system,)

    def run_of(self, row: Mapping[str, str]) -> Run:
        """The run of a row: seed=1, epoch=2."""
        test_set, model = (
            self.staging.named(field, row[self.fields[field]] if field in self.fields else None, f"{field} is empty")
            for field in ("test_set", "system")
        )
        named = ", ".join(f"{heading}={row[heading]}" for heading in self.replicates if row[heading])
        return Run(test_set, model, named or None, None)

    def name_runs(self, sheets: Sheets) -> None:
        """Names the runs of the table in their order, and adds what identifies them as attributes of their systems."""
        if not self.replicates:
            return
        cells = {self.run_of(row): [row[heading] for heading in self.replicates] for _, row in _rows(self.staging)}
        runs = sorted((run for run in cells if run.id), key=lambda run: (run.test_set, run.model, *_order(cells[run])))
        systems = sheets.open(SYSTEMS, "system", "model", *self.replicates)
        for run, named in zip(runs, self.staging.name_runs(runs), strict=True):
            systems.add(None, named.system, named.model, *cells[run])


def _order(cells: Sequence[str]) -> Iterator[tuple[float, str]]:
    """The place of a run among others: seed 2 is before seed 10."""
    return ((float(cell) if is_number(cell) else inf, cell) for cell in cells)


def _said_of_systems(staging: Staging, header: Collection[str]) -> _SaidOfSystems:
    """What the columns say of test sets and systems. Raises DataError if several columns could name one of them."""
    taken = {*NAMED, *(staging.columns.get(field, field) for field in NAMED)}
    columns = [CellColumn(place, heading, 1) for place, heading in enumerate(header) if heading not in taken]
    mapped = {field: heading for field, heading in staging.columns.items() if field not in NAMED}
    try:
        roles = roles_of(columns, mapped, staging.fields.keys(), None)
    except UnclearError as error:
        raise staging.refusal(str(error), 1) from None
    fields = {field: column.heading for field, column in roles.fields.items() if field in FIELDS}
    if "system" in fields:
        # The name of such a file is not needed for the system, so it names the test set, as that of any other table.
        staging = replace(staging, unsaid={**staging.unsaid, **filled({"test_set": "{stem}"}, staging.source)})
    return _SaidOfSystems(staging, fields, tuple(column.heading for column in roles.replicates))


def _classes_in(staging: Staging, names: Collection[str]) -> Classes:
    """How the cells of a file name classes. Raises DataError if a comma could separate classes or be part of one."""
    separator = staging.options.get("separator")
    if separator == ONE:
        return lambda cell: frozenset([cell])
    if separator is not None:
        return lambda cell: _parts(re.escape(separator), cell)
    lists = {cell: found for cell in names if (found := _list(cell)) is not None}
    if lists:
        return lambda cell: lists.get(cell, frozenset([cell]))
    several = f"[{re.escape(SEPARATORS)}]"
    alone = frozenset().union(*(_parts(several, cell) for cell in names))
    if unclear := _unclear_commas(alone):
        how = f"--separator , says that commas separate labels, --separator {ONE} that each cell is one"
        raise _refusal(staging, unclear, several, f"which could be several labels or one; {how}")
    for mark in UNCLEAR:
        if joined := {name for name in alone if len(parts := _parts(re.escape(mark), name)) > 1 and parts <= alone}:
            how = f"--separator {quote(mark)} says that {quote_cell(mark)} separates labels"
            why = f"and its parts are labels, too; {how}, --separator {ONE} that each cell is one"
            raise _refusal(staging, joined, several, why)
    if fractions := {name for name in alone if is_number(name) and not float(name).is_integer()}:
        why = "a number and no class; the column score is for confidences"
        raise _refusal(staging, fractions, several, f"{why}, and --separator {ONE} says that each cell is a class")
    return lambda cell: _parts(f"{several}|,", cell)


def _unclear_commas(alone: frozenset[str]) -> frozenset[str]:
    """Those of some classes with commas that could be one class or several.

    They are several where all parts are classes that stand alone, too. Where some of them are, no blank may follow a
    comma, because "Paris, France" is one class beside "Paris".
    """
    joined = {name: _parts(",", name) for name in alone if "," in name}
    if any(re.search(r",\s", name) for name, parts in joined.items() if not parts <= alone):
        return frozenset(name for name, parts in joined.items() if not parts <= alone)
    return frozenset(name for name, parts in joined.items() if parts.isdisjoint(alone))


def _refusal(staging: Staging, unfit: Collection[str], several: str, why: str) -> DataError:
    """The error about the first cell with a class that is unfit."""
    line, column, cell = next(
        (line, column, row[column])
        for line, row in _rows(staging)
        for column in ("y_true", "y_pred")
        if not _parts(several, row[column]).isdisjoint(unfit)
    )
    return staging.refusal(f"{column} is {quote_cell(cell)}, {why}", line)


def _parts(separator: str, cell: str) -> frozenset[str]:
    return frozenset(part.strip() for part in re.split(separator, cell) if part.strip())


def _list(cell: str) -> frozenset[str] | None:
    """The classes of a cell that is a list, as JSON or Python writes it; None if it is none."""
    if not (cell.startswith("[") and cell.endswith("]")):
        return None
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(cell)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(found, list) and all(isinstance(item, str | int | float) for item in found):
            return frozenset(str(item) for item in found)
    return None


def _rows(staging: Staging) -> Iterator[NumberedRow]:
    may_be_empty = staging.options.get("separator") not in (None, ONE)
    wanted = {field: staging.columns.get(field, field) for field in NAMED}
    by_line = is_by_line(staging.source)
    for document in documents(staging):
        if by_line is not None:
            yield from _json_rows(staging, document, wanted, by_line=by_line, may_be_empty=may_be_empty)
            continue
        reader = csv.reader((text + "\n" for _, text in document.lines()), strict=True)
        try:
            first = next(reader, None)
            header = [] if first is None else _header(document, first, wanted.values())
            for cells in filter(None, reader):
                yield reader.line_num, _row(document, reader.line_num, header, cells, wanted, may_be_empty)
        except csv.Error as error:
            raise document.refusal(f"this row is not CSV: {error}", reader.line_num) from None


def _json_rows(
    staging: Staging, document: Document, wanted: Mapping[str, str], *, by_line: bool, may_be_empty: bool
) -> Iterator[NumberedRow]:
    number = 0
    for rows in rows_of(staging, document, by_line=by_line):
        for cells in rows:
            number += 1
            line = number if by_line else None
            header = _header(document, list(cells), wanted.values(), line)
            yield line, _row(document, line, header, [cell or "" for cell in cells.values()], wanted, may_be_empty)


def _header(document: Document, cells: list[str], wanted: Collection[str], line: int | None = 1) -> list[str]:
    header = [cell.strip() for cell in cells]
    for column in wanted:
        if header.count(column) > 1:
            raise document.refusal(f"the column {quote_cell(column)} appears more than once in the header", line)
    if absent := [column for column in wanted if column not in header]:
        raise document.refusal(f"there is no column {', '.join(absent)}; the columns are {', '.join(header)}", line)
    return header


def _row(
    document: Document,
    line: int | None,
    header: list[str],
    cells: list[str],
    wanted: Mapping[str, str],
    may_be_empty: bool,
) -> dict[str, str]:
    if len(cells) != len(header):
        raise document.refusal(f"{len(cells)} cells in this row, and {len(header)} in the header", line)
    row = dict(zip(header, (cell.strip() for cell in cells), strict=True))
    for field, column in wanted.items():
        if not row[column] and not (may_be_empty and field != "id"):
            raise document.refusal(f"{quote_cell(column)[1:-1]} is empty", line)
    return row | {field: row[column] for field, column in wanted.items()}


def _recognizes(start: Start) -> str | None:
    named = start.columns >= {"y_true", "y_pred"} and not are_numbers(start)
    return "its columns y_true and y_pred" if named else None


READER = Reader(
    "sklearn",
    "classes as for scikit-learn: a table (CSV, JSON) of id, y_true and y_pred [, score]",
    (LABELS, DECISIONS, SCORES),
    EXAMPLE,
    stage,
    keyed=True,
    options=(
        Option(RECORDS, "where in an object the records are: results.results"),
        Option(
            "separator",
            f"what separates several classes in a cell, or {ONE}; default: {SEPARATORS[0]} and {SEPARATORS[1]}, "
            "and commas between classes that also stand alone",
        ),
    ),
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
