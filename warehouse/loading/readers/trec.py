"""Reads qrels and runs of TREC: 4 and 6 columns, separated by any white space.

Qrels become judgments, and also the key of a test set: a label and a grade of relevance for each pair of topic and
document. A run becomes rankings, and is judged by the qrels in the warehouse, so qrels are loaded first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError, UnreadableError
from evalhouse.warehouse.kinds.kind import Observed, quantity
from evalhouse.warehouse.kinds.records import (
    DECISIONS,
    DOCUMENTS,
    FAILURES,
    JUDGMENTS,
    LABELS,
    RANKINGS,
    SCORES,
    SYSTEM,
    WHOLE_RUN,
    FactForm,
)
from evalhouse.warehouse.loading.readers import trec_judging, trec_tables
from evalhouse.warehouse.loading.staging.cells import CHECKS, is_number, quote_cell
from evalhouse.warehouse.loading.staging.lines import (
    BLANK,
    EMPTY,
    Document,
    brief,
    compression_of,
    documents,
    is_archive,
    plain_text,
    start_of,
    survey,
)
from evalhouse.warehouse.loading.staging.reader import Evidence, Nearly, Option, Reader, Recognition, Role, Start
from evalhouse.warehouse.loading.staging.sheets import refuse_settings
from evalhouse.warehouse.loading.staging.staged import MOST_FAULTS, Staged, Staging, list_names, places
from evalhouse.warehouse.store.sql import Sql, join, name, pattern_of, value, values

# === lines of cells ===================================================================================================
# Nearly every file has exactly one blank between its cells, and then DuckDB reads it as a table. Whatever differs from
# that is read line by line as texts, more slowly; only this way also says what is wrong with which line. What the cells
# mean is not known here.

QRELS = ("topic", "iteration", "document", "grade")
RUN = ("topic", "Q0", "document", "rank", "score", "system")

_NAMES = ("topic", "document", "system", "iteration")
_LEFT_OUT = ("iteration", "Q0", "rank")
_KINDS = {"grade": CHECKS["grade"], "score": CHECKS["number"], "rank": CHECKS["grade"]}
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
    "grade": f"case when {CHECKS['grade'].good} then CELL end",
    "rank": f"case when {CHECKS['grade'].good} then CELL end",
    "score": f"case when {PLAIN_SCORE} then try_cast(CELL as double) end",
}
"""The SQL for a stored cell of a plain file; it is null if the cell may be wrong."""

_FIRST_LINE = 10_000
"""How many bytes the first line of a plain file has at most."""

COMMENT = "#"
"""What a line begins with that is a comment, as for trec_eval 10."""

HEADINGS = {
    "grade": ("grade", "rel", "relevance", "relevancy", "judgment", "label", "score"),
    "score": ("score", "sim"),
}
"""What stands above grades and scores in files whose first line names their columns."""


def read(staging: Staging, *, ranks: bool = False, judges: bool = False) -> tuple[str, ...]:
    """Reads a file into `trec_cells`: the number of each line, the names, and the grade or the score; if `ranks` is set
    also the rank, and if `judges` is set also what stands in the second column of qrels. Row ids are in the order of
    the lines. Returns the columns of the file.

    Raises DataError for lines that are wrong.
    """
    kept = {*(["rank"] if ranks else []), *(["iteration"] if judges else [])}
    left_out = tuple(column for column in _LEFT_OUT if column not in kept)
    return _read_plain(staging, left_out) or _read_any(staging, left_out)


def drop(staging: Staging) -> None:
    """Removes what `read` wrote."""
    staging.database.run(
        Sql(
            "drop view if exists temp.trec_cells; drop table if exists temp.trec_read; "
            "drop table if exists temp.trec_judges; drop table if exists temp.trec_lines"
        )
    )


def _read_plain(staging: Staging, left_out: tuple[str, ...]) -> tuple[str, ...]:
    """Reads a file in which all cells are separated by one blank. Returns its columns, or none if it is not such a file
    or may have something wrong in it.
    """
    first, end, _ = start_of(staging, _FIRST_LINE).partition(b"\n")
    if first.startswith(COMMENT.encode()):
        return ()
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
            _cell_value(staging, column, cell, _PLAIN.get(column, "CELL"), text.ascii)
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
    commented = f"bool_or(starts_with(topic, '{COMMENT}'))"
    counted = f"count(*), least({', '.join(known)}), coalesce({largest}, 0) < {LARGEST}, {commented}"
    [(lines, least, small, comments)] = staging.database.rows(Sql(f"select {counted} from trec_read"))
    if least < lines or (lines, lines * len(columns)) != (text.lines, text.cells) or not small or comments:
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
    blank += f" or starts_with(line, '{COMMENT}')"
    [(uneven,)] = database.rows(
        Sql(f"select coalesce(bool_or({blank} or line is null or line = ''), false) from trec_lines")
    )
    lines, cells = "select rowid + 1 as line, line as text from trec_lines", "string_split(text, ' ')"
    if uneven:
        trimmed = "select rowid + 1 as line, trim(replace(line, chr(9), ' ')) as text from trec_lines"
        lines = f"select * from ({trimmed}) where text <> '' and not starts_with(text, '{COMMENT}')"
        cells = "case when contains(text, '  ') then string_split_regex(text, ' +') else string_split(text, ' ') end"
    first = database.rows(Sql(f"select len({cells}), line from ({lines}) order by line limit 1"))
    if not first:
        raise staging.refusal(BLANK if database.rows(Sql("select 1 from trec_lines limit 1")) else EMPTY)
    columns = _columns(first[0][0])
    if not columns:
        raise staging.refusal(
            f"{quantity(first[0][0], 'column')} in this line; qrels have {len(QRELS)} ({', '.join(QRELS)}) "
            f"and runs {len(RUN)} ({', '.join(RUN)})",
            first[0][1],
        )
    kept = [(f"cells[{place}]", column) for place, column in enumerate(columns, start=1) if column not in left_out]
    listed = join(", ", (_cell_value(staging, column, cell, "CELL") for cell, column in kept))
    made = "create or replace temp table trec_read as select line, len(cells) as width, "
    database.run(made + listed + f" from (select line, {cells} as cells from ({lines}))")
    _leave_out_head(staging, columns, first[0][1])
    _refuse(
        staging,
        f"width <> {len(columns)}",
        "width",
        lambda count: f"{quantity(count, 'column')} in this line, and {len(columns)} in the first",
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
                f"score is {quote_cell(cell)}; scores are kept in single precision, as trec_eval does: up to 3.4e38"
            ),
        )
    numbers = " replace (score::double as score)" if columns == RUN else ""
    _show(staging, f"* exclude (width){numbers}")
    return columns


def _leave_out_head(staging: Staging, columns: tuple[str, ...], line: int) -> None:
    """Removes the first line if it names the columns."""
    of_numbers = "score" if columns == RUN else "grade"
    named = "delete from trec_read where line = " + value(line) + f" and lower({of_numbers}) in "
    staging.database.run(named + values(HEADINGS[of_numbers]))


def _columns(many: int) -> tuple[str, ...]:
    """The columns of a file with so many; none if no file has so many."""
    return next((columns for columns in (QRELS, RUN) if len(columns) == many), ())


def _cell_value(staging: Staging, column: str, cell: str, kept: str, is_ascii: bool = False) -> Sql:
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
    _refuse(staging, f"not ({good})", column, lambda cell: f"{column} is {quote_cell(cell)}, {sentence}")


def _refuse(staging: Staging, wrong: str, cell: str, sentence: Callable[[Any], str]) -> None:
    """Raises DataError for the lines of `trec_read` that meet a condition."""
    [(total,)] = staging.database.rows(Sql(f"select count_if({wrong}) from trec_read"))
    if not total:
        return
    cells = staging.database.rows(
        Sql(f"select line, {cell} from trec_read where {wrong} order by line limit ?", (MOST_FAULTS,))
    )
    raise DataError(tuple(staging.fault(sentence(cell), line) for line, cell in cells), total)


# === qrels and runs ===================================================================================================
# Documents are ranked as trec_eval ranks them: by score as a single-precision number, then by name from last to first.
# The ranks in the run are ignored unless an option asks for them.

FORMS = (LABELS, DOCUMENTS, JUDGMENTS, DECISIONS, SCORES, RANKINGS)
"""What lines of qrels and runs become."""

MOST_HASHES = 5_000_000
"""How many lines are compared at a time."""

EXAMPLE = "301 0 FBIS3-10 1\n301 0 FBIS3-11 0\n302 0 FBIS3-12 2\n"
EXAMPLE_RUN = "301 Q0 FBIS3-11 1 2.5 base\n301 Q0 FBIS3-10 2 1.5 base\n"

PAIRS = Observed("topic-document pair", cluster="topic")
"""What labels and decisions are about. Everything else is about topics."""

_WHOLE = re.compile("Q0|[+-]?[0-9]{1,9}")
_GRADE = re.compile("[+-]?[0-9]{1,9}")
_RANK = re.compile("[0-9]{1,9}")


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages qrels or a run.

    Raises DataError if a line is neither, if a run names a document twice for a topic, or if there are no qrels to
    judge a run by.
    """
    refuse_settings(staging, *FORMS)
    test_set = staging.named("test_set", None, "the file does not name the test set")
    staging = replace(staging, fields={**staging.fields, "test_set": test_set})
    if staging.like and _is_empty(staging):
        return _stage_empty_run(staging)
    start_of(staging)
    try:
        if table := trec_tables.read(staging):
            _show(staging, "*")
            return _stage_run(_without_scores(staging, table)) if table.is_run else _stage_qrels(staging)
        ranks = staging.options.get("ranks") == trec_judging.GIVEN
        is_run = read(staging, ranks=ranks) == RUN
        return _stage_run(staging) if is_run else _stage_qrels(staging)
    finally:
        drop(staging)
        trec_judging.drop(staging)


