"""Wide tables: one row per sample with columns for measures, names and attributes, or one column per system."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import Observed, quantity
from evalhouse.warehouse.kinds.records import DOCUMENT_TEXTS, INPUT, REFERENCE, SYSTEM_TEXTS, VALUES, FactForm
from evalhouse.warehouse.loading.staging.cells import CHECKS, is_number, quote_cell
from evalhouse.warehouse.loading.staging.sheets import cut
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Run, Staged, Staging, systems_of
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

# === what the columns are =============================================================================================
# A table with one row per sample has columns for measures, names, seeds and attributes; another kind of table has one
# column per system. The names of the columns and counts over their cells decide. This part must not read a file or run
# SQL.

_SAMPLES = (
    *("document", "doc", "sample", "question", "item", "instance", "example", "topic", "query", "segment", "seg"),
    *("sentence", "message", "problem"),
)

SYNONYMS: dict[str, tuple[str, ...]] = {
    "evaluation": ("evaluation",),
    "test_set": ("test_set", "testset", "benchmark", "task", "dataset"),
    "system": ("system", "model", "model_name", "system_name"),
    "document": (*_SAMPLES, *(f"{noun}_id" for noun in (*_SAMPLES, "task")), "id", "qid", "idx", "index"),
}
"""For each field, names of columns that it is taken from."""

NO_DOCUMENT = (
    f"no column names the documents, as document, {', '.join(_SAMPLES[2:6])} or id would; "
    "--map document=COLUMN says which does"
)
"""The error for a table without a column that names the documents."""

REPLICATES = ("seed", "run", "replicate", "epoch", "attempt")
"""Names of columns that identify the replicates of a system."""

NOTHING = ("nan", "na", "n/a", "null", "none", "-")
"""Texts that mean a missing value, in lower case."""

RIGHT_OR_WRONG = ("correct", "is_correct", "passed", "is_passed", "right")
"""Names of columns whose ones and zeros are the accuracy of a system."""


TEXTS: dict[str, tuple[str, ...]] = {
    "input": ("input", "question", "prompt", "query", "instruction", "problem", "text", "src"),
    "reference": ("reference", "ref", "target", "answer", "gold", "expected", "ideal"),
    "output": ("output", "response", "prediction", "completion", "generation", "hypothesis", "model_answer", "mt"),
}
"""For each kind of text, names of columns that hold it, for loads that store texts."""


def plain(heading: str) -> str:
    """A heading in the form of the names above."""
    return heading.strip().casefold().replace(" ", "_").replace("-", "_")


def noun_of(heading: str) -> str:
    """The noun for a document, from the heading of the column that names it, as question from question_id; empty if the
    heading does not contain one.
    """
    noun = plain(heading).removesuffix("_id")
    nouns = {"doc": "document", "seg": "segment", "qid": "question", "id": "", "idx": "", "index": ""}
    return nouns.get(noun, noun.replace("_", " "))


class CellColumn(Struct, frozen=True):
    """A column, and counts over its cells: how many are filled, how many of these are numbers, how many are true or
    false, and how many are 0 or 1. `is_text` says whether a cell is too long for a name or has control characters.
    """

    place: int
    heading: str
    filled: int = 0
    numbers: int = 0
    truths: int = 0
    bits: int = 0
    is_text: bool = False

    @property
    def is_number(self) -> bool:
        """Whether every filled cell is a number."""
        return 0 < self.filled == self.numbers

    @property
    def is_truth(self) -> bool:
        """Whether every filled cell is true or false."""
        return 0 < self.filled == self.truths

    @property
    def measure(self) -> str:
        """The name of the measure for the values of the column."""
        right_or_wrong = plain(self.heading) in RIGHT_OR_WRONG and self.filled in (self.truths, self.bits)
        return "accuracy" if right_or_wrong else self.heading


def column_of(place: int, heading: str, texts: Sequence[str]) -> CellColumn:
    """A column of which some cells are known."""
    filled = [text.strip() for text in texts if text.strip() and text.strip().lower() not in NOTHING]
    numbers = sum(map(is_number, filled))
    truths = sum(text.lower() in ("true", "false") for text in filled)
    return CellColumn(place, heading, len(filled), numbers, truths, sum(text in ("0", "1") for text in filled))


def texts_of(columns: Sequence[CellColumn], taken: Collection[str]) -> dict[str, tuple[CellColumn, ...]]:
    """The columns for each kind of text, among those that are not in `taken`. A question column stays the name of the
    documents if it is the only one that could name them.
    """
    free = [column for column in columns if column.heading not in taken]
    names = [column for column in free if plain(column.heading) in SYNONYMS["document"]]
    headings_of_texts = {heading for headings in TEXTS.values() for heading in headings}
    if headings_of_texts.issuperset(plain(column.heading) for column in names):
        free = [column for column in free if column not in names]
    return {
        kind: found
        for kind, headings in TEXTS.items()
        if (found := tuple(column for column in free if plain(column.heading) in headings))
    }


class UnclearError(Exception):
    """Something about a table that a person must decide, and the option that decides it."""


class Roles(Struct, frozen=True):
    """The role of each column. `document` are the columns that may name the documents; the caller chooses one."""

    fields: Mapping[str, CellColumn]
    documents: tuple[CellColumn, ...]
    replicates: tuple[CellColumn, ...]
    measures: tuple[CellColumn, ...]
    others: tuple[CellColumn, ...]

    @property
    def measured(self) -> list[tuple[CellColumn, str]]:
        """The measures with the names under which they are stored: normally their measure names, but their headings if
        two would have the same name.
        """
        names = [column.measure for column in self.measures]
        return [
            (column, column.heading if names.count(measure) > 1 else measure)
            for column, measure in zip(self.measures, names, strict=True)
        ]


def roles_of(
    columns: Sequence[CellColumn],
    mapped: Mapping[str, str],
    fixed: Collection[str],
    measures: Sequence[str] | None,
    *,
    by_systems: bool = False,
    cluster: str = "",
) -> Roles:
    """Finds the roles of the columns of a table.

    `mapped` are the headings that fields are taken from, and `fixed` are the fields that have one value for all rows.
    `measures` are the headings of measures, if they are given; otherwise every column of numbers without another role
    is a measure. With `by_systems`, columns are systems, and no column identifies their replicates. The column that is
    declared as the `cluster` is an attribute, whatever its cells and its name look like. Raises UnclearError.
    """
    by_heading = {column.heading: column for column in columns}
    for heading in (*mapped.values(), *(measures or ())):
        if heading not in by_heading:
            there_are = ", ".join(quote_cell(heading)[1:-1] for heading in list(by_heading)[:20])
            raise UnclearError(f"there is no column {quote_cell(heading)}; the columns are {there_are}")
    said = set(measures or ())
    if cluster in said | set(mapped.values()):
        raise UnclearError(
            f"{quote_cell(cluster)[1:-1]} is declared to be the cluster, and cannot be something else, too"
        )
    free = [column for column in columns if column.heading not in said | set(mapped.values()) | {cluster}]
    fields = {field: by_heading[heading] for field, heading in mapped.items() if field not in REPLICATES}
    for field in ("evaluation", "test_set", "system"):
        if field not in fields and (column := _column_of_field(free, field, field in fixed)):
            fields[field] = column
    # A setting holds for all rows, whatever the column contains.
    taken = {column.place for column in fields.values()}
    fields = {field: column for field, column in fields.items() if field not in fixed}
    free = [column for column in free if column.place not in taken]
    documents = [fields["document"]] if "document" in fields else []
    if not documents and "document" not in fixed:
        documents = [column for column in free if plain(column.heading) in SYNONYMS["document"]]
    replicates = [column for column in free if plain(column.heading) in REPLICATES and not by_systems]
    replicates += [by_heading[heading] for field, heading in mapped.items() if field in REPLICATES]
    taken = {column.place for column in (*documents, *replicates)}
    free = [column for column in free if column.place not in taken]
    values = [column for column in free if column.is_number or column.is_truth]
    if measures is not None:
        values = [by_heading[heading] for heading in measures]
    valued = {column.place for column in values}
    others = [column for column in free if column.place not in valued and column.filled]
    others += [column for column in columns if column.heading == cluster]
    return Roles(fields, tuple(documents), tuple(replicates), tuple(values), tuple(others))


def _column_of_field(columns: Sequence[CellColumn], field: str, is_fixed: bool) -> CellColumn | None:
    """The column with the name of a field. If several columns have a synonym of the field as name, a person must
    choose.
    """
    called = [column for column in columns if plain(column.heading) in SYNONYMS[field]]
    exact = [column for column in called if plain(column.heading) == field]
    if len(called) < 2 or exact:
        return next(iter(exact or called), None)
    if is_fixed:
        return None
    names = " and ".join(column.heading for column in called)
    raise UnclearError(f"{names} could be the {field.replace('_', ' ')}; --map {field}={called[0].heading} says which")


# === cells as records =================================================================================================
# Temporary tables with what each row is about, and staged tables of measures and attributes. What each column is has
# been decided before.

CELLS = FactForm("cells", "", key=(), attributes=True)
"""The table as it is, with all its columns."""

ROWS, RUNS_NAMED = "wide_rows", "wide_runs"
"""The temporary tables: what each row is about, and the systems under which runs are stored."""

BY_SYSTEMS = "systems"
"""The value of --wide for a table with one column per system."""

_NOTHING = ", ".join(f"'{word}'" for word in NOTHING)


class WideTable(Struct, frozen=True):
    """A file whose cells are in a table of texts."""

    staging: Staging
    cells: Staged

    @property
    def name(self) -> Sql:
        """The table of texts."""
        return name(self.staging.of(CELLS).table)

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
        """Stages records of a form, from rows with the columns of `wide_rows`: one record per row, or one per key if
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


