"""Which documents have rows: how many each system was scored on, how many any of them was, and which are absent."""

from __future__ import annotations

from dataclasses import replace

from warehouse.query import plan as p
from warehouse.query.compile.fact_rows import FactRows
from warehouse.store.catalog import documents_told_by
from warehouse.store.sql import Sql, value


def scored(entry: p.Entry) -> Sql:
    """A row a system, and for imported values a measure: system id, measure, and how many documents have rows."""
    rows = _rows(entry)
    return "select f.system_id, " + _measure(entry) + ", count(distinct f.document_id)" + rows.tail() + " group by all"


def scored_by_any(entry: p.Entry) -> Sql:
    """For each measure how many documents have rows of any system of the entry; one row, but for imported values."""
    return "select " + _measure(entry) + ", count(distinct f.document_id)" + _rows(entry).tail() + " group by all"


def documents_scored(entry: p.Entry) -> Sql:
    """System id, and on how many documents it was scored by any measure."""
    return "select f.system_id, count(distinct f.document_id)" + _rows(entry).tail() + " group by all"


def absent(entry: p.Entry, most: int) -> Sql:
    """System id and name of documents of the test set on which a system was not scored, the first of each system by
    name. Only systems that lack some are put beside all documents.
    """
    there = "select distinct f.system_id as system, f.document_id as document" + _rows(entry).tail()
    lacking = "select system from there group by system having count(*) < " + value(entry.documents)
    beside = (
        "select l.system, d.name, row_number() over (partition by l.system order by d.name) as place "
        "from lacking l cross join document d left join there t on t.system = l.system and t.document = d.id "
        "where t.document is null and d.test_set_id = " + value(entry.test_set.id) + documents_told_by(entry.told_by)
    )
    named = "select system, name from (" + beside + ") b where place <= " + value(most)
    return "with there as (" + there + "), lacking as (" + lacking + ") " + named + " order by system, name"


def _rows(entry: p.Entry) -> FactRows:
    """The rows as they are stored, also those that have no label beside them."""
    return FactRows(replace(entry, task=replace(entry.task, source=entry.task.facts)), None)


def _measure(entry: p.Entry) -> str:
    return "'' as measure" if entry.task.counts else "f.measure as measure"
