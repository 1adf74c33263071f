"""Writes the records and texts that a reader yields to staged tables, so that memory does not grow with them.

What the records mean is not known here, and no text is checked.
"""

from __future__ import annotations

import contextlib
import csv
import tempfile
from collections.abc import Iterable, Mapping
from itertools import repeat
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError, UnreadableError, WarehouseError
from evalhouse.warehouse.kinds.records import (
    DOCUMENT_TEXTS,
    IDENTITIES,
    INPUT,
    OUTPUT,
    PIECE_LENGTH,
    REFERENCE,
    RUNS,
    SYSTEM_TEXTS,
    SYSTEMS,
    TEXT_FORMS,
    FactForm,
)
from evalhouse.warehouse.loading.staging.cells import LONGEST_TEXT, quote_cell
from evalhouse.warehouse.loading.staging.identity import beginning, digest
from evalhouse.warehouse.loading.staging.staged import Matching, Staged, Staging, places, staged_columns
from evalhouse.warehouse.store.sql import Sql, join, name, values

if TYPE_CHECKING:
    import numpy
    from numpy import ndarray

    from evalhouse.warehouse.store.database import Database


# === sheets of texts ==================================================================================================
# Inputs, references and outputs are written a few megabytes at a time and without changing a letter. A reader always
# adds texts; if they are not to be stored, nothing happens. Only the names of a text's document and system are cleaned,
# like all names.

TEXTS_AT_ONCE = 4_000_000
"""How many characters are copied to the database at a time."""

MOST_AT_ONCE = 20_000
"""How many texts are copied to the database at a time."""

_NUMBERS = frozenset({"number", "characters"})
"""The fields that are not texts."""

_NOWHERE = -1
"""The line of a text in a file without lines."""


class TextSheets:
    """The texts of one file."""

    def __init__(self, staging: Staging) -> None:
        self.wanted = staging.texts
        """Whether texts are to be stored. A reader may check this if finding them takes time."""
        self._of_documents = _TextSheet(staging.of(DOCUMENT_TEXTS))
        self._of_systems = _TextSheet(staging.of(SYSTEM_TEXTS))

    def input(self, line: int | None, text: str | None, *, member: str | None = None, **of: object) -> None:
        """Adds an input. `of` names the document, the system, and the test set unless a setting does. If it names no
        system, the input is the same for all systems.
        """
        if self.wanted and text is not None:
            sheet = self._of_systems if "system" in of else self._of_documents
            sheet.add(line, member, text, **of, kind=INPUT, number=1)

    def references(
        self, line: int | None, texts: Iterable[str | None], *, member: str | None = None, **of: object
    ) -> None:
        """Adds the right answers, in their order."""
        if self.wanted:
            there = (text for text in texts if text is not None)
            for number, text in enumerate(there, start=1):
                self._of_documents.add(line, member, text, **of, kind=REFERENCE, number=number)

    def outputs(
        self, line: int | None, texts: Iterable[str | None], *, member: str | None = None, **of: object
    ) -> None:
        """Adds the answers of a system, which `of` names as well."""
        if self.wanted:
            there = (text for text in texts if text is not None)
            for number, text in enumerate(there, start=1):
                self._of_systems.add(line, member, text, **of, kind=OUTPUT, number=number)

    def name_systems(self, names: Mapping[str, str]) -> None:
        """Replaces provisional names of systems, under which texts were added, by the final names."""
        self._of_systems.rename("system", {old: new for old, new in names.items() if old != new})

    def staged(self) -> tuple[Staged, ...]:
        """The staged tables."""
        return tuple(sheet.staged() for sheet in (self._of_documents, self._of_systems) if sheet.texts)


