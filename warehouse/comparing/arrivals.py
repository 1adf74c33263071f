"""In which order the units of two systems came, after how many of them one could have looked, and how often.

A document has come when both systems have it, and where there is a key, the key too. Of an import, documents stand in
the order of their names. Nothing here tests anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.observations import Observations, document_ids
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.plans import arrivals as asked
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.path import Facts, Queries, Query
from evalhouse.warehouse.significance.arrays import Integers, Places

# === the order of a pair ==============================================================================================


class Came(Struct, frozen=True, eq=False):
    """By which imports the documents of each system came: the first and the last that brought something of them, of
    shape (systems, observations), 0 where none did. `keys` is the same for the key. `places` is the order of an
    attribute, of shape (observations,), None where that of the imports counts.
    """

    first: Integers
    last: Integers
    keys: Integers
    places: Integers | None = None

    def of_pair(self, a: int, b: int, observations: Observations) -> PairCame:
        """How the exchange units of two systems came."""
        assert observations.document is not None
        last = np.maximum(np.maximum(self.last[a], self.last[b]), self.keys)
        units, cluster = observations.units, observations.cluster
        came: Integers = np.zeros(units, dtype=np.int64)
        np.maximum.at(came, cluster, last)
        in_parts = np.zeros(units, dtype=np.bool_)
        for system in (a, b):
            # What a system lacks came with no import, and in one part.
            in_parts[cluster[self.first[system] != self.last[system]]] = True
        in_parts[cluster[last != came[cluster]]] = True
        order = np.lexsort((np.arange(units), came))
        if self.places is not None:
            places: Integers = np.zeros(units, dtype=np.int64)
            np.maximum.at(places, cluster, self.places)
            order = np.lexsort((np.arange(units), came, places))
        imports = np.unique(came)
        ends = [int(np.count_nonzero(came <= number)) for number in imports]
        documents = [int(np.unique(observations.document[came[cluster] <= number]).size) for number in imports.tolist()]
        return PairCame(order, tuple(ends), tuple(documents), int(in_parts.sum()))


class PairCame(Struct, frozen=True, eq=False):
    """The places of the exchange units of two systems in the order in which they came; after each import that brought
    any, how many units and how many documents had come; and how many units came in parts, by several imports.
    """

    order: Integers
    ends: tuple[int, ...]
    documents: tuple[int, ...]
    in_parts: int


def arrival_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the order of the documents of an entry, where that matters."""
    if how.looks is None:
        return ()
    queries = [Query(_arrivals_name(part), asked.arrivals(part), "columns") for part in entry.observed_apart]
    if asked.has_key_arrivals(entry):
        queries.append(Query(_keys_name(entry), asked.key_arrivals(entry), "columns"))
    if how.looks.order is not None:
        queries.append(Query(_order_name(entry), asked.values_of_order(entry, how.looks.order.attribute)))
    return tuple({query.name: query for query in queries}.values())


def came(how: p.Testing, part: p.Entry, observations: Observations, facts: Facts) -> Came | None:
    """By which imports the observations came; None where that does not matter.

    Raises QueryError for a document without the attribute that says the order.
    """
    if how.looks is None or observations.document is None:
        return None
    ids = document_ids(part, facts)
    here = observations.document
    shape = (len(part.systems), len(ids))
    firsts, lasts = np.full(shape, np.iinfo(np.int64).max), np.zeros(shape, dtype=np.int64)
    rows = facts[_arrivals_name(part)]
    systems, documents, known = _whole(rows["system"]), _whole(rows["document"]), np.argsort(ids)
    place = known[np.searchsorted(ids, documents, sorter=known)]
    stored = asked.stored_of(part)
    for number, system in enumerate(part.systems):
        if isinstance(system, p.StoredSystem):
            own = np.isin(systems, stored[system.id])
            np.minimum.at(firsts[number], place[own], _whole(rows["first"])[own])
            np.maximum.at(lasts[number], place[own], _whole(rows["last"])[own])
    firsts = np.where(lasts == 0, 0, firsts)
    keys: Integers = np.zeros(len(ids), dtype=np.int64)
    if asked.has_key_arrivals(part):
        labelled = facts[_keys_name(part)]
        of_document = dict(zip(_whole(labelled["document"]).tolist(), _whole(labelled["last"]).tolist(), strict=True))
        keys = np.array([of_document.get(number, 0) for number in ids.tolist()], dtype=np.int64)
    places = None if how.looks.order is None else _places(how.looks.order, part, ids, here, facts)
    return Came(firsts[:, here], lasts[:, here], keys[here], places)


