"""The observations of a comparison: what each system scored on each exchange unit, as arrays of whole numbers.

Rows come from the database once a test set; every measure is then read from the same arrays. No test is made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grammar.errors import QueryError
from warehouse.engines.duckdb import DuckDBEngine
from warehouse.measures import Statistic, filtering
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.labels import some

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_FINE = 2**40
"""Values that are not whole numbers over a common denominator are multiplied by this and rounded."""

_COMMON = 2**20
"""The largest common denominator that the values of documents are put over."""

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

    contenders: tuple[p.Contender, ...]
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

    def sums(self, statistic: Statistic) -> Sums:
        """Numerator and denominator of a statistic in each exchange unit."""
        if statistic.ratio is None:
            raise ValueError(f"{statistic.label} is no ratio of sums")
        if self.values is not None:
            numerators, scale = _fixed(self.values)
            denominators = np.ones_like(numerators)
            slack = 0 if scale < _FINE else self.values.shape[1]
            return self._gather(
                numerators, denominators, Fraction(1, scale), slack, np.ones(len(numerators), dtype=np.bool_)
            )
        known = np.ones(len(self.contenders), dtype=np.bool_)
        for column in statistic.ratio.columns:
            known &= self.known[column].all(axis=1)
        over, under = statistic.ratio.read(self.counts)
        if not statistic.averaged:
            return self._gather(over, under, statistic.ratio.factor, 0, known)
        defined = (under != 0).astype(np.int64)
        common = lcm(*(int(each) for each in np.unique(under) if each)) if under.any() else 1
        if common <= _COMMON:
            over, scale, slack = np.where(defined, over * (common // np.where(under == 0, 1, under)), 0), common, 0
        else:
            quotient = np.divide(over, under, out=np.zeros(over.shape), where=under != 0)
            over, scale = np.rint(quotient * _FINE).astype(np.int64), _FINE
            slack = over.shape[1] if (defined == defined[0]).all() else 0
        return self._gather(over, defined, statistic.ratio.factor / scale, slack, known)

    def _gather(self, over: Integers, under: Integers, factor: Fraction, slack: int, known: Booleans) -> Sums:
        """Sums over the observations of each exchange unit."""
        if self.units < self.cluster.size:
            starts = np.argsort(self.cluster, kind="stable")
            edges = np.flatnonzero(np.diff(self.cluster[starts], prepend=-1))
            over, under = (np.add.reduceat(each[:, starts], edges, axis=1) for each in (over, under))
        return Sums(over, under, factor, slack, known & (under.sum(axis=1) != 0))


@dataclass(frozen=True, slots=True)
class Sums:
    """Numerator and denominator of a statistic, of shape (systems, exchange units), as significance tests see them.

    A system's value is `factor` · ΣN / ΣD. Numerator sums that differ by no more than `slack` are ties. `defined` says
    which systems have a value at all.
    """

    numerators: Integers
    denominators: Integers
    factor: Fraction
    slack: int
    defined: Booleans

    def value(self, system: int) -> float | None:
        """The value of a system, rounded once."""
        if not self.defined[system]:
            return None
        numerator, denominator = int(self.numerators[system].sum()), int(self.denominators[system].sum())
        return self.factor.numerator * numerator / (self.factor.denominator * denominator)


def observe(how: p.Testing, field: p.Field, engine: DuckDBEngine) -> Observations:
    """The observations of the contenders of a field, aligned. A field of values has one statistic.

    Raises QueryError for a document that only some contenders have, unless the plan says to drop it or to count it as
    zero.
    """
    if field.task == "values":
        rows = engine.columns(sql.observed_values(field, how.where, how.exchange))
        columns: tuple[str, ...] = ("value",)
    else:
        columns = filtering.COLUMNS if field.task == "filtering" else _columns(field)
        rows = engine.columns(sql.observations(field, how.where, how.exchange, columns))

    documents = _whole(engine.columns(sql.documents_by_name(field.test_set))["id"])
    document = _ranks(_whole(rows["document"]), documents)
    unit = _whole(rows["unit"])
    if how.exchange.of == "unit":
        unit = _ranks(unit, _whole(engine.columns(sql.units_by_name())["id"]))
    keys, place = np.unique(np.stack([document, unit], axis=1), axis=0, return_inverse=True)
    place = place.reshape(-1)
    stored = [index for index, contender in enumerate(field.contenders) if isinstance(contender, p.System)]
    ids = np.array([field.contenders[index].id for index in stored], dtype=np.int64)  # type: ignore[union-attr]
    order = np.argsort(ids)
    system = np.asarray(stored)[order[np.searchsorted(ids, _whole(rows["system"]), sorter=order)]]
    shape = (len(field.contenders), len(keys))

    present = np.zeros(shape, dtype=np.bool_)
    present[system, place] = True
    kind: Any = np.float64 if field.task == "values" else np.int64
    counts: dict[str, NDArray[Any]] = {column: np.zeros(shape, dtype=kind) for column in columns}
    known = {column: np.ones(shape, dtype=np.bool_) for column in columns}
    for column in columns:
        counts[column][system, place] = np.asarray(rows[column], dtype=kind)
        known[column][system, place] = np.asarray(rows[f"known_{column}"], dtype=np.bool_)
    for index, contender in enumerate(field.contenders):
        if isinstance(contender, p.Baseline):
            _decide(counts, index, np.arange(len(keys)), _YES)
            present[index] = True

    kept: Booleans = np.ones(len(keys), dtype=np.bool_)
    everywhere = np.asarray(present.all(axis=0))
    if not everywhere.all():
        if how.missing == "error":
            lacking = documents[np.unique(keys[~everywhere, 0])]
            raise _absent(field, present, lacking, engine)
        if how.missing == "drop":
            kept = everywhere
        elif field.task == "filtering":
            for index in range(len(field.contenders)):
                _decide(counts, index, np.flatnonzero(~present[index]), _NO)
    cluster = _clusters(how, rows, place, len(keys))
    return Observations(
        contenders=field.contenders,
        counts={column: grid[:, kept] for column, grid in counts.items()},
        known={column: grid[:, kept] for column, grid in known.items()},
        values=counts["value"][:, kept] if field.task == "values" else None,
        cluster=np.unique(cluster[kept], return_inverse=True)[1].reshape(-1),
        documents=len(np.unique(keys[kept, 0])),
        dropped=int((~kept).sum()),
    )


def _columns(field: p.Field) -> tuple[str, ...]:
    return tuple(dict.fromkeys(column for s in field.statistics if s.ratio for column in s.ratio.columns))


def _decide(
    counts: Mapping[str, NDArray[Any]], system: int, places: NDArray[np.intp], falls: Mapping[str, str]
) -> None:
    """Puts some observations of a system into the cells of one decision; the other systems' cells tell the label."""
    cells = np.stack([counts[cell].any(axis=0) for cell in filtering.COLUMNS])
    for cell, target in falls.items():
        hit = places[cells[filtering.COLUMNS.index(cell), places]]
        counts[target][system, hit] = 1


