"""Qrels and runs of TREC. Qrels have 4 columns and runs have 6, separated by any white space.

Qrels become judgments, and also the key of a test set: a label and a grade of relevance for each pair of topic and
document. A run becomes rankings, and is judged by the qrels in the warehouse, so qrels are loaded first. Documents are
ranked as trec_eval ranks them: by score as a single-precision number, then by name from last to first. The ranks in the
run are ignored unless an option asks for them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from warehouse.faults import DataError
from warehouse.loading.readers import trec_judging, trec_lines
from warehouse.loading.readers.trec_lines import QRELS, RUN
from warehouse.loading.staging.cells import is_number, shown
from warehouse.loading.staging.lines import start_of
from warehouse.loading.staging.reader import Evidence, Option, Reader, Recognition, Role, Start
from warehouse.loading.staging.sheets import refuse_settings
from warehouse.loading.staging.staged import MOST_FAULTS, Staged, Staging, places
from warehouse.store.sql import Sql, join, name, value
from warehouse.tasks.observed import Observed
from warehouse.tasks.records import DECISIONS, DOCUMENTS, JUDGMENTS, LABELS, RANKINGS, SCORES, FactForm

FORMS = (LABELS, DOCUMENTS, JUDGMENTS, DECISIONS, SCORES, RANKINGS)
MOST_HASHES = 5_000_000
"""How many lines are compared at a time."""

EXAMPLE = "301 0 FBIS3-10 1\n301 0 FBIS3-11 0\n302 0 FBIS3-12 2\n"
EXAMPLE_RUN = "301 Q0 FBIS3-11 1 2.5 base\n301 Q0 FBIS3-10 2 1.5 base\n"

PAIRS = Observed("topic-document pair", cluster="topic")
"""What labels and decisions are about. Everything else is about topics."""

_WHOLE = re.compile("Q0|[+-]?[0-9]{1,9}")


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
        ranks = staging.options.get("ranks") == trec_judging.GIVEN
        is_run = trec_lines.read(staging, ranks=ranks) == RUN
        return _stage_run(staging) if is_run else _stage_qrels(staging)
    finally:
        trec_lines.drop(staging)
        trec_judging.drop(staging)


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
        staging.fault(f"{shown(document)} of topic {shown(topic)} is already on line {first}", line)
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
    fixed = _fixed(staging, as_they_are)
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


def _fixed(staging: Staging, given: Collection[str]) -> dict[str, Sql]:
    """The SQL for the fields that a setting gives, except those that are given otherwise."""
    return {
        field.name: "nfc_normalize(" + value(staging.fields[field.name]) + "::varchar)"
        for field in staging.form.fields
        if field.name in staging.fields and field.name not in given
    }


def _stage_qrels(staging: Staging) -> tuple[Staged, ...]:
    _refuse_repeated(staging, "trec_cells", ("topic", "document"), ("topic", "document"))
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
    faults = [
        staging.fault(f"{field} cannot be set: each line of a run says it")
        for field in _SAID
        if field in staging.fields
    ]
    if faults:
        raise DataError(tuple(faults))
    fixed = _fixed(staging.of(RANKINGS), _LISTED)
    trec_judging.number(staging)
    _refuse_repeated(staging, "trec_placed", ("system", "topic", "item"), ("system", "topic", "document"))
    notes = trec_judging.judge(staging)
    system = {"system": "system"}
    parts = (
        _Part(
            DECISIONS,
            {"decision": "case when rank is null then 'no' else 'yes' end"},
            "trec_ranked",
            "line nulls last",
            "line",
            numbers={"confidence": "score"},
            listed=system,
            stored={"document": "document"},
        ),
        _Part(
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
        ),
    )
    staged = (_stage_part(staging, part, notes if part.form is DECISIONS else ()) for part in parts)
    return (*staged, _stage_rankings(staging.of(RANKINGS), fixed))


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
    lines = [line.split() for line in start.lines]
    if not lines:
        return None
    # A wrong line does not make it another format: loading it says which line is wrong.
    right = sum(len(cells) == len(RUN) and cells[1].upper() == "Q0" and is_number(cells[4]) for cells in lines)
    if 2 * right > len(lines):
        return Recognition("a run, with Q0 in its second column")
    qrels = [cells for cells in lines if len(cells) == len(QRELS) and all(map(_WHOLE.fullmatch, cells[1::2]))]
    # Many tables have columns of whole numbers, but an iteration is hardly ever anything but 0.
    if 2 * len(qrels) > len(lines) and {cells[1] for cells in qrels} <= {"0", "Q0"} and not _is_headed(lines, qrels):
        return Recognition("the 4 columns of qrels", Role.KEY)
    if len(qrels) < len(lines):
        return None
    unsure = "its 4 columns are qrels if the second is an iteration; --as trec says so"
    return Recognition("the 4 columns of qrels", Role.KEY, unsure)


def _is_headed(lines: list[list[str]], qrels: list[list[str]]) -> bool:
    """Whether this is a heading over columns of numbers: a table of scores."""
    return not any(map(is_number, lines[0])) and all(is_number(cells[2]) for cells in qrels)


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
