"""Turns staged texts into facts: replaces names by numbers, converts texts to types, and writes the rows to their
table.

SQL joins replace names by numbers; Python never looks up single names. The cells have passed their checks before.
`checks` decides which facts may be stored together.
"""

from __future__ import annotations

from evalhouse.warehouse.kinds.records import ANNOTATOR, DOCUMENT, EVALUATION, ITEM, SYSTEM, TEST_SET, UNIT, Field
from evalhouse.warehouse.loading.staging.cells import check_of
from evalhouse.warehouse.loading.staging.staged import Staged, Staging, list_of
from evalhouse.warehouse.store.sql import Sql, join, name, value, values


def given_fields(staging: Staging, staged: Staged) -> tuple[Field, ...]:
    """The fields for which the file or a setting has values, in the order of the form."""
    return tuple(field for field in staging.form.fields if field.name in staged.columns or field.name in staging.fields)


def attribute_columns(staged: Staged) -> tuple[str, ...]:
    """The staged columns that hold attributes."""
    return tuple(f"attribute_{number}" for number in range(len(staged.attributes)))


def number_names(staging: Staging, staged: Staged) -> tuple[str, ...]:
    """Gives numbers to new names, in alphabetical order. Returns notes.

    Raises DataError if the name of a test set could mean two of them.
    """
    database, fields = staging.database, given_fields(staging, staged)
    rows = _rows_with_facts(staging, staged)
    notes = place_test_sets(staging, staged) if TEST_SET in fields else ()
    for field in (SYSTEM, UNIT, ANNOTATOR, ITEM):
        if field in fields and field.name in staged.listed:
            new = f"select id, name from {list_of(field.name)} anti join {field.name} using (id)"
            database.run(Sql(f"insert into {field.name} {new}"))
        elif field in fields and field.name not in staged.stored:
            database.run(
                Sql(
                    f"insert into {field.name} "
                    f"select (select coalesce(max(id), 0) from {field.name}) + row_number() over (order by name), name "
                    f"from (select distinct {field.name} as name from {rows} where {field.name} is not null) "
                    f"anti join {field.name} using (name)"
                )
            )
    if DOCUMENT in fields and DOCUMENT.name not in staged.stored:
        named = Sql(f"select distinct test_set_id, document as name from {rows}") + _joined_test_set(fields)
        if (test_set := _one_test_set(staging)) is not None:
            names = f"select distinct document as name from {rows} where document is not null"
            if DOCUMENT.name in staged.listed:
                names = f"select name from {list_of(DOCUMENT.name)}"
            named = "select " + value(test_set) + f"::integer as test_set_id, name from ({names})"
        database.run(
            "insert into document "
            "select (select coalesce(max(id), 0) from document) + row_number() over (order by test_set_id, name), "
            "test_set_id, name from (" + named + ") anti join document using (test_set_id, name)"
        )
    return notes


def _one_test_set(staging: Staging) -> int | None:
    """The number of the test set, if all rows belong to the same one."""
    placed = staging.database.rows(Sql("select test_set_id from placed limit 2"))
    return int(placed[0][0]) if len(placed) == 1 else None


def make_facts(staging: Staging, staged: Staged) -> None:
    """Writes the rows as their table needs them, with numbers for names, to the temporary table `fact`. They are sorted
    by their key unless the reader has put them in order.

    The column `place` is the row number of the staged row. If columns are attributes, each attribute that is not empty
    is one fact.
    """
    form, fields = staging.form, given_fields(staging, staged)
    columns = [Sql("staged.rowid as place")]
    same: dict[str, Sql] = {}
    tables = " from " + name(staging.table) + " as staged"
    of_test_set = Sql("placed.test_set_id")
    if TEST_SET in fields:
        test_set = _one_test_set(staging)
        if test_set is not None:
            of_test_set = same[TEST_SET.column] = value(test_set) + "::integer"
        else:
            tables += _joined_test_set(fields)
            columns.append(of_test_set + " as " + name(TEST_SET.column))
    if form.attributes:
        # Attributes belong to a document, which belongs to the test set.
        columns, same = columns[:1], {}
    for field in (SYSTEM, DOCUMENT, UNIT, ANNOTATOR, ITEM):
        if field in fields and field.name in staged.stored | (staged.listed - {DOCUMENT.name}):
            columns.append(Sql(f"staged.{field.name} as {field.column}"))
        elif field in fields:
            tables += Sql(" join " if field.required else " left join ") + _names_table(staged, field)
            tables += " and document.test_set_id = " + of_test_set if field is DOCUMENT else ""
            columns.append(Sql(f"coalesce({field.name}.id, 0) as {field.column}"))
        elif field in form.key:
            same[field.column] = Sql("0")
    for field in (field for field in form.fields if not field.numbered):
        kind = check_of(field.kind, field.name in staged.numbers)
        if field in fields:
            columns.append(kind.of("staged." + name(field.name)) + " as " + name(field.name))
        else:
            same[field.column] = kind.of(Sql("null::varchar"))
    if form.attributes:
        rows = _one_row_an_attribute(staged, columns, tables)
    else:
        rows = "select " + join(", ", columns) + tables
    # Columns that are the same in every row are added after the sorting, because sorting copies every column.
    keys = (*form.key_columns, "place")
    if form.places in staged.numbers:
        # The reader numbered these rows, so none of them is repeated.
        keys = (*form.key_columns[:-1], form.places)
    known = (name(column) for column in keys if column not in same)
    constants = (text + " as " + name(column) for column, text in same.items())
    ordered = rows if staged.in_order else "select * from (" + rows + ") order by " + join(", ", known)
    made = "create or replace temp table fact as select "
    staging.database.run(made + join(", ", ["*", *constants]) + " from (" + ordered + ")")


