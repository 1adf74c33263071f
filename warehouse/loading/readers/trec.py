"""Qrels and runs of TREC, told apart by their 4 or 6 columns; columns are separated by any white space.

Qrels become the key of a test set: a label for each topic and document, with the grade of relevance. A run is judged by
the qrels that are in the warehouse, so qrels are loaded first. What is computed of a run is what trec_eval computes:
documents are ranked by score, as a single-precision number, then by name from last to first, whatever rank the run
gives them; a document that was not judged is not relevant. Only topics without output differ: they count as empty.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from warehouse.faults import DataError, UnreadableError
from warehouse.loading.staging.cells import KINDS, is_number, shown
from warehouse.loading.staging.lines import brief, compression_of, documents, start_of
from warehouse.loading.staging.reader import Evidence, Option, Reader, Start
from warehouse.loading.staging.sheets import places, refuse_settings
from warehouse.loading.staging.staged import MOST_FAULTS, Staged, Staging, pattern_of
from warehouse.store.sql import Sql, join, name, value
from warehouse.tasks.observed import Observed, counted
from warehouse.tasks.records import DECISIONS, DOCUMENTS, LABELS, SCORES, VALUES, FactForm

FORMS = (LABELS, DOCUMENTS, DECISIONS, SCORES, VALUES)
QRELS = ("topic", "iteration", "document", "grade")
RUN = ("topic", "Q0", "document", "rank", "score", "system")
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""The ranks at which trec_eval cuts P and ndcg."""

EXAMPLE = "301 0 FBIS3-10 1\n301 0 FBIS3-11 0\n302 0 FBIS3-12 2\n"
EXAMPLE_RUN = "301 Q0 FBIS3-11 1 2.5 base\n301 Q0 FBIS3-10 2 1.5 base\n"

PAIRS = Observed("topic-document pair", cluster="topic")
"""What labels and decisions are about; tuples and values are about topics."""

_TABLES = ("trec_lines", "trec_cells", "trec_key", "trec_ranked", "trec_topics")


def stage(staging: Staging) -> tuple[Staged, ...]:
    """Stages qrels or a run.

    Raises DataError where a line is neither, where a run names a document twice for a topic, and where there are no
    qrels to judge a run by.
    """
    refuse_settings(staging, *FORMS)
    if "test_set" not in staging.fields:
        raise staging.refusal("the file does not say the test set; --set test_set=NAME does")
    start_of(staging)
    try:
        return _stage_qrels(staging) if _read(staging) == QRELS else _stage_run(staging)
    finally:
        staging.database.run(Sql("; ".join(f"drop table if exists temp.{table}" for table in _TABLES)))


def _read(staging: Staging) -> tuple[str, ...]:
    """Reads the lines into `trec_cells`, a column a cell and the number of the line; gives what the columns are."""
    database = staging.database
    reading = Sql(
        "select line from read_csv(?, header=false, auto_detect=false, strict_mode=false, compression=?, "
        "columns={'line': 'VARCHAR'}, delim='', quote='', escape='')",
        (pattern_of(staging.source), compression_of(staging.source)),
    )
    try:
        database.read("trec_lines", reading)
    except UnreadableError as error:
        for document in documents(staging):
            for _ in document.lines():  # says on which line the trouble is, if Python has trouble too
                pass
        raise staging.refusal(f"the file cannot be read: {brief(str(error))}") from None
    # Splitting by a pattern takes ten times as long, so only lines with blanks in a row are split so.
    cells = "case when contains(text, '  ') then string_split_regex(text, ' +') else string_split(text, ' ') end"
    database.run(
        Sql(
            f"create or replace temp table trec_cells as select line, {cells} as cells from "
            "(select rowid + 1 as line, trim(replace(line, chr(9), ' ')) as text from trec_lines) where text <> ''"
        )
    )
    first = database.rows(Sql("select len(cells), line from trec_cells order by line limit 1"))
    if not first:
        raise staging.refusal("there is nothing in it to store")
    columns = {len(QRELS): QRELS, len(RUN): RUN}.get(first[0][0])
    if columns is None:
        raise staging.refusal(
            f"{counted(first[0][0], 'column')} in this line; qrels have {len(QRELS)} ({', '.join(QRELS)}) "
            f"and runs {len(RUN)} ({', '.join(RUN)})",
            first[0][1],
        )
    _refuse(
        staging,
        f"len(cells) <> {len(columns)}",
        "len(cells)",
        lambda count: f"{counted(count, 'column')} in this line, and {len(columns)} in the first",
    )
    names = ", ".join(f"cells[{place}] as {column}" for place, column in enumerate(columns, start=1) if column != "Q0")
    texts = "* replace (nfc_normalize(topic) as topic, nfc_normalize(document) as document)"
    database.run(
        Sql(f"create or replace temp table trec_cells as select {texts} from (select line, {names} from trec_cells)")
    )
    return columns


