"""When the documents of a question came: by which imports, and in which order an attribute puts them.

An import is known by its number, which grows with each. The order of the rows within an import is not stored.
"""

from __future__ import annotations

from msgspec.structs import replace

from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.fact_rows import FactRows
from evalhouse.warehouse.store.sql import Sql, value

_LABELLED = (
    "(select v.*, k.label from decision v join key_label k on k.document_id = v.document_id and k.annotator_id = 0)"
)
"""Decisions with the labels of the key, which conditions may ask for."""


def arrivals(entry: p.Entry) -> Sql:
    """System, document, and the first and the last import that brought something of the two. Systems are stored ones:
    runs stand for themselves. Where what shares an attribute is one document, it is the first of these by name.
    """
    rows, document = FactRows(_as_stored(entry), None, source=_source(entry)), "f.document_id"
    if entry.units.groups is not None:
        document = "g.one"
        rows = rows.joined(
            "join (select x.document_id, first_value(d.id) over (partition by x.value order by d.name) as one "
            "from document_attribute x join document d on d.id = x.document_id where x.name = "
            + value(entry.units.groups.attribute)
            + " and d.test_set_id = "
            + value(entry.test_set.id)
            + ") g on g.document_id = f.document_id"
        )
    columns = f"f.system_id as system, {document} as document, min(f.import_id) as first, max(f.import_id) as last"
    return f"select {columns}" + rows.tail() + " group by all"


def key_arrivals(entry: p.Entry) -> Sql:
    """Document, and the last import that brought something of its key or of its judgments."""
    columns = "select f.document_id as document, max(f.import_id) as last"
    if entry.kind.has_key:
        return columns + FactRows(_as_stored(entry), None, key=True).tail() + " group by all"
    return columns + " from judgment f where f.test_set_id = " + value(entry.test_set.id) + " group by all"


def has_key_arrivals(entry: p.Entry) -> bool:
    """Whether the numbers of a document rest on a key or on judgments too."""
    return entry.kind.has_key or entry.kind.of_lists


def imports(entry: p.Entry, where: p.Filter | None) -> Sql:
    """System and import, where the import brought something of the system."""
    tail = FactRows(_as_stored(entry), where, source=_source(entry, where)).tail()
    return "select distinct f.system_id, f.import_id" + tail


def growth(entry: p.Entry, where: p.Filter | None) -> Sql:
    """System, import, and how many documents of the system came first with that import."""
    tail = FactRows(_as_stored(entry), where, source=_source(entry, where)).tail()
    columns = "select f.system_id as system, f.document_id as document, min(f.import_id) as first"
    firsts = columns + tail + " group by all"
    return "select system, first, count(*) from (" + firsts + ") o group by system, first"


def values_of_order(entry: p.Entry, attribute: str) -> Sql:
    """Document, and what it has of an attribute."""
    return (
        "select a.document_id, a.value from document_attribute a join document d on d.id = a.document_id "
        "where a.name = " + value(attribute) + " and d.test_set_id = " + value(entry.test_set.id)
    )


def stored_of(entry: p.Entry) -> dict[int, tuple[int, ...]]:
    """The stored systems that each system of an entry is made of."""
    made_of = dict(entry.units.made_of.runs) if entry.units.made_of is not None else {}
    return {system.id: made_of.get(system.id, (system.id,)) for system in entry.stored_systems}


def _as_stored(entry: p.Entry) -> p.Entry:
    """An entry with stored systems and single documents, and with the rows alone that are there."""
    systems = tuple(p.StoredSystem(run, "") for runs in stored_of(entry).values() for run in runs)
    units = replace(entry.units, replication=None, groups=None, filled=False, runs_of=())
    return replace(entry, systems=systems, units=units, stored=0, shared_by=None)


def _source(entry: p.Entry, where: p.Filter | None = None) -> Sql:
    return Sql(_LABELLED if where is not None and entry.kind.has_key else entry.kind.facts)
