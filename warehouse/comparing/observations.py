"""The observations of a comparison: what each system scored on each exchange unit, as arrays of whole numbers.

Rows come from the database once per test set; every measure is then read from the same arrays. No test is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.comparing.lacking import (
    Lacking,
    absent_documents,
    lacking,
    lacking_queries,
    refuse_lacking,
    refusing_queries,
)
from evalhouse.warehouse.comparing.some_runs import InSomeRuns, check_runs, in_some_runs, some_runs_query
from evalhouse.warehouse.kinds import Kind
from evalhouse.warehouse.measures.averages import of_unit
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import unit_rows
from evalhouse.warehouse.plans.averages import common_scale
from evalhouse.warehouse.plans.fact_rows import value_of
from evalhouse.warehouse.plans.path import Facts, Queries, Query
from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers, narrow

MANY = 20_000
"""From this many documents on, identical ones of a pair are counted in the database instead of fetched one by one."""

AT_MOST = 4
"""Ids are looked up in a table of all ids if it has at most this many places for each row. Otherwise they are searched
for.
"""


class Observations(Struct, frozen=True):
    """The rows of one test set, aligned: one column an observation, a document or a unit of one.

    `counts`, `known`, `values`, `confidences` and `present` have the shape (systems, observations). `known` says of a
    count whether the source gave it, `present` whether the system has the observation at all; `values` are imported
    ones, None for the other kinds; `confidences` are there where they were asked for, NaN where a system has none.
    Of predicted numbers, `counts` and `known` have the rows of all systems as often as predictions of runs stand beside
    one another, each time with another run of theirs.
    `cluster` is the exchange unit of each observation, numbered from 0. `dropped` are the observations that not all
    systems had. `document` is the place of each observation's document in the order of names, where documents were
    read one by one, and `unit` the place of its unit, where these were.
    """

    systems: tuple[p.System, ...]
    counts: Mapping[str, Integers]
    known: Mapping[str, Booleans]
    values: Floats | None
    present: Booleans
    cluster: NDArray[np.intp]
    documents: int
    dropped: int
    confidences: Floats | None = None
    document: NDArray[np.intp] | None = None
    unit: NDArray[np.intp] | None = None
    in_some_runs: tuple[InSomeRuns, ...] = ()
    """The systems whose runs do not all have the same documents."""
    lacking: Lacking | None = None
    """How many documents each system lacks, where these count as nothing or are left out."""

    @property
    def units(self) -> int:
        """How many exchange units there are."""
        return int(self.cluster.max(initial=-1)) + 1

    def run_by_run(self, column: str) -> Floats:
        """Predicted numbers, or true ones, of shape (runs, systems, observations)."""
        grid = self.counts[column]
        return np.asarray(grid, dtype=np.float64).reshape(-1, len(self.systems), grid.shape[1])

    def as_one_system(self) -> Observations:
        """Predicted numbers of several systems as those of the runs of one, which lacks what any of them lacks."""
        return replace(self, systems=self.systems[:1], present=self.present.all(axis=0, keepdims=True))


# --- what is asked of the database ------------------------------------------------------------------------------------


InOrder = Callable[[p.Entry, "Observations", Integers], bool]
"""Whether the observations of an entry are needed in the order of their names; given is one of each kind that was
counted, and how many there are of it."""


def observation_queries(how: p.Testing, entry: p.Entry, in_order: InOrder | None = None) -> Queries:
    """What brings the observations of an entry; a query for each statistic where they are values.

    Those that are counted in the database are brought one by one as well where they are needed `in_order`.
    """
    # What is computed of lists is read together, so its parts have one query.
    queries = tuple({query.name: query for query in (_rows(how, part) for part in entry.observed_apart)}.values())
    if _refuses_first(how, entry):
        queries = (*queries, *refusing_queries(entry, how.where))
    if entry.units.runs_of_models is not None:
        queries = (
            *queries,
            *(some_runs_query(_some_runs_name(part), part, how.where) for part in entry.observed_apart),
        )
    if _says_who_lacks(how, entry):
        counts = (query for part in entry.observed_apart for query in lacking_queries(part, how.where))
        queries = (*queries, *{query.name: query for query in counts}.values())
    if _counts_alike(entry):
        names = (_names_of_lacking(how, part) for part in entry.observed_apart if how.missing == "error")
        ordered = (_in_order(how, part, in_order) for part in entry.observed_apart if in_order is not None)
        return (*queries, *names, *ordered)
    documents = Query(_documents_name(entry.test_set), unit_rows.documents_by_name(entry), "columns")
    units = Query("units", unit_rows.units_by_name(), "columns")
    return (*queries, documents, *((units,) if entry.units.read_by_unit else ()))


def _refuses_first(how: p.Testing, entry: p.Entry) -> bool:
    """Whether documents may be lacking that the observations themselves do not show."""
    return how.missing == "error" and (entry.units.groups is not None or entry.units.complete)


def _says_who_lacks(how: p.Testing, entry: p.Entry) -> bool:
    """Whether notes say how many documents each system lacks."""
    return entry.units.filled or how.missing in ("drop", "bounds")


def _some_runs_name(part: p.Entry) -> str:
    return f"documents in some runs among {_rows_name(part, False)}"


def _rows(how: p.Testing, part: p.Entry) -> Query:
    columns, alike = read_columns(part), _counts_alike(part)
    name = _rows_name(part, alike)
    if alike:
        return Query(name, unit_rows.observations_alike(part, how.where, columns), "narrow")
    of_rows = part.in_runs() if part.kind.of_numbers else part
    return Query(name, unit_rows.observations(of_rows, how.where, columns), "narrow")


def _names_of_lacking(how: p.Testing, part: p.Entry) -> Query:
    name, rows = _rows_name(part, True), unit_rows.names_of_lacking(part, how.where)

    def needed(facts: Facts) -> bool:
        return any(bool(_null(facts[name][f"system_{side}"]).any()) for side in (0, 1))

    return Query(f"lacking among {name}", rows, needed=needed)


def _in_order(how: p.Testing, part: p.Entry, wanted: InOrder) -> Query:
    name = _rows_name(part, True)

    def needed(facts: Facts) -> bool:
        rows = _own_rows(facts[name], part)
        times = _whole(rows["times"])
        kinds = {**rows, "times": np.ones_like(times)}
        if how.missing in ("drop", "bounds"):
            times = times[~_null(rows["system_0"]) & ~_null(rows["system_1"])]
        try:
            return wanted(part, _from_counted(how, kinds, part, facts), times)
        except QueryError:
            # Mistakes in the rows are reported when they are compared.
            return False

    return Query(
        f"{name} in order", unit_rows.observations_in_order(part, how.where, read_columns(part)), "narrow", needed
    )


def _rows_name(part: p.Entry, alike: bool) -> str:
    of = f" of {part.statistics[0].label!r}" if part.kind.by_measure else ""
    of = " with confidences" if part.of_confidences else " by unit" if part.averaged_units else of
    what = "documents alike" if alike else "observations"
    averages = " of averages" if part.units.grouped is not None else ""
    return f"{what}{of}{averages} on {part.test_set.name!r}"


def document_names(entry: p.Entry, facts: Facts) -> NDArray[Any]:
    """The names of the documents of an entry that is `listed`, in their order."""
    return np.asarray(facts[_documents_name(entry.test_set)]["name"])


def unit_names(facts: Facts) -> NDArray[Any]:
    """The names of all units, in their order; that of whole documents is empty."""
    return np.asarray(facts["units"]["name"])


def document_ids(entry: p.Entry, facts: Facts) -> Integers:
    """Their ids, in the same order."""
    return _whole(facts[_documents_name(entry.test_set)]["id"])


def _documents_name(test_set: p.TestSet) -> str:
    return f"documents of {test_set.name!r}"


def _counts_alike(entry: p.Entry) -> bool:
    """Whether documents that are alike are counted in the database: those of a pair, exchanged one by one, from MANY
    on, unless they are to be listed. The decisions of a baseline are not in the database.
    """
    two = len(entry.stored_systems) == len(entry.systems) == 2
    one_by_one = entry.units.one_by_one and not (entry.of_confidences or entry.averaged_units or entry.units.listed)
    one_by_one = one_by_one and not (entry.kind.of_numbers and entry.units.grouped is not None)
    return one_by_one and two and entry.units.documents >= MANY


def read_columns(entry: p.Entry) -> tuple[str, ...]:
    """What is read of each row for all that is read together."""
    return tuple(value_of(entry, statistic) for statistic in entry.of_lists) or _columns(entry)


def _own_rows(rows: Mapping[str, Any], entry: p.Entry) -> Mapping[str, Any]:
    """The rows with the values of the one statistic of the entry, where several were read together."""
    if not entry.kind.of_lists:
        return rows
    column = value_of(entry, entry.statistics[0])
    return {**rows, **{f"value{name.removeprefix(column)}": rows[name] for name in rows if _is_of(column, name)}}


def _is_of(column: str, name: str) -> bool:
    """Whether a name is that of a column, or of its copy for one of two systems."""
    return name in (column, f"{column}_0", f"{column}_1")


def _columns(entry: p.Entry) -> tuple[str, ...]:
    """What is read of each row. A cell of filtering is only known by its neighbours, so all are read."""
    if not entry.kind.is_counted:
        return ("value",)
    if entry.kind.decide is not None:
        return (*entry.kind.counts, *(("confidence",) if entry.of_confidences else ()))
    if entry.kind.of_numbers:
        return entry.kind.counts
    of_statistics = (count for statistic in entry.statistics for count in statistic.counts)
    return tuple(dict.fromkeys((*of_statistics, *entry.also)))


def facts_of_values(entry: p.Entry, documents: Sequence[str], values: Sequence[Sequence[float]]) -> Facts:
    """What the queries of an entry of values would bring, whose systems all have a value of each document. The names
    of the documents are in order.
    """
    ids = np.arange(1, len(documents) + 1, dtype=np.int32)
    systems = np.repeat([system.id for system in entry.stored_systems], len(ids))
    rows = {"system": narrow(systems), "document": narrow(np.tile(ids, len(values))), "value": np.concatenate(values)}
    return {
        _rows_name(entry, False): rows,
        _documents_name(entry.test_set): {"id": ids, "name": np.array(documents, dtype=object)},
    }


# --- what came of it --------------------------------------------------------------------------------------------------


def observe(how: p.Testing, entry: p.Entry, facts: Facts) -> Observations:
    """The observations of the systems of an entry, aligned. An entry of values has one statistic.

    Raises QueryError for a document that only some systems have, unless the plan says to drop it or to count it as
    zero.
    """
    in_runs = in_some_runs(_some_runs_name(entry), entry, facts)
    check_runs(entry, in_runs, how.missing)
    alike = _counts_alike(entry)
    name = _rows_name(entry, alike)
    if _refuses_first(how, entry):
        refuse_lacking(entry, facts)
    if alike:
        rows = facts.get(f"{name} in order", facts[name])
        observed = _from_counted(how, _own_rows(rows, entry), entry, facts)
    else:
        observed = _from_rows(how, _own_rows(facts[name], entry), entry, facts)
    lacks = lacking(entry, facts)[0] if _says_who_lacks(how, entry) else None
    return replace(observed, in_some_runs=tuple(in_runs), lacking=lacks)


def _nothing(entry: p.Entry) -> QueryError:
    """The error when there are no rows left to test."""
    where = entry.test_set.name
    if entry.kind.of_lists:
        return QueryError(
            f"no topic of {where} in this statement has both lists and judgments", hints=("load its qrels",)
        )
    return QueryError(f"no rows on {where} meet the condition")


def _from_rows(how: p.Testing, rows: Mapping[str, Any], entry: p.Entry, facts: Facts) -> Observations:
    if not len(rows["document"]):
        raise _nothing(entry)
    documents = facts[_documents_name(entry.test_set)]
    observation, width = _ranks(rows["document"], _whole(documents["id"])), 1
    if entry.units.read_by_unit:
        unit = _ranks(rows["unit"], _whole(facts["units"]["id"]))
        width = int(unit.max()) + 1
        observation = observation * width + unit
    keys, place = _number_distinct(observation, len(documents["id"]) * width)
    of_runs = _places_of_runs(entry) if entry.kind.of_numbers and entry.units.grouped is not None else None
    if of_runs is None:
        stored = [index for index, system in enumerate(entry.systems) if isinstance(system, p.StoredSystem)]
        ids = np.array([system.id for system in entry.stored_systems], dtype=np.int64)
        shape = (len(entry.systems), len(keys))
    else:
        ids = np.array([run for run, _ in entry.in_runs().units.runs_of], dtype=np.int64)
        stored = list(range(len(ids)))
        shape = (len(ids), len(keys))
    cells = np.asarray(stored)[_ranks(rows["system"], ids)]
    cells *= len(keys)
    cells += place

    present = np.zeros(shape, dtype=np.bool_)
    present.reshape(-1)[cells] = True
    columns, kind = _columns(entry), _kind(entry.kind)
    confidences = np.full(shape, np.nan) if "confidence" in columns else None
    if confidences is not None:
        columns = tuple(column for column in columns if column != "confidence")
        read, given = _read(rows["confidence"], np.float64)
        confidences.reshape(-1)[cells] = np.where(given, read, np.nan)
    counts: dict[str, NDArray[Any]] = {}
    known: dict[str, Booleans] = {}

    def spread(name: str, column: Any, cells: NDArray[np.intp]) -> None:
        """A column of rows as a grid of systems and observations, 0 where there is no row."""
        masked = _null_mask(column)
        counts[name], known[name] = np.zeros(shape, dtype=kind), np.ones(shape, dtype=np.bool_)
        counts[name].reshape(-1)[cells] = column if masked is None else column.filled(0)
        if masked is not None:
            known[name].reshape(-1)[cells] = ~masked

    if entry.averaged_units:
        for of, own in _rows_of_units(rows, entry):
            for column in columns:
                spread(of_unit(column, of), rows[column][own], cells[own])
    else:
        for column in columns:
            spread(column, rows[column], cells)
    del cells
    if of_runs is not None:
        counts, known = ({name: grid[of_runs.reshape(-1)] for name, grid in of.items()} for of in (counts, known))
        present = np.asarray(present[of_runs].all(axis=0))
    whole = entry.units.scale
    for index, system in enumerate(entry.systems):
        if isinstance(system, p.Baseline) and entry.kind.decide is not None:
            entry.kind.decide(counts, index, np.arange(len(keys)), True, whole)
            present[index] = True

    if entry.units.sliced:
        # A unit that a system lacks in a document that it has is none that it missed: it counts as nothing there.
        begin = np.flatnonzero(np.diff(keys // width, prepend=-1))
        having = np.logical_or.reduceat(present, begin, axis=1)
        present = np.repeat(having, np.diff(begin, append=len(keys)), axis=1)
    everywhere = np.asarray(present.all(axis=0))
    kept: Booleans = np.ones(len(keys), dtype=np.bool_)
    if not everywhere.all():
        if how.missing == "error":
            absent = np.unique(keys[~everywhere] // width)
            lacked = [np.unique(keys[~own] // width).size for own in present]
            raise _absent(entry, [str(name) for name in documents["name"][absent]], lacked)
        if how.missing in ("drop", "bounds"):
            kept = everywhere
        elif entry.kind.decide is not None:
            for index in range(len(entry.systems)):
                entry.kind.decide(counts, index, np.flatnonzero(~present[index]), False, whole)
    cluster = _clusters(rows, place, len(keys)) if entry.units.shared else np.arange(len(keys))

    def of_kept(grid: NDArray[Any]) -> NDArray[Any]:
        return grid if kept.all() else grid[:, kept]

    counts = {column: of_kept(grid) for column, grid in counts.items()}
    return Observations(
        systems=entry.systems,
        counts=counts,
        known={column: of_kept(grid) for column, grid in known.items()},
        values=None if entry.kind.is_counted else counts["value"],
        present=of_kept(present),
        cluster=np.unique(cluster[kept], return_inverse=True)[1].reshape(-1),
        documents=int(np.count_nonzero(np.diff(keys[kept] // width, prepend=-1))),
        dropped=int((~kept).sum()),
        confidences=None if confidences is None else of_kept(confidences),
        document=np.asarray(keys[kept] // width, dtype=np.intp),
        unit=np.asarray(keys[kept] % width, dtype=np.intp) if entry.units.read_by_unit else None,
    )


def _places_of_runs(entry: p.Entry) -> NDArray[np.intp]:
    """The places of the runs of systems among all runs of an entry, of shape (turns, systems): as often as their
    numbers have a common multiple, the next run of each system, and after its last one its first again.
    """
    lengths = [len(entry.units.runs[system.id]) for system in entry.stored_systems]
    starts = np.cumsum([0, *lengths[:-1]])
    turns = np.arange(entry.units.scale)
    return np.stack([start + turns % length for start, length in zip(starts, lengths, strict=True)], axis=1)


def pool(of_test_sets: Sequence[Observations], entries: Sequence[p.Entry]) -> Observations:
    """The observations of the same systems on several test sets together; counts over the common multiple of what
    those of each test set are multiplied by, and predicted numbers as often.
    """
    first, numbers = of_test_sets[0], entries[0].kind.of_numbers
    scale = common_scale(entries)
    factors = [scale // entry.units.scale if entry.kind.is_counted else 1 for entry in entries]
    starts = np.cumsum([0, *(part.units for part in of_test_sets[:-1])])

    def joined(grids: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
        known = [grid for grid in grids if grid is not None]
        return np.concatenate(known, axis=1) if len(known) == len(grids) else None

    def as_often(grids: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        return [np.tile(grid, (by, 1)) for grid, by in zip(grids, factors, strict=True)] if numbers else list(grids)

    counts = {name: as_often([part.counts[name] for part in of_test_sets]) for name in first.counts}
    known = {name: as_often([part.known[name] for part in of_test_sets]) for name in first.known}
    if not numbers:
        counts = {name: [grid * by for grid, by in zip(grids, factors, strict=True)] for name, grids in counts.items()}
    return replace(
        first,
        counts={name: np.concatenate(grids, axis=1) for name, grids in counts.items()},
        known={name: np.concatenate(grids, axis=1) for name, grids in known.items()},
        values=joined([part.values for part in of_test_sets]),
        present=np.concatenate([part.present for part in of_test_sets], axis=1),
        cluster=np.concatenate([part.cluster + start for part, start in zip(of_test_sets, starts, strict=True)]),
        documents=sum(part.documents for part in of_test_sets),
        dropped=sum(part.dropped for part in of_test_sets),
        confidences=joined([part.confidences for part in of_test_sets]),
        document=None,
    )


def _rows_of_units(rows: Mapping[str, Any], entry: p.Entry) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """The id of each unit that is averaged over, and the places of its rows."""
    of_rows = _whole(rows["unit"])
    order = np.argsort(of_rows, kind="stable")
    for unit in entry.averaged_units:
        start, stop = np.searchsorted(of_rows, (unit, unit + 1), sorter=order)
        yield unit, order[start:stop]


def _from_counted(how: p.Testing, rows: Mapping[str, Any], entry: p.Entry, facts: Facts) -> Observations:
    """The observations from documents counted alike, in the order of their counts, or of their names where each is a
    row."""
    times = _whole(rows["times"])
    if not times.size:
        raise _nothing(entry)
    present = np.stack([~_null(rows[f"system_{side}"]) for side in (0, 1)])
    everywhere = np.asarray(present.all(axis=0))
    columns, kind = _columns(entry), _kind(entry.kind)
    sides = {column: [_read(rows[f"{column}_{side}"], kind) for side in (0, 1)] for column in columns}
    counts: dict[str, NDArray[Any]] = {column: np.stack([read for read, _ in both]) for column, both in sides.items()}
    known = {column: np.stack([given for _, given in both]) for column, both in sides.items()}
    dropped = 0
    if not everywhere.all():
        if how.missing == "error":
            names = [str(name) for (name,) in facts[f"lacking among {_rows_name(entry, True)}"]]
            raise _absent(entry, names, [int(times[~own].sum()) for own in present])
        # A document that a system lacks is not unknown: it counts as nothing, or is left out.
        known = {column: grid | ~present for column, grid in known.items()}
        if how.missing in ("drop", "bounds"):
            dropped = int(times[~everywhere].sum())
            times = np.where(everywhere, times, 0)
        elif entry.kind.decide is not None:
            whole = entry.units.scale
            for index in (0, 1):
                entry.kind.decide(counts, index, np.flatnonzero(~present[index]), False, whole)
    documents = int(times.sum())
    repeated = {column: np.repeat(grid, times, axis=1) for column, grid in counts.items()}
    return Observations(
        systems=entry.systems,
        counts=repeated,
        known={column: np.repeat(grid, times, axis=1) for column, grid in known.items()},
        values=None if entry.kind.is_counted else repeated["value"],
        present=np.repeat(present, times, axis=1),
        cluster=np.arange(documents),
        documents=documents,
        dropped=dropped,
    )


def _kind(task: Kind) -> Any:
    return np.int64 if task.is_counted and not task.of_numbers else np.float64


def _clusters(rows: Mapping[str, Any], place: NDArray[np.intp], observed: int) -> NDArray[np.intp]:
    """The exchange unit of each observation where these share the value of an attribute.

    A document without the attribute is a unit of its own.
    """
    names, without = rows["cluster"], _null(rows["cluster"])
    first = np.unique(place, return_index=True)[1]
    known = {name: index for index, name in enumerate(sorted(set(names[~without].tolist())))}
    return np.array(
        [len(known) + index if without[row] else known[names[row]] for index, row in enumerate(first)], dtype=np.intp
    )


def _whole(column: Any) -> Integers:
    return np.asarray(column, dtype=np.int64)


def _null_mask(column: Any) -> Booleans | None:
    """Where a column has nulls, None where it has none. It is masked only if there are some: numpy.ma takes long to
    import."""
    mask = getattr(column, "mask", None)
    return None if mask is None else np.broadcast_to(mask, np.shape(column))


def _null(column: Any) -> Booleans:
    """Where a column has nulls."""
    masked = _null_mask(column)
    return np.zeros(len(column), dtype=np.bool_) if masked is None else masked


def _read(column: Any, kind: Any) -> tuple[NDArray[Any], Booleans]:
    """A column, 0 where it is null, and where it is not."""
    masked = _null_mask(column)
    if masked is None:
        return np.asarray(column, dtype=kind), np.ones(len(column), dtype=np.bool_)
    return np.asarray(column.filled(0), dtype=kind), ~masked


def _ranks(ids: Any, in_order: Integers) -> Integers:
    """The place of each id in an order of ids: by name, so that coins do not depend on what was loaded first."""
    ids = np.asarray(ids)
    first = int(in_order.min())
    reach = int(in_order.max()) - first + 1
    if reach > AT_MOST * (len(ids) + len(in_order)):
        by_id = np.argsort(in_order)
        found: Integers = by_id[np.searchsorted(in_order, ids, sorter=by_id)]
        return found
    # Ids that lie close together are looked up, without sorting and without copies of the many rows.
    place: Integers = np.zeros(reach, dtype=np.int64)
    place[in_order - first] = np.arange(len(in_order))
    placed: Integers = place[ids - first] if first else place[ids]
    return placed


def _number_distinct(numbers: Integers, reach: int) -> tuple[Integers, Integers]:
    """The distinct ones of numbers below `reach`, in their order, and the place of each number among them."""
    if reach > AT_MOST * len(numbers):
        distinct, place = np.unique(numbers, return_inverse=True)
        return distinct, place.reshape(-1)
    there = np.zeros(reach, dtype=np.bool_)
    there[numbers] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _absent(entry: p.Entry, names: Sequence[str], lacked: Sequence[int]) -> QueryError:
    """The error for documents that not every system has; each lacks so many of them."""
    systems = (system.name for system in entry.systems)
    of_systems = zip(systems, lacked, strict=True)
    return absent_documents(entry, names, [(name, count) for name, count in of_systems if count])
