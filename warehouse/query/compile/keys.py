"""The labels of the key, and figures of filtering that were printed beside it."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.query import plan as p
from warehouse.query.compile.fact_rows import FactRows
from warehouse.store.sql import Sql, join, value


def key_counts(entry: p.Entry, by: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """The key of a test set: the `by` values, the label, and the number of documents."""
    rows = FactRows(entry, where, by, key=True)
    split = [rows.expression(dimension) for dimension in by]
    return "select " + join(", ", [*split, "f.label::varchar", "count(*)"]) + rows.tail() + " group by all"


def key_totals(entry: p.Entry) -> Sql:
    """How many documents of a test set the key calls relevant, optional and nonrelevant."""
    counts = join(", ", [f"count(*) filter (label = '{label}')" for label in ("relevant", "optional", "nonrelevant")])
    return "select " + counts + " from key_label where annotator_id = 0 and test_set_id = " + value(entry.test_set.id)


def key_labels(entry: p.Entry, where: p.Filter | None) -> Sql:
    """Annotator (null for the key itself), document id and label of all labels of a test set."""
    rows = FactRows(entry, where, key=True, annotators=True)
    return "select nullif(n.name, '') as annotator, f.document_id as document, f.label::varchar as label" + rows.tail()


def printed_filtering(entry: p.Entry) -> Sql:
    """System id, measure, value and resolution of the printed figures of filtering on a test set."""
    return (
        "select system_id, measure, any_value(value), any_value(resolution) from published "
        "where task = 'filtering' and test_set_id = " + value(entry.test_set.id) + " group by all"
    )
