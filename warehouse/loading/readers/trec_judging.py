"""A run of TREC judged by the key of its test set, as trec_eval judges it: ranks, what was found, and measures a topic.

What was retrieved and not judged has no part in any sum but the number of the retrieved, so only judged documents are
kept. The database ranks and joins; numpy adds up, in the order of the ranks. The lines of the run are in `trec_cells`;
how they came there is not known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.loading.staging.cells import shown
from warehouse.loading.staging.staged import Staging
from warehouse.store.sql import Sql, value

if TYPE_CHECKING:
    import numpy

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
"""The ranks at which trec_eval cuts P and ndcg."""

TABLES = ("trec_key", "trec_groups", "trec_ranked", "trec_asked", "trec_sums", "trec_topics")

_SCORE = "score::double::float"
"""Scores are compared as single-precision numbers."""


def judge(staging: Staging) -> tuple[dict[str, str], tuple[str, ...]]:
    """Puts the judged documents, retrieved or not, into `trec_ranked`, and sums a system and topic into `trec_topics`.

    Returns the column of `trec_topics` that each measure is in, and notes on what has no key. Raises DataError where
    there are no qrels to judge a run by.
    """
    _find_key(staging)
    _find_groups(staging)
    _rank(staging)
    notes = _notes(staging)
    return _sum_up(staging), notes


def _find_key(staging: Staging) -> None:
    """Puts the key of the test set into `trec_key`: topic, document, whether it is relevant, and its gain."""
    of = "t.name = " + value(staging.fields["test_set"])
    if "evaluation" in staging.fields:
        of += " and e.name = " + value(staging.fields["evaluation"])
    staging.database.run(
        "create or replace temp table trec_key as select topics.value as topic, "
        "substr(d.name, length(topics.value) + 2) as document, l.label = 'relevant' as relevant, "
        "greatest(grades.value::integer, 0) as gain from key_label l "
        "join test_set t on t.id = l.test_set_id join evaluation e on e.id = t.evaluation_id "
        "join document d on d.id = l.document_id "
        "join document_attribute topics on topics.document_id = l.document_id and topics.name = 'topic' "
        "join document_attribute grades on grades.document_id = l.document_id and grades.name = 'grade' "
        "where l.annotator_id = 0 and " + of
    )
    if not staging.database.rows(Sql("select 1 from trec_key limit 1")):
        test_set = shown(staging.fields["test_set"])
        raise staging.refusal(f"this is a run, and there are no qrels of {test_set} to judge it by; they come first")


def _find_groups(staging: Staging) -> None:
    """Puts into `trec_groups` a row a system and topic of the run, with where it begins and how much was retrieved."""
    depth, threshold = staging.whole("depth"), staging.number("threshold")
    retrieved = "count(*)" if depth is None else f"least(count(*), {depth})"
    if threshold is not None:
        # What is at least so large need not be what is ranked first: ranks know single precision only.
        retrieved = "null::bigint"
    staging.database.run(
        Sql(
            "create or replace temp table trec_groups as select system, topic, min(rowid) as first, "
            f"max(rowid) - min(rowid) + 1 = count(*) as together, {retrieved} as retrieved "
            "from trec_cells group by all"
        )
    )
    if threshold is not None:
        staging.database.run(
            Sql(
                f"update trec_groups set retrieved = counted.retrieved from (select system, topic, "
                f"count_if({_kept(staging)}) as retrieved from ({_placed(staging)}) group by all) as counted "
                "where counted.system = trec_groups.system and counted.topic = trec_groups.topic"
            )
        )


def _kept(staging: Staging) -> str:
    """A condition that holds where a document counts as retrieved."""
    depth, threshold = staging.whole("depth"), staging.number("threshold")
    kept = [] if threshold is None else [f"score::double >= {threshold!r}"]
    kept += [] if depth is None else [f"place <= {depth}"]
    return " and ".join(kept) or "true"


def _placed(staging: Staging) -> str:
    """The query for the lines of a run with their ranks."""
    if _is_in_order(staging):
        return (
            "select r.*, r.rowid - g.first + 1 as place from trec_cells r join trec_groups g "
            "on g.system = r.system and g.topic = r.topic"
        )
    return (
        f"select *, row_number() over (partition by system, topic order by {_SCORE} desc, document desc) as place "
        "from trec_cells"
    )


def _is_in_order(staging: Staging) -> bool:
    """Whether all topics stand in the order of their ranks, as in most runs; then nothing need be sorted."""
    after = (
        f"select rowid as line, {_SCORE} as score, document, lag({_SCORE}) over () as last_score, "
        "lag(document) over () as last_document from trec_cells"
    )
    apart = "exists(from trec_groups where not together)"
    behind = (
        f"exists(from ({after}) where (score > last_score or score = last_score and document > last_document) "
        "and line not in (select first from trec_groups))"
    )
    [(unordered,)] = staging.database.rows(Sql(f"select {apart} or {behind}"))
    return not unordered


def _rank(staging: Staging) -> None:
    """Puts what is judged into `trec_ranked`: what was retrieved with its rank, what was not without."""
    staging.database.run(
        Sql(
            "create or replace temp table trec_ranked as "
            "select k.system, k.topic, k.document, r.score, r.line, "
            f"case when {_kept(staging)} then r.place end as rank, k.relevant, k.gain "
            "from (from trec_key, (select distinct system from trec_groups)) k "
            f"left join ({_placed(staging)}) r "
            "on k.system = r.system and k.topic = r.topic and k.document = r.document"
        )
    )
    staging.database.run(
        Sql(
            "create or replace temp table trec_asked as "
            "select (row_number() over (order by system, topic) - 1)::integer as number, system, topic, "
            "coalesce(retrieved, 0) as retrieved "
            "from (from (select distinct topic from trec_key), (select distinct system from trec_groups)) "
            "left join trec_groups using (system, topic)"
        )
    )


def _notes(staging: Staging) -> tuple[str, ...]:
    """Notes on topics without key or without output, and on what was not judged."""
    [(other_topics, unjudged, silent)] = staging.database.rows(
        Sql(
            "select (select count(distinct topic) from trec_groups where topic not in (select topic from trec_key)), "
            "(select sum(retrieved) from trec_asked) - (select count(rank) from trec_ranked), "
            "(select count(*) from trec_asked where retrieved = 0)"
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


def _sum_up(staging: Staging) -> dict[str, str]:
    """Puts what is counted and summed a system and topic into `trec_topics`; by name, the column of each measure."""
    import numpy

    database = staging.database
    ranked = database.columns(
        Sql(
            "select number, rank, relevant, gain, log2(rank + 1) as discount from trec_ranked "
            "join trec_asked using (system, topic) order by number, rank nulls last"
        )
    )
    topics, relevant, gain = ranked["number"], ranked["relevant"], ranked["gain"]
    many = int(topics[-1]) + 1
    key_size = numpy.bincount(topics, relevant, many)
    # As good as a run could be: all that is judged, from the largest gain to the smallest.
    best = numpy.lexsort((-gain, topics))
    ideal = _within(topics)
    [(discounts,)] = database.rows(
        Sql("select list(log2(number + 1) order by number) from range(1, ?) as ranks(number)", (int(ideal.max()) + 1,))
    )
    ideal_gain = gain[best] / numpy.array(discounts)[ideal - 1]

    retrieved = ~numpy.ma.getmaskarray(ranked["rank"])
    rank = numpy.ma.getdata(ranked["rank"])[retrieved]
    gained = gain[retrieved] / numpy.ma.getdata(ranked["discount"])[retrieved]
    of, good = topics[retrieved], relevant[retrieved]

    def added(what: numpy.ndarray, where: numpy.ndarray) -> numpy.ndarray:
        """A sum a topic, added up in the order of the ranks."""
        return numpy.bincount(of[where], what[where], many)

    def found(within: numpy.ndarray) -> numpy.ndarray:
        return numpy.bincount(of[good & within], minlength=many)

    everywhere = numpy.ones(len(of), bool)
    so_far = numpy.empty(len(of))
    so_far[good] = _within(of[good])
    first = numpy.full(many, numpy.inf)
    numpy.minimum.at(first, of[good], rank[good])
    measures = {
        "ap": _share(added(so_far / rank, good), key_size),
        "recip_rank": 1 / first,
        "Rprec": _share(found(rank <= key_size[of]), key_size),
        "ndcg": _share(added(gained, everywhere), numpy.bincount(topics, ideal_gain, many)),
    }
    for cutoff in CUTOFFS:
        top = ideal <= cutoff
        best_gain = numpy.bincount(topics[top], ideal_gain[top], many)
        measures[f"P@{cutoff}"] = found(rank <= cutoff) / cutoff
        measures[f"ndcg@{cutoff}"] = _share(added(gained, rank <= cutoff), best_gain)
    columns = {measure: f"m{place}" for place, measure in enumerate(measures)}
    sums = {columns[measure]: summed for measure, summed in measures.items()}
    counts = {"relevant": key_size.astype("int32"), "found": found(everywhere).astype("int32")}
    database.bring("trec_sums", {"number": numpy.arange(many, dtype="int32"), **counts, **sums})
    database.run(Sql("create or replace temp table trec_topics as from trec_asked join trec_sums using (number)"))
    return columns


def _within(topics: numpy.ndarray) -> numpy.ndarray:
    """How many of its topic each place is, from 1, where topics are in order."""
    import numpy

    places = numpy.arange(len(topics))
    begins = numpy.flatnonzero(numpy.diff(topics, prepend=-1))
    return places - numpy.repeat(begins, numpy.diff(begins, append=len(topics))) + 1


def _share(of: numpy.ndarray, whole: numpy.ndarray) -> numpy.ndarray:
    """A quotient; 0 where there is nothing to divide by."""
    import numpy

    shares = numpy.zeros(len(of))
    numpy.divide(of, whole, out=shares, where=whole != 0)
    return shares
