"""Tables of counts: one row per system, document and unit, with a column for each count; or one row per count, as they
are exported. The table does not say which count is divided by which; `define measure` does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from warehouse.faults import DataError
from warehouse.loading.staging import tabular
from warehouse.loading.staging.cells import KINDS, complaint
from warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Start
from warehouse.loading.staging.staged import MOST_FAULTS, Matching, Staged, Staging, match
from warehouse.loading.staging.wide_columns import REPLICATES, SYNONYMS, noun_of, plain
from warehouse.store.sql import Sql, join, name, value, values
from warehouse.tasks.observed import Observed
from warehouse.tasks.records import COUNTS, DOCUMENT, EVALUATION, SYSTEM, TEST_SET, UNIT, FactForm

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
        cells = tabular.stage_table(staging.of(CELLS), _matched)
    except _RowACountError:
        return tabular.stage(staging)
    try:
        _check(staging, cells)
        return (_a_row_a_count(staging, cells),)
    finally:
        staging.database.forget(staging.of(CELLS).table)


def _matched(staging: Staging, header: tuple[str, ...], line: int | None) -> Matching:
    """The columns of counts: the named ones, or else all that are not fields. Raises DataError."""
    named = {field.name for field in COUNTS.content} | {"count"}
    if named <= {*header, *staging.columns, *staging.fields} and WHICH.name not in _said(staging):
        raise _RowACountError
    guessed = {field: heading for field, heading in _synonyms(staging, header) if field not in staging.columns}
    fields = {*(field.name for field in CELLS.key), *staging.columns.values(), *guessed.values()}
    if header and fields.issuperset(header):
        raise staging.refusal(f"there is no column of counts besides {', '.join(header)}", line)
    matching = match(replace(staging, columns=guessed | dict(staging.columns)), header, line)
    runs = [header[place] for place in matching.attributes if plain(header[place]) in REPLICATES]
    if runs and WHICH.name not in _said(staging):
        how = "add their counts up, or give each run a system of its own; --counts A,B says which columns are counts"
        raise staging.refusal(f"the column {runs[0]} distinguishes runs, and counts have no runs: {how}", line)
    wanted = _said(staging).get(WHICH.name)
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
    for field, synonyms in SYNONYMS.items():
        called = [heading for heading in header if plain(heading) in synonyms]
        if field not in header and field not in staging.fields and len(called) == 1:
            yield field, called[0]


def _said(staging: Staging) -> dict[str, str]:
    """The options that are set."""
    return {option: text for option, text in staging.options.items() if text is not None}


def _check(staging: Staging, cells: Staged) -> None:
    """Raises DataError for the first cells that are not counts, and if there are no counts at all."""
    table = staging.of(CELLS).table
    complaints: list[tuple[int, str]] = []
    filled = total = 0
    for number, heading in enumerate(cells.attributes):
        cell = Sql(f"attribute_{number}")
        wrong = "not (" + KINDS["count"].passed_by(cell) + ")"
        [(there, bad)] = staging.database.rows("select count(" + cell + "), count_if(" + wrong + ") from " + table)
        filled, total = filled + there, total + (bad or 0)
        if bad:
            first = "select rowid, " + cell + f" from {table} where " + wrong + f" order by rowid limit {MOST_FAULTS}"
            how = "" if WHICH.name in _said(staging) else "; --counts A,B says which columns are counts"
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
