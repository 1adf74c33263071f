"""Ranks a run of TREC as trec_eval does and judges it by the key of its test set: counts what was retrieved and found.

The lines of the run are in `trec_cells`; another module reads them. Names are replaced by numbers first, because
numbers are compared, sorted and joined in a fraction of the time. Measures of rankings are computed when a query asks
for them, and not here.
"""

from __future__ import annotations

from evalhouse.warehouse.kinds.records import DOCUMENT, ITEM, SYSTEM
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.staged import Staging, list_names, list_of
from evalhouse.warehouse.store.sql import Sql, value

_TABLES = (
    "trec_key",
    "trec_names",
    "trec_groups",
    "trec_placed",
    "trec_sorted",
    "trec_ranked",
    "trec_asked",
    "trec_topics",
)

SYSTEMS, TOPICS, ITEMS = (list_of(field.name) for field in (SYSTEM, DOCUMENT, ITEM))
"""The lists of names in the run."""

BY_SCORES, GIVEN = "scores", "given"
"""What decides the ranks of documents: their scores, or the ranks in the run."""

_SCORE = "score::float"
"""Scores are compared as single-precision numbers."""


def number(staging: Staging) -> None:
    """Lists the names in the run, and writes its lines to `trec_placed` with numbers for names. Ranks are right if
    the lines of each topic are together and in the order of their ranks.
    """
    run = staging.database.run
    groups = "min(rowid) as first, max(rowid) as last, count(*) as retrieved from trec_cells group by all"
    run(Sql(f"create or replace temp table trec_groups as select system, topic, {groups}"))
    list_names(staging, SYSTEM, Sql("select distinct system as name from trec_groups"))
    list_names(staging, ITEM, Sql("select distinct document as name from trec_cells"))
    topics = "select row_number() over ()::integer as id, name from (select distinct topic as name from trec_groups)"
    run(Sql(f"create or replace temp table {TOPICS} as {topics}"))
    numbered = (
        f"select s.id as system, t.id as topic, g.* exclude (system, topic), g.system as system_name, g.topic as name "
        f"from trec_groups g join {SYSTEMS} s on s.name = g.system join {TOPICS} t on t.name = g.topic"
    )
    run(Sql(f"create or replace temp table trec_groups as {numbered}"))
    columns = (
        "c.line::integer as line, g.system, g.topic, i.id as item, c.score, (c.rowid - g.first + 1)::integer as rank"
    )
    if staging.options.get("ranks") == GIVEN:
        columns += ", c.rank::integer as given"
    [(systems,)] = staging.database.rows(Sql(f"select count(*) from {SYSTEMS}"))
    of_group = "g.name = c.topic" + (" and g.system_name = c.system" if systems > 1 else "")
    lines = f"from trec_cells c join {ITEMS} i on i.name = c.document join trec_groups g on {of_group}"
    run(Sql(f"create or replace temp table trec_placed as select {columns} {lines}"))


def drop(staging: Staging) -> None:
    """Removes what the other functions wrote, except the lists of names."""
    staging.database.run(Sql("; ".join(f"drop table if exists temp.{table}" for table in _TABLES)))


def judge(staging: Staging) -> tuple[str, ...]:
    """Writes the judged documents, retrieved or not, to `trec_ranked`, and the sums per system and topic to
    `trec_topics`. Afterwards `trec_placed` has only the lines that count as retrieved, with their ranks.

    Returns notes on topics and documents that have no key. Raises DataError if there are no qrels to judge a run by,
    and if no line counts as retrieved.
    """
    _find_key(staging)
    _sort(staging)
    _rank(staging)
    _leave_out(staging)
    _sum_up(staging)
    notes = _notes(staging)
    _list_what_is_left(staging)
    return notes


