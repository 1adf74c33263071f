"""Decisions one by one, with their confidences and the labels of their documents."""

from __future__ import annotations

from warehouse.query import plan as p
from warehouse.query.compile.fact_rows import FactRows
from warehouse.store.sql import Sql


def decisions(entry: p.Entry, where: p.Filter | None) -> Sql:
    """System and document ids, the confidence, whether the system decided yes, and the label, as 0 for relevant, 1 for
    nonrelevant and 2 for optional.
    """
    kind = "case f.label when 'relevant' then 0 when 'nonrelevant' then 1 else 2 end as kind"
    columns = f"f.system_id as system, f.document_id as document, f.confidence, f.a + f.b + f.x as yes, {kind}"
    return "select " + Sql(columns) + FactRows(entry, where).tail()