def _clusters(how: p.Testing, rows: Mapping[str, Any], place: NDArray[np.intp], observations: int) -> NDArray[np.intp]:
    """The exchange unit of each observation: itself, or what shares its value of an attribute.

    A document without the attribute is a unit of its own.
    """
    if not how.exchange.attribute:
        return np.arange(observations)
    names = np.ma.asarray(rows["cluster"])
    without = np.ma.getmaskarray(names)
    first = np.unique(place, return_index=True)[1]
    known = {name: index for index, name in enumerate(sorted(set(names[~without].tolist())))}
    return np.array(
        [len(known) + index if without[row] else known[names[row]] for index, row in enumerate(first)], dtype=np.intp
    )


def _fixed(values: Floats) -> tuple[Integers, int]:
    """Values as whole numbers, and what they were multiplied by: a power of ten that keeps them exactly, else 2⁴⁰."""
    for digits in range(10):
        scaled = values * 10**digits
        if np.abs(scaled).max(initial=0) < 2**50 and (np.rint(scaled) / 10**digits == values).all():
            return np.rint(scaled).astype(np.int64), int(10**digits)
    return np.rint(values * _FINE).astype(np.int64), _FINE


def _whole(column: Any) -> Integers:
    return np.asarray(column, dtype=np.int64)


def _ranks(ids: Integers, in_order: Integers) -> Integers:
    """The place of each id in an order of ids: by name, so that coins do not depend on what was loaded first."""
    by_id = np.argsort(in_order)
    return by_id[np.searchsorted(in_order, ids, sorter=by_id)]


def _absent(field: p.Field, present: Booleans, lacking: Integers, engine: DuckDBEngine) -> QueryError:
    """Names the first documents that not every contender has, and who lacks them."""
    names = [str(name) for (name,) in engine.rows(sql.document_names([int(number) for number in lacking[:5]]))]
    without = [c.name for index, c in enumerate(field.contenders) if not present[index].all()]
    one = len(lacking) == 1
    many = "a document" if one else f"{len(lacking)} documents"
    more = f" and {len(lacking) - 5} more" if len(lacking) > 5 else ""
    are = f"{many} of {field.test_set.name} {'is' if one else 'are'}"
    return QueryError(
        f"{are} not there for every system: {', '.join(names)}{more}",
        hints=(
            f"not all are there for {some(without)}",
            "missing drop leaves them out, missing zero counts nothing for them",
        ),
    )