def join_cells(table: WideTable) -> Sql:
    return "from wide_rows join " + table.name + " as cells on cells.rowid = wide_rows.place"


def staged_texts(table: WideTable, texts: Mapping[str, Sequence[CellColumn]]) -> list[Staged]:
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
                "from (select wide_rows.*, " + join(", ", lists) + " " + join_cells(table) + ") where text is not null"
            )
            content = {column: name(column) for column in columns} | {"characters": Sql("length(text)")}
            staged.append(table.part(form, of, {}, rows, content=content))
            cut(table.staging.of(form))
    return staged


LONG = 10_000
"""Rows with more bytes than this need much memory, because DuckDB processes two thousand of them at a time."""


def hold_long_rows(table: WideTable) -> None:
    """Allows more memory if rows are long."""
    [(rows,)] = table.rows("select count(*) from " + table.name)
    with table.staging.door.open(table.staging.source) as file:
        size = os.fstat(file.fileno()).st_size
    if size > LONG * rows:
        table.staging.database.hold_more()


def staged_values(table: WideTable, roles: Roles, observed: Observed | None, notes: tuple[str, ...]) -> Staged:
    """The cells of the measures, one per row."""
    names = [column.heading if table.by_systems else measure for column, measure in roles.measured]
    across = "system" if table.by_systems else "measure"
    own = "wide_rows.* exclude (system)" if table.by_systems else "wide_rows.*"
    pairs = "unnest([" + join(", ", map(value, names)) + f"]) as {across}, "
    pairs += "unnest([" + join(", ", map(_number, roles.measures)) + "]) as number "
    rows = f"from (select {own}, " + pairs + join_cells(table) + ") where number is not null"
    measure = value(table.staging.options["measure"]) if table.by_systems else Sql("measure")
    content = {"measure": measure, "value": Sql("number")}
    key = ("evaluation", "test_set", "system", "document")
    return table.part(VALUES, key, {}, rows, content=content, observed=observed, notes=notes)