def _find_key(staging: Staging) -> None:
    """Writes the key of the test set to `trec_key`: the number of the document that stands for topic and item, the
    numbers of both in the run, and whether the item is relevant. Topics that the run lacks get the next numbers;
    `trec_names` has the names of all.
    """
    of = "t.name = " + value(staging.fields["test_set"])
    if "evaluation" in staging.fields:
        of += " and e.name = " + value(staging.fields["evaluation"])
    staging.database.run(
        "create or replace temp table trec_key as select k.document, t.id as topic, i.id as item, k.relevant, "
        "case when t.id is null then k.topic end as silent "
        "from (select d.id as document, topics.value as topic, "
        "substr(d.name, length(topics.value) + 2) as item, l.label = 'relevant' as relevant from key_label l "
        "join test_set t on t.id = l.test_set_id join evaluation e on e.id = t.evaluation_id "
        "join document d on d.id = l.document_id "
        "join document_attribute topics on topics.document_id = l.document_id and topics.name = 'topic' "
        "where l.annotator_id = 0 and "
        + of
        + " union all "
        + _key_of_judgments(staging, of)
        + f") k left join {TOPICS} t on t.name = k.topic "
        f"left join {ITEMS} i on i.name = k.item"
    )
    if not staging.database.rows(Sql("select 1 from trec_key limit 1")):
        test_set = quote_cell(staging.fields["test_set"])
        raise staging.refusal(f"this is a run, and there are no qrels of {test_set} to judge it by; load them first")
    silent = "select distinct silent as name from trec_key where silent is not null"
    numbered = f"select (select count(*) from {TOPICS}) + row_number() over (), name from ({silent})"
    staging.database.run(Sql(
        f"create or replace temp table trec_names as select id, name from {TOPICS} union all {numbered}; "
        "update trec_key set topic = names.id from trec_names as names where names.name = silent"
    ))  # fmt: skip


def _key_of_judgments(staging: Staging, of: Sql) -> Sql:
    """The SQL for the key of a test set that has judgments and no labels: those of a table of judgments. There are no
    documents that stand for its topics and items.
    """
    return (
        "select null::integer as document, d.name as topic, i.name as item, j.grade >= "
        + value(staging.whole("relevance") or 1)
        + " as relevant from judgment j join test_set t on t.id = j.test_set_id join evaluation e on "
        "e.id = t.evaluation_id join document d on d.id = j.document_id join item i on i.id = j.item_id where "
        + of
        + " and not exists (select 1 from key_label l where l.test_set_id = t.id and l.annotator_id = 0)"
    )


def _sort(staging: Staging) -> None:
    """Sorts the lines by system, topic and rank, unless they are already sorted, as in most runs."""
    by_rank = staging.options.get("ranks") == GIVEN
    if not by_rank and _is_in_order(staging):
        return
    order = f"system, topic, {'given, ' if by_rank else ''}{_SCORE} desc, i.name desc"
    _number_again(staging, f"select p.* from trec_placed p join {ITEMS} i on i.id = p.item order by {order}")


def _is_in_order(staging: Staging) -> bool:
    """Whether the lines of every topic are together and sorted by score, then by name from last to first."""
    if staging.database.rows(Sql("select 1 from trec_groups where last - first + 1 <> retrieved limit 1")):
        return False
    last, last_document = f"lag({_SCORE}) over ()", "lag(document) over ()"
    behind = f"{_SCORE} > {last} or {_SCORE} = {last} and document > {last_document}"
    after = f"select rowid as line, {behind} as behind from trec_cells"
    found = f"select 1 from ({after}) where behind and line not in (select first from trec_groups) limit 1"
    return not staging.database.rows(Sql(found))


def _number_again(staging: Staging, lines: str) -> None:
    """Writes some lines of `trec_placed` anew, which are in the order of system, topic and rank, with their ranks."""
    staging.database.run(Sql(f"create or replace temp table trec_sorted as {lines}"))
    firsts = "select system, topic, min(rowid) as first from trec_sorted group by all"
    staging.database.run(Sql(
        "create or replace temp table trec_placed as select r.* exclude (rank), "
        "(r.rowid - f.first + 1)::integer as rank "
        f"from trec_sorted r join ({firsts}) f on f.system = r.system and f.topic = r.topic"
    ))  # fmt: skip
    staging.database.forget("trec_sorted")


_ALL = "true"


