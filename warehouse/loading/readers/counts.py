"""Reads tables whose columns are named like the fields of facts, and tables of counts.

The formats are those of all tables with named columns. There is one reader per form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType

from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds import records
from evalhouse.warehouse.kinds.kind import Observed
from evalhouse.warehouse.kinds.records import COUNTS, DOCUMENT, EVALUATION, SYSTEM, TEST_SET, UNIT, FactForm
from evalhouse.warehouse.loading.staging import fact_tables, tabular
from evalhouse.warehouse.loading.staging.cells import CHECKS, complaint, is_number
from evalhouse.warehouse.loading.staging.columns import (
    NO_DOCUMENT,
    REPLICATES,
    RIGHT_OR_WRONG,
    SYNONYMS,
    called,
    noun_of,
    plain,
)
from evalhouse.warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Matching, Staged, Staging, match
from evalhouse.warehouse.store.sql import Sql, join, name, value, values

# === tables of facts ==================================================================================================
# Tables of attributes may have any other column, so they are recognized by the columns that they do not have.

NOTHING: Mapping[str, str] = MappingProxyType({})
BY_FILE: Mapping[str, str] = MappingProxyType({"test_set": "{stem}"})
"""The template for rows that are complete by themselves; other rows only describe rows of another file."""


def _content(form: FactForm) -> frozenset[str]:
    return frozenset(field.name for field in form.content if field.required)


def _by_content(form: FactForm) -> Callable[[Start], str | None]:
    """Recognizes a table by the columns of a form's content, unless it has those of a form with more content."""
    content = _content(form)
    more = [_content(other) for other in records.FORMS if _content(other) > content]

    def recognizes(start: Start) -> str | None:
        fits = start.columns >= content and not any(start.columns >= larger for larger in more)
        return f"its columns {', '.join(sorted(content))}" if fits else None

    return recognizes


def _systems(start: Start) -> Recognition | None:
    others = {"document", "measure", "item"}
    if "system" not in start.columns or start.columns & others or _runs(start):
        return None
    systems = [(record.get("evaluation"), record.get("system")) for record in start.records]
    unsure = NO_DOCUMENT if len(systems) > len(set(systems)) else ""
    return Recognition("its column system, and no document", Role.ATTRIBUTES, unsure)


def _documents(start: Start) -> Recognition | None:
    others = {"system", "label", "item"}
    of_systems = start.columns & others or not {*map(plain, start.columns)}.isdisjoint(RIGHT_OR_WRONG)
    attributes = "document" in start.columns and not of_systems and not _by_numbers(start)
    return Recognition("its column document, and no system", Role.ATTRIBUTES) if attributes else None


def _by_numbers(start: Start) -> bool:
    """Whether a table has only numbers about its documents. These may be values of systems."""
    fields = {field.name for field in records.DOCUMENTS.fields}
    cells = [cell for record in start.records for heading, cell in record.items() if heading not in fields]
    return bool(cells) and all(is_number(cell) for cell in cells if cell)


def _labels(start: Start) -> Recognition | None:
    why = _by_content(records.LABELS)(start)
    return Recognition(why, Role.KEY) if why else None


def _rankings(start: Start) -> str | None:
    return "its columns item and rank" if start.columns >= {"system", "document", "item", "rank"} else None


def _judgments(start: Start) -> Recognition | None:
    graded = start.columns >= {"document", "item", "grade"}
    return Recognition("its columns item and grade", Role.KEY) if graded else None


def _runs(start: Start) -> str | None:
    return "its columns model, run and date" if start.columns >= {"system", "model", "run", "date"} else None


def _failures(start: Start) -> str | None:
    return "its columns item and reason" if start.columns >= {"system", "item", "reason"} else None


def _table(
    form: FactForm,
    reads: str,
    example: str,
    recognizes: Callable[[Start], Recognition | str | None] | None = None,
    unsaid: Mapping[str, str] = NOTHING,
) -> Reader:
    return Reader(
        form.name,
        reads,
        (form,),
        example,
        fact_tables.stage,
        columns=True,
        recognizes=recognizes or _by_content(form),
        evidence=Evidence.COLUMNS,
        unsaid=unsaid,
    )