class _TextSheet:
    """The texts of one form. One table has the names that identify each text; another has its pieces, by row number."""

    def __init__(self, staging: Staging) -> None:
        self.texts = 0
        self._staging = staging
        self._columns: tuple[str, ...] = ()
        self._rows: list[tuple[object, ...]] = []
        self._pieces: list[tuple[int, int, str]] = []
        self._characters = 0
        self._matching = Matching({}, (), ())
        self._is_there = False

    def add(self, line: int | None, member: str | None, text: str, **of: object) -> None:
        """Adds a text. The columns that identify it must be the same each time."""
        self._columns = self._columns or (*of, "characters")
        text = _storable(text)
        of["characters"] = len(text)
        names = (of[column] if column in _NUMBERS else _storable(str(of[column])) for column in self._columns)
        self._rows.append((_NOWHERE if line is None else line, member, *names))
        if len(text) <= PIECE_LENGTH:
            self._pieces.append((self.texts, 1, text))
        elif len(text) <= LONGEST_TEXT:  # a longer text will be refused
            begins = range(0, len(text), PIECE_LENGTH)
            self._pieces += (
                (self.texts, piece, text[begin : begin + PIECE_LENGTH]) for piece, begin in enumerate(begins, start=1)
            )
        self.texts += 1
        self._characters += len(text)
        if self._characters >= TEXTS_AT_ONCE or len(self._rows) >= MOST_AT_ONCE:
            self._bring()

    def _bring(self) -> None:
        database, more = self._staging.database, self._is_there
        brought, columns = "texts_brought", ("line", "member", *(f"c{place}" for place in range(len(self._columns))))
        database.bring(brought, _arrays(columns, self._rows))
        staging, self._matching = self._match_columns()
        cells = staged_columns(staging, self._matching, lambda place: Sql(f"c{place}"), _NUMBERS)
        rows = "select nullif(line, " + Sql(f"{_NOWHERE}) as line, member::varchar as member, ") + cells
        table = name(staging.table)
        into = "insert into temp." + table + " " if more else "create or replace temp table " + table + " as "
        database.run(into + rows + f" from temp.{brought}")
        database.forget(brought)
        if self._pieces or not more:
            database.bring(pieces_of(staging), _arrays(("place", "piece", "text"), self._pieces), more=more)
        self._is_there = True
        self._rows.clear()
        self._pieces.clear()
        self._characters = 0

    def rename(self, column: str, names: Mapping[str, str]) -> None:
        """Replaces names in a column by others."""
        if not self.texts or not names:
            return
        if self._rows:
            self._bring()
        pairs = join(", ", (values((old, _storable(new))) for old, new in names.items()))
        renamed = name(self._staging.table) + " set " + name(column) + " = nfc_normalize(names.new) from (values "
        where = ") as names(old, new) where names.old = " + name(column)
        self._staging.database.run("update temp." + renamed + pairs + where)

    def _match_columns(self) -> tuple[Staging, Matching]:
        """The settings that hold for all texts, and which column is which field."""
        staging = self._staging
        known = {field.name for field in staging.form.fields}
        # A system that the reader named keeps the name under which it is stored, whatever a setting says about the
        # model.
        known -= {"system"} & set(self._columns)
        fixed = {field: text for field, text in staging.settings.items() if field in known}
        staging = replace(staging, fields=fixed)
        columns = {column: place for place, column in enumerate(self._columns)}
        fields = {column: place for column, place in columns.items() if column not in fixed}
        required = [field.name for field in staging.form.fields if field.required]
        lacking = [field for field in required if field not in columns and field not in fixed]
        return staging, Matching(fields, (), (), {field: staging.unsaid[field] for field in lacking})

    def staged(self) -> Staged:
        """The staged table of all texts that were added."""
        if self._rows:
            self._bring()
        staging = self._staging
        staged = self._matching.staged(staging.form, self._columns, places(staging, "line"), places(staging, "member"))
        return replace(staged, numbers=_NUMBERS)


def _arrays(columns: Iterable[str], rows: list[tuple[object, ...]] | list[tuple[int, int, str]]) -> dict[str, ndarray]:
    """Rows as arrays, one per column."""
    import numpy

    kinds = {"line": "int32", "place": "int32", "piece": "int32"}
    cells: Iterable[Iterable[object]] = zip(*rows, strict=True) if rows else repeat(())
    return {
        column: numpy.array(list(of_column), dtype=kinds.get(column, object))
        for column, of_column in zip(columns, cells, strict=False)
    }


def pieces_of(staging: Staging) -> str:
    """The temporary table for the pieces of a form's texts. `place` says which text a piece belongs to, and `piece` its
    position.
    """
    return f"pieces_of_{staging.form.name}"


def text_tables(staging: Staging) -> list[str]:
    """The temporary tables for the texts of a file."""
    of_forms = map(staging.of, TEXT_FORMS)
    return [table for of_form in of_forms for table in (of_form.table, pieces_of(of_form), "texts_brought")]


def cut(staging: Staging) -> None:
    """Splits the column `text` of a staged table into pieces."""
    pieces = f"greatest(1, (length(text) + {PIECE_LENGTH - 1}) // {PIECE_LENGTH})"
    cut = f"substring(text, (piece - 1) * {PIECE_LENGTH} + 1, {PIECE_LENGTH}) as text"
    staging.database.run(
        Sql(
            f"create or replace temp table {pieces_of(staging)} as select place, piece::integer as piece, {cut} from "
            f"(select rowid as place, text, unnest(range(1, {pieces} + 1)) as piece from {staging.table})"
        )
    )