def _without_scores(staging: Staging, table: trec_tables.Layout) -> Staging:
    """The same file; if its run has no scores, it is in the order of its ranks. Raises DataError if an option asks for
    ranks or scores that it does not have.
    """
    ranks, threshold = staging.options.get("ranks"), staging.options.get("threshold")
    if table.has_scores and ranks == trec_judging.GIVEN:
        raise staging.refusal("its ranks are not read, because it has scores; leave --ranks out")
    if table.has_scores:
        return staging
    if threshold is not None:
        raise staging.refusal("it has ranks and no scores, so --threshold says nothing; --depth would")
    return replace(staging, options={**staging.options, "ranks": trec_judging.GIVEN})


def _refuse_repeated(staging: Staging, table: str, numbers: tuple[str, ...], names: tuple[str, ...]) -> None:
    """Raises DataError if two lines are about the same document of the same topic. The key of each line is in the
    columns `numbers` of the table, and in the columns `names` of `trec_cells`.
    """
    if not _has_equal_hashes(staging, table, ", ".join(numbers)):
        return
    listed = ", ".join(names)
    repeated = staging.database.rows(
        Sql(
            f"select line, first, topic, document from (select *, min(line) over (partition by {listed}) as first "
            "from trec_cells) where line <> first order by line"
        )
    )
    faults = [
        staging.fault(f"{quote_cell(document)} of topic {quote_cell(topic)} is already on line {first}", line)
        for line, first, topic, document in repeated[:MOST_FAULTS]
    ]
    if faults:
        raise DataError(tuple(faults), len(repeated))