def _refuse(staging: Staging, wrong: str, cell: str, sentence: Any) -> None:
    """Raises DataError for the lines of `trec_cells` for which a condition holds."""
    [(total,)] = staging.database.rows(Sql(f"select count_if({wrong}) from trec_cells"))
    if not total:
        return
    cells = staging.database.rows(
        Sql(f"select line, {cell} from trec_cells where {wrong} order by line limit ?", (MOST_FAULTS,))
    )
    raise DataError(tuple(staging.fault(sentence(cell), line) for line, cell in cells), total)


def _refuse_repeated(staging: Staging, *key: str) -> None:
    """Raises DataError where two lines are about the same document of the same topic."""
    listed = ", ".join(key)
    repeated = staging.database.rows(
        Sql(
            f"select line, first, topic, document from (select *, min(line) over (partition by {listed}) as first "
            "from trec_cells) where line <> first order by line"
        )
    )
    faults = [
        staging.fault(f"{shown(document)} of topic {shown(topic)} stands on line {first} already", line)
        for line, first, topic, document in repeated[:MOST_FAULTS]
    ]
    if faults:
        raise DataError(tuple(faults), len(repeated))


@dataclass(frozen=True, slots=True)
class _Part:
    """Records of one form to stage: what each column is, in SQL over a table."""

    form: FactForm
    columns: dict[str, str]
    table: str
    order: str
    line: str = "null::integer"
    where: str = "true"
    attributes: Mapping[str, str] = field(default_factory=dict)


def _stage_part(staging: Staging, part: _Part, notes: tuple[str, ...] = ()) -> Staged:
    staging = staging.of(part.form)
    fixed = {field.name: staging.fields[field.name] for field in part.form.fields if field.name in staging.fields}
    given = {column: text for column, text in part.columns.items() if column not in fixed}
    columns = join(
        ", ",
        (
            *("nfc_normalize(" + value(text) + "::varchar) as " + name(column) for column, text in fixed.items()),
            *(Sql(f"({text})::varchar as ") + name(column) for column, text in given.items()),
            *(Sql(f"({text})::varchar as attribute_{number}") for number, text in enumerate(part.attributes.values())),
            Sql(f"{part.line} as line, null::varchar as member, false as blanks"),
        ),
    )
    made = "create or replace temp table " + name(staging.table) + " as select "
    staging.database.run(made + columns + f" from {part.table} where {part.where} order by {part.order}")
    own = {column: column for column in given}
    return Staged(part.form, own, tuple(part.attributes), notes, places(staging, "line"))


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
    return _stage_part(staging, labels), _stage_part(staging, grades)


def _stage_run(staging: Staging) -> tuple[Staged, ...]:
    number = KINDS["number"].passed_by(Sql("score")).text
    _refuse(staging, f"not ({number})", "score", lambda score: f"score is {shown(score)}, not a finite number")
    if "system" in staging.fields:
        staging.database.run(Sql("update trec_cells set system = ?", (staging.fields["system"],)))
    _refuse_repeated(staging, "system", "topic", "document")
    _find_key(staging)
    notes = _rank(staging)
    _sum_up(staging)
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
            "system, line nulls last, topic, document",
            "line",
            "judged",
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
            VALUES,
            {"system": "system", "document": "topic", "measure": "measure", "value": "value"},
            "(select system, topic, unnest([" + ", ".join(f"'{measure}'" for measure in _measures()) + "]) as measure, "
            "unnest([" + ", ".join(_measures().values()) + "]) as value from trec_topics)",
            "system, topic, measure",
        ),
    )
    return tuple(_stage_part(staging, part, notes if part.form is DECISIONS else ()) for part in parts)


def _find_key(staging: Staging) -> None:
    """Puts the key of the test set into `trec_key`: topic, document, whether it is relevant, and its gain."""
    of = "test_set = " + value(staging.fields["test_set"])
    if "evaluation" in staging.fields:
        of += " and evaluation = " + value(staging.fields["evaluation"])
    attribute = "select document, value from document_attributes where attribute = "
    staging.database.run(
        "create or replace temp table trec_key as select topics.value as topic, "
        "substr(labels.document, length(topics.value) + 2) as document, labels.label = 'relevant' as relevant, "
        "greatest(grades.value::integer, 0) as gain from labels "
        "join (" + attribute + "'topic' and " + of + ") as topics using (document) "
        "join (" + attribute + "'grade' and " + of + ") as grades using (document) "
        "where labels.annotator is null and " + of
    )
    if not staging.database.rows(Sql("select 1 from trec_key limit 1")):
        test_set = shown(staging.fields["test_set"])
        raise staging.refusal(f"this is a run, and there are no qrels of {test_set} to judge it by; they come first")


