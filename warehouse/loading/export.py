"""Exports a warehouse to files that the table readers accept. Loading the exported files gives the same warehouse.

A form of facts becomes a table with one column per field, with the names and the order that the reader of the same name
uses. A file appears whole or not at all, and existing files are overwritten only on request. Only rows are exported.
Defined measures are statements, which `show measures` prints; nouns and clusters of documents are set again when the
files are loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from evalhouse.warehouse.faults import file_error
from evalhouse.warehouse.kinds import KINDS
from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.kinds.records import (
    DOCUMENT,
    EVALUATION,
    FORMS,
    MEASURE,
    RUNS,
    SYSTEM,
    TEST_SET,
    FactForm,
    FieldKind,
)
from evalhouse.warehouse.loading.planning import flags
from evalhouse.warehouse.loading.staging.cells import column_for_spreadsheets, for_spreadsheets
from evalhouse.warehouse.process.publishing import files_in
from evalhouse.warehouse.store.catalog import declarations, declared_in
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, join, name, value

ENDINGS = (".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz")
"""The endings of the files that can be written. The ending decides the format."""

_DIMENSIONS = ("system", "document", "test_set", "evaluation", "unit", "annotator", "item")
"""In the order of joining: documents with attributes lead to their test sets, and test sets to their evaluations."""
_WRITTEN: dict[FieldKind, str] = {
    "decision": "case when CELL then 'yes' else 'no' end",
    "label": "CELL::varchar",
    # Drops the zeros at the end of a stored decimal.
    "decimal": "CELL::double",
    "size": "CELL::double",
}
"""How a stored CELL is written, by kind of field; other kinds are written as they are."""


class Exported(Struct, frozen=True):
    """A file that was written: the form of its rows, how many there are, whether they are simulated, the noun and
    cluster of their documents if these are the same on all test sets, and the options of `load` that declare again
    what is declared about their measures. `runs` is how many of its systems are runs of models, which only the rows of
    that kind say.
    """

    file: Path
    form: FactForm
    rows: int
    simulated: bool
    observed: Observed
    flags: str
    runs: int = 0


def export_form(database: Database, form: FactForm, file: Path, *, force: bool = False) -> tuple[Exported, ...]:
    """Writes all rows of one form to a file, in the format of its ending. Returns one entry for real rows and one for
    simulated rows, for those that exist.

    Raises DataError for an unknown ending, for a file that exists (without `force`), and for one that cannot be
    written.
    """
    _check(file, force)
    counts = {simulated: _count(database, form, simulated) for simulated in (False, True)}
    _write(database, [(_rows(database, form, None, file), file)])
    said = _common_declaration(database, form), _flags(database, form), _runs_in(database, form)
    exported = (Exported(file, form, rows, simulated, *said) for simulated, rows in counts.items() if rows)
    return tuple(exported) or (Exported(file, form, 0, False, *said),)


def export_all(database: Database, folder: Path, *, force: bool = False) -> tuple[Exported, ...]:
    """Writes all rows of all forms into a folder, one CSV file per form. Simulated rows have their own files.

    Raises DataError if one of the files exists (without `force`) or cannot be written; then no file is written.
    """
    planned = []
    for form in FORMS:
        for simulated in (False, True):
            rows = _count(database, form, simulated)
            if rows:
                file = folder / f"{form.name}{'.simulated' if simulated else ''}.csv"
                _check(file, force)
                said = _common_declaration(database, form), _flags(database, form)
                planned.append(Exported(file, form, rows, simulated, *said))
    _write(database, [(_rows(database, export.form, export.simulated, export.file), export.file) for export in planned])
    return tuple(planned)


def of_earlier_exports(folder: Path, written: Iterable[Exported]) -> tuple[Path, ...]:
    """Files in a folder that an export of all rows could have written, but that this export did not write."""
    names = (f"{form.name}{kind}.csv" for form in FORMS for kind in ("", ".simulated"))
    return tuple(sorted({folder / name for name in names if (folder / name).exists()} - {new.file for new in written}))


def _common_declaration(database: Database, form: FactForm) -> Observed:
    """What is declared about the documents of all test sets with rows of a form, if it is the same for all of them."""
    if TEST_SET not in form.stored_key or DOCUMENT not in form.key:
        return Observed()
    declared = declarations(database)
    [task] = [task.name for task in KINDS.values() if form.table in task.decided_by]
    test_sets = database.rows("select distinct test_set_id from " + name(form.table)) if declared else []
    said = {declared_in(declared, task, test_set) for (test_set,) in test_sets}
    return said.pop() if len(said) == 1 else Observed()


def _check(file: Path, force: bool) -> None:
    if not file.name.endswith(ENDINGS):
        raise file_error(file, f"its ending does not name a format; the endings are {', '.join(ENDINGS)}")
    if not file.parent.is_dir():
        raise file_error(file, f"there is no folder {file.parent}")
    if file.exists() and not force:
        raise file_error(file, "already exists; --force overwrites it")


def _write(database: Database, tables: list[tuple[Sql, Path]]) -> None:
    """Writes files into one folder, all of them or none."""
    if not tables:
        return
    file = tables[0][1]
    try:
        with files_in(file.parent, [file.name for _, file in tables]) as draft:
            for select, file in tables:
                database.write(select, draft / file.name)
    except OSError as error:
        raise file_error(file, f"cannot be written: {error.strerror or error}") from None


def _count(database: Database, form: FactForm, simulated: bool) -> int:
    row = f"distinct f.{form.key_columns[0]}" if form.attributes else "*"
    of_form = f"from {form.table} f join import i on i.id = f.import_id where i.simulated = "
    return int(database.rows(f"select count({row}) {of_form}" + value(simulated))[0][0])


def _flags(database: Database, form: FactForm) -> str:
    """The options that declare again what is declared about the measures of a form."""
    return flags(database, form.table) if MEASURE in form.key else ""


def _runs_in(database: Database, form: FactForm) -> int:
    """How many systems in the rows of a form are runs of models."""
    if form is RUNS or SYSTEM not in form.key or form.attributes:
        return 0
    of_rows = f"select count(distinct r.system_id) from run r join {form.table} f using (test_set_id, system_id)"
    [(runs,)] = database.rows(Sql(of_rows))
    return int(runs)


def _rows(database: Database, form: FactForm, simulated: bool | None, file: Path) -> Sql:
    """The rows of a form as its reader accepts them. If `simulated` is not None, only real or only simulated rows."""
    is_text = file.suffix.casefold() != ".parquet"

    def written(text: str) -> str:
        return for_spreadsheets(text) if is_text else text

    # A fact about a system holds in every evaluation.
    keys = [field.name for field in form.key if field is not EVALUATION or TEST_SET in form.key]
    tables = f" from {form.table} f join import i on i.id = f.import_id"
    leads_to = {"test_set": "of_document" if form.attributes else "f", "evaluation": "of_test_set"}
    numbered = {field.name for field in form.key if field.numbered and field.name in keys}
    for dimension in (dimension for dimension in _DIMENSIONS if dimension in numbered):
        pointer = f"{leads_to.get(dimension, 'f')}.{dimension}_id"
        tables += f" join {dimension} of_{dimension} on of_{dimension}.id = {pointer}"
    where = Sql(" where true") if simulated is None else " where i.simulated = " + value(simulated)
    names = {dimension: f"nullif(of_{dimension}.name, '')" for dimension in numbered}
    columns = [Sql(f"{written(names.get(key, 'f.' + key))} as {key}") for key in keys]
    sorting = Sql(" order by ") + join(", ", [Sql(key) for key in keys])
    if not form.attributes:
        for field in form.content:
            cell = _WRITTEN.get(field.kind, "CELL").replace("CELL", f"f.{field.column}")
            columns.append(Sql(f"{written(cell) if field.kind == 'name' else cell} as {field.name}"))
        return "select " + join(", ", columns) + tables + where + sorting
    attributes = [str(row[0]) for row in database.rows(Sql(f"select distinct name from {form.table} order by name"))]
    for attribute in attributes:
        cell_of = "max(" + Sql(written("f.value")) + ") filter (f.name = " + value(attribute) + ") as "
        columns.append(cell_of + name(column_for_spreadsheets(attribute) if is_text else attribute))
    return "select " + join(", ", columns) + tables + where + " group by all" + sorting