def _names_table(staged: Staged, field: Field) -> str:
    """The table of a field's names, with the condition that joins it with the staged rows."""
    table = field.name
    if table not in staged.listed:
        return f"{table} on {table}.name = staged.{table}"
    named = f"(select listed.id as listed, {table}.* from {list_of(table)} as listed join {table} using (name))"
    return f"{named} as {table} on {table}.listed = staged.{table}"


def store_facts(staging: Staging, import_id: int) -> None:
    """Appends the facts. They are sorted by test set, system and document, so a query for one of these reads few
    blocks.
    """
    columns = join(", ", map(name, (*staging.form.key_columns, *staging.form.content_columns)))
    into = "insert into main." + name(staging.form.table) + " (" + columns + ", import_id) "
    staging.database.run(into + "select " + columns + ", " + value(import_id) + "::integer from fact")


def _one_row_an_attribute(staged: Staged, columns: list[Sql], tables: Sql) -> Sql:
    pairs = (
        "struct_pack(name := nfc_normalize(" + value(attribute) + f"::varchar), value := staged.attribute_{number})"
        for number, attribute in enumerate(staged.attributes)
    )
    rows = "select " + join(", ", columns) + ", unnest([" + join(", ", pairs) + "]) as pair" + tables
    return "select * exclude (pair), pair.name, pair.value from (" + rows + ") where pair.value is not null"


def _rows_with_facts(staging: Staging, staged: Staged) -> str:
    """The staged rows. If columns are attributes, rows in which every attribute is empty are left out."""
    if not staged.attributes:
        return f"{staging.table} as staged"
    attributes = ", ".join(attribute_columns(staged))
    return f"(select * from {staging.table} where coalesce({attributes}) is not null) as staged"


def _evaluation(is_given: bool) -> str:
    return "coalesce(staged.evaluation, '')" if is_given else "''"


def _joined_test_set(fields: tuple[Field, ...]) -> Sql:
    evaluation = _evaluation(EVALUATION in fields)
    return Sql(f" join placed on placed.test_set = staged.test_set and placed.evaluation = {evaluation}")


def place_test_sets(staging: Staging, staged: Staged) -> tuple[str, ...]:
    """Finds or creates the named test sets, and lists them in the temporary table `placed`. Returns notes.

    A row without evaluation belongs to the stored test set of that name, if there is one. A row with an evaluation
    gives it to the stored test set of that name, if that has none. `placed` has the evaluation as the file gives it, or
    '' if it gives none.
    """
    database, rows = staging.database, _rows_with_facts(staging, staged)
    evaluation_given = EVALUATION in given_fields(staging, staged)
    if staging.settings.keys() >= {TEST_SET.name, *((EVALUATION.name,) if evaluation_given else ())}:
        rows = f"(select * from {rows} limit 1) as staged"
    test_sets = database.rows(
        Sql(
            f"select distinct null::integer, null::integer, {_evaluation(evaluation_given)}, test_set from {rows} "
            "union all "
            "select t.id, e.id, e.name, t.name from evaluation e left join test_set t on t.evaluation_id = e.id"
        )
    )
    evaluations: dict[str, int] = {}
    stored: dict[str, dict[str, int]] = {}
    named: list[tuple[str, str]] = []
    for number, evaluation_number, evaluation, test_set in test_sets:
        if evaluation_number is None:
            named.append((evaluation, test_set))
            continue
        evaluations[evaluation] = evaluation_number
        if number is not None:
            stored.setdefault(test_set, {})[evaluation] = number
    last_number = max((number for of in stored.values() for number in of.values()), default=0)
    notes: list[str] = []
    placed: list[tuple[str, str, int]] = []
    # Rows with an evaluation come first, so that rows without one find the test sets that they create.
    for evaluation, test_set in sorted(named, key=lambda pair: (not pair[0], pair)):
        of = stored.setdefault(test_set, {})
        if evaluation and evaluation not in evaluations:
            evaluations[evaluation] = 1 + max(evaluations.values())
            database.run("insert into evaluation values " + values((evaluations[evaluation], evaluation)))
        if not evaluation and len(of) > 1:
            which = " and of ".join(sorted(of))
            raise staging.refusal(f"{test_set} is a test set of {which}; --set evaluation=NAME says which is meant")
        if not evaluation and of:
            [number] = of.values()
        elif evaluation in of:
            number = of[evaluation]
        elif "" in of:
            number = of[evaluation] = of.pop("")
            database.run(Sql("update test_set set evaluation_id = ? where id = ?", (evaluations[evaluation], number)))
            notes.append(f"{test_set}, which had no evaluation, is now of {evaluation}")
        else:
            number = of[evaluation] = last_number = last_number + 1
            database.run("insert into test_set values " + values((number, evaluations[evaluation], test_set)))
        placed.append((evaluation, test_set, number))
    listed = join(", ", (values(row) for row in placed))
    placing = "create or replace temp table placed as from (values "
    database.run(placing + listed + ") as t(evaluation, test_set, test_set_id)")
    return tuple(notes)
