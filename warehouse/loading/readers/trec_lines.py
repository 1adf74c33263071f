"""Reads the lines of TREC's qrels and runs into a table of cells. Qrels have 4 columns and runs have 6, separated by
any white space.

Nearly every file has exactly one blank between its cells, and then DuckDB reads it as a table. Whatever differs from
that is read line by line as texts, more slowly; only this way also says what is wrong with which line. What the cells
mean is not known here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warehouse.faults import DataError, UnreadableError
from warehouse.loading.staging.cells import KINDS, shown
from warehouse.loading.staging.lines import BLANK, EMPTY, brief, compression_of, documents, is_archive, start_of
from warehouse.loading.staging.staged import MOST_FAULTS, Staging
from warehouse.loading.staging.surveying import plain_text, survey
from warehouse.store.sql import Sql, join, pattern_of, value
from warehouse.tasks.observed import counted

QRELS = ("topic", "iteration", "document", "grade")
RUN = ("topic", "Q0", "document", "rank", "score", "system")

_NAMES = ("topic", "document", "system")
_LEFT_OUT = ("iteration", "Q0")
_KINDS = {"grade": KINDS["grade"], "score": KINDS["number"], "rank": KINDS["grade"]}
"""The kinds of the columns that are not names."""
_SENTENCES = {"grade": "not a whole number", "score": "not a finite number", "rank": "not a whole number"}

PLAIN_SCORE = "CELL >= '-' and CELL < ':' and not contains(CELL, '_')"
"""What begins with a digit, a point or a minus, in a file without tabs and the like. If DuckDB takes it for a number
whose size is below LARGEST, it is one. Nearly all scores are such numbers, and finding that out takes a fraction of the
time of matching the pattern of a number.
"""

LARGEST = 3.4e38
"""Nearly the largest number in single precision."""

_PLAIN = {
    "grade": f"case when {KINDS['grade'].good} then CELL end",
    "rank": f"case when {KINDS['grade'].good} then CELL end",
    "score": f"case when {PLAIN_SCORE} then try_cast(CELL as double) end",
}
"""The SQL for a stored cell of a plain file; it is null if the cell may be wrong."""

_FIRST_LINE = 10_000
"""How many bytes the first line of a plain file has at most."""


def read(staging: Staging, *, ranks: bool) -> tuple[str, ...]:
    """Reads a file into `trec_cells`: the number of each line, the names, and the grade or the score, and if `ranks` is
    set also the rank. Row ids are in the order of the lines. Returns the columns of the file.

    Raises DataError for lines that are wrong.
    """
    left_out = _LEFT_OUT if ranks else (*_LEFT_OUT, "rank")
    return _read_plain(staging, left_out) or _read_any(staging, left_out)


def drop(staging: Staging) -> None:
    """Removes what `read` wrote."""
    staging.database.run(
        Sql(
            "drop view if exists temp.trec_cells; drop table if exists temp.trec_read; "
            "drop table if exists temp.trec_lines"
        )
    )


def _read_plain(staging: Staging, left_out: tuple[str, ...]) -> tuple[str, ...]:
    """Reads a file in which all cells are separated by one blank. Returns its columns, or none if it is not such a file
    or may have something wrong in it.
    """
    first, end, _ = start_of(staging, _FIRST_LINE).partition(b"\n")
    columns = _columns(len(first.split(b" ")))
    if not (columns and end) or compression_of(staging.source) != "uncompressed" or is_archive(staging.source):
        return ()
    [text] = map(plain_text, documents(staging))
    if text is None:
        return ()
    cells = {column: f"c{place}" for place, column in enumerate(columns)}
    listed = join(
        ", ",
        (
            _stored(staging, column, cell, _PLAIN.get(column, "CELL"), text.ascii)
            for column, cell in cells.items()
            if column not in left_out
        ),
    )
    reading = (
        "select "
        + listed
        + Sql(
            " from read_csv(?, header=false, auto_detect=false, "
            "strict_mode=false, delim=' ', quote='', escape='', columns={"
            + ", ".join(f"'{cell}': 'VARCHAR'" for cell in cells.values())
            + "})",
            (pattern_of(staging.source),),
        )
    )
    try:
        staging.database.read("trec_read", reading)
    except UnreadableError:
        return ()
    # Missing cells are null, and so are cells that may be wrong. DuckDB leaves out lines that are too long, and cells
    # that are too many.
    known = (f"count({column})" for column in columns if column not in left_out)
    largest = "max(abs(score))" if columns == RUN else "0"
    [(lines, least, small)] = staging.database.rows(
        Sql(f"select count(*), least({', '.join(known)}), coalesce({largest}, 0) < {LARGEST} from trec_read")
    )
    if least < lines or (lines, lines * len(columns)) != (text.lines, text.cells) or not small:
        return ()
    _show(staging, "rowid + 1 as line, *")
    return columns


def _read_any(staging: Staging, left_out: tuple[str, ...]) -> tuple[str, ...]:
    """Reads a file with any white space between its cells, and says what is wrong with it."""
    database = staging.database
    reading = Sql(
        "select line from read_csv(?, header=false, auto_detect=false, strict_mode=false, compression=?, "
        "columns={'line': 'VARCHAR'}, delim='', quote='', escape='')",
        (pattern_of(staging.source), compression_of(staging.source)),
    )
    for document in documents(staging):
        survey(document)  # refuses lines that DuckDB would leave out
    try:
        database.read("trec_lines", reading)
    except UnreadableError as error:
        for document in documents(staging):
            for _ in document.lines():  # if Python finds the error too, it says on which line
                pass
        raise staging.refusal(f"the file cannot be read: {brief(str(error))}") from None
    # Searching every line for blanks takes longer than splitting it, so it is done only if there are lines with blanks.
    blank = "contains(line, chr(9)) or contains(line, '  ') or starts_with(line, ' ') or ends_with(line, ' ')"
    [(uneven,)] = database.rows(
        Sql(f"select coalesce(bool_or({blank} or line is null or line = ''), false) from trec_lines")
    )
    lines, cells = "select rowid + 1 as line, line as text from trec_lines", "string_split(text, ' ')"
    if uneven:
        trimmed = "select rowid + 1 as line, trim(replace(line, chr(9), ' ')) as text from trec_lines"
        lines = f"select * from ({trimmed}) where text <> ''"
        cells = "case when contains(text, '  ') then string_split_regex(text, ' +') else string_split(text, ' ') end"
    first = database.rows(Sql(f"select len({cells}), line from ({lines}) order by line limit 1"))
    if not first:
        raise staging.refusal(BLANK if database.rows(Sql("select 1 from trec_lines limit 1")) else EMPTY)
    columns = _columns(first[0][0])
    if not columns:
        raise staging.refusal(
            f"{counted(first[0][0], 'column')} in this line; qrels have {len(QRELS)} ({', '.join(QRELS)}) "
            f"and runs {len(RUN)} ({', '.join(RUN)})",
            first[0][1],
        )
    kept = [(f"cells[{place}]", column) for place, column in enumerate(columns, start=1) if column not in left_out]
    listed = join(", ", (_stored(staging, column, cell, "CELL") for cell, column in kept))
    made = "create or replace temp table trec_read as select line, len(cells) as width, "
    database.run(made + listed + f" from (select line, {cells} as cells from ({lines}))")
    _refuse(
        staging,
        f"width <> {len(columns)}",
        "width",
        lambda count: f"{counted(count, 'column')} in this line, and {len(columns)} in the first",
    )
    for _, column in kept:
        if column in _KINDS:
            _refuse_kind(staging, column)
    if columns == RUN:
        _refuse(
            staging,
            "isinf(try_cast(score as float))",
            "score",
            lambda cell: (
                f"score is {shown(cell)}; scores are kept in single precision, as trec_eval does: up to 3.4e38"
            ),
        )
    numbers = " replace (score::double as score)" if columns == RUN else ""
    _show(staging, f"* exclude (width){numbers}")
    return columns


def _columns(many: int) -> tuple[str, ...]:
    """The columns of a file with so many; none if no file has so many."""
    return next((columns for columns in (QRELS, RUN) if len(columns) == many), ())


def _stored(staging: Staging, column: str, cell: str, kept: str, is_ascii: bool = False) -> Sql:
    """The SQL for a column of cells. A setting takes the place of the system that the file names."""
    if column in _NAMES:
        system = staging.fields.get(column) if column == "system" else None
        if system is None and is_ascii:
            return Sql(f"{cell} as {column}")  # ASCII is normalized
        text = Sql(cell) if system is None else value(system) + "::varchar"
        return "nfc_normalize(" + text + f") as {column}"
    return Sql(f"{kept.replace('CELL', cell)} as {column}")


def _show(staging: Staging, columns: str) -> None:
    staging.database.run(Sql(f"create or replace temp view trec_cells as select rowid, {columns} from trec_read"))


def _refuse_kind(staging: Staging, column: str) -> None:
    good, sentence = _KINDS[column].passed_by(Sql(column)).text, _SENTENCES[column]
    _refuse(staging, f"not ({good})", column, lambda cell: f"{column} is {shown(cell)}, {sentence}")


def _refuse(staging: Staging, wrong: str, cell: str, sentence: Callable[[Any], str]) -> None:
    """Raises DataError for the lines of `trec_read` that meet a condition."""
    [(total,)] = staging.database.rows(Sql(f"select count_if({wrong}) from trec_read"))
    if not total:
        return
    cells = staging.database.rows(
        Sql(f"select line, {cell} from trec_read where {wrong} order by line limit ?", (MOST_FAULTS,))
    )
    raise DataError(tuple(staging.fault(sentence(cell), line) for line, cell in cells), total)