def _storable(text: str) -> str:
    """A text that UTF-8 can encode: half of a surrogate pair, which JSON may contain, is written as its escape."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="backslashreplace").decode()
    return text


# === sheets of records ================================================================================================
# A reader opens one sheet per form, adds records one at a time with the lines they are on, and returns what
# `Sheets.staged` returns. There is one temporary file per form.

AT_ONCE = 200
"""How many records are written at a time."""

AT_ONCE_IN_ARRAYS = 40_000
"""How many records in arrays are copied to the database at a time."""


class Sheet:
    """The records of one form, in the order in which they are added."""

    def __init__(self, database: Database, path: Path, form: FactForm, columns: tuple[str, ...]) -> None:
        self.form, self.columns, self.path = form, columns, path
        self.records = 0
        self.whole: frozenset[str] = frozenset()
        self.in_arrays = False
        self._database = database
        self._file = path.open("w", encoding="utf-8", errors="backslashreplace", newline="")
        self._write = csv.writer(self._file, lineterminator="\n").writerows
        self._rows: list[tuple[object, ...]] = []
        self._arrays: list[tuple[numpy.ndarray, ...]] = []

    def add(self, line: int | None, *cells: object, member: str | None = None) -> None:
        """Adds a record: one cell per column (None for an empty one), and its line or archive member in the file."""
        self._rows.append((line, member, *cells))
        self.records += 1
        if len(self._rows) >= AT_ONCE:
            self._write_out()

    def _write_out(self) -> None:
        self._write(self._rows)
        self._rows.clear()

    def add_arrays(self, lines: numpy.ndarray, *cells: numpy.ndarray) -> None:
        """Adds records as arrays, one per column; counts are arrays of whole numbers. A sheet takes either arrays or
        single records.
        """
        if not len(lines):
            return
        self._arrays.append((lines.astype("int32"), *cells))
        counts = {field.name for field in self.form.fields if field.kind == "count"}
        self.whole = frozenset(counts & set(self.columns))
        self.records += len(lines)
        if sum(len(lines) for lines, *_ in self._arrays) >= AT_ONCE_IN_ARRAYS:
            self._bring()

    def _bring(self) -> None:
        import numpy

        names = ("line", *(f"c{place}" for place in range(len(self.columns))))
        columns = map(numpy.concatenate, zip(*self._arrays, strict=True))
        self._database.bring(self.table, dict(zip(names, columns, strict=True)), more=self.in_arrays)
        self.in_arrays = True
        self._arrays.clear()

    @property
    def table(self) -> str:
        """The temporary table for records in arrays."""
        return f"sheet_{self.form.name}"

    def close(self) -> None:
        """Writes the remaining records. Closing twice is harmless."""
        if not self._file.closed:
            self._write_out()
        self._file.close()
        if self._arrays:
            self._bring()


class Sheets:
    """The sheets of one file; its temporary files are removed when the context is left."""

    def __init__(self, staging: Staging, *forms: FactForm, named: tuple[str, ...] = ()) -> None:
        """Sheets for records of these forms. `named` are the columns of the file that --map may rename."""
        self._staging, self._forms, self._named = staging, forms, named
        self._sheets: list[Sheet] = []
        self.texts = TextSheets(staging)
        self._identities: Sheet | None = None
        self.told_apart: dict[str, str] = {}
        """For what is said of documents, the words of the command line that keep others apart by it."""

    def __enter__(self) -> Sheets:
        refuse_settings(self._staging, *self._forms, named=self._named)
        self._folder = tempfile.TemporaryDirectory(dir=self._staging.database.spill)
        return self

    def __exit__(self, *error: object) -> None:
        for sheet in self._sheets:
            with contextlib.suppress(WarehouseError):  # if the connection broke, report that error
                sheet.close()
                if sheet.in_arrays:
                    self._staging.database.forget(sheet.table)
        self._folder.cleanup()

    def open(self, form: FactForm, *columns: str) -> Sheet:
        """Opens a sheet for records of a form with these columns. Columns that are not fields of the form are
        attributes.

        Raises DataError if a required field of the form is neither a column nor set.
        """
        given = {*columns, *self._staging.fields, *self._staging.unsaid}
        for field in form.fields:
            if field.required and field.name not in given:
                what = field.name.replace("_", " ")
                raise self._staging.refusal(f"the file does not name the {what}; name it with --set {field.name}=NAME")
        sheet = Sheet(self._staging.database, Path(self._folder.name) / form.name, form, columns)
        self._sheets.append(sheet)
        return sheet

    def identify(
        self, line: int | None, said: Mapping[str, str | None], *, member: str | None = None, **of: object
    ) -> None:
        """Adds what the file says that a document is: its QUESTION, its right ANSWER. `of` names the document, and the
        test set unless a setting does. Only what is the same for all systems may be said here, and no prompt.
        """
        for what, text in said.items():
            if text and (begins := beginning(text)):
                if self._identities is None:
                    self._identities = self.open(IDENTITIES, *of, "name", "begins", "digest")
                self._identities.add(line, *of.values(), what, begins, digest(text), member=member)

    def staged(
        self, notes: Iterable[str] = (), directions: Mapping[str, bool] | None = None, accuracy: str = ""
    ) -> tuple[Staged, ...]:
        """Stages the sheets that have records. `directions` are the directions of measures that the file states
        (whether lower is better), and `accuracy` is the file's own name for the accuracy. Raises DataError if no
        sheet has a record.
        """
        staged: list[Staged] = []
        self._add_runs()
        for sheet in self._sheets:
            sheet.close()
            if sheet.records and sheet is not self._identities:
                first = self._stage(sheet, () if staged else tuple(notes))
                staged.append(first if staged else replace(first, directions=dict(directions or {}), accuracy=accuracy))
        if not staged:
            raise self._staging.refusal("it has nothing to store")
        if self._identities:
            staged.append(replace(self._stage(self._identities, ()), told_apart=self.told_apart))
        return (*staged, *self.texts.staged())

    def _add_runs(self) -> None:
        """Adds sheets for the runs that the reader named, if there are any."""
        brought = self._staging.runs.values()
        if not brought:
            return
        runs = self.open(RUNS, "test_set", "system", "model", "run", "date")
        for run in brought:
            runs.add(None, run.test_set, run.system, run.model, run.stored_id, run.date)
        if not any(sheet.form is SYSTEMS for sheet in self._sheets):
            models = self.open(SYSTEMS, "system", "model")
            for system, model in dict.fromkeys((run.system, run.model) for run in brought):
                models.add(None, system, model)

    def _stage(self, sheet: Sheet, notes: tuple[str, ...]) -> Staged:
        staging = self._staging.of(sheet.form)
        staging = replace(staging, fields=staging.settings)
        known = {field.name for field in sheet.form.fields}
        columns = {column: place for place, column in enumerate(sheet.columns)}
        fields = {column: place for column, place in columns.items() if column in known - staging.fields.keys()}
        required = [field for field in sheet.form.fields if field.required]
        lacking = [field for field in required if field.name not in (*columns, *staging.fields)]
        unsaid = {field.name: staging.unsaid[field.name] for field in lacking}
        matching = Matching(fields, tuple(columns[column] for column in columns if column not in known), notes, unsaid)
        if sheet.in_arrays:
            return self._stage_arrays(sheet, staging, matching)
        texts = "".join(f", 'c{place}': 'VARCHAR'" for place in range(len(sheet.columns)))
        reading = (
            Sql("select line, member, ")
            + staged_columns(staging, matching, lambda place: Sql(f"c{place}"))
            + Sql(
                " from read_csv(?, header=false, auto_detect=false, strict_mode=true, delim=',', quote='\"', "
                "escape='\"', columns={'line': 'INTEGER', 'member': 'VARCHAR'" + texts + "})",
                (str(sheet.path),),
            )
        )
        try:
            staging.database.read(staging.table, reading)
        except UnreadableError:
            raise staging.refusal("a text that is to be stored is longer than a million characters") from None
        return matching.staged(sheet.form, sheet.columns, places(staging, "line"), places(staging, "member"))

    def _stage_arrays(self, sheet: Sheet, staging: Staging, matching: Matching) -> Staged:
        def cell(place: int) -> Sql:
            return Sql(f"c{place}" if sheet.columns[place] in sheet.whole else f"c{place}::varchar")

        columns = staged_columns(staging, matching, cell, sheet.whole)
        reading = "select line, null::varchar as member, " + columns + f" from temp.{sheet.table}"
        staging.database.read(staging.table, reading)
        staged = matching.staged(sheet.form, sheet.columns, places(staging, "line"))
        return replace(staged, numbers=sheet.whole - staging.fields.keys())


def refuse_settings(staging: Staging, *forms: FactForm, named: tuple[str, ...] = ()) -> None:
    """Raises DataError for settings of fields that the forms do not have, and for columns that are not in `named`."""
    known = dict.fromkeys(field.name for form in forms for field in form.fields)
    faults = [
        staging.fault(f"there is no field {quote_cell(field)} to set; the fields are {', '.join(known)}")
        for field in staging.fields
        if field not in known
    ]
    faults += [
        staging.fault(
            f"{quote_cell(field)} is not taken from a column; "
            + (f"these are: {', '.join(named)}" if named else "the file has no columns with names")
        )
        for field in staging.columns
        if field not in named
    ]
    if faults:
        raise DataError(tuple(faults))
