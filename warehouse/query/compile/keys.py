"""The labels of the key, and figures of filtering that were printed beside it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from warehouse.query import plan as p
from warehouse.query.compile.fact_rows import FactRows, dimensions
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


def labels_by_annotator(entry: p.Entry, split: Sequence[p.Dimension], where: p.Filter | None, with_key: bool) -> Sql:
    """Annotator, document, label and the `split` values of the labels of a test set, and those of the key, whose
    annotator is null.
    """

    def columns(rows: FactRows) -> Sql:
        document = rows.expression(p.Dimension("document"))
        values = (rows.expression(dimension) + f" as by_{place}" for place, dimension in enumerate(split))
        return join(", ", [document + " as document", Sql("f.label::varchar as label"), *values])

    wanted = (p.Dimension("document"), *split)
    rows = FactRows(entry, where, wanted, key=True, annotators=True)
    labels = "select n.name as annotator, " + columns(rows) + rows.tail() + " and f.annotator_id <> 0"
    if not with_key:
        return labels
    of_key = FactRows(entry, _but_of_annotators(where), wanted, key=True)
    return labels + " union all select null as annotator, " + columns(of_key) + of_key.tail()


def annotator_labels(entry: p.Entry, annotator: str) -> Sql:
    """Document and label of one annotator, and those of the key, with whether they are of the annotator."""
    of = "select d.name as document, f.label::varchar as label, "
    rows = FactRows(entry, None, (p.Dimension("document"),), key=True, annotators=True)
    of_key = FactRows(entry, None, (p.Dimension("document"),), key=True)
    own = of + "true as of_annotator" + rows.tail() + " and f.annotator_id <> 0 and n.name = " + value(annotator)
    return own + " union all " + of + "false as of_annotator" + of_key.tail()


def decided(entry: p.Entry, split: Sequence[p.Dimension], where: p.Filter | None) -> Sql:
    """System id, document, decision and the `split` values, whether the key has the document or not."""
    of_decisions = replace(entry, task=replace(entry.task, source=entry.task.facts))
    rows = FactRows(of_decisions, where, (p.Dimension("document"), *split))
    columns = [Sql("f.system_id"), Sql("d.name as document"), Sql("f.decision")]
    values = (rows.expression(of) + f" as by_{place}" for place, of in enumerate(split))
    return "select " + join(", ", [*columns, *values]) + rows.tail()


def systems_with(attribute: str) -> Sql:
    """The names of the systems that have an attribute, and its value."""
    return "select s.name, a.value from system_attribute a join system s on s.id = a.system_id where a.name = " + value(
        attribute
    )


def _but_of_annotators(where: p.Filter | None) -> p.Filter | None:
    """The part of a condition that does not choose annotators: those are not in the key."""
    if isinstance(where, p.Joined) and where.word == "and":
        kept = tuple(part for part in map(_but_of_annotators, where.conditions) if part is not None)
        return p.Joined("and", kept) if kept else None
    return None if any(dimension.of == "annotator" for dimension in dimensions(where)) else where


def printed_filtering(entry: p.Entry) -> Sql:
    """System id, measure, value and resolution of the printed figures of filtering on a test set."""
    return (
        "select system_id, measure, any_value(value), any_value(resolution) from published "
        "where task = 'filtering' and test_set_id = " + value(entry.test_set.id) + " group by all"
    )
