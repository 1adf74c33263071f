"""The observations of a comparison: what each system scored on each exchange unit, as arrays of whole numbers.

Rows come from the database once a test set; every measure is then read from the same arrays. No test is made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grammar.errors import QueryError
from warehouse.measures import filtering
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.query.labels import some
from warehouse.store.sql import Sql

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

MANY = 20_000
"""From so many documents on, those of a pair that are alike are counted in the database and not fetched one by one."""

_YES = {"a": "a", "c": "a", "b": "b", "d": "b", "x": "x", "y": "x"}
_NO = {"a": "c", "c": "c", "b": "d", "d": "d", "x": "y", "y": "y"}
"""The cell that a document in a given cell falls into once it is decided yes, or no."""


@dataclass(frozen=True, slots=True)
class Observations:
    """The rows of one test set, aligned: one column an observation, a document or a unit of one.

    `counts`, `known` and `values` have the shape (systems, observations). `known` says of a count whether the source
    gave it; `values` are imported ones, None for the other tasks. `cluster` is the exchange unit of each observation,
    numbered from 0. `dropped` are the observations that not all systems had.
    """

    contenders: tuple[p.System, ...]
    counts: Mapping[str, Integers]
    known: Mapping[str, Booleans]
    values: Floats | None
    cluster: NDArray[np.intp]
    documents: int
    dropped: int

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.cluster.max(initial=-1)) + 1


def observe(how: p.Testing, entry: p.Entry, engine: DuckDBEngine) -> Observations:
    """The observations of the contenders of a entry, aligned. A entry of values has one statistic.

    Raises QueryError for a document that only some contenders have, unless the plan says to drop it or to count it as
    zero.
    """
    columns = _columns(entry)
    if _groups(how, entry, engine):
        found = _grouped(engine.columns(sql.grouped_observations(entry, how.where, columns)), columns, entry)
        if found is not None:
            return found
    rows = engine.columns(sql.observations(entry, how.where, how.exchange, columns))
    if not len(rows["document"]):
        raise QueryError(f"no rows on {entry.test_set.name} meet the condition")

    documents = _whole(engine.columns(sql.documents_by_name(entry.test_set))["id"])
    document = _ranks(_whole(rows["document"]), documents)
    unit = np.zeros_like(document)
    if how.exchange.of == "unit":
        unit = _ranks(_whole(rows["unit"]), _whole(engine.columns(sql.units_by_name())["id"]))
    width = int(unit.max()) + 1
    keys, place = np.unique(document * width + unit, return_inverse=True)
    place = place.reshape(-1)
    stored = [index for index, contender in enumerate(entry.contenders) if isinstance(contender, p.StoredSystem)]
    ids = np.array([entry.contenders[index].id for index in stored], dtype=np.int64)  # type: ignore[union-attr]
    order = np.argsort(ids)
    system = np.asarray(stored)[order[np.searchsorted(ids, _whole(rows["system"]), sorter=order)]]
    shape = (len(entry.contenders), len(keys))

    present = np.zeros(shape, dtype=np.bool_)
    present[system, place] = True
    kind: Any = np.float64 if entry.task == "values" else np.int64
    counts: dict[str, NDArray[Any]] = {column: np.zeros(shape, dtype=kind) for column in columns}
    known = {column: np.ones(shape, dtype=np.bool_) for column in columns}
    for column in columns:
        counts[column][system, place], known[column][system, place] = _read(rows[column], kind)
    whole = entry.replicates.common if entry.replicates is not None else 1
    for index, contender in enumerate(entry.contenders):
        if isinstance(contender, p.Baseline):
            _decide(counts, index, np.arange(len(keys)), _YES, whole)
            present[index] = True

    kept: Booleans = np.ones(len(keys), dtype=np.bool_)
    everywhere = np.asarray(present.all(axis=0))
    if not everywhere.all():
        if how.missing == "error":
            lacking = documents[np.unique(keys[~everywhere] // width)]
            raise _absent(entry, present, lacking, engine)
        if how.missing == "drop":
            kept = everywhere
        elif entry.task == "filtering":
            for index in range(len(entry.contenders)):
                _decide(counts, index, np.flatnonzero(~present[index]), _NO, whole)
    cluster = _clusters(how, rows, place, len(keys))
    return Observations(
        contenders=entry.contenders,
        counts={column: grid[:, kept] for column, grid in counts.items()},
        known={column: grid[:, kept] for column, grid in known.items()},
        values=counts["value"][:, kept] if entry.task == "values" else None,
        cluster=np.unique(cluster[kept], return_inverse=True)[1].reshape(-1),
        documents=int(np.count_nonzero(np.diff(keys[kept] // width, prepend=-1))),
        dropped=int((~kept).sum()),
    )


def _groups(how: p.Testing, entry: p.Entry, engine: DuckDBEngine) -> bool:
    """Whether documents that are alike are counted in the database: those of a pair, exchanged one by one, from MANY
    on. The decisions of a baseline are not in the database.
    """
    stored = all(isinstance(contender, p.StoredSystem) for contender in entry.contenders)
    each = how.exchange.of == "document" and not how.exchange.attribute
    return each and stored and len(entry.contenders) == 2 and _whole_number(engine, entry.test_set) >= MANY


def _whole_number(engine: DuckDBEngine, test_set: p.TestSet) -> int:
    return int(engine.rows(sql.documents(test_set))[0][0])


def _grouped(rows: Mapping[str, Any], columns: tuple[str, ...], entry: p.Entry) -> Observations | None:
    """The observations from documents counted alike, in the order of their counts; None where a system lacks some."""
    times = _whole(rows["times"])
    if not times.size or any(_masked(rows[f"system_{side}"]) is not None for side in (0, 1)):
        return None
    kind: Any = np.float64 if entry.task == "values" else np.int64
    counts, known = {}, {}
    for column in columns:
        sides = [_read(rows[f"{column}_{side}"], kind) for side in (0, 1)]
        counts[column] = np.repeat(np.stack([found for found, _ in sides]), times, axis=1)
        known[column] = np.repeat(np.stack([given for _, given in sides]), times, axis=1)
    documents = int(times.sum())
    return Observations(
        contenders=entry.contenders,
        counts=counts,
        known=known,
        values=counts["value"] if entry.task == "values" else None,
        cluster=np.arange(documents),
        documents=documents,
        dropped=0,
    )


def queries(how: p.Testing, entry: p.Entry, engine: DuckDBEngine) -> tuple[Sql, ...]:
    """The SQL that brings the observations of a entry; one for each statistic where they are values."""
    parts = [entry]
    if entry.task == "values":
        parts = [replace(entry, statistics=(statistic,)) for statistic in entry.statistics]
    if _groups(how, entry, engine):
        return tuple(sql.grouped_observations(part, how.where, _columns(part)) for part in parts)
    return tuple(sql.observations(part, how.where, how.exchange, _columns(part)) for part in parts)


def _columns(entry: p.Entry) -> tuple[str, ...]:
    """What is read of each row. A cell of filtering is only known by its neighbours, so all are read."""
    if entry.task == "values":
        return ("value",)
    if entry.task == "filtering":
        return filtering.COLUMNS
    return tuple(dict.fromkeys(column for statistic in entry.statistics for column in statistic.columns))


def _decide(
    counts: Mapping[str, NDArray[Any]], system: int, places: NDArray[np.intp], falls: Mapping[str, str], whole: int
) -> None:
    """Puts some observations of a system into the cells of one decision; the other systems' cells tell the label."""
    cells = np.stack([counts[cell].any(axis=0) for cell in filtering.COLUMNS])
    for cell, target in falls.items():
        hit = places[cells[filtering.COLUMNS.index(cell), places]]
        counts[target][system, hit] = whole


