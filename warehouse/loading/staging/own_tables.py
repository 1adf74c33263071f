"""Wide tables as records: their cells as a table of texts, what each row is about, and staged tables of measures,
attributes and texts.

What each column is has been decided before.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import Observed, quantity
from evalhouse.warehouse.kinds.records import (
    DOCUMENT_TEXTS,
    IDENTITIES,
    INPUT,
    REFERENCE,
    SYSTEM_TEXTS,
    VALUES,
    FactForm,
)
from evalhouse.warehouse.loading.staging import tabular
from evalhouse.warehouse.loading.staging.cells import CHECKS, quote_cell
from evalhouse.warehouse.loading.staging.columns import (
    NOTHING,
    CellColumn,
    Roles,
    TestSet,
    UnclearError,
    parts_of,
    split_map,
    truths_of,
)
from evalhouse.warehouse.loading.staging.identity import identities_in
from evalhouse.warehouse.loading.staging.sheets import cut
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Run, Staged, Staging, systems_of, trim
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

if TYPE_CHECKING:
    from evalhouse.warehouse.store.database import Database

CELLS = FactForm("cells", "", key=(), attributes=True)
"""The table as it is, with all its columns."""

TRIMMED = "trimmed_cells"
"""The view of the table in which all cells are trimmed."""

ROWS, RUNS_NAMED = "own_rows", "own_runs"
"""The temporary tables: what each row is about, and the systems under which runs are stored."""

BY_SYSTEMS = "systems"
"""The value of --wide for a table with one column per system."""

_NOTHING = ", ".join(f"'{word}'" for word in NOTHING)


class OwnTable(Struct, frozen=True):
    """A file whose cells are in a table of texts."""

    staging: Staging
    cells: Staged

    @property
    def raw(self) -> Sql:
        """The table of texts as they were read; with texts to be stored, nothing is trimmed."""
        return name(self.staging.of(CELLS).table)

    @property
    def name(self) -> Sql:
        """The table of texts in which names and numbers are trimmed, whether or not texts are to be stored."""
        return Sql(TRIMMED) if self.staging.texts else self.raw

    @property
    def by_systems(self) -> bool:
        """Whether columns of numbers are systems and not measures."""
        return self.staging.options.get("wide") == BY_SYSTEMS

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        return self.staging.database.rows(query)

    def part(
        self,
        form: FactForm,
        key: tuple[str, ...],
        attributes: Mapping[str, Sql],
        rows: Sql,
        *,
        content: Mapping[str, Sql] | None = None,
        grouped: bool = False,
        observed: Observed | None = None,
        notes: tuple[str, ...] = (),
    ) -> Staged:
        """Stages records of a form, from rows with the columns of `own_rows`: one record per row, or one per key if
        they are `grouped`.
        """
        staging, fields = self.staging.of(form), [field.name for field in form.fields]
        texts = {field: name(field) for field in key if field in fields} | dict(content or {})
        listed = [
            *(text + "::varchar as " + name(field) for field, text in texts.items()),
            *(text + f"::varchar as attribute_{number}" for number, text in enumerate(attributes.values())),
            Sql("false as blanks"),
            Sql("min(place) as place" if grouped else "place"),
        ]
        by = " group by " + join(", ", map(name, key)) if grouped else Sql("")
        made = "create or replace temp table " + name(staging.table) + " as select "
        staging.database.run(made + join(", ", listed) + " " + rows + by + " order by place")
        query = f"select rowid, place from {staging.table} where rowid in "

        def lines(rows: Iterable[int]) -> dict[int, int]:
            places = dict(staging.database.rows(query + values(rows)))
            found = self.cells.lines(places.values()) if self.cells.lines else {}
            return {row: found[place] for row, place in places.items() if place in found}

        own = {field: field for field in texts if field not in staging.fields}
        known = lines if self.cells.lines else None
        return Staged(form, own, tuple(attributes), notes, known, observed=observed)


@contextmanager
def own_table(staging: Staging, match: tabular.Match) -> Iterator[OwnTable]:
    """The cells of a file, staged as texts. Raises DataError if the file cannot be read."""
    database = staging.database
    try:
        table = OwnTable(staging, tabular.stage_table(replace(staging, form=CELLS, fields={}), match))
        if staging.texts:
            cells = [f"attribute_{place}" for place in range(len(table.cells.attributes))]
            trimmed = join(", ", ("rowid", *(trim(Sql(cell)) + f" as {cell}" for cell in cells)))
            database.show(TRIMMED, "select " + trimmed + " from " + table.raw)
        yield table
    finally:
        for temporary in (TRIMMED, staging.of(CELLS).table, ROWS, RUNS_NAMED):
            database.forget(temporary)


def join_cells(table: OwnTable, *, raw: bool = False) -> Sql:
    cells = table.raw if raw else table.name
    return "from own_rows join " + cells + " as cells on cells.rowid = own_rows.place"


def staged_texts(table: OwnTable, texts: Mapping[str, Sequence[CellColumn]]) -> list[Staged]:
    """The cells of text columns, one per row: references by document, inputs and outputs by system."""
    of_documents = [kind for kind in texts if kind == REFERENCE or (table.by_systems and kind == INPUT)]
    of_systems = [kind for kind in texts if kind not in of_documents and not table.by_systems]
    key = ("evaluation", "test_set", "document")
    forms = ((DOCUMENT_TEXTS, of_documents, key), (SYSTEM_TEXTS, of_systems, (*key, "system")))
    staged = []
    for form, kinds, of in forms:
        cells = [(kind, number, column) for kind in kinds for number, column in enumerate(texts[kind], start=1)]
        if cells:
            columns = {
                "kind": join(", ", (value(kind) for kind, _, _ in cells)),
                "number": join(", ", (value(number) for _, number, _ in cells)),
                "text": join(", ", (f"attribute_{column.place}" for _, _, column in cells)),
            }
            lists = (("unnest([" + listed + f"]) as {column}") for column, listed in columns.items())
            rows = (
                "from (select own_rows.*, "
                + join(", ", lists)
                + " "
                + join_cells(table, raw=True)
                + ") where text is not null"
            )
            content = {column: name(column) for column in columns} | {"characters": Sql("length(text)")}
            staged.append(table.part(form, of, {}, rows, content=content))
            cut(table.staging.of(form))
    return staged


def staged_identities(table: OwnTable, columns: Sequence[CellColumn]) -> Staged:
    """What these columns say that each document is."""
    headings = [column.heading for column in columns]
    texts = ", ".join(f"attribute_{column.place}" for column in columns)
    names = join(", ", map(value, headings))
    rows = "select own_rows.*, unnest([" + names + f"]) as name, unnest([{texts}]) as text " + join_cells(table)
    key = ("evaluation", "test_set", "document")
    content = {column: name(column) for column in ("name", "begins", "digest")}
    return table.part(
        IDENTITIES, key, {}, "from (" + identities_in(rows, key, parts_of(headings)) + ")", content=content
    )


LONG = 10_000
"""Rows with more bytes than this need much memory, because DuckDB processes two thousand of them at a time."""


def hold_long_rows(table: OwnTable) -> None:
    """Allows more memory if rows are long."""
    [(rows,)] = table.rows("select count(*) from " + table.name)
    with table.staging.door.open(table.staging.source) as file:
        size = os.fstat(file.fileno()).st_size
    if size > LONG * rows:
        table.staging.database.hold_more()


def staged_values(table: OwnTable, roles: Roles, observed: Observed | None, notes: tuple[str, ...]) -> Staged:
    """The cells of the measures, one per row."""
    names = [column.heading if table.by_systems else measure for column, measure in roles.measured]
    across = "system" if table.by_systems else "measure"
    own = "own_rows.* exclude (system)" if table.by_systems else "own_rows.*"
    pairs = "unnest([" + join(", ", map(value, names)) + f"]) as {across}, "
    pairs += "unnest([" + join(", ", map(_number, roles.numbers)) + "]) as number "
    rows = f"from (select {own}, " + pairs + join_cells(table) + ") where number is not null"
    measure = value(table.staging.options["measure"]) if table.by_systems else Sql("measure")
    content = {"measure": measure, "value": Sql("number")}
    key = ("evaluation", "test_set", "system", "document")
    return table.part(VALUES, key, {}, rows, content=content, observed=observed, notes=notes)


def _number(column: CellColumn) -> Sql:
    """The cells of a measure as texts of numbers; null for missing values."""
    cell = f"attribute_{column.place}"
    if column.is_truth:
        words = (f"when '{word}' then '{number}'" for word, number in column.words.items())
        return Sql(f"case lower({cell}) {' '.join(words)} end")
    return Sql(f"case when lower({cell}) not in ({_NOTHING}) then {cell} end")


def check_numbers(table: OwnTable, roles: Roles, clusters: Collection[str], said: bool) -> None:
    """Raises DataError for cells of measures that are not numbers. If the measures were not `said`, this covers all
    columns that hold mostly numbers.
    """
    maybe = [column for column in roles.others if not column.is_number and column.heading not in clusters]
    meant = roles.numbers if said else [column for column in maybe if 0 < column.filled <= 2 * column.numbers]
    wrong = [column for column in meant if not (column.is_number or column.is_truth)]
    number = CHECKS["value"].passed_by(Sql("CELL")).text
    complaints: list[tuple[int, str]] = []
    for column in wrong:
        cell = f"attribute_{column.place}"
        bad = f"lower({cell}) not in ({_NOTHING}) and not ({number.replace('CELL', cell)})"
        found = "select rowid, " + cell + " from " + table.name + f" where {bad} order by rowid limit {MOST_FAULTS}"
        if not column.filled:
            raise UnclearError(f"the column {quote_cell(column.heading)} is empty, so it is not a measure")
        others = f", and a number in {quantity(column.numbers, 'other row')}; --measures A,B says which are measures"
        sentence = ", not a number" if said else others
        complaints += ((row, f"{column.heading} is {quote_cell(text)}{sentence}") for row, text in table.rows(found))
    if complaints:
        total = sum(column.filled - column.numbers for column in wrong)
        raise DataError(table.cells.faults(table.staging, sorted(complaints)[:MOST_FAULTS]), total)


def held_instead(table: OwnTable, roles: Roles, columns: Sequence[CellColumn]) -> str:
    """One cell from each column that would be a measure if it held numbers."""
    taken = {column.place for column in (*roles.fields.values(), *roles.documents, *roles.replicates)}
    free = [column for column in columns if column.place not in taken][:5]
    if not free:
        return ""
    firsts = ", ".join(f"any_value(attribute_{column.place})" for column in free)
    [cells] = table.rows("select " + firsts + " from " + table.name)
    return ", ".join(
        f"{quote_cell(column.heading)[1:-1]} is {quote_cell(cell) if column.filled else 'empty'}"
        for column, cell in zip(free, cells, strict=True)
    )


def field_text(table: OwnTable, roles: Roles, field: str) -> Sql:
    """The SQL for the text of a field in a row: the setting for all rows, the cell of its column, or the value in
    `unsaid`.
    """
    if field in table.staging.fields:
        return value(table.staging.fields[field]) + "::varchar"
    if field in roles.fields:
        return Sql(f"attribute_{roles.fields[field].place}")
    if field in table.staging.unsaid:
        return value(table.staging.unsaid[field]) + "::varchar"
    return Sql("null::varchar")


def run_name(replicates: Mapping[str, str]) -> Sql:
    """The SQL for what identifies the replicate in a row: seed=1, epoch=2. Given are the headings of its columns, and
    the column of each in SQL; null where there are none.
    """
    named = (value(f"{heading}=") + f"::varchar || {cell}" for heading, cell in replicates.items())
    return "concat_ws(', ', " + join(", ", named) + ")" if replicates else Sql("null::varchar")


def make_rows(table: OwnTable, roles: Roles, document: CellColumn | None, *, attempts: bool) -> None:
    """Writes to `own_rows` what each row is about: place, evaluation, test set, model, what identifies the replicate,
    document, and the system under which it is stored. With `attempts`, several rows of a model on a document are
    attempts, in the order of the file.
    """
    named = roles if document is None else replace(roles, fields={**roles.fields, "document": document})
    texts = {field: field_text(table, named, field) for field in ("evaluation", "test_set", "document")}
    texts["model"] = field_text(table, roles, "system")
    of_each = "row_number() over (partition by " + join(", ", texts.values()) + " order by rowid)"
    texts["run"] = "'attempt=' || " + of_each if attempts else run_name(roles.told_by)
    listed = join(", ", (text + f" as {column}" for column, text in texts.items()))
    rows = "select rowid as place, " + listed + " from " + table.name
    database = table.staging.database
    database.run(
        Sql(f"create or replace temp table {RUNS_NAMED} (test_set varchar, model varchar, run varchar, system varchar)")
    )
    if runs := systems_of(database, runs_in(database, rows)) if roles.replicates or attempts else []:
        stored_as = (values((run.test_set, run.model, run.id, run.system)) for run in runs)
        database.run(f"insert into {RUNS_NAMED} values " + join(", ", stored_as))
    made = f"create or replace temp table {ROWS} as select rows.*, coalesce(runs.system, rows.model) as system from ("
    database.run(made + rows + f") as rows left join {RUNS_NAMED} as runs using (test_set, model, run)")


def runs_in(database: Database, rows: Sql) -> list[Run]:
    """The runs of models in rows of test set, model and what identifies the run, in their order."""
    distinct = "select distinct test_set, model, run from (" + rows + ") where run <> '' and model is not null"
    ordered = " order by test_set, model, try_cast(split_part(run, '=', 2) as double), run"
    return [Run(test_set, model, run, None) for test_set, model, run in database.rows(distinct + ordered)]


def check_runs(table: OwnTable, roles: Roles) -> None:
    """Raises UnclearError if what should identify the runs of a model is another on each of its rows."""
    if not roles.replicates:
        return
    counted = "select count(distinct document) as documents, count(*) as n, count(distinct run) as runs from own_rows"
    numbered = Sql(f"select 1 from ({counted} group by test_set, model having documents > 1 and runs = n and n > 2)")
    if table.rows(numbered):
        headings = " and ".join(quote_cell(column.heading)[1:-1] for column in roles.replicates)
        raise UnclearError(
            f"{headings} would tell runs apart, but every row of a system has another one; "
            f"--leave-out {','.join(column.heading for column in roles.replicates)} reads the table without it"
        )


def check_clusters(table: OwnTable, roles: Roles, clusters: Collection[str], kept: Iterable[CellColumn]) -> None:
    """Raises DataError if a column that is declared as the cluster cannot be one and is not `kept`: it is empty, its
    texts are too long for names, or it differs between rows of a document.
    """
    called = {column.heading for column in kept if column.filled}
    for column in roles.others:
        if column.heading not in clusters or column.heading in called:
            continue
        if not column.filled or column.is_text:
            why = "holds texts too long for a name" if column.is_text else "is empty"
            raise UnclearError(f"the column {quote_cell(column.heading)} {why}, so it cannot be the cluster")
        cell = f"attribute_{column.place}"
        query = f"select arg_max(place, {cell}), document, min({cell}), max({cell}) "
        differing = f" group by test_set, document having min({cell}) <> max({cell}) order by min(place) limit 1"
        [(place, document, one, other)] = table.rows(Sql(query) + join_cells(table) + differing)
        is_in_two = f"is declared as the cluster, but the document {document} is in two: {quote_cell(one)} and "
        message = f"{quote_cell(column.heading)[1:-1]} {is_in_two}{quote_cell(other)}"
        raise DataError(table.cells.faults(table.staging, [(place, message)]))


AT_ONCE = 50
"""How many columns are counted in one query: the cost of a query over all of them grows with the square of their
number.
"""


def counted_columns(table: OwnTable) -> tuple[CellColumn, ...]:
    """Counts over the cells of each column. Raises DataError if there are no cells."""
    number = CHECKS["value"].passed_by(Sql("CELL")).text
    if not table.rows("select 1 from " + table.raw + " limit 1"):
        raise table.staging.refusal("there is a header, but no rows")
    name_like = CHECKS["name"].passed_by(Sql("CELL")).text
    conditions = (
        f"lower(CELL) not in ({_NOTHING})",
        number,
        "lower(CELL) in (TRUTHS)",
        "CELL in ('0', '1', '0.0', '1.0')",
        "contains(CELL, ' ')",
        f"not ({name_like})",
    )
    headings = table.cells.attributes
    measures = {heading: measure for measure, heading in split_map(table.staging.columns)[1].items()}
    words = (truths_of(heading, is_mark=heading in measures) for heading in headings)
    truths = [", ".join(f"'{word}'" for word in of_column) for of_column in words]
    counts: list[int] = []
    for first in range(0, len(headings), AT_ONCE):
        places = range(first, min(first + AT_ONCE, len(headings)))
        # For a column without texts, count_if is null.
        listed = (
            f"coalesce(count_if({condition.replace('CELL', f'attribute_{place}').replace('TRUTHS', truths[place])}), 0)"
            for place in places
            for condition in conditions
        )
        counts += table.rows("select " + join(", ", listed) + " from " + table.name)[0]
    found = []
    for place, heading in enumerate(headings):
        filled, numbers, are_true, bits, phrases, texts = counts[
            place * len(conditions) : (place + 1) * len(conditions)
        ]
        named = heading or f"column {place + 1}"
        called = measures.get(heading, "")
        found.append(CellColumn(place, named, filled, numbers, are_true, bits, phrases, texts > 0, called))
    return tuple(found)


def on_test_sets(test_sets: Sequence[TestSet], column: CellColumn) -> Sql:
    """The SQL for the cells of an attribute of documents, on these test sets alone."""
    cell = f"attribute_{column.place}"
    within = join(" or ", (Sql("test_set = ? and coalesce(evaluation, '') = ?", (of[1], of[0])) for of in test_sets))
    return f"any_value({cell}) filter (" + within + ")"