def _has_equal_hashes(staging: Staging, table: str, key: str) -> bool:
    """Whether any two lines may have the same key. Comparing hashes takes a fifth of the time of comparing names."""
    import numpy

    [(lines,)] = staging.database.rows(Sql(f"select count(*) from {table}"))
    pieces = lines // MOST_HASHES + 1
    hashes = f"select key from (select hash({key}) as key from {table}) where key % {pieces} = "
    for piece in range(pieces):
        found = numpy.sort(staging.database.columns(hashes + value(piece))["key"])
        if (found[1:] == found[:-1]).any():
            return True
    return False


class _Part(Struct, frozen=True):
    """Records of one form to stage: for each column, the SQL over a table."""

    form: FactForm
    columns: dict[str, str]
    table: str
    order: str = ""
    line: str = "null::integer"
    attributes: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    """Columns that are already valid numbers."""
    listed: Mapping[str, str] = field(default_factory=dict)
    """Columns with the numbers of names in a list."""
    stored: Mapping[str, str] = field(default_factory=dict)
    """Columns with the numbers of names in the warehouse."""


def _stage_part(staging: Staging, part: _Part, notes: tuple[str, ...] = ()) -> Staged:
    staging = staging.of(part.form)
    as_they_are = {**part.numbers, **part.listed, **part.stored}
    fixed = _fields_set(staging, as_they_are)
    given = {column: text for column, text in part.columns.items() if column not in fixed}
    columns = join(
        ", ",
        (
            *(text + " as " + name(column) for column, text in fixed.items()),
            *(Sql(f"({text})::varchar as ") + name(column) for column, text in given.items()),
            *(Sql(f"{number} as ") + name(column) for column, number in as_they_are.items()),
            *(Sql(f"({text})::varchar as attribute_{number}") for number, text in enumerate(part.attributes.values())),
            Sql(f"{part.line} as line, false as blanks"),
        ),
    )
    made = "create or replace temp table " + name(staging.table) + " as select "
    staging.database.run(made + columns + f" from {part.table}" + (f" order by {part.order}" if part.order else ""))
    own = {column: column for column in (*fixed, *given, *as_they_are)}
    return Staged(
        part.form,
        own,
        tuple(part.attributes),
        notes,
        places(staging, "line"),
        numbers=frozenset(part.numbers),
        listed=frozenset(part.listed),
        stored=frozenset(part.stored),
    )