def _number(column: CellColumn) -> Sql:
    """The cells of a measure as texts of numbers; null for missing values."""
    cell = f"attribute_{column.place}"
    if column.is_truth:
        return Sql(f"case lower({cell}) when 'true' then '1' when 'false' then '0' end")
    return Sql(f"case when lower({cell}) not in ({_NOTHING}) then {cell} end")


def check_numbers(table: WideTable, roles: Roles, said: bool) -> None:
    """Raises DataError for cells of measures that are not numbers. If the measures were not `said`, this covers all
    columns that hold mostly numbers.
    """
    maybe = [column for column in roles.others if column.heading != table.staging.cluster]
    meant = roles.measures if said else [column for column in maybe if 0 < column.filled <= 2 * column.numbers]
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


def held_instead(table: WideTable, roles: Roles, columns: Sequence[CellColumn]) -> str:
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


def _text(table: WideTable, roles: Roles, field: str) -> Sql:
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


def _run_name(roles: Roles) -> Sql:
    """The SQL for what identifies the replicate in a row: seed=1, epoch=2."""
    named = (value(f"{column.heading}=") + f"::varchar || attribute_{column.place}" for column in roles.replicates)
    return "concat_ws(', ', " + join(", ", named) + ")" if roles.replicates else Sql("null::varchar")


