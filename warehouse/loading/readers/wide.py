"""Wide tables: one row per sample with a column for each measure, or with a column for each system; as CSV, TSV, JSON,
JSON lines, Parquet or Excel.

Measures become values. The columns that identify replicates become systems `model#1`, `model#2` and so on with the
attribute `model`. All other columns become attributes of documents or of systems, depending on which of the two they
are constant for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from evalhouse.warehouse.kinds.kind import Observed, quantity
from evalhouse.warehouse.kinds.records import (
    DECISIONS,
    DOCUMENTS,
    ITEM,
    JUDGMENTS,
    LABELS,
    PUBLISHED,
    RANKINGS,
    RUNS,
    SCORES,
    SYSTEMS,
    VALUES,
)
from evalhouse.warehouse.loading.readers.counts import sure_counts
from evalhouse.warehouse.loading.staging import tabular
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Start
from evalhouse.warehouse.loading.staging.sheets import refuse_settings
from evalhouse.warehouse.loading.staging.staged import MOST_COLUMNS, Matching, Staged, Staging
from evalhouse.warehouse.loading.staging.wide import (
    BY_SYSTEMS,
    CELLS,
    REPLICATES,
    ROWS,
    RUNS_NAMED,
    TEXTS,
    CellColumn,
    Roles,
    UnclearError,
    WideTable,
    attributes_of,
    check_cluster,
    check_numbers,
    column_of,
    counted_columns,
    document_of,
    held_instead,
    hold_long_rows,
    join_cells,
    make_rows,
    noun_of,
    plain,
    roles_of,
    staged_texts,
    staged_values,
    texts_of,
)
from evalhouse.warehouse.store.sql import Sql

EXAMPLE = """\
model,seed,passage,question,acc,f1
base,1,P1,Q1,1,0.8
base,2,P1,Q1,0,0.5
tuned,1,P1,Q1,1,0.9
tuned,2,P1,Q1,1,1.0
"""

FIELDS = ("evaluation", "test_set", "system", "document")
"""Fields whose columns --map can name, in addition to the columns that identify replicates."""

TAKEN_FOR = ("measures: ", "systems: ")
"""The start of the note that says what each column was taken for."""

SAMPLES = "samples"
"""One row per sample, with columns of numbers as measures. With BY_SYSTEMS, columns of numbers are systems."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages values and attributes. Raises DataError if it is unclear what a column is, or if a measure is not a
    number.
    """
    refuse_settings(staging, VALUES, named=(*FIELDS, *REPLICATES))
    cells = tabular.stage_table(replace(staging, form=CELLS, fields={}, columns={}), _all_columns)
    try:
        table = WideTable(staging, cells)
        hold_long_rows(table)
        return _stage_columns(table, counted_columns(staging, cells))
    except UnclearError as error:
        raise staging.refusal(str(error), None if cells.lines is None else 1) from None
    finally:
        for temporary in (staging.of(CELLS).table, ROWS, RUNS_NAMED):
            staging.database.forget(temporary)


def _all_columns(staging: Staging, header: tuple[str, ...], line: int | None) -> Matching:
    """Takes every column. Raises DataError if two have the same name, or if there are too many."""
    if len(header) > MOST_COLUMNS:
        raise staging.refusal(f"it has {len(header):,} columns, but a table may have at most {MOST_COLUMNS:,}", line)
    twice = [heading for heading, count in Counter(header).items() if heading and count > 1]
    if twice:
        raise staging.refusal(f"the column {quote_cell(twice[0])} appears more than once in the header", line)
    kinds = TEXTS.values() if staging.texts else ()
    texts = {place for place, heading in enumerate(header) if any(plain(heading) in names for names in kinds)}
    return Matching({}, tuple(range(len(header))), (), texts=frozenset(texts))


def _stage_columns(table: WideTable, columns: tuple[CellColumn, ...]) -> tuple[Staged, ...]:
    staging, by_systems = table.staging, table.by_systems
    fixed = staging.fields.keys() | ({"system"} if by_systems else set())
    measures = _measures_said(staging)
    texts = texts_of(columns, {*staging.columns.values(), *(measures or ())}) if staging.texts else {}
    with_text = {column.place for of_kind in texts.values() for column in of_kind}
    columns = tuple(column for column in columns if column.place not in with_text)
    roles = roles_of(columns, staging.columns, fixed, measures, by_systems=by_systems, cluster=staging.cluster)
    check_numbers(table, roles, measures is not None)
    numbers = ", ".join(quote_cell(column.heading)[1:-1] for column in roles.measures[:5])
    if not roles.measures:
        held = f" ({said})" if (said := held_instead(table, roles, columns)) else ""
        raise UnclearError(f"no column holds only numbers{held}; --measures A,B says which are measures")
    if by_systems and not staging.options.get("measure"):
        raise UnclearError(f"nothing says what the numbers of {numbers} measure; --measure NAME does")
    if not by_systems and "system" not in roles.fields.keys() | staging.fields.keys():
        raise UnclearError(
            "nothing names the system: --map system=COLUMN names its column, --set system=NAME the only one, and "
            f"--wide systems --measure NAME says that {numbers} are systems"
        )
    document = document_of(table, roles)
    make_rows(table, roles, document)
    for_documents, for_systems, left_out = attributes_of(table, roles)
    check_cluster(table, roles, for_documents)
    notes = _notes(table, roles, document, for_documents, for_systems, left_out, texts)
    observed = Observed(noun_of(document.heading)) if document else None
    staged = [replace(staged_values(table, roles, observed, notes), header=table.cells.attributes)]
    if for_documents:
        attributes = {column.heading: Sql(f"any_value(attribute_{column.place})") for column in for_documents}
        key = ("evaluation", "test_set", "document")
        staged.append(table.part(DOCUMENTS, key, attributes, join_cells(table), grouped=True, observed=observed))
    of_systems = {column.heading: Sql(f"any_value(attribute_{column.place})") for column in for_systems}
    if roles.replicates:
        of_systems["model"] = Sql("any_value(model)")
        content = {"model": Sql("any_value(model)"), "run": Sql("any_value(run)")}
        key = ("evaluation", "test_set", "system")
        staged.append(table.part(RUNS, key, {}, Sql("from wide_rows where run <> ''"), grouped=True, content=content))
    if of_systems:
        staged.append(table.part(SYSTEMS, ("evaluation", "system"), of_systems, join_cells(table), grouped=True))
    return (*staged, *staged_texts(table, texts))


def _measures_said(staging: Staging) -> list[str] | None:
    said = staging.options.get("measures")
    return None if said is None else [heading.strip() for heading in said.split(",") if heading.strip()]


def _notes(
    table: WideTable,
    roles: Roles,
    document: CellColumn | None,
    for_documents: Sequence[CellColumn],
    for_systems: Sequence[CellColumn],
    left_out: Sequence[CellColumn],
    texts: Mapping[str, Sequence[CellColumn]],
) -> tuple[str, ...]:
    """What each column was taken for, which columns are left out, and how many measures have no value."""

    def listed(columns: Iterable[CellColumn]) -> str:
        headings = [quote_cell(column.heading)[1:-1] for column in columns]
        return ", ".join(headings[:12]) + (f" and {len(headings) - 12:,} more" if len(headings) > 12 else "")

    kinds = {
        "systems" if table.by_systems else "measures": listed(roles.measures),
        **{field.replace("_", " "): quote_cell(column.heading)[1:-1] for field, column in roles.fields.items()},
        **({"document": quote_cell(document.heading)[1:-1]} if document else {}),
        "replicates": listed(roles.replicates),
        **{f"{kind}s": listed(of_kind) for kind, of_kind in texts.items()},
        "attributes of documents": listed(for_documents),
        "attributes of systems": listed(column for column in for_systems if column not in roles.replicates),
    }
    notes = ["; ".join(f"{kind}: {headings}" for kind, headings in kinds.items() if headings)]
    if left_out:
        notes.append(f"left out (long texts, or not constant within documents or systems): {listed(left_out)}")
    [(rows,)] = table.rows("select count(*) from " + table.name)
    lacking = [column for column in roles.measures if column.filled < rows]
    if lacking:
        cells = sum(rows - column.filled for column in lacking)
        notes.append(f"{quantity(cells, 'cell')} of {listed(lacking)} without a value")
    return tuple(notes)


_OTHER_TABLES = [
    *({field.name for field in form.content if field.required} for form in (SCORES, DECISIONS, LABELS, VALUES)),
    {field.name for field in PUBLISHED.content if field.required},
    *({ITEM.name, *(field.name for field in form.content if field.required)} for form in (RANKINGS, JUDGMENTS)),
]


def _recognizes(start: Start) -> Recognition | None:
    """Recognizes tables with columns for systems and documents beside numbers. A table with only documents and numbers
    could be several things.
    """
    headings = {plain(heading) for heading in start.columns}
    if any(content <= headings for content in _OTHER_TABLES) or "y_true" in headings or sure_counts(start):
        return None
    cells: dict[str, list[str]] = {}
    for record in start.records:
        for heading, text in record.items():
            cells.setdefault(heading, []).append(text)
    columns = [column_of(place, heading, texts) for place, (heading, texts) in enumerate(cells.items())]
    by_systems = start.options.get("wide") == BY_SYSTEMS
    try:
        roles = roles_of(columns, {}, {"system"} if by_systems else (), None, by_systems=by_systems)
    except UnclearError as error:
        return Recognition("its columns of numbers", unsure=str(error)) if "system" in headings else None
    if not roles.measures and "system" in roles.fields:
        # A wrong cell in the only measure does not make it another table: loading it says which cell is wrong.
        systems = cells[roles.fields["system"].heading]
        if len(systems) > len(set(systems)):
            nearly = tuple(column for column in roles.others if 2 * column.numbers > column.filled)
            roles = replace(roles, measures=nearly)
    if not roles.documents or not roles.measures:
        return None
    listed = ", ".join(column.heading for column in (*roles.fields.values(), *roles.documents, *roles.measures)[:6])
    if by_systems or "system" in roles.fields:
        return Recognition(f"its columns {listed}")
    if roles.others or not any(plain(column.heading) == "document" for column in roles.documents):
        return None
    numbers = ", ".join(quote_cell(column.heading)[1:-1] for column in roles.measures[:5])
    return Recognition(
        f"its columns {listed}",
        unsure=f"{numbers} could be systems (--wide systems --measure NAME), measures of one system (--as wide --set "
        "system=NAME) or attributes of documents (--as documents)",
    )


READER = Reader(
    "wide",
    "tables with one row per sample and one column per measure, or per system",
    (VALUES, DOCUMENTS, SYSTEMS, RUNS),
    EXAMPLE,
    stage,
    options=(
        Option("wide", "what the columns of numbers are", SAMPLES, (SAMPLES, BY_SYSTEMS)),
        Option("measures", "the columns that are measures, A,B; default: all numeric columns that are nothing else"),
        Option("measure", "with --wide systems: what the numbers are"),
    ),
    recognizes=_recognizes,
    evidence=Evidence.COLUMNS,
)