TABLES = (
    _table(
        records.SCORES,
        "score tuples of extraction, one row per system, document and unit",
        "test_set,system,document,possible,actual,correct,partial\nTST3,GE,D1,10,9,7,1\n",
        unsaid=BY_FILE,
    ),
    _table(
        records.DECISIONS,
        "relevance decisions, one row per system and document",
        "test_set,system,document,decision\nTST3,GE,D1,yes\n",
    ),
    _table(
        records.LABELS,
        "key labels (relevant, optional, nonrelevant), one row per document and annotator",
        "test_set,document,label\nTST3,D1,relevant\n",
        _labels,
    ),
    _table(
        records.VALUES,
        "values of any measure, one row per system, document and measure",
        "test_set,system,document,measure,value\nnews,base,D1,BLEU,31.4\n",
        unsaid=BY_FILE,
    ),
    _table(
        records.RANKINGS,
        "runs, one row per system, document (the topic) and item that it ranks",
        "test_set,system,document,item,rank,score\nrobust,base,301,FBIS3-10,1,2.5\n",
        _rankings,
    ),
    _table(
        records.JUDGMENTS,
        "judgments, one row per document (the topic) and item, with its grade",
        "test_set,document,item,grade\nrobust,301,FBIS3-10,1\n",
        _judgments,
    ),
    _table(
        records.PUBLISHED,
        "figures as printed in a paper, one row per system, task and measure; 0.79 printed to 0.01",
        "test_set,system,task,measure,value,resolution\nTST3,GE,filtering,recall,0.91,0.01\n",
    ),
    _table(
        records.SYSTEMS,
        "attributes of systems, one row per system and one column per attribute",
        "system,pre_parse\nGE,yes\n",
        _systems,
    ),
    _table(
        records.DOCUMENTS,
        "attributes of documents, one row per document and one column per attribute",
        "test_set,document,source\nTST3,D1,radio\n",
        _documents,
    ),
    _table(
        records.RUNS,
        "which runs of which models systems are, by test set",
        "test_set,system,model,run,date\nqa,gpt#2,gpt,9f2c,2026-01-16\n",
        _runs,
    ),
    _table(
        records.FAILURES,
        "what failed, one row per system and document; * for a whole run",
        "test_set,system,item,reason\nqa,gpt,D7,timeout\n",
        _failures,
    ),
)


# === tables of counts =================================================================================================
# One row per system, document and unit, with a column for each count; or one row per count, as counts are exported. The
# table does not say which count is divided by which; `define measure` does.

EXAMPLE = """\
test_set,system,document,attempts,passed
qa,base,Q1,5,2
qa,base,Q2,5,0
qa,tuned,Q1,5,4
qa,tuned,Q2,5,1
"""

CELLS = FactForm("count_cells", "", key=(EVALUATION, TEST_SET, SYSTEM, DOCUMENT, UNIT), attributes=True)
"""The table as it is: each column that is not a field is a count."""

TOGETHER = tuple(map(frozenset, (("count", "number"), ("attempts", "passed"), ("tp", "fp"), ("tp", "fn"))))
"""Columns that are counts if they occur together."""

LIKE_COUNTS = frozenset(
    {"attempts", "correct", "deletions", "edits", "errors", "failed", "fn", "fp", "hits", "insertions", "matches"}
    | {"misses", "passed", "substitutions", "tn", "tokens", "total", "tp", "trials", "words", "wrong"}
)
"""Columns that may be counts in pairs, but may also be values."""


WHICH = Option("counts", "the columns that are counts, A,B; default: all that are not fields")