def _fields_set(staging: Staging, given: Collection[str]) -> dict[str, Sql]:
    """The SQL for the fields that a setting gives, except those that are given otherwise."""
    return {
        field.name: "nfc_normalize(" + value(staging.fields[field.name]) + "::varchar)"
        for field in staging.form.fields
        if field.name in staging.fields and field.name not in given
    }


def _stage_qrels(staging: Staging) -> tuple[Staged, ...]:
    if staging.options.get("judge") or _has_equal_hashes(staging, "trec_cells", "topic, document"):
        return _stage_judges(staging)
    document = "topic || '/' || document"
    labels = _Part(LABELS, {"document": document, "label": _label(staging)}, "trec_cells", "rowid", "line")
    if "annotator" in staging.fields:
        return (_stage_part(staging, labels),)
    attributes = {"topic": "topic", "grade": "grade::integer"}
    grades = _Part(DOCUMENTS, {"document": document}, "trec_cells", "rowid", "line", attributes=attributes)
    judged = {"document": "topic", "item": "document", "grade": "grade"}
    judgments = _Part(JUDGMENTS, judged, "trec_cells", "rowid", "line")
    return tuple(_stage_part(staging, part) for part in (labels, grades, judgments))


def _label(staging: Staging) -> str:
    return f"case when grade::integer >= {staging.whole('relevance') or 1} then 'relevant' else 'nonrelevant' end"


def _stage_judges(staging: Staging) -> tuple[Staged, ...]:
    """Stages qrels in which the second column says who judged. What one of them says is the key, and what each says
    are labels of an annotator. Raises DataError if it is not said whose judgments are the key.
    """
    drop(staging)
    if trec_tables.read(staging):
        _show(staging, "*, null::varchar as iteration")
    else:
        read(staging, judges=True)
    _refuse_repeated(staging, "trec_cells", ("topic", "document", "iteration"), ("topic", "document", "iteration"))
    judges = [judge for (judge,) in staging.database.rows(Sql("select distinct iteration from trec_cells order by 1"))]
    said, listed = staging.options.get("judge"), ", ".join(map(quote_cell, judges))
    if said is None:
        first = staging.database.rows(
            Sql("select topic, document, max(line) from trec_cells group by all having count(*) > 1 order by 3 limit 1")
        )
        topic, document, line = first[0]
        twice = f"{quote_cell(document)} of topic {quote_cell(topic)} is judged several times, by {listed}"
        raise staging.refusal(
            f"{twice}; --judge {judges[0]}, for example, takes the judgments of one for the key", line
        )
    if said not in judges:
        raise staging.refusal(f"--judge {quote_cell(said)}: the second column says {listed}")
    marked = "create or replace temp table trec_judges as select rowid as place, *, iteration = " + value(said)
    staging.database.run(marked + " as is_key from trec_cells")
    pair = "topic || '/' || document"
    judgments_and_key = (
        "(select *, iteration as annotator from trec_judges union all select *, null from trec_judges where is_key)"
    )
    cells = {"document": pair, "annotator": "annotator", "label": _label(staging)}
    labels = _Part(LABELS, cells, judgments_and_key, "annotator nulls first, place", "line")
    pairs = "(select topic, document, min(line) as line, max(grade::integer) filter (is_key) as grade "
    pairs += "from trec_judges group by topic, document)"
    attributes = {"topic": "topic", "grade": "grade"}
    grades = _Part(DOCUMENTS, {"document": pair}, pairs, "line", "line", attributes=attributes)
    judged = {"document": "topic", "item": "document", "grade": "grade"}
    judgments = _Part(JUDGMENTS, judged, "(select * from trec_judges where is_key)", "place", "line")
    return tuple(_stage_part(staging, part) for part in (labels, grades, judgments))