def _retrieved_condition(staging: Staging) -> str:
    """A condition that holds if a document counts as retrieved."""
    depth, threshold = staging.whole("depth"), staging.number("threshold")
    conditions = [] if threshold is None else [f"score >= {threshold!r}"]
    conditions += [] if depth is None else [f"rank <= {depth}"]
    return " and ".join(conditions) or _ALL


def _leave_out(staging: Staging) -> None:
    """Removes the lines that do not count as retrieved, and counts the others. Raises DataError if none is left."""
    if (condition := _retrieved_condition(staging)) == _ALL:
        return
    [(left, highest)] = staging.database.rows(Sql(f"select count_if({condition}), max(score) from trec_placed"))
    if not left and highest is not None:
        # Of each topic the first document is within any depth, so it is the threshold that leaves none.
        threshold = staging.options["threshold"]
        raise staging.refusal(f"no line is left: the highest score is {highest}, below the threshold {threshold}")
    lines = f"select * from trec_placed where {condition} order by system, topic, rank"
    # Documents at or above the threshold need not be ranked first, because ranks use single precision only.
    _number_again(staging, lines)
    staging.database.run(Sql(
        "update trec_groups set retrieved = (select count(*) from trec_placed p where p.system = trec_groups.system "
        "and p.topic = trec_groups.topic)"
    ))  # fmt: skip


def _list_what_is_left(staging: Staging) -> None:
    """Removes the names from the lists that are only in lines which do not count as retrieved."""
    if _retrieved_condition(staging) != _ALL:
        for names, column in ((TOPICS, "topic"), (ITEMS, "item")):
            staging.database.run(Sql(f"delete from {names} where id not in (select {column} from trec_placed)"))


def _rank(staging: Staging) -> None:
    """Writes the judged documents to `trec_ranked`: retrieved ones with their ranks, others without."""
    staging.database.run(
        Sql(
            "create or replace temp table trec_ranked as "
            "select k.system, k.topic, k.document, r.score, r.line, "
            f"case when {_retrieved_condition(staging)} then r.rank end as rank, k.relevant "
            f"from (select trec_key.*, s.id as system from trec_key, {SYSTEMS} s) k left join trec_placed r "
            "on k.system = r.system and k.topic = r.topic and k.item = r.item"
        )
    )


def _notes(staging: Staging) -> tuple[str, ...]:
    """Notes on topics without a key or without output, and on documents that were not judged."""
    [(other_topics, unjudged, silent)] = staging.database.rows(
        Sql(
            f"select (select count(*) from {TOPICS} where id not in (select topic from trec_asked)), "
            "(select sum(retrieved) from trec_asked) - (select count(rank) from trec_ranked), "
            "(select count(*) from trec_asked where retrieved = 0)"
        )
    )
    notes = []
    if other_topics:
        notes.append(f"topics that have no qrels: {other_topics}; nothing is computed for them until they are judged")
    if silent:
        notes.append(
            f"topics without output: {silent}; score tuples count them as empty, and measures of rankings leave them "
            "out unless the statement says missing zero"
        )
    if unjudged:
        notes.append(
            f"retrieved documents that are not judged: {unjudged}; they count as not relevant, and no decisions "
            "on them are stored"
        )
    return tuple(notes)


def _sum_up(staging: Staging) -> None:
    """Writes how many documents were relevant, retrieved and found, per system and topic, to `trec_topics`. Topics
    without output count as well.
    """
    staging.database.run(
        Sql(
            "create or replace temp table trec_asked as select s.id as system, k.topic, coalesce(retrieved, 0) "
            f"as retrieved from (select distinct topic from trec_key) k cross join {SYSTEMS} s "
            "left join trec_groups g on g.system = s.id and g.topic = k.topic"
        )
    )
    staging.database.run(
        Sql(
            "create or replace temp table trec_topics as "
            "select system, names.name as topic, retrieved, count_if(relevant)::integer as relevant, "
            "count_if(relevant and rank is not null)::integer as found "
            "from trec_ranked r join trec_asked using (system, topic) join trec_names names on names.id = r.topic "
            "group by all"
        )
    )