def _clusters(how: p.Testing, rows: Mapping[str, Any], place: NDArray[np.intp], observations: int) -> NDArray[np.intp]:
    """The exchange unit of each observation: itself, or what shares its value of an attribute.

    A document without the attribute is a unit of its own.
    """
    if not how.exchange.attribute:
        return np.arange(observations)
    names, masked = rows["cluster"], _masked(rows["cluster"])
    without = np.zeros(len(names), dtype=np.bool_) if masked is None else masked
    first = np.unique(place, return_index=True)[1]
    known = {name: index for index, name in enumerate(sorted(set(names[~without].tolist())))}
    return np.array(
        [len(known) + index if without[row] else known[names[row]] for index, row in enumerate(first)], dtype=np.intp
    )


def _whole(column: Any) -> Integers:
    return np.asarray(column, dtype=np.int64)


def _masked(column: Any) -> Booleans | None:
    """Where a column has nulls, None where it has none. It is masked only if there are some: numpy.ma takes long to
    import."""
    return getattr(column, "mask", None)


def _read(column: Any, kind: Any) -> tuple[NDArray[Any], Booleans]:
    """A column, 0 where it is null, and where it is not."""
    masked = _masked(column)
    if masked is None:
        return np.asarray(column, dtype=kind), np.ones(len(column), dtype=np.bool_)
    return np.asarray(column.filled(0), dtype=kind), ~masked


def _ranks(ids: Integers, in_order: Integers) -> Integers:
    """The place of each id in an order of ids: by name, so that coins do not depend on what was loaded first."""
    by_id = np.argsort(in_order)
    return by_id[np.searchsorted(in_order, ids, sorter=by_id)]


def _absent(entry: p.Entry, present: Booleans, lacking: Integers, engine: DuckDBEngine) -> QueryError:
    """Names the first documents that not every contender has, and who lacks them."""
    names = [str(name) for (name,) in engine.rows(sql.document_names([int(number) for number in lacking[:5]]))]
    without = [c.name for index, c in enumerate(entry.contenders) if not present[index].all()]
    one = len(lacking) == 1
    many = "a document" if one else f"{len(lacking)} documents"
    more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
    are = f"{many} of {entry.test_set.name} {'is' if one else 'are'}"
    return QueryError(
        f"{are} not there for every system: {', '.join(names)}{more}",
        hints=(
            f"not all are there for {some(without)}",
            "missing drop leaves them out, missing zero counts nothing for them",
        ),
    )
