"""Tables of one's own: a row per sample with a column for each measure, or with a column for each system; as CSV, TSV,
JSON, JSON lines, Parquet or Excel.

Measures become values. The columns that identify replicates become systems `model#1`, `model#2` and so on with the
attribute `model`. Texts are stored if texts are wanted. All other columns become attributes of documents or of systems,
depending on which of the two they are constant for, over all tables of a load and those loaded before.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import Observed, quantity
from evalhouse.warehouse.kinds.records import (
    DECISIONS,
    DOCUMENTS,
    INPUT,
    ITEM,
    JUDGMENTS,
    LABELS,
    OUTPUT,
    PUBLISHED,
    RANKINGS,
    REFERENCE,
    RUNS,
    SCORES,
    SYSTEMS,
    VALUES,
    ColumnUse,
)
from evalhouse.warehouse.loading.readers.counts import sure_counts
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.columns import (
    MARKS,
    PARTS,
    REPLICATES,
    CellColumn,
    Findings,
    Roles,
    TestSet,
    UnclearError,
    column_of,
    noun_of,
    plain,
    roles_of,
    split_map,
    tells_document,
    text_kind,
    words_apart,
)
from evalhouse.warehouse.loading.staging.json_rows import RECORDS, SHARED
from evalhouse.warehouse.loading.staging.json_values import inside
from evalhouse.warehouse.loading.staging.own_tables import (
    BY_SYSTEMS,
    OwnTable,
    check_clusters,
    check_numbers,
    check_runs,
    counted_columns,
    held_instead,
    hold_long_rows,
    join_cells,
    make_rows,
    on_test_sets,
    own_table,
    staged_identities,
    staged_texts,
    staged_values,
)
from evalhouse.warehouse.loading.staging.reader import (
    Evidence,
    Nearly,
    Option,
    Reader,
    Recognition,
    Start,
    as_text,
    filled,
)
from evalhouse.warehouse.loading.staging.sheets import refuse_settings
from evalhouse.warehouse.loading.staging.staged import MOST_COLUMNS, Matching, Staged, Staging
from evalhouse.warehouse.loading.staging.survey import Survey
from evalhouse.warehouse.store.sql import Sql

NAME = "table"

EXAMPLE = """\
model,seed,passage,question,acc,f1
base,1,P1,Q1,1,0.8
base,2,P1,Q1,0,0.5
tuned,1,P1,Q1,1,0.9
tuned,2,P1,Q1,1,1.0
"""

FIELDS = ("evaluation", "test_set", "system", "document")
"""Fields whose columns --map can name, in addition to the columns that identify replicates."""

TAKEN_FOR = ("measures: ", "systems: ", "not measures", "left out (texts", "left out (other names")
"""How the notes begin that say what each column was taken for."""

SAMPLES = "samples"
"""One row per sample, with columns of numbers as measures. With BY_SYSTEMS, columns of numbers are systems."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages values and attributes. Raises DataError if it is unclear what a column is, or if a measure is not a
    number.
    """
    fields, _ = split_map(staging.columns)
    refuse_settings(replace(staging, columns=fields), VALUES, named=(*FIELDS, *REPLICATES, "or the name of a measure"))
    with own_table(staging, _all_columns) as table:
        try:
            hold_long_rows(table)
            columns = counted_columns(table)
            findings = staging.findings
            if findings is None:
                with Survey(staging.database, READER.names) as alone:
                    alone.add(table, columns, _roles(staging, columns), alone=True)
                    [findings] = alone.findings()
            return _stage_columns(table, columns, findings)
        except UnclearError as error:
            raise staging.refusal(str(error), None if table.cells.lines is None else 1) from None


def survey(files: Sequence[Staging]) -> list[Findings | None]:
    """What the columns of the tables of a load are; None for files that cannot be read."""
    places: list[int] = []
    with Survey(files[0].database, READER.names) as together:
        for place, staging in enumerate(files):
            with suppress(DataError, UnclearError), own_table(staging, _all_columns) as table:
                columns = counted_columns(table)
                together.add(table, columns, _roles(staging, columns))
                places.append(place)
        found = dict(zip(places, together.findings(), strict=True))
    return [found.get(place) for place in range(len(files))]


def _all_columns(staging: Staging, header: tuple[str, ...], line: int | None) -> Matching:
    """Takes every column. Raises DataError if two have the same name, or if there are too many."""
    if len(header) > MOST_COLUMNS:
        raise staging.refusal(f"it has {len(header):,} columns, but a table may have at most {MOST_COLUMNS:,}", line)
    twice = [heading for heading, count in Counter(header).items() if heading and count > 1]
    if twice:
        raise staging.refusal(f"the column {quote_cell(twice[0])} appears more than once in the header", line)
    left_out = _listed_in(staging, "leave-out") or []
    if absent := [heading for heading in left_out if heading not in header]:
        there_are = ", ".join(quote_cell(heading)[1:-1] for heading in header[:20])
        raise staging.refusal(f"there is no column {quote_cell(absent[0])} to leave out; the columns are {there_are}")
    kept = tuple(place for place, heading in enumerate(header) if heading not in left_out)
    return Matching({}, kept, (), texts=frozenset(kept if staging.texts else ()))


def _roles(staging: Staging, columns: Sequence[CellColumn], clusters: Collection[str] = ()) -> Roles:
    """The roles of columns by their names. Those that are declared to be `clusters` are attributes."""
    by_systems = staging.options.get("wide") == BY_SYSTEMS
    fixed = staging.fields.keys() | ({"system"} if by_systems else set())
    declared = {*clusters, *((staging.cluster,) if staging.cluster else ())}
    measures = _measures_said(staging)
    fields, called = split_map(staging.columns)
    headings = {column.heading for column in columns}
    if absent := [heading for heading in called.values() if heading not in headings]:
        raise UnclearError(f"there is no column {quote_cell(absent[0])}; the columns are {_listed(columns)}")
    return roles_of(columns, fields, fixed, measures, by_systems=by_systems, clusters=declared)


def _measures_said(staging: Staging) -> list[str] | None:
    return _listed_in(staging, "measures")


def _listed_in(staging: Staging, option: str) -> list[str] | None:
    """The columns that an option lists; None if it is not set."""
    said = staging.options.get(option)
    return None if said is None else [heading.strip() for heading in said.split(",") if heading.strip()]


def _stage_columns(table: OwnTable, own: tuple[CellColumn, ...], findings: Findings) -> tuple[Staged, ...]:
    staging = table.staging
    if findings.unclear:
        raise UnclearError(findings.unclear)
    columns = tuple(_as_everywhere(column, findings.columns[column.heading]) for column in own)
    document = next((column for column in columns if column.heading == findings.document), None)
    roles = _roles(staging, columns, findings.clusters).named_by(document)
    if _measures_said(staging) is None:
        roles = roles.without(findings.no_measures)
    _check_roles(table, roles, columns, findings)
    make_rows(table, roles, document, attempts=findings.attempts)
    check_runs(table, roles)
    kept = _kept_of(table, roles, findings)
    check_clusters(table, roles, findings.clusters, kept.for_documents)
    observed = Observed(noun_of(document.heading)) if document else None
    notes = _notes(table, roles, kept, findings, {column.place: column for column in own})
    of_values = staged_values(table, roles, observed, notes)
    staged = [replace(of_values, header=table.cells.attributes, taken=tuple(_taken(roles, findings)))]
    inferred = frozenset(column.heading for column in roles.others)
    if kept.for_documents:
        attributes = {column.heading: on_test_sets(where, column) for column, where in kept.for_documents.items()}
        key = ("evaluation", "test_set", "document")
        of_documents = table.part(DOCUMENTS, key, attributes, join_cells(table), grouped=True, observed=observed)
        staged.append(replace(of_documents, inferred=inferred))
    attributes = {column.heading: Sql(f"any_value(attribute_{column.place})") for column in kept.for_systems}
    if roles.replicates or findings.attempts:
        attributes["model"] = Sql("any_value(model)")
        content = {"model": Sql("any_value(model)"), "run": Sql("any_value(run)")}
        key = ("evaluation", "test_set", "system")
        staged.append(table.part(RUNS, key, {}, Sql("from own_rows where run <> ''"), grouped=True, content=content))
    if attributes:
        of_systems = table.part(SYSTEMS, ("evaluation", "system"), attributes, join_cells(table), grouped=True)
        staged.append(replace(of_systems, inferred=inferred))
    if telling := _telling_columns(roles, findings.clusters):
        staged.append(replace(staged_identities(table, telling), told_apart=_words_apart(roles, telling)))
    return (*staged, *(staged_texts(table, kept.texts) if staging.texts else ()))


def _telling_columns(roles: Roles, clusters: Collection[str]) -> list[CellColumn]:
    """The columns that say what a document is, beside its name: its question, or the split that it is from."""
    free = [*roles.others, *(column for of_kind in roles.texts.values() for column in of_kind)]
    free = [column for column in free if column.heading not in clusters]
    return [column for column in free if tells_document(column.heading)]


def _words_apart(roles: Roles, telling: Sequence[CellColumn]) -> dict[str, str]:
    """The words that keep other documents apart: a part of a test set is one of its own, and a text may name them."""
    words = {}
    for column in telling:
        field = "test_set" if plain(column.heading) in PARTS else "document"
        if (field == "document" and column.is_text) or (field == "test_set" and field in roles.fields):
            continue
        words[column.heading] = words_apart(field, column.heading)
    return words


def _as_everywhere(own: CellColumn, everywhere: CellColumn) -> CellColumn:
    """A column of this table, with counts over the cells of all tables. If these are mostly numbers, the tables with
    other cells are refused, so that in a table with nothing but numbers it is a column of numbers.
    """
    if own.is_number and not everywhere.is_number and everywhere.filled <= 2 * everywhere.numbers:
        return own
    return replace(everywhere, place=own.place)


def _check_roles(table: OwnTable, roles: Roles, columns: Sequence[CellColumn], findings: Findings) -> None:
    """Raises UnclearError or DataError if there are no measures, or nothing names their systems."""
    staging = table.staging
    check_numbers(table, roles, findings.clusters, _measures_said(staging) is not None)
    numbers = ", ".join(quote_cell(column.heading)[1:-1] for column in roles.numbers[:5])
    if not roles.numbers:
        held = f" ({said})" if (said := held_instead(table, roles, columns)) else ""
        same = ", ".join(quote_cell(heading)[1:-1] for heading in sorted(findings.no_measures)[:5])
        why = f"no column holds only numbers{held}"
        if same:
            why = f"no column measures anything: {same} would be the same on all documents or for all systems"
        raise UnclearError(f"{why}; --measures A,B says which are measures")
    if table.by_systems and not staging.options.get("measure"):
        raise UnclearError(f"nothing says what the numbers of {numbers} measure; --measure NAME does")
    if not table.by_systems and "system" not in roles.fields.keys() | staging.fields.keys() | staging.unsaid.keys():
        raise UnclearError(
            "nothing names the system: --map system=COLUMN names its column, --set system=NAME the only one, and "
            f"--wide systems --measure NAME says that {numbers} are systems"
        )


class _Kept(Struct, frozen=True):
    """What becomes of the columns that are no measures: attributes of documents, on some test sets; attributes of
    systems; and texts. `left_out` is the rest.
    """

    for_documents: Mapping[CellColumn, tuple[TestSet, ...]]
    for_systems: tuple[CellColumn, ...]
    texts: Mapping[str, tuple[CellColumn, ...]]
    left_out: tuple[CellColumn, ...]


def _kept_of(table: OwnTable, roles: Roles, findings: Findings) -> _Kept:
    """Decides what becomes of them. What a system said is a text, and never an attribute of a document."""
    free = [column for column in roles.others if column.heading not in findings.measures]
    names = [column for column in free if not column.is_text]
    on = {
        column: tuple(of for of, unfit in findings.no_attributes.items() if column.heading not in unfit)
        for column in names
    }
    for_documents = {column: test_sets for column, test_sets in on.items() if test_sets}
    for_systems = [column for column in (*names, *roles.replicates) if column.heading not in findings.varying]
    answers = tuple(column for column in free if column.heading in findings.answers) if not table.by_systems else ()
    stored = {*for_documents, *for_systems, *(answers if table.staging.texts else ())}
    return _Kept(
        for_documents,
        () if table.by_systems else tuple(for_systems),
        _texts_with_answers(roles.texts, findings.answers, answers),
        tuple(column for column in (*roles.others, *roles.replicates) if column not in stored),
    )


def _texts_with_answers(
    texts: Mapping[str, tuple[CellColumn, ...]], differing: Collection[str], answers: tuple[CellColumn, ...]
) -> dict[str, tuple[CellColumn, ...]]:
    """The texts, with more answers. A right answer that differs between systems is none; nor is a column `answer`
    beside right answers if nothing else says what systems answered.
    """
    right, outputs = texts.get(REFERENCE, ()), texts.get(OUTPUT, ()) + answers
    said = [column for column in right if column.heading in differing]
    if not outputs and not said and len(right) > 1:
        said = [column for column in right if plain(column.heading) == "answer"]
    kinds = {
        INPUT: texts.get(INPUT, ()),
        REFERENCE: tuple(column for column in right if column not in said),
        OUTPUT: (*outputs, *said),
    }
    return {kind: columns for kind, columns in kinds.items() if columns}


def _taken(roles: Roles, findings: Findings) -> Iterator[tuple[TestSet, str, ColumnUse]]:
    """What the columns were taken for, as later loads have to take them."""
    texts = [column for of_kind in roles.texts.values() for column in of_kind]
    for test_set, unfit in findings.no_attributes.items():
        if findings.document:
            yield test_set, findings.document, "document"
        for column in roles.others:
            if column.heading in unfit or column.is_text:
                yield test_set, column.heading, "not of documents"
            if column.heading in findings.varying or column.is_text:
                yield test_set, column.heading, "not of systems"
        for column in texts:
            yield test_set, column.heading, "not of documents"


def _notes(
    table: OwnTable, roles: Roles, kept: _Kept, findings: Findings, own: Mapping[int, CellColumn]
) -> tuple[str, ...]:
    """What each column was taken for, which columns are left out, and how many measures have no value."""
    texts = table.staging.texts
    kinds = {
        "systems" if table.by_systems else "measures": _listed(roles.numbers),
        **{field.replace("_", " "): _listed([column]) for field, column in roles.fields.items() if field != "document"},
        "document": _listed(roles.documents),
        "replicates": _listed(roles.replicates),
        **({f"{kind}s": _listed(of_kind) for kind, of_kind in kept.texts.items()} if texts else {}),
        "attributes of documents": _listed(kept.for_documents),
        "attributes of systems": _listed(column for column in kept.for_systems if column not in roles.replicates),
    }
    notes = ["; ".join(f"{kind}: {headings}" for kind, headings in kinds.items() if headings)]
    if findings.attempts:
        notes.append("several rows of a system on a document are its attempts, in their order, and runs of it")
    if not texts and (unstored := [column for of_kind in roles.texts.values() for column in of_kind]):
        notes.append(f"left out (texts, which --texts stores): {_listed(unstored)}")
    unmeasured = [
        *roles.places,
        *(column for column in roles.others if column.is_number and column.heading not in findings.clusters),
    ]
    if unmeasured and _measures_said(table.staging) is None:
        with_one = _listed([*roles.numbers, unmeasured[0]]).replace(", ", ",")
        notes.append(
            "not measures, by their names or because they are the same on all documents or for all systems: "
            f"{_listed(unmeasured)}; --measures {with_one} would take {_listed(unmeasured[:1])}"
        )
    if roles.ids:
        other = f"--map document={_listed(roles.ids[:1])} would use it instead"
        notes.append(f"left out (other names of documents): {_listed(roles.ids)}; {other}")
    left_out = [column for column in kept.left_out if column not in unmeasured]
    if left_out:
        notes.append(f"left out (not the same for all systems on a document, or long): {_listed(left_out)}")
    [(rows,)] = table.rows("select count(*) from " + table.name)
    lacking = [column for column in roles.numbers if own[column.place].filled < rows]
    if lacking:
        cells = sum(rows - own[column.place].filled for column in lacking)
        notes.append(f"{quantity(cells, 'cell')} of {_listed(lacking)} without a value")
    return tuple(notes)


def _listed(columns: Iterable[CellColumn]) -> str:
    headings = [quote_cell(column.heading)[1:-1] for column in columns]
    return ", ".join(headings[:12]) + (f" and {len(headings) - 12:,} more" if len(headings) > 12 else "")


_OTHER_TABLES = [
    *({field.name for field in form.content if field.required} for form in (SCORES, DECISIONS, LABELS, VALUES)),
    {field.name for field in PUBLISHED.content if field.required},
    *({ITEM.name, *(field.name for field in form.content if field.required)} for form in (RANKINGS, JUDGMENTS)),
]


def _nearly(start: Start) -> Nearly | None:
    """What a table of numbers misses: a system, documents, or both; or which list of records is meant."""
    lists = inside(start.text).lists if start.is_json else {}
    if len(lists) > 1 and RECORDS not in start.options:
        return Nearly(f"it has the lists of records {', '.join(lists)}", f"--as {NAME} --records {next(iter(lists))}")
    start = _of_records(start)
    columns = _columns(start)
    try:
        roles = roles_of(columns, {}, (), None)
    except UnclearError as error:
        return Nearly(str(error), f"--as {NAME}")
    if len(columns) < 2 or not roles.numbers:
        return None
    system = [] if "system" in roles.fields else [("nothing names the system", f"--set {_given('system', start)}")]
    documents = [] if roles.documents else [("no column names the documents", f"--map {_document_in(start)}")]
    misses = [*system, *documents]
    if len(lists) == 1 and RECORDS not in start.options:
        misses[:1] = [
            (f"in its records ({next(iter(lists))}) {what}", f"--records {next(iter(lists))} {words}")
            for what, words in misses[:1]
        ]
    clause = " and ".join(what for what, _ in misses) or "what its columns are is not clear"
    return Nearly(clause, " ".join((f"--as {NAME}", *(words for _, words in misses))))


def _given(field: str, start: Start) -> str:
    """The setting that names a field after the file."""
    return shlex.quote(f"{field}={filled({field: '{stem}'}, start.path)[field]}")


def _document_in(start: Start) -> str:
    """The setting that takes the documents from the only column that could name them, if there is only one."""
    cells: dict[str, list[str]] = {}
    for record in start.records:
        for heading, text in record.items():
            cells.setdefault(heading, []).append(text.strip())
    rows = len(start.records)
    telling = [heading for heading, texts in cells.items() if rows > 1 and len({*texts} - {""}) == rows]
    telling = [heading for heading in telling if text_kind(heading) != OUTPUT]
    return shlex.quote(f"document={telling[0]}") if len(telling) == 1 else "document=COLUMN"


def _columns(start: Start) -> list[CellColumn]:
    """The columns of the first rows of a table."""
    cells: dict[str, list[str]] = {}
    for record in start.records:
        for heading, text in record.items():
            cells.setdefault(heading, []).append(text)
    called = {heading: measure for measure, heading in split_map(start.mapped)[1].items()}
    return [
        column_of(place, heading, texts, called.get(heading, ""))
        for place, (heading, texts) in enumerate(cells.items())
    ]


def _of_records(start: Start) -> Start:
    """The start of the list of records in a file that is one object and has such a list; else the start as it is."""
    if not start.is_json or start.named or start.text.lstrip().startswith("["):
        return start
    there = inside(start.text)
    said = start.options.get(RECORDS) or next(iter(there.lists), "")
    records = there.lists.get(said, [])
    if not records or (len(there.lists) > 1 and not start.options.get(RECORDS)):
        return start
    shared = {key: text for key, text in there.texts.items() if plain(key) in SHARED}
    dotted = [heading for heading in start.mapped.values() if "." in heading]
    rows = tuple(
        shared
        | {key: as_text(item) for key, item in record.items()}
        | {heading: as_text(item) for heading in dotted if (item := _at_path(record, heading)) is not None}
        for record in records[:50]
    )
    return replace(start, rows=rows, named=frozenset().union(*rows))


def _at_path(record: object, heading: str) -> object:
    for key in heading.split("."):
        record = record.get(key) if isinstance(record, dict) else None
    return record


def _recognizes(start: Start) -> Recognition | None:
    """Recognizes tables with columns for systems and documents beside numbers. A table with only documents and numbers
    could be several things.
    """
    start = _of_records(start)
    headings = {plain(heading) for heading in start.columns}
    if any(content <= headings for content in _OTHER_TABLES) or "y_true" in headings or sure_counts(start):
        return None
    columns, there = _columns(start), {column.heading for column in _columns(start)}
    by_systems = start.options.get("wide") == BY_SYSTEMS
    fields = {field: heading for field, heading in split_map(start.mapped)[0].items() if heading in there}
    try:
        roles = roles_of(columns, fields, {"system"} if by_systems else (), None, by_systems=by_systems)
    except UnclearError as error:
        return Recognition("its columns of numbers", unsure=str(error)) if "system" in headings else None
    if not roles.numbers and "system" in roles.fields:
        # A wrong cell in the only measure does not make it another table: loading it says which cell is wrong.
        systems = [record.get(roles.fields["system"].heading, "") for record in start.records]
        if len(systems) > len(set(systems)):
            rest = (*roles.others, *roles.places, *(column for of_kind in roles.texts.values() for column in of_kind))
            nearly = tuple(column for column in rest if 2 * column.numbers > column.filled)
            roles = replace(roles, numbers=nearly)
    if not (roles.documents or "document" in fields) or not roles.numbers:
        return None
    listed = ", ".join(column.heading for column in (*roles.fields.values(), *roles.documents, *roles.numbers)[:6])
    if by_systems or "system" in roles.fields:
        return Recognition(f"its columns {listed}")
    if start.is_json and not start.named and len(start.records) < 2:
        return None  # one object is hardly a table
    is_mark = any(plain(column.heading) in MARKS for column in roles.numbers)
    if is_mark or roles.others or roles.texts or all(plain(column.heading) != "document" for column in roles.documents):
        return Recognition(f"its columns {listed}", lacks="system")
    numbers = ", ".join(quote_cell(column.heading)[1:-1] for column in roles.numbers[:5])
    return Recognition(
        f"its columns {listed}",
        unsure=f"{numbers} could be systems (--wide systems --measure NAME), measures of one system (--as table --set "
        "system=NAME) or attributes of documents (--as documents)",
        lacks="system",
    )


READER = Reader(
    NAME,
    "tables with one row per sample and one column per measure, or per system",
    (VALUES, DOCUMENTS, SYSTEMS, RUNS),
    EXAMPLE,
    stage,
    options=(
        Option("wide", "what the columns of numbers are", SAMPLES, (SAMPLES, BY_SYSTEMS)),
        Option("measures", "the columns that are measures, A,B; default: all numeric columns that are nothing else"),
        Option(RECORDS, "where in an object the records are: results.results"),
        Option("leave-out", "columns that are not read at all, A,B"),
        Option("measure", "with --wide systems: what the numbers are"),
    ),
    recognizes=_recognizes,
    evidence=Evidence.COLUMNS,
    survey=survey,
    nearly=_nearly,
    formerly=("wide",),
)