def document_of(table: WideTable, roles: Roles) -> CellColumn | None:
    """The column that names the documents. If several could, it is the one with the fewest names that still
    distinguishes the rows of a system. None if a name is set for all rows.
    """
    if "document" in table.staging.fields:
        return None
    if not roles.documents:
        others = [quote_cell(column.heading)[1:-1] for column in roles.others]
        there_are = f" ({', '.join(others)})" if others else ""
        raise UnclearError(f"{NO_DOCUMENT}{there_are}")
    if len(roles.documents) == 1:
        return roles.documents[0]
    key = join(", ", [*(_text(table, roles, field) for field in ("test_set", "system")), _run_name(roles)])
    counts = (
        "count(distinct (" + key + f", attribute_{column.place})) = count(*), count(distinct attribute_{column.place})"
        for column in roles.documents
    )
    [found] = table.rows("select " + join(", ", counts) + " from " + table.name)
    unique = [(names, place) for place, (tells, names) in enumerate(zip(found[::2], found[1::2], strict=True)) if tells]
    if not unique:
        called = " and ".join(column.heading for column in roles.documents)
        raise UnclearError(f"{called} could name the documents, and none tells the rows of a system apart; "
                           "--map document=COLUMN says which is meant")  # fmt: skip
    return roles.documents[min(unique)[1]]


def make_rows(table: WideTable, roles: Roles, document: CellColumn | None) -> None:
    """Writes to `wide_rows` what each row is about: place, evaluation, test set, model, what identifies the replicate,
    document, and the system under which it is stored.
    """
    named = roles if document is None else replace(roles, fields={**roles.fields, "document": document})
    texts = {field: _text(table, named, field) for field in ("evaluation", "test_set", "document")}
    texts |= {"model": _text(table, roles, "system"), "run": _run_name(roles)}
    listed = join(", ", (text + f" as {column}" for column, text in texts.items()))
    rows = "select rowid as place, " + listed + " from " + table.name
    database = table.staging.database
    database.run(
        Sql(f"create or replace temp table {RUNS_NAMED} (test_set varchar, model varchar, run varchar, system varchar)")
    )
    if runs := _runs(table, rows) if roles.replicates else []:
        stored_as = (values((run.test_set, run.model, run.id, run.system)) for run in runs)
        database.run(f"insert into {RUNS_NAMED} values " + join(", ", stored_as))
    made = f"create or replace temp table {ROWS} as select rows.*, coalesce(runs.system, rows.model) as system from ("
    database.run(made + rows + f") as rows left join {RUNS_NAMED} as runs using (test_set, model, run)")