def _stage_run(staging: Staging) -> tuple[Staged, ...]:
    faults = [
        staging.fault(f"{field} cannot be set: each line of a run says it")
        for field in _SAID
        if field in staging.fields
    ]
    if faults:
        raise DataError(tuple(faults))
    fixed = _fields_set(staging.of(RANKINGS), _LISTED)
    trec_judging.number(staging)
    _refuse_repeated(staging, "trec_placed", ("system", "topic", "item"), ("system", "topic", "document"))
    notes = trec_judging.judge(staging)
    parts = _judged_parts(staging)
    staged = (_stage_part(staging, part, notes if part is parts[0] else ()) for part in parts)
    return (*staged, _stage_rankings(staging.of(RANKINGS), fixed))


def _judged_parts(staging: Staging) -> tuple[_Part, ...]:
    """What follows from judging a run: decisions on the judged documents, if the key is one of labels, and a score
    tuple for each topic.
    """
    system = {"system": "system"}
    decisions = _Part(
        DECISIONS,
        {"decision": "case when rank is null then 'no' else 'yes' end"},
        "trec_ranked",
        "line nulls last",
        "line",
        numbers={"confidence": "score"},
        listed=system,
        stored={"document": "document"},
    )
    scores = _Part(
        SCORES,
        {
            "document": "topic",
            "possible": "relevant",
            "actual": "retrieved",
            "correct": "found",
            "partial": "0",
            "incorrect": "0",
            "spurious": "retrieved - found",
            "missing": "relevant - found",
        },
        "trec_topics",
        "system, topic",
        listed=system,
    )
    labelled = staging.database.rows(Sql("select 1 from trec_ranked where document is not null limit 1"))
    return (decisions, scores) if labelled else (scores,)


def _is_empty(staging: Staging) -> bool:
    """Whether there are no lines but blank ones and comments."""
    return not any(
        line.strip() and not line.startswith(COMMENT) for document in _texts(staging) for _, line in document.lines()
    )


def _texts(staging: Staging) -> Iterator[Document]:
    """The texts in a file, which may have no byte at all."""
    try:
        yield from documents(staging)
    except DataError:
        with staging.door.open(staging.source) as file:
            if file.read(1):
                raise


EMPTY_RUN = "no output"
"""The reason under which a run without lines is stored as a failure."""


def _stage_empty_run(staging: Staging) -> tuple[Staged, ...]:
    """Stages a run without lines, as that of a system which returned nothing for any topic. As it has no ranking that
    would name the system, the system is also stored as one whose whole run failed.
    """
    system = staging.named("system", None, "an empty run does not name its system")
    cells = "null::integer as line, null::varchar as topic, null::varchar as document, null::double as score"
    made = "create or replace temp table trec_read as select " + cells + ", null::integer as rank, "
    try:
        staging.database.run(made + value(system) + "::varchar as system limit 0")
        _show(staging, "*")
        trec_judging.number(staging)
        list_names(staging, SYSTEM, "select nfc_normalize(" + value(system) + "::varchar) as name")
        notes = trec_judging.judge(staging)
        failed = {"item": f"'{WHOLE_RUN}'", "reason": f"'{EMPTY_RUN}'"}
        failure = _Part(FAILURES, failed, trec_judging.SYSTEMS, listed={"system": "id"})
        parts = (*_judged_parts(staging), failure)
        return tuple(_stage_part(staging, part, notes if part is parts[0] else ()) for part in parts)
    finally:
        drop(staging)
        trec_judging.drop(staging)


_SAID = ("document", "item", "rank", "score", "confidence")
"""Fields that a setting would change on every line of a run, or for a part of what is stored."""

_LISTED = ("system", "document", "item")
_NUMBERS = ("rank", "score")


def _stage_rankings(staging: Staging, fixed: Mapping[str, Sql]) -> Staged:
    """Stages the lines of a run as they are in `trec_placed`, without a copy. Those of a topic are together."""
    staging.database.forget("trec_rankings")
    staging.database.run(Sql("alter table temp.trec_placed rename to trec_rankings"))
    same = (text + " as " + name(column) for column, text in fixed.items())
    rows = join(", ", ("select rowid, * rename (topic as document), false as blanks", *same)) + " from trec_rankings"
    staging.database.show(staging.table, rows, of="trec_rankings")
    own = {column: column for column in (*fixed, *_LISTED, *_NUMBERS)}
    lines = places(staging, "line")
    return Staged(RANKINGS, own, (), (), lines, numbers=frozenset(_NUMBERS), listed=frozenset(_LISTED), in_order=True)


