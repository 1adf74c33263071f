"""Ranks a run of TREC as trec_eval does and judges it by the key of its test set: counts what was retrieved and found.

The lines of the run are in `trec_cells`; another module reads them. Measures of rankings are computed when a query asks
for them, and not here.
"""

from __future__ import annotations

from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.staged import Staging
from warehouse.store.sql import Sql, value

TABLES = ("trec_key", "trec_groups", "trec_ranked", "trec_asked", "trec_topics")

PLACED = (
    "(select r.*, r.rowid - g.first + 1 as place from trec_cells r join trec_groups g "
    "on g.system = r.system and g.topic = r.topic)"
)
"""The lines of a run with their places. Lines that are `kept` count as retrieved."""

BY_SCORES, GIVEN = "scores", "given"
"""What decides the ranks of documents: their scores, or the ranks in the run."""

_SCORE = "score::double::float"
"""Scores are compared as single-precision numbers."""


def judge(staging: Staging) -> tuple[str, ...]:
    """Writes the judged documents, retrieved or not, to `trec_ranked`, and the sums per system and topic to
    `trec_topics`. Afterwards the lines are in the order of their ranks, see PLACED.

    Returns notes on topics and documents that have no key. Raises DataError if there are no qrels to judge a run by.
    """
    _find_key(staging)
    _sort(staging)
    _find_groups(staging)
    _rank(staging)
    _sum_up(staging)
    return _notes(staging)


def _find_key(staging: Staging) -> None:
    """Writes the key of the test set to `trec_key`: topic, document, and whether it is relevant."""
    of = "t.name = " + value(staging.fields["test_set"])
    if "evaluation" in staging.fields:
        of += " and e.name = " + value(staging.fields["evaluation"])
    staging.database.run(
        "create or replace temp table trec_key as select topics.value as topic, "
        "substr(d.name, length(topics.value) + 2) as document, l.label = 'relevant' as relevant from key_label l "
        "join test_set t on t.id = l.test_set_id join evaluation e on e.id = t.evaluation_id "
        "join document d on d.id = l.document_id "
        "join document_attribute topics on topics.document_id = l.document_id and topics.name = 'topic' "
        "where l.annotator_id = 0 and " + of
    )
    if not staging.database.rows(Sql("select 1 from trec_key limit 1")):
        test_set = shown(staging.fields["test_set"])
        raise staging.refusal(f"this is a run, and there are no qrels of {test_set} to judge it by; load them first")


def _sort(staging: Staging) -> None:
    """Sorts the lines by topic and rank, unless they are already sorted, as in most runs."""
    by_rank = staging.options.get("ranks") == GIVEN
    if not by_rank and _is_in_order(staging):
        return
    lines = "select * exclude (rank) from trec_cells" if by_rank else "from trec_cells"
    order = f"system, topic, {'rank::integer, ' if by_rank else ''}{_SCORE} desc, document desc"
    staging.database.run(Sql(f"create or replace temp table trec_cells as {lines} order by {order}"))


def _is_in_order(staging: Staging) -> bool:
    """Whether the lines of every topic are together and sorted by score, then by name from last to first."""
    after = (
        f"select rowid as line, {_SCORE} as score, document, lag({_SCORE}) over () as last_score, "
        "lag(document) over () as last_document from trec_cells"
    )
    groups = (
        "select min(rowid) as first, max(rowid) - min(rowid) + 1 = count(*) as together from trec_cells "
        "group by system, topic"
    )
    behind = "score > last_score or score = last_score and document > last_document"
    [(in_order,)] = staging.database.rows(
        Sql(
            f"with groups as materialized ({groups}) select not exists(from groups where not together) "
            f"and not exists(from ({after}) where ({behind}) and line not in (select first from groups))"
        )
    )
    return bool(in_order)


def _find_groups(staging: Staging) -> None:
    """Writes one row per system and topic of the run to `trec_groups`: where it begins and how many documents were
    retrieved.
    """
    groups = "select system, topic, min(rowid) as first, count(*) as retrieved from trec_cells group by all"
    staging.database.run(Sql(f"create or replace temp table trec_groups as {groups}"))
    if (condition := kept(staging)) != _ALL:
        staging.database.run(
            Sql(
                "update trec_groups set retrieved = counted.retrieved from (select system, topic, "
                f"count_if({condition}) as retrieved from {PLACED} group by all) as counted "
                "where counted.system = trec_groups.system and counted.topic = trec_groups.topic"
            )
        )


_ALL = "true"


def kept(staging: Staging) -> str:
    """A condition that holds if a document counts as retrieved."""
    depth, threshold = staging.whole("depth"), staging.number("threshold")
    conditions = [] if threshold is None else [f"score::double >= {threshold!r}"]
    conditions += [] if depth is None else [f"place <= {depth}"]
    return " and ".join(conditions) or _ALL


def retrieved(staging: Staging) -> str:
    """The query for the lines that count as retrieved, with their ranks."""
    if staging.number("threshold") is None:
        return f"(select *, place as rank from {PLACED} where {kept(staging)})"
    # Documents at or above the threshold need not be ranked first, because ranks use single precision only.
    rank = "row_number() over (partition by system, topic order by place)"
    return f"(select *, {rank} as rank from {PLACED} where {kept(staging)})"


def _rank(staging: Staging) -> None:
    """Writes the judged documents to `trec_ranked`: retrieved ones with their ranks, others without."""
    staging.database.run(
        Sql(
            "create or replace temp table trec_ranked as "
            "select k.system, k.topic, k.document, r.score, r.line, "
            f"case when {kept(staging)} then r.place end as rank, k.relevant "
            "from (from trec_key, (select distinct system from trec_groups)) k "
            f"left join {PLACED} r "
            "on k.system = r.system and k.topic = r.topic and k.document = r.document"
        )
    )
    staging.database.run(
        Sql(
            "create or replace temp table trec_asked as select system, topic, coalesce(retrieved, 0) as retrieved "
            "from (from (select distinct topic from trec_key), (select distinct system from trec_groups)) "
            "left join trec_groups using (system, topic)"
        )
    )


def _notes(staging: Staging) -> tuple[str, ...]:
    """Notes on topics without a key or without output, and on documents that were not judged."""
    [(other_topics, unjudged, silent)] = staging.database.rows(
        Sql(
            "select (select count(distinct topic) from trec_groups where topic not in (select topic from trec_key)), "
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
    """Writes how many documents were relevant, retrieved and found, per system and topic, to `trec_topics`."""
    staging.database.run(
        Sql(
            "create or replace temp table trec_topics as "
            "select system, topic, retrieved, count_if(relevant)::integer as relevant, "
            "count_if(relevant and rank is not null)::integer as found "
            "from trec_ranked join trec_asked using (system, topic) group by all"
        )
    )