def _places(order: p.Dimension, part: p.Entry, ids: Integers, here: Places, facts: Facts) -> Integers:
    """The place of each observation by an attribute: by number where all that it has are numbers, else as text."""
    values: dict[int, str] = dict(facts[_order_name(part)])
    wanted = ids[here].tolist()
    without = {number for number in wanted if number not in values}
    if without:
        lack = quantity(len(without), part.units.noun)
        raise QueryError(
            f"{lack} of {part.test_set.name} {'has' if len(without) == 1 else 'have'} no {order.name}, so the order is "
            "not known",
            hints=(f"where {order.name} is not missing leaves {'it' if len(without) == 1 else 'them'} out",),
        )
    texts = [values[number] for number in wanted]
    try:
        keys: list[float] | list[str] = [float(text) for text in texts]
    except ValueError:
        keys = texts
    return np.unique(np.array(keys), return_inverse=True)[1].reshape(-1).astype(np.int64)


def _whole(column: object) -> Integers:
    return np.asarray(column, dtype=np.int64)


def _arrivals_name(part: p.Entry) -> str:
    of = f" of {part.statistics[0].label!r}" if part.kind.by_measure and part.statistics else ""
    return f"arrivals{of} on {part.test_set.name!r}"


def _keys_name(entry: p.Entry) -> str:
    return f"arrivals of the key of {entry.test_set.name!r}"


def _order_name(entry: p.Entry) -> str:
    return f"order of {entry.test_set.name!r}"


# === how many looks there may have been ===============================================================================


def growth_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What tells whether documents came with several imports, where nothing else takes account of that."""
    if how.looks is not None:
        return ()
    return tuple(query for part in entry.observed_apart for query in _of_growth(how, part))


def _of_growth(how: p.Testing, part: p.Entry) -> Queries:
    imports, stored = _imports_name(part), asked.stored_of(part)

    def needed(facts: Facts) -> bool:
        brought = facts[imports]
        return any(len({number for system, number in brought if system in runs}) > 1 for runs in stored.values())

    return (
        Query(imports, asked.imports(part, how.where)),
        Query(_growth_name(part), asked.growth(part, how.where), needed=needed),
    )


def facts_of_one_import(part: p.Entry) -> Facts:
    """What the queries of growth would bring of systems that all came with one import."""
    return {_imports_name(part): [(system.id, 1) for system in part.stored_systems]}


def looks_so_far(part: p.Entry, pairs: Sequence[tuple[int, int]], facts: Facts) -> Iterator[int]:
    """How many looks there may have been at each pair: imports after which both systems had more documents than before.
    What two systems have both is counted as if each brought its documents in the same order.
    """
    rows = facts.get(_growth_name(part))
    if rows is None:
        yield from (1 for _ in pairs)
        return
    moments = sorted({number for _, number, _ in rows})
    of_stored: dict[int, dict[int, int]] = {}
    for system, number, documents in rows:
        of_stored.setdefault(system, {})[number] = documents
    grown: list[Integers | None] = []
    for system in part.systems:
        if not isinstance(system, p.StoredSystem):
            grown.append(None)
            continue
        runs = [of_stored.get(run, {}) for run in asked.stored_of(part)[system.id]]
        counts = np.array([[of_run.get(number, 0) for number in moments] for of_run in runs], dtype=np.int64)
        grown.append(np.cumsum(counts, axis=1).max(axis=0))
    for a, b in pairs:
        both = [of_system for of_system in (grown[a], grown[b]) if of_system is not None]
        common = np.minimum(both[0], both[-1]) if both else np.zeros(1, dtype=np.int64)
        yield max(1, int(np.count_nonzero(np.diff(common, prepend=0))))


def _imports_name(part: p.Entry) -> str:
    return f"imports of {_arrivals_name(part)}"


def _growth_name(part: p.Entry) -> str:
    return f"growth of {_arrivals_name(part)}"
