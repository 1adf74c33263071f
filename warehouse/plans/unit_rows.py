"""The counts of each system on each exchange unit, as comparisons take them, and the order in which names stand."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.fact_rows import FactRows, column
from evalhouse.warehouse.store.sql import Sql, join, name, value


def observations(entry: p.Entry, where: p.Filter | None, counts: Sequence[str]) -> Sql:
    """The sums of some columns, one row per system and document (and unit, where units are exchanged), and `cluster`,
    the exchange unit, where that is an attribute. For an entry of values `counts` are those of its statistics.

    A sum is null where one of the summed rows does not have the count.
    """
    return _observation_rows(entry, where, entry.units.exchange, counts) + " order by all"


def observations_alike(entry: p.Entry, where: p.Filter | None, counts: Sequence[str]) -> Sql:
    """The observations of the two systems of an entry, documents alike in all that is read as one row with how many
    there are.

    A column is there twice, as `correct_0` and `correct_1`; where a system lacks a document its `system_0` or
    `system_1` is null.
    """
    return _side_by_side(entry, where, counts, "count(*) as times", "") + " group by all order by all"


def observations_in_order(entry: p.Entry, where: p.Filter | None, counts: Sequence[str]) -> Sql:
    """The same with a row for each document, in the order of their names."""
    return _side_by_side(entry, where, counts, "1 as times", " join document d on d.id = document") + " order by d.name"


def _side_by_side(entry: p.Entry, where: p.Filter | None, counts: Sequence[str], times: str, named: str) -> Sql:
    """The observations of two systems, a document a row."""
    read = ("system", *counts)
    sides = [
        f"{alias}." + column(named) + " as " + _beside(named, place)
        for place, alias in enumerate("ab")
        for named in read
    ]
    first, second = ("(select * from observed where system = " + value(system.id) + ")" for system in entry.systems)  # type: ignore[union-attr]
    observed = _observation_rows(entry, where, p.Dimension("document"), counts)
    joined = " from " + first + " a full join " + second + " b using (document)" + named
    return "with observed as (" + observed + ") select " + join(", ", [*sides, times]) + joined


def _beside(named: str, place: int) -> Sql:
    """The column of one of two systems."""
    plain = column(named).text == named
    return Sql(f"{named}_{place}") if plain else name(f"{named}_{place}")


def names_of_lacking(entry: p.Entry, where: p.Filter | None) -> Sql:
    """The names of the documents that only one of the two systems of an entry has, in their order."""
    observed = _observation_rows(entry, where, p.Dimension("document"), ())
    one_alone = "select document from (" + observed + ") o group by document having count(*) < 2"
    return "select d.name from document d join (" + one_alone + ") l on l.document = d.id order by d.name"


def names_of_incomplete(entry: p.Entry, where: p.Filter | None) -> Sql:
    """The names of the documents that not every system of an entry has, before any are put together, in their order."""
    fewer = " group by all having count(distinct f.system_id) < " + value(len(entry.stored_systems))
    lacking = f"select f.document_id as document, {_measure(entry)}" + _single_documents(entry, where)[1] + fewer
    named = "select distinct d.name from document d join (" + lacking + ") l on l.document = d.id"
    return named + " order by d.name"


def names_of_absent(entry: p.Entry, where: p.Filter | None) -> Sql:
    """The names of the documents of the test set that not every system of an entry has, in their order."""
    columns = f"select distinct f.document_id as document, {_measure(entry)}"
    every = " group by all having count(distinct f.system_id) = " + value(len(entry.stored_systems))
    there = columns + _single_documents(entry.as_filled(), where)[1]
    of_every = f"select f.document_id, {_measure(entry)}" + _single_documents(entry.as_stored(), where)[1] + every
    named = "select distinct d.name from document d join (" + there + " except " + of_every + ") l on l.document = d.id"
    return named + " order by d.name"


def documents_of_each(entry: p.Entry, where: p.Filter | None) -> Sql:
    """System id, measure (empty unless values have rows of their own for each), and how many documents there are."""
    _, tail = _single_documents(entry, where)
    return f"select f.system_id, {_measure(entry)}, count(distinct f.document_id)" + tail + " group by all"


def documents_of_any(entry: p.Entry, where: p.Filter | None, by: Sequence[p.Dimension] = ()) -> Sql:
    """The `by` values, the same measure, and how many documents any system of an entry has."""
    split, tail = _single_documents(entry, where, by)
    columns = join(", ", [*split, _measure(entry), "count(distinct f.document_id)"])
    return "select " + columns + tail + " group by all"


def _measure(entry: p.Entry) -> str:
    return "f.measure as measure" if entry.kind.by_measure else "'' as measure"


def _single_documents(entry: p.Entry, where: p.Filter | None, by: Sequence[p.Dimension] = ()) -> tuple[list[Sql], Sql]:
    """Expressions for the `by` values of rows, and where the rows of single documents come from."""
    # Which documents there are does not depend on what is computed of lists.
    apart = replace(entry, statistics=(), beside=()) if entry.kind.of_lists else entry
    rows = FactRows(apart.without_groups(), where, by)
    tail = rows.tail()
    if entry.units.groups:
        tail += " and f.document_id in (select document_id from document_attribute where name = "
        tail += value(entry.units.groups.attribute) + ")"
    return [rows.expression(dimension) for dimension in by], tail


def _observation_rows(entry: p.Entry, where: p.Filter | None, exchange: p.Dimension, counts: Sequence[str]) -> Sql:
    rows = FactRows(entry, where, (exchange,) if exchange.attribute else ())
    keys = [Sql("f.system_id as system"), Sql("f.document_id as document")]
    if entry.units.read_by_unit or entry.averaged_units:
        keys.append(Sql("f.unit_id as unit" if entry.kind.in_units else "0 as unit"))
    if exchange.attribute:
        keys.append(rows.expression(exchange) + " as cluster")
    if not entry.units.in_units:
        # A document has one row, and to group rows by what tells them apart would take most of the time. That no fact
        # is stored twice is checked when rows are loaded, and by `check`.
        return (
            "select "
            + join(", ", [*keys, *("f." + column(count) + " as " + column(count) for count in counts)])
            + rows.tail()
        )
    sums = [
        "case when count(" + count + ") = count(*) then sum(" + count + ")::bigint end as " + count
        for count in map(column, counts)
    ]
    return "select " + join(", ", [*keys, *sums]) + rows.tail() + " group by all"


def split_clusters(entry: p.Entry) -> Sql:
    """A row if documents that share the cluster of an entry are in different exchange units, else none."""
    unit, joined = Sql("d.id"), Sql("")
    if entry.units.shared:
        unit = Sql("coalesce(x.value, d.id::varchar)")
        joined = " left join document_attribute x on x.document_id = d.id and x.name = " + value(
            entry.units.exchange.attribute
        )
    documents = "select 1 from document d join document_attribute c on c.document_id = d.id and c.name = "
    of_test_set = value(entry.units.cluster) + joined + " where d.test_set_id = " + value(entry.test_set.id)
    return documents + of_test_set + " group by c.value having count(distinct " + unit + ") > 1 limit 1"


def documents_by_name(entry: p.Entry) -> Sql:
    """The ids and names of the documents of a test set in the order of their names."""
    return "select id, name from document where test_set_id = " + value(entry.test_set.id) + " order by name"


def document_ids(entry: p.Entry) -> Sql:
    """The ids of the documents of a test set."""
    return "select id from document where test_set_id = " + value(entry.test_set.id)


def units_by_name() -> Sql:
    """The ids and names of all units in the order of their names."""
    return Sql("select id, name from unit order by name")


def values_of(entry: p.Entry, dimension: p.Dimension) -> Sql:
    """What documents of a test set have of an attribute, or their labels, in their order."""
    return "select distinct a.value" + _having(entry, dimension) + " order by 1"


def places_of(entry: p.Entry, dimension: p.Dimension) -> Sql:
    """For each document that has something of an attribute, or a label, its place among these."""
    place = "cast(dense_rank() over (order by a.value) - 1 as bigint) as place"
    return f"select a.document_id as document, {place}" + _having(entry, dimension)


def numbers_of(entry: p.Entry, dimension: p.Dimension) -> Sql:
    """For each document with an attribute the number that it is."""
    return "select a.document_id as document, a.value::double as number" + _having(entry, dimension)


def _having(entry: p.Entry, dimension: p.Dimension) -> Sql:
    """From the documents of a test set that have an attribute, or a label in the key."""
    of_test_set = " and d.test_set_id = " + value(entry.test_set.id)
    if not dimension.attribute:
        labels = "(select document_id, label::varchar as value from key_label where annotator_id = 0) a"
        return f" from {labels} join document d on d.id = a.document_id where true" + of_test_set
    joined = " from document_attribute a join document d on d.id = a.document_id where a.name = "
    return joined + value(dimension.attribute) + of_test_set
