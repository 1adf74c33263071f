"""Qrels and runs of TREC. Qrels have 4 columns and runs have 6, separated by any white space.

Qrels become judgments, and also the key of a test set: a label and a grade of relevance for each pair of topic and
document. A run becomes rankings, and is judged by the qrels in the warehouse, so qrels are loaded first. Documents are
ranked as trec_eval ranks them: by score as a single-precision number, then by name from last to first. The ranks in the
run are ignored unless an option asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from warehouse.faults import DataError, UnreadableError
from warehouse.loading.readers import trec_judging
from warehouse.loading.staging.cells import KINDS, is_number, shown
from warehouse.loading.staging.lines import brief, compression_of, documents, start_of
from warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from warehouse.loading.staging.sheets import refuse_settings
from warehouse.loading.staging.staged import MOST_FAULTS, Staged, Staging, places
from warehouse.loading.staging.surveying import survey
from warehouse.store.sql import Sql, join, name, pattern_of, value
from warehouse.tasks.observed import Observed, counted
from warehouse.tasks.records import DECISIONS, DOCUMENTS, JUDGMENTS, LABELS, RANKINGS, SCORES, FactForm

FORMS = (LABELS, DOCUMENTS, JUDGMENTS, DECISIONS, SCORES, RANKINGS)
QRELS = ("topic", "iteration", "document", "grade")
RUN = ("topic", "Q0", "document", "rank", "score", "system")
MOST_HASHES = 5_000_000
"""How many lines are compared at a time."""

EXAMPLE = "301 0 FBIS3-10 1\n301 0 FBIS3-11 0\n302 0 FBIS3-12 2\n"
EXAMPLE_RUN = "301 Q0 FBIS3-11 1 2.5 base\n301 Q0 FBIS3-10 2 1.5 base\n"

PAIRS = Observed("topic-document pair", cluster="topic")
"""What labels and decisions are about. Everything else is about topics."""

_WHOLE = re.compile("Q0|[+-]?[0-9]{1,9}")

_TABLES = ("trec_lines", "trec_cells", *trec_judging.TABLES)


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages qrels or a run.

    Raises DataError if a line is neither, if a run names a document twice for a topic, or if there are no qrels to
    judge a run by.
    """
    refuse_settings(staging, *FORMS)
    test_set = staging.named("test_set", None, "the file does not name the test set")
    staging = replace(staging, fields={**staging.fields, "test_set": test_set})
    start_of(staging)
    try:
        return _stage_qrels(staging) if _read(staging) == QRELS else _stage_run(staging)
    finally:
        staging.database.run(Sql("; ".join(f"drop table if exists temp.{table}" for table in _TABLES)))


def _read(staging: Staging) -> tuple[str, ...]:
    """Reads the lines into `trec_cells`: one column per cell and one for the line number. Returns the columns."""
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
        raise staging.refusal("it has nothing to store")
    columns = {len(QRELS): QRELS, len(RUN): RUN}.get(first[0][0])
    if columns is None:
        raise staging.refusal(
            f"{counted(first[0][0], 'column')} in this line; qrels have {len(QRELS)} ({', '.join(QRELS)}) "
            f"and runs {len(RUN)} ({', '.join(RUN)})",
            first[0][1],
        )
    left_out = ("Q0",) if staging.options.get("ranks") == trec_judging.GIVEN else ("Q0", "rank")
    named = ((f"cells[{place}]", column) for place, column in enumerate(columns, start=1) if column not in left_out)
    normal = ("topic", "document")
    system = staging.fields.get("system")
    listed = join(
        ", ",
        (
            value(system) + "::varchar as system"
            if column == "system" and system is not None
            else f"{f'nfc_normalize({cell})' if column in normal else cell} as {column}"
            for cell, column in named
        ),
    )
    made = "create or replace temp table trec_cells as select line, len(cells) as width, "
    database.run(made + listed + f" from (select line, {cells} as cells from ({lines}))")
    _refuse(
        staging,
        f"width <> {len(columns)}",
        "width",
        lambda count: f"{counted(count, 'column')} in this line, and {len(columns)} in the first",
    )
    return columns


def _refuse(staging: Staging, wrong: str, cell: str, sentence: Any) -> None:
    """Raises DataError for the lines of `trec_cells` that meet a condition."""
    [(total,)] = staging.database.rows(Sql(f"select count_if({wrong}) from trec_cells"))
    if not total:
        return
    cells = staging.database.rows(
        Sql(f"select line, {cell} from trec_cells where {wrong} order by line limit ?", (MOST_FAULTS,))
    )
    raise DataError(tuple(staging.fault(sentence(cell), line) for line, cell in cells), total)


def _refuse_repeated(staging: Staging, *key: str) -> None:
    """Raises DataError if two lines are about the same document of the same topic."""
    listed = ", ".join(key)
    if not _has_equal_hashes(staging, listed):
        return
    repeated = staging.database.rows(
        Sql(
            f"select line, first, topic, document from (select *, min(line) over (partition by {listed}) as first "
            "from trec_cells) where line <> first order by line"
        )
    )
    faults = [
        staging.fault(f"{shown(document)} of topic {shown(topic)} is already on line {first}", line)
        for line, first, topic, document in repeated[:MOST_FAULTS]
    ]
    if faults:
        raise DataError(tuple(faults), len(repeated))