class _RowACountError(Exception):
    """The table has one row per count."""


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages a table. Raises DataError if a column that is not a field holds anything other than whole numbers."""
    try:
        cells = tabular.stage_table(staging.of(CELLS), _match_columns)
    except _RowACountError:
        return fact_tables.stage(staging)
    try:
        _check(staging, cells)
        return (_a_row_a_count(staging, cells),)
    finally:
        staging.database.forget(staging.of(CELLS).table)


def _match_columns(staging: Staging, header: tuple[str, ...], line: int | None) -> Matching:
    """The columns of counts: the named ones, or else all that are not fields. Raises DataError."""
    named = {field.name for field in COUNTS.content} | {"count"}
    if named <= {*header, *staging.columns, *staging.fields} and WHICH.name not in _options_set(staging):
        raise _RowACountError
    guessed = {field: heading for field, heading in _synonyms(staging, header) if field not in staging.columns}
    fields = {*(field.name for field in CELLS.key), *staging.columns.values(), *guessed.values()}
    if header and fields.issuperset(header):
        raise staging.refusal(f"there is no column of counts besides {', '.join(header)}", line)
    matching = match(replace(staging, columns=guessed | dict(staging.columns)), header, line)
    runs = [header[place] for place in matching.attributes if plain(header[place]) in REPLICATES]
    if runs and WHICH.name not in _options_set(staging):
        how = "add their counts up, or give each run a system of its own; --counts A,B says which columns are counts"
        raise staging.refusal(f"the column {runs[0]} distinguishes runs, and counts have no runs: {how}", line)
    wanted = _options_set(staging).get(WHICH.name)
    if wanted is None:
        return matching
    listed = [heading.strip() for heading in wanted.split(",") if heading.strip()]
    others = {header[place]: place for place in matching.attributes}
    if absent := [heading for heading in listed if heading not in others]:
        there_are = ", ".join(others) or "none"
        raise staging.refusal(f"there is no column {', '.join(absent)} of counts; there are {there_are}", line)
    left_out = [heading for heading in others if heading not in listed]
    notes = (f"left out (not counts): {', '.join(left_out)}",) if left_out else ()
    return replace(matching, attributes=tuple(map(others.__getitem__, listed)), notes=(*matching.notes, *notes))


def _synonyms(staging: Staging, header: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """The fields that have another name in the table, if only one column can be meant."""
    for field in SYNONYMS:
        naming = called(field, header)
        if field not in header and field not in staging.fields and len(naming) == 1:
            yield field, naming[0]


def _options_set(staging: Staging) -> dict[str, str]:
    """The options that are set."""
    return {option: text for option, text in staging.options.items() if text is not None}


def _check(staging: Staging, cells: Staged) -> None:
    """Raises DataError for the first cells that are not counts, and if there are no counts at all."""
    table = staging.of(CELLS).table
    complaints: list[tuple[int, str]] = []
    filled = total = 0
    for number, heading in enumerate(cells.attributes):
        cell = Sql(f"attribute_{number}")
        wrong = "not (" + CHECKS["count"].passed_by(cell) + ")"
        [(there, bad)] = staging.database.rows("select count(" + cell + "), count_if(" + wrong + ") from " + table)
        filled, total = filled + there, total + (bad or 0)
        if bad:
            first = "select rowid, " + cell + f" from {table} where " + wrong + f" order by rowid limit {MOST_FAULTS}"
            how = "" if WHICH.name in _options_set(staging) else "; --counts A,B says which columns are counts"
            found = staging.database.rows(first)
            complaints += ((row, complaint("count", heading, text) + how) for row, text in found)
    if complaints:
        raise DataError(cells.faults(staging, sorted(complaints)[:MOST_FAULTS]), total)
    if not filled:
        raise staging.refusal("there is a header, but no count below it")


def _a_row_a_count(staging: Staging, cells: Staged) -> Staged:
    """Turns each row into one row per count."""
    table, given = staging.of(COUNTS).table, {*cells.columns, *staging.fields}
    fields = [field.name for field in CELLS.key if field.name in given]
    counts = "unnest([" + join(", ", (value(heading) + "::varchar" for heading in cells.attributes)) + "]) as count, "
    numbers = "unnest([" + join(", ", (Sql(f"attribute_{n}") for n in range(len(cells.attributes)))) + "]) as number"
    rows = "select " + join(", ", map(name, fields)) + ", blanks, rowid as place, " + counts + numbers
    staging.database.run(
        "create or replace temp table "
        + name(table)
        + " as select * replace (nfc_normalize(trim(count)) as count) from ("
        + rows
        + f" from {staging.of(CELLS).table}) where number is not null order by place"
    )
    query = f"select rowid, place from {table} where rowid in "

    def lines(rows: Iterable[int]) -> dict[int, int]:
        places = dict(staging.database.rows(query + values(rows)))
        found = cells.lines(places.values()) if cells.lines else {}
        return {row: found[place] for row, place in places.items() if place in found}

    columns = {**cells.columns, "count": "count", "number": "number"}
    observed = Observed(noun_of(columns["document"])) if columns.get("document") not in (None, "document") else None
    return Staged(COUNTS, columns, (), cells.notes, lines if cells.lines else None, observed=observed)


def _recognizes(start: Start) -> Recognition | str | None:
    if pair := sure_counts(start):
        return f"its columns {' and '.join(sorted(pair))}"
    headings = {heading: plain(heading) for heading in start.columns}
    likely = [heading for heading, word in headings.items() if word in LIKE_COUNTS]
    rows = start.records
    if len(likely) < 2 or not rows or not _has_names(frozenset(headings.values())):
        return None
    fields = {synonym for synonyms in SYNONYMS.values() for synonym in synonyms} | {"unit"}
    others = [heading for heading, word in headings.items() if word not in fields]
    whole = all((row.get(heading) or "0").strip().isdecimal() for row in rows for heading in others)
    return f"its columns {', '.join(sorted(likely))}" if whole else None


def sure_counts(start: Start) -> frozenset[str] | None:
    """The columns that identify a table of counts."""
    words = frozenset(map(plain, start.columns))
    return next((pair for pair in TOGETHER if pair <= words), None) if _has_names(words) else None


def _has_names(words: frozenset[str]) -> bool:
    return not words.isdisjoint(SYNONYMS["system"]) and not words.isdisjoint(SYNONYMS["document"])


READER = Reader(
    COUNTS.name,
    "counts of any name, one row per system, document and unit and one column per count",
    (COUNTS,),
    EXAMPLE,
    stage,
    options=(WHICH,),
    columns=True,
    recognizes=_recognizes,
    evidence=Evidence.COLUMNS,
    unsaid={"test_set": "{stem}"},
)