def _runs(table: WideTable, rows: Sql) -> list[Run]:
    """The runs of the models of a table, with what identifies them and the systems under which they are stored."""
    distinct = "select distinct test_set, model, run from (" + rows + ") where run <> '' and model is not null"
    ordered = " order by test_set, model, try_cast(split_part(run, '=', 2) as double), run"
    found = table.rows(distinct + ordered)
    return systems_of(table.staging.database, [Run(test_set, model, run, None) for test_set, model, run in found])


def attributes_of(table: WideTable, roles: Roles) -> tuple[list[CellColumn], list[CellColumn], list[CellColumn]]:
    """The columns that are constant for documents, those that are constant for systems, and those that cannot be
    stored.
    """
    columns = (*roles.others, *roles.replicates)
    texts = [column for column in columns if not column.is_text]
    of_documents = _constant(table, texts, "test_set, document")
    of_systems = [] if table.by_systems else _constant(table, texts, "system")
    stored = {column.place for column in (*of_documents, *of_systems)}
    return of_documents, of_systems, [column for column in columns if column.place not in stored]


def check_cluster(table: WideTable, roles: Roles, for_documents: Sequence[CellColumn]) -> None:
    """Raises DataError if the column that is declared as the cluster cannot be one: it is empty, its texts are too long
    for names, or it differs between rows of a document.
    """
    called = {column.heading for column in for_documents if column.filled}
    for column in roles.others:
        if column.heading != table.staging.cluster or column.heading in called:
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


def _constant(table: WideTable, columns: Sequence[CellColumn], key: str) -> list[CellColumn]:
    """The columns that have at most one value for each value of a key."""
    if not columns:
        return []
    same = (f"min(attribute_{column.place}) is not distinct from max(attribute_{column.place}) as same_{place}"
            for place, column in enumerate(columns))  # fmt: skip
    every = ", ".join(f"bool_and(same_{place})" for place in range(len(columns)))
    grouped = Sql(f"select {', '.join(same)} ") + join_cells(table) + f" group by {key}"
    [found] = table.rows(Sql(f"select {every} from (") + grouped + ")")
    return [column for column, is_constant in zip(columns, found, strict=True) if is_constant]


AT_ONCE = 50
"""How many columns are counted in one query: the cost of a query over all of them grows with the square of their
number.
"""


def counted_columns(staging: Staging, cells: Staged) -> tuple[CellColumn, ...]:
    """Counts over the cells of each column. Raises DataError if there are no cells."""
    table, number = staging.of(CELLS).table, CHECKS["value"].passed_by(Sql("CELL")).text
    if not staging.database.rows(Sql(f"select 1 from {table} limit 1")):
        raise staging.refusal("there is a header, but no rows")
    name_like = CHECKS["name"].passed_by(Sql("CELL")).text
    conditions = (
        f"lower(CELL) not in ({_NOTHING})",
        number,
        "lower(CELL) in ('true', 'false')",
        "CELL in ('0', '1', '0.0', '1.0')",
        f"not ({name_like})",
    )
    counts: list[int] = []
    for first in range(0, len(cells.attributes), AT_ONCE):
        places = range(first, min(first + AT_ONCE, len(cells.attributes)))
        # For a column without texts, count_if is null.
        listed = (
            f"coalesce(count_if({condition.replace('CELL', f'attribute_{place}')}), 0)"
            for place in places
            for condition in conditions
        )
        counts += staging.database.rows(Sql(f"select {', '.join(listed)} from {table}"))[0]
    found = []
    for place, heading in enumerate(cells.attributes):
        filled, numbers, truths, bits, texts = counts[place * len(conditions) : (place + 1) * len(conditions)]
        found.append(CellColumn(place, heading or f"column {place + 1}", filled, numbers, truths, bits, texts > 0))
    return tuple(found)