def _has_equal_hashes(staging: Staging, listed: str) -> bool:
    """Whether any two lines may have the same key. Comparing hashes takes a fifth of the time of comparing names."""
    import numpy

    [(lines,)] = staging.database.rows(Sql("select count(*) from trec_cells"))
    pieces = lines // MOST_HASHES + 1
    hashes = f"select key from (select hash({listed}) as key from trec_cells) where key % {pieces} = "
    for piece in range(pieces):
        found = numpy.sort(staging.database.columns(hashes + value(piece))["key"])
        if (found[1:] == found[:-1]).any():
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Part:
    """Records of one form to stage: for each column, the SQL over a table."""

    form: FactForm
    columns: dict[str, str]
    table: str
    order: str = ""
    line: str = "null::integer"
    attributes: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, str] = field(default_factory=dict)
    """Columns that are already valid numbers."""


def _stage_part(staging: Staging, part: _Part, notes: tuple[str, ...] = ()) -> Staged:
    staging = staging.of(part.form)
    fixed = {field.name: staging.fields[field.name] for field in part.form.fields if field.name in staging.fields}
    given = {column: text for column, text in part.columns.items() if column not in fixed}
    columns = join(
        ", ",
        (
            *("nfc_normalize(" + value(text) + "::varchar) as " + name(column) for column, text in fixed.items()),
            *(Sql(f"({text})::varchar as ") + name(column) for column, text in given.items()),
            *(Sql(f"{number} as ") + name(column) for column, number in part.numbers.items()),
            *(Sql(f"({text})::varchar as attribute_{number}") for number, text in enumerate(part.attributes.values())),
            Sql(f"{part.line} as line, null::varchar as member, false as blanks"),
        ),
    )
    made = "create or replace temp table " + name(staging.table) + " as select "
    staging.database.run(made + columns + f" from {part.table}" + (f" order by {part.order}" if part.order else ""))
    own = {column: column for column in (*fixed, *given, *part.numbers)}
    numbers = frozenset(part.numbers)
    return Staged(part.form, own, tuple(part.attributes), notes, places(staging, "line"), numbers=numbers)


def _stage_qrels(staging: Staging) -> tuple[Staged, ...]:
    _refuse(
        staging,
        "not regexp_full_match(grade, '[+-]?[0-9]{1,9}')",
        "grade",
        lambda grade: f"grade is {shown(grade)}, not a whole number",
    )
    _refuse_repeated(staging, "topic", "document")
    level = staging.whole("relevance") or 1
    label = f"case when grade::integer >= {level} then 'relevant' else 'nonrelevant' end"
    document = "topic || '/' || document"
    labels = _Part(LABELS, {"document": document, "label": label}, "trec_cells", "line", "line")
    attributes = {"topic": "topic", "grade": "grade::integer"}
    grades = _Part(DOCUMENTS, {"document": document}, "trec_cells", "line", "line", attributes=attributes)
    judged = {"document": "topic", "item": "document", "grade": "grade"}
    judgments = _Part(JUDGMENTS, judged, "trec_cells", "line", "line")
    return tuple(_stage_part(staging, part) for part in (labels, grades, judgments))


def _stage_run(staging: Staging) -> tuple[Staged, ...]:
    number = KINDS["number"].passed_by(Sql("score")).text
    _refuse(staging, f"not ({number})", "score", lambda score: f"score is {shown(score)}, not a finite number")
    _refuse_repeated(staging, "system", "topic", "document")
    if staging.options.get("ranks") == trec_judging.GIVEN:
        is_rank = KINDS["grade"].passed_by(Sql("rank")).text
        _refuse(staging, f"not ({is_rank})", "rank", lambda rank: f"rank is {shown(rank)}, not a whole number")
    notes = trec_judging.judge(staging)
    document = "topic || '/' || document"
    parts = (
        _Part(
            DECISIONS,
            {
                "system": "system",
                "document": document,
                "decision": "case when rank is null then 'no' else 'yes' end",
                "confidence": "score",
            },
            "trec_ranked",
            "line nulls last",
            "line",
        ),
        _Part(
            SCORES,
            {
                "system": "system",
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
        ),
        _Part(
            RANKINGS,
            {"system": "system", "document": "topic", "item": "document"},
            trec_judging.retrieved(staging),
            line="line",
            numbers={"rank": "rank", "score": "score::double"},
        ),
    )
    return tuple(_stage_part(staging, part, notes if part.form is DECISIONS else ()) for part in parts)


def _recognizes(start: Start) -> Recognition | None:
    lines = [line.split() for line in start.lines]
    if not lines:
        return None
    if all(len(cells) == len(RUN) and cells[1].upper() == "Q0" and is_number(cells[4]) for cells in lines):
        return Recognition("a run, with Q0 in its second column")
    if not all(len(cells) == len(QRELS) and all(map(_WHOLE.fullmatch, (cells[1], cells[3]))) for cells in lines):
        return None
    # Many tables have columns of whole numbers, but an iteration is hardly ever anything but 0.
    is_iteration = {cells[1] for cells in lines} <= {"0", "Q0"}
    unsure = "" if is_iteration else "its 4 columns are qrels if the second is an iteration; --as trec says so"
    return Recognition("the 4 columns of qrels", Role.KEY, unsure)


READER = Reader(
    "trec",
    "qrels, then the runs that they judge",
    FORMS,
    EXAMPLE,
    stage,
    options=(
        Option("depth", "runs: only this many documents per topic count as retrieved"),
        Option("threshold", "runs: only documents with at least this score count as retrieved"),
        Option("relevance", "qrels: the lowest grade that is relevant", "1"),
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
    evidence=Evidence.SHAPE,
    unsaid={"test_set": "{parent}"},
)
