"""From the warehouse to files that the readers of tables take: what is exported and loaded again is the same warehouse.

A form of facts becomes a table with a column a field, in the words and the order of the reader of its name. Files
appear whole or not at all, and none is written over unless that is asked for. Only rows are exported: measures that
were defined are statements, and `show measures` has them; what documents are called and clustered by is said again when
files are loaded.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from warehouse.faults import DataError, Fault
from warehouse.loading import directions
from warehouse.loading.staging.cells import column_for_spreadsheets, for_spreadsheets
from warehouse.publishing import files_in
from warehouse.store.database import Database
from warehouse.store.declarations import declarations, observed_in
from warehouse.store.sql import Sql, join, name, value
from warehouse.tasks import TASKS
from warehouse.tasks.observed import Observed
from warehouse.tasks.records import DOCUMENT, EVALUATION, FORMS, MEASURE, TEST_SET, FactForm, FieldKind

ENDINGS = (".csv", ".tsv", ".parquet", ".csv.gz", ".tsv.gz")
"""Of the files that can be written; they decide the format."""

_DIMENSIONS = ("system", "document", "test_set", "evaluation", "unit", "annotator", "item")
"""In the order of joining: documents with attributes lead to their test sets, and these to their evaluations."""
_WRITTEN: dict[FieldKind, str] = {
    "decision": "case when CELL then 'yes' else 'no' end",
    "label": "CELL::varchar",
    # Without the zeros that a stored decimal ends in.
    "decimal": "CELL::double",
    "size": "CELL::double",
}
"""By kind of field, how a stored CELL is written where it is not written as it is."""


@dataclass(frozen=True, slots=True)
class Exported:
    """A file that was written: the form of its rows, how many there are, whether they are simulated, what their
    documents are called and clustered by, where that is one and the same on all test sets, and the options of a load
    that declare again which way their measures go.
    """

    file: Path
    form: FactForm
    rows: int
    simulated: bool
    observed: Observed
    directions: str


def export_form(database: Database, form: FactForm, file: Path, *, force: bool = False) -> tuple[Exported, ...]:
    """Writes all rows of one form to a file in the format of its ending. Returns one entry for rows that are real and
    one for simulated ones, as far as there are any.

    Raises DataError for another ending, a file that is there, or one that cannot be written.
    """
    _check(file, force)
    counts = {simulated: _count(database, form, simulated) for simulated in (False, True)}
    _write(database, [(_rows(database, form, None, file), file)])
    said = _observed(database, form), _directions(database, form)
    exported = (Exported(file, form, rows, simulated, *said) for simulated, rows in counts.items() if rows)
    return tuple(exported) or (Exported(file, form, 0, False, *said),)


def export_all(database: Database, folder: Path, *, force: bool = False) -> tuple[Exported, ...]:
    """Writes all rows of all forms into a folder, a CSV file a form; simulated rows have files of their own.

    Raises DataError if one of the files is there or cannot be written; then none is.
    """
    planned = []
    for form in FORMS:
        for simulated in (False, True):
            rows = _count(database, form, simulated)
            if rows:
                file = folder / f"{form.name}{'.simulated' if simulated else ''}.csv"
                _check(file, force)
                said = _observed(database, form), _directions(database, form)
                planned.append(Exported(file, form, rows, simulated, *said))
    _write(database, [(_rows(database, export.form, export.simulated, export.file), export.file) for export in planned])
    return tuple(planned)


def of_earlier_exports(folder: Path, written: Iterable[Exported]) -> tuple[Path, ...]:
    """Files in a folder that an export of all rows would write if there were such rows, and has not written."""
    names = (f"{form.name}{kind}.csv" for form in FORMS for kind in ("", ".simulated"))
    return tuple(sorted({folder / name for name in names if (folder / name).exists()} - {new.file for new in written}))


def _observed(database: Database, form: FactForm) -> Observed:
    """What was declared of the documents of all test sets that have rows of a form, where it is one and the same."""
    if TEST_SET not in form.stored_key or DOCUMENT not in form.key:
        return Observed()
    declared = declarations(database)
    [task] = [task.name for task in TASKS.values() if form.table in task.decided_by]
    test_sets = database.rows("select distinct test_set_id from " + name(form.table)) if declared else []
    said = {observed_in(declared, task, test_set) for (test_set,) in test_sets}
    return said.pop() if len(said) == 1 else Observed()


def _check(file: Path, force: bool) -> None:
    if not file.name.endswith(ENDINGS):
        raise _refusal(file, f"its ending does not name a format; the endings are {', '.join(ENDINGS)}")
    if not file.parent.is_dir():
        raise _refusal(file, f"there is no folder {file.parent}")
    if file.exists() and not force:
        raise _refusal(file, "already exists; --force overwrites it")


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
        raise _refusal(file, f"cannot be written: {error.strerror or error}") from None


def _count(database: Database, form: FactForm, simulated: bool) -> int:
    row = f"distinct f.{form.key_columns[0]}" if form.attributes else "*"
    of_form = f"from {form.table} f join import i on i.id = f.import_id where i.simulated = "
    return int(database.rows(f"select count({row}) {of_form}" + value(simulated))[0][0])


def _directions(database: Database, form: FactForm) -> str:
    """What declares again which way the measures of a form go."""
    return directions.flags(database, form.table) if MEASURE in form.key else ""


def _rows(database: Database, form: FactForm, simulated: bool | None, file: Path) -> Sql:
    """The rows of a form as its reader wants them in a file; of one kind only where `simulated` is not None."""
    is_text = file.suffix.casefold() != ".parquet"

    def written(text: str) -> str:
        return for_spreadsheets(text) if is_text else text

    # What is said of a system is said in every evaluation.
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


def _refusal(file: Path, why: str) -> DataError:
    return DataError((Fault(str(file), None, why),))
