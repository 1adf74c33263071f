"""Writes records that a reader yields one at a time to staged tables, through one temporary file per form, so that
memory does not grow with the input.

A reader opens one sheet per form, adds records with the lines they are on, and returns what `Sheets.staged` returns.
Nothing here knows what the records mean.
"""

from __future__ import annotations

import contextlib
import csv
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from warehouse.faults import DataError, UnreadableError, WarehouseError
from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.staged import Matching, Staged, Staging, places, staged_columns
from warehouse.loading.staging.text_sheets import TextSheets
from warehouse.store.sql import Sql
from warehouse.tasks.records import RUNS, SYSTEMS, FactForm

if TYPE_CHECKING:
    import numpy

    from warehouse.store.database import Database


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
            if sheet.records:
                first = self._stage(sheet, () if staged else tuple(notes))
                staged.append(first if staged else replace(first, directions=dict(directions or {}), accuracy=accuracy))
        if not staged:
            raise self._staging.refusal("it has nothing to store")
        return (*staged, *self.texts.staged())

    def _add_runs(self) -> None:
        """Adds sheets for the runs that the reader named, if there are any."""
        brought = self._staging.runs.values()
        if not brought:
            return
        runs = self.open(RUNS, "test_set", "system", "model", "run", "date")
        for run in brought:
            runs.add(None, run.test_set, run.system, run.model, run.id, run.date)
        if not any(sheet.form is SYSTEMS for sheet in self._sheets):
            models = self.open(SYSTEMS, "system", "model")
            for system, model in dict.fromkeys((run.system, run.model) for run in brought):
                models.add(None, system, model)

    def _stage(self, sheet: Sheet, notes: tuple[str, ...]) -> Staged:
        staging = self._staging.of(sheet.form)
        if staging.runs:
            # A run keeps the name under which it is stored, whatever a setting says about the model.
            fixed = {field: text for field, text in staging.fields.items() if field != "system"}
            staging = replace(staging, fields=fixed)
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
        staging.fault(f"there is no field {shown(field)} to set; the fields are {', '.join(known)}")
        for field in staging.fields
        if field not in known
    ]
    faults += [
        staging.fault(
            f"{shown(field)} is not taken from a column; "
            + (f"these are: {', '.join(named)}" if named else "the file has no columns with names")
        )
        for field in staging.columns
        if field not in named
    ]
    if faults:
        raise DataError(tuple(faults))