def _recognizes(start: Start) -> Recognition | None:
    if (table := trec_tables.recognition(start)) is not None:
        return table
    lines = [line.split() for line in start.lines if not line.startswith(COMMENT)]
    if not lines:
        return None
    # A wrong line does not make it another format: loading it says which line is wrong. Nor do words behind the tag, or
    # a tag that is missing.
    right = sum(len(cells) >= len(RUN) - 1 and cells[1].upper() == "Q0" for cells in lines)
    if 2 * right > len(lines):
        return _by_shape("a run, with Q0 in its second column")
    if _is_run_without_q0(lines):
        return _by_shape(f"the {len(RUN)} columns of a run, with {quote_cell(lines[-1][1])[1:-1]} for Q0")
    qrels = [cells for cells in lines if len(cells) == len(QRELS) and all(map(_WHOLE.fullmatch, cells[1::2]))]
    # Many tables have columns of whole numbers, but an iteration is hardly ever anything but 0.
    if 2 * len(qrels) > len(lines) and {cells[1] for cells in qrels} <= {"0", "Q0"} and not _is_headed(lines, qrels):
        return _by_shape("the 4 columns of qrels", Role.KEY)
    graded = [cells for cells in lines if len(cells) == len(QRELS) and _GRADE.fullmatch(cells[3])]
    if 2 * len(graded) > len(lines) and trec_tables.IS_QRELS.search(start.path.name):
        return _by_shape("the 4 columns of qrels, and its name", Role.KEY)
    if len(qrels) < len(lines):
        return None
    unsure = "its 4 columns are qrels if the second is an iteration; --as trec says so"
    return _by_shape("the 4 columns of qrels", Role.KEY, unsure)


def _by_shape(why: str, role: Role = Role.FACTS, unsure: str = "") -> Recognition:
    return Recognition(why, role, unsure, Evidence.SHAPE)


def _is_run_without_q0(lines: list[list[str]]) -> bool:
    """Whether lines have the columns of a run, with other words for Q0, which trec_eval ignores."""
    if not all(len(cells) == len(RUN) for cells in lines):
        return False
    _, _, _, ranks, scores, tags = (set(column) for column in zip(*lines, strict=True))
    same = len(tags) == 1 and not any(map(is_number, tags))
    return same and all(map(_RANK.fullmatch, ranks)) and all(map(is_number, scores))


def _nearly(start: Start) -> Nearly | None:
    """Lines with a few cells between blanks, at least two of which are numbers, could be meant as a run or qrels."""
    lines = [line.split() for line in start.lines if not line.startswith((COMMENT, "{", "["))]
    widths = {len(cells) for cells in lines}
    if (
        len(widths) != 1
        or not widths <= {len(QRELS) - 1, len(RUN) - 1, len(RUN), len(RUN) + 1}
        or len(start.header) > 1
    ):
        return None
    if not all(sum(map(is_number, cells)) >= 1 + (len(cells) > len(QRELS)) for cells in lines):
        return None
    columns = f"{widths.pop()} columns, and qrels have {len(QRELS)} ({', '.join(QRELS)}) and runs {len(RUN)}"
    return Nearly(f"its lines have {columns} ({', '.join(RUN)})", "--as trec")


def _is_headed(lines: list[list[str]], qrels: list[list[str]]) -> bool:
    """Whether this is a heading over columns of numbers: a table of scores."""
    return not any(map(is_number, lines[0])) and all(is_number(cells[2]) for cells in qrels)


READER = Reader(
    "trec",
    "qrels, then the runs that they judge",
    (*FORMS, FAILURES),
    EXAMPLE,
    stage,
    options=(
        Option("depth", "runs: only this many documents per topic count as retrieved"),
        Option("threshold", "runs: only documents with at least this score count as retrieved"),
        Option("relevance", "qrels: the lowest grade that is relevant", "1"),
        Option("judge", "the judge whose judgments are the key, where the second column of qrels names several"),
        Option(
            "ranks",
            "runs: ranked by the scores, as trec_eval does, or by the fourth column",
            trec_judging.BY_SCORES,
            (trec_judging.BY_SCORES, trec_judging.GIVEN),
        ),
    ),
    noun="topic",
    observed_in=dict.fromkeys((LABELS.name, DECISIONS.name), PAIRS),
    recognizes=_recognizes,
    evidence=Evidence.NAMES,
    nearly=_nearly,
    unsaid={"test_set": "{parent}", "system": "{stem}"},
)
