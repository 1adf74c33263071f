"""Which documents have rows: how many each system was scored on, how many any of them was, which are absent, and which
failed and why.
"""

from __future__ import annotations

from msgspec.structs import replace

from warehouse.query import plan as p
from warehouse.query.compile.fact_rows import FactRows
from warehouse.store.catalog import documents_told_by
from warehouse.store.sql import Sql, value
from warehouse.tasks.records import WHOLE_RUN


def scored(entry: p.Entry) -> Sql:
    """One row per system, and per measure (imported values) or count (named counts): system id, this name, and how many
    documents have rows.
    """
    rows = _rows(entry)
    return "select f.system_id, " + _measure(entry) + ", count(distinct f.document_id)" + rows.tail() + " group by all"


def scored_by_any(entry: p.Entry) -> Sql:
    """For each measure, or named count, how many documents have rows of any system of the entry; else one row."""
    return "select " + _measure(entry) + ", count(distinct f.document_id)" + _rows(entry).tail() + " group by all"


def documents_scored(entry: p.Entry) -> Sql:
    """System id, and on how many documents it was scored by any measure."""
    return "select f.system_id, count(distinct f.document_id)" + _rows(entry).tail() + " group by all"


def absent(entry: p.Entry, most: int) -> Sql:
    """System id and name of documents of the test set on which a system was not scored, the first of each system by
    name. Only systems that lack some are put beside all documents.
    """
    there = "select distinct f.system_id as system, f.document_id as document" + _rows(entry).tail()
    lacking = "select system from there group by system having count(*) < " + value(entry.units.documents)
    # A system that failed on everything has no rows at all.
    failed = "select system_id from failure where test_set_id = " + value(entry.test_set.id)
    lacking += " union (" + failed + " except select system from there)"
    beside = (
        "select l.system, d.name, row_number() over (partition by l.system order by d.name) as place "
        "from lacking l cross join document d left join there t on t.system = l.system and t.document = d.id "
        "where t.document is null and d.test_set_id = "
        + value(entry.test_set.id)
        + documents_told_by(entry.units.told_by)
    )
    named = "select system, name from (" + beside + ") b where place <= " + value(most)
    return "with there as (" + there + "), lacking as (" + lacking + ") " + named + " order by system, name"


def failed(entry: p.Entry) -> Sql:
    """System id, reason, whether the run as a whole failed, how many documents failed, and how many of these have no
    rows either.
    """
    return (
        _failures(entry)
        + " select system, reason, whole, count(*), sum(case when document is null then 1 else 0 end) from failed "
        "group by system, reason, whole order by system, whole desc, reason"
    )


def failed_names(entry: p.Entry, most: int) -> Sql:
    """System id and name of documents that failed and have no rows, the first of each system by name."""
    placed = "select system, item, row_number() over (partition by system order by item) as place from failed "
    placed += "where document is null and not whole"
    names = " select system, item from (" + placed + ") b where place <= "
    return _failures(entry) + names + value(most) + " order by system, item"


def failed_elsewhere(entry: p.Entry) -> Sql:
    """How many of the documents that failed nobody has rows of or labels for."""
    known = "select name from document where test_set_id = " + value(entry.test_set.id)
    of_this = " from failure where test_set_id = " + value(entry.test_set.id)
    return (
        "select count(distinct item)"
        + of_this
        + " and item <> "
        + value(WHOLE_RUN)
        + " and item not in ("
        + known
        + ")"
    )


def _failures(entry: p.Entry) -> Sql:
    """The failures of the test set as `failed`, each with the document that it is if its system has rows of it."""
    there = "select distinct f.system_id as system, f.document_id as document" + _rows(entry).tail()
    rows = (
        "select x.system_id as system, x.item, x.reason, x.item = " + value(WHOLE_RUN) + " as whole, t.document "
        "from failure x left join document d on d.name = x.item and d.test_set_id = x.test_set_id "
        "left join there t on t.system = x.system_id and t.document = d.id "
        "where x.test_set_id = " + value(entry.test_set.id)
    )
    return "with there as (" + there + "), failed as (" + rows + ")"


def _rows(entry: p.Entry) -> FactRows:
    """The rows as they are stored, also those that have no label beside them."""
    # Lists count where their topic is judged, whatever is computed of them.
    statistics = () if entry.task.of_lists else entry.statistics
    return FactRows(replace(entry, task=replace(entry.task, source=entry.task.facts), statistics=statistics), None)


def _measure(entry: p.Entry) -> str:
    if entry.task.named_counts:
        return "f.count as measure"
    return "f.measure as measure" if entry.task.by_measure else "'' as measure"