def _rank(staging: Staging) -> tuple[str, ...]:
    """Puts documents into `trec_ranked`: those retrieved with their rank, those judged and not retrieved without.

    Returns notes on what has no key.
    """
    database = staging.database
    depth, threshold = staging.whole("depth"), staging.number("threshold")
    kept = ["true"] if threshold is None else [f"score::double >= {threshold!r}"]
    ranked = (
        "select *, row_number() over (partition by system, topic order by score::double::float desc, document desc) "
        "as place from trec_cells where topic in (select topic from trec_key)"
    )
    if depth is not None:
        kept.append(f"place <= {depth}")
    database.run(
        Sql(
            "create or replace temp table trec_ranked as "
            "with ranked as (" + ranked + "), systems as (select distinct system from trec_cells) "
            "select coalesce(r.system, k.system) as system, coalesce(r.topic, k.topic) as topic, "
            "coalesce(r.document, k.document) as document, r.score, r.line, "
            f"case when {' and '.join(kept)} then r.place end as rank, "
            "coalesce(k.relevant, false) as relevant, coalesce(k.gain, 0) as gain, k.topic is not null as judged "
            "from ranked r full join (from trec_key, systems) k "
            "on k.system = r.system and k.topic = r.topic and k.document = r.document"
        )
    )
    [(other_topics, unjudged, silent)] = database.rows(
        Sql(
            "select (select count(distinct topic) from trec_cells where topic not in (select topic from trec_key)), "
            "(select count(*) from trec_ranked where not judged and rank is not null), "
            "(select count(*) from (select system, topic from trec_ranked group by all having count(rank) = 0))"
        )
    )
    notes = []
    if other_topics:
        notes.append(f"topics that have no qrels are left out: {other_topics}")
    if silent:
        notes.append(f"topics without output count as empty: {silent}")
    if unjudged:
        notes.append(
            f"retrieved documents that are not judged: {unjudged}; score tuples and values count them as not "
            "relevant, and no decision on them is stored"
        )
    return tuple(notes)


def _sum_up(staging: Staging) -> None:
    """Puts into `trec_topics` what is counted and summed a system and topic, in the order of the ranks."""
    sums = [
        "count(*) filter (relevant) as relevant",
        "any_value(retrieved) as retrieved",
        "count(rank) filter (relevant) as found",
        "coalesce(sum(found_so_far / rank order by rank) filter (relevant and rank is not null), 0) as precisions",
        "coalesce(1 / min(rank) filter (relevant), 0) as recip_rank",
        "count(rank) filter (relevant and rank <= key_size) as within_key",
        "coalesce(sum(gain / log2(rank + 1) order by rank) filter (rank is not null), 0) as dcg",
        "coalesce(sum(gain / log2(ideal + 1) order by ideal), 0) as ideal_dcg",
    ]
    for cutoff in CUTOFFS:
        within = f"filter (rank <= {cutoff})"
        sums += [
            f"count(rank) filter (relevant and rank <= {cutoff}) as found_{cutoff}",
            f"coalesce(sum(gain / log2(rank + 1) order by rank) {within}, 0) as dcg_{cutoff}",
            f"coalesce(sum(gain / log2(ideal + 1) order by ideal) filter (ideal <= {cutoff}), 0) as ideal_{cutoff}",
        ]
    staging.database.run(
        Sql(
            "create or replace temp table trec_topics as "
            # What was not judged has no part in any sum but that of the retrieved.
            "with retrieved as (select system, topic, count(rank) as retrieved from trec_ranked group by all), "
            "placed as (select *, "
            "count(rank) filter (relevant) over (partition by system, topic order by rank nulls last "
            "rows unbounded preceding) as found_so_far, "
            "row_number() over (partition by system, topic order by gain desc) as ideal, "
            "count(*) filter (relevant) over (partition by system, topic) as key_size from trec_ranked where judged) "
            f"select system, topic, {', '.join(sums)} from placed join retrieved using (system, topic) group by all"
        )
    )


def _measures() -> dict[str, str]:
    """By name, what each measure is over a row of `trec_topics`; a measure that has nothing to divide by is 0."""
    measures = {
        "ap": "coalesce(precisions / nullif(relevant, 0), 0)",
        "recip_rank": "recip_rank",
        "Rprec": "coalesce(within_key / nullif(relevant, 0), 0)",
        "ndcg": "coalesce(dcg / nullif(ideal_dcg, 0), 0)",
    }
    for cutoff in CUTOFFS:
        measures[f"P@{cutoff}"] = f"found_{cutoff} / {cutoff}"
        measures[f"ndcg@{cutoff}"] = f"coalesce(dcg_{cutoff} / nullif(ideal_{cutoff}, 0), 0)"
    return measures


def _recognizes(start: Start) -> str | None:
    cells = start.first.split()
    if len(cells) == len(RUN) and cells[1].upper() == "Q0" and is_number(cells[4]):
        return "being a run, with Q0 in its second column"
    return "its 4 columns, being qrels" if len(cells) == 4 and re.fullmatch("[+-]?[0-9]+", cells[3]) else None


READER = Reader(
    "trec",
    "qrels, and then runs that are judged by them",
    FORMS,
    EXAMPLE,
    stage,
    options=(
        Option("depth", "of a run: only so many documents a topic count as retrieved"),
        Option("threshold", "of a run: only documents with at least this score count as retrieved"),
        Option("relevance", "of qrels: the lowest grade that is relevant", "1"),
    ),
    noun="topic",
    observed_in=dict.fromkeys((LABELS.name, DECISIONS.name), PAIRS),
    recognizes=_recognizes,
    evidence=Evidence.SHAPE,
)
