"""Into which slices the documents of a test set fall, by what they have of some attributes, and how each slice is said
as a condition. Nothing is tested here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from grammar import nodes as n
from grammar.editing.hints import brief
from grammar.errors import QueryError
from grammar.printer import to_text
from warehouse.loading.staging.cells import is_number
from warehouse.query import plan as p
from warehouse.query.comparison.contributing import by_document
from warehouse.query.comparison.observations import Observations, document_ids
from warehouse.query.comparison.pairs import comparison_queries
from warehouse.query.compile import unit_rows
from warehouse.query.path import Facts, Queries, Query
from warehouse.significance.paired import Places
from warehouse.significance.slices import Partition

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEW_NUMBERS = 6
"""A number that takes no more values than this is not cut into ranges."""

RANGES = 4
"""Other numbers are cut at their quartiles."""

MOST_SLICES = 20_000


class Split(Struct, frozen=True):
    """What documents are sliced by: their label, or an attribute; one that is `numeric` may be cut into ranges."""

    dimension: p.Dimension
    numeric: bool


class Cut(Struct, frozen=True):
    """The slices by one attribute or two: the name of these, each slice as the conditions that hold in it and as it is
    called on screen, and in which slice each observation is.

    `natural` says that the slices have an order of their own; `at` are the numbers at which a number was cut.
    """

    name: str
    conditions: tuple[tuple[n.Condition, ...], ...]
    names: tuple[str, ...]
    partition: Partition
    natural: bool = False
    at: tuple[str, ...] = ()
    pair: bool = False
    not_a_number: str | None = None
    """Why numbers were not cut, where most values are numbers."""

    def said(self, place: int) -> str:
        """A slice as a condition: document.source = "radio"."""
        return " and ".join(map(to_text, self.conditions[place]))


def observed_entry(entry: p.Entry) -> p.Entry:
    """An entry as its observations are read: documents, or their units where these are exchanged."""
    documents = by_document(entry)
    return documents.exchange_by(entry.units.exchange) if entry.units.within_documents else documents


def slicing_queries(how: p.Testing, entry: p.Entry, splits: Sequence[Split]) -> Queries:
    """What brings the observations of an entry, and what their documents have of the attributes."""
    exchanged = [Split(dimension, numeric=False) for dimension in entry.units.shared]
    of_attributes = (query for split in dict.fromkeys((*splits, *exchanged)) for query in _attribute(entry, split))
    return (*comparison_queries(how, observed_entry(entry), None), *of_attributes)


def _attribute(entry: p.Entry, split: Split) -> Iterator[Query]:
    dimension = split.dimension
    if split.numeric:
        yield Query(_name("numbers", entry, split), unit_rows.numbers_of(entry, dimension), "columns")
    else:
        yield Query(_name("values", entry, split), unit_rows.values_of(entry, dimension))
        yield Query(_name("places", entry, split), unit_rows.places_of(entry, dimension), "columns")


def _name(what: str, entry: p.Entry, split: Split) -> str:
    return f"{what} of {split.dimension.name} on {entry.test_set.name!r}"


def exchange_units(entry: p.Entry, observations: Observations, facts: Facts) -> Places:
    """The exchange unit of each observation, numbered from 0 as for tests of the whole."""
    if not entry.units.shared:
        return np.arange(len(observations.cluster))
    place = _places(entry, Split(entry.units.exchange, numeric=False), observations, facts)
    several = int(place.max(initial=-1)) + 1
    alone = np.where(place < 0, several + _of_document(observations), place)
    return np.unique(alone, return_inverse=True)[1].reshape(-1)


def cuts(entry: p.Entry, splits: Sequence[Split], depth: int, observations: Observations, facts: Facts) -> list[Cut]:
    """The slices by each attribute, and with a depth of 2 by every two of them.

    Raises QueryError for more slices than MOST_SLICES.
    """
    single = [_cut(entry, split, observations, facts) for split in splits]
    both = [_crossed(first, second) for first, second in combinations(single, 2)] if depth > 1 else []
    count = sum(cut.partition.slices for cut in (*single, *both))
    if count > MOST_SLICES:
        most = max(single, key=lambda cut: cut.partition.slices)
        raise QueryError(
            f"that would be {count:,} slices on {entry.test_set.name}; at most {MOST_SLICES:,} are allowed",
            hints=(f"{most.name} has {most.partition.slices:,} values",),
        )
    return [*single, *both]


def _cut(entry: p.Entry, split: Split, observations: Observations, facts: Facts) -> Cut:
    attribute = n.Attribute(split.dimension.of, split.dimension.attribute)
    short, missing = split.dimension.attribute or split.dimension.of, (n.IsMissing(attribute),)
    if not split.numeric:
        values = [str(value) for (value,) in facts[_name("values", entry, split)]]
        place = _places(entry, split, observations, facts)
        kept, place = np.unique(np.where(place < 0, len(values), place), return_inverse=True)
        conditions: tuple[tuple[n.Condition, ...], ...] = tuple(
            missing if value == len(values) else (n.Relation(attribute, "=", n.Text(values[value])),)
            for value in kept.tolist()
        )
        names = [f"{short} {values[at]}" if at < len(values) else f"{short} missing" for at in kept.tolist()]
        partition = Partition(place.reshape(-1), len(kept))
        odd = _odd([values[at] for at in kept.tolist() if at < len(values)])
        return Cut(split.dimension.name, conditions, tuple(names), partition, not_a_number=odd)
    rows = facts[_name("numbers", entry, split)]
    numbers = _of_documents(rows, "number", entry, observations, facts, np.nan)
    known = numbers[np.isfinite(numbers)]
    distinct = np.unique(known)
    if len(distinct) <= FEW_NUMBERS:
        at: NDArray[np.float64] = distinct
        conditions = tuple((n.Relation(attribute, "=", _number(number)),) for number in distinct.tolist())
        called = [f"{short} {to_text(_number(number))}" for number in distinct.tolist()]
        place = np.searchsorted(distinct, numbers)
    else:
        at = np.unique(np.quantile(known, np.arange(1, RANGES) / RANGES, method="inverted_cdf"))
        at = at[at > distinct[0]]
        edges = [_number(number) for number in at.tolist()]
        conditions = tuple(
            _range(attribute, low, high) for low, high in zip([None, *edges], [*edges, None], strict=True)
        )
        at_edges = [to_text(edge) for edge in edges]
        called = [f"{short} < {at_edges[0]}"] if at_edges else [short]
        called += [f"{low} ≤ {short} < {high}" for low, high in pairwise(at_edges)]
        called += [f"{short} ≥ {at_edges[-1]}"] if at_edges else []
        place = np.searchsorted(at, numbers, side="right")
    place = np.where(np.isfinite(numbers), place, len(conditions))
    kept, place = np.unique(place, return_inverse=True)
    said = tuple((*conditions, missing)[value] for value in kept.tolist())
    names = [(*called, f"{short} missing")[value] for value in kept.tolist()]
    ranges = tuple(to_text(_number(number)) for number in at.tolist()) if len(distinct) > FEW_NUMBERS else ()
    partition = Partition(place.reshape(-1), len(kept))
    return Cut(split.dimension.name, said, tuple(names), partition, natural=True, at=ranges)


def _odd(values: Sequence[str]) -> str | None:
    """Which value of an attribute is not a number, where most are and they are too many to stand for themselves."""
    others = [value for value in values if not is_number(value)]
    if len(values) - len(others) <= max(FEW_NUMBERS, len(values) // 2):
        return None
    return f'"{brief(others[0])}" is not a number' if others else "on another test set not all its values are numbers"


def _number(number: float) -> n.Number:
    return n.Number(Decimal(repr(number)).normalize())


def _range(attribute: n.Attribute, low: n.Number | None, high: n.Number | None) -> tuple[n.Condition, ...]:
    """From a number on, and below another."""
    above = (n.Relation(attribute, ">=", low),) if low is not None else ()
    below = (n.Relation(attribute, "<", high),) if high is not None else ()
    return (*above, *below)


def _crossed(first: Cut, second: Cut) -> Cut:
    """The slices by two attributes that hold anything."""
    wide = second.partition.slices
    kept, place = np.unique(first.partition.place * wide + second.partition.place, return_inverse=True)
    conditions = tuple((*first.conditions[pair // wide], *second.conditions[pair % wide]) for pair in kept.tolist())
    names = tuple(f"{first.names[pair // wide]}, {second.names[pair % wide]}" for pair in kept.tolist())
    partition = Partition(place.reshape(-1), len(kept))
    return Cut(f"{first.name} and {second.name}", conditions, names, partition, pair=True)


# --- what documents have ----------------------------------------------------------------------------------------------


def _places(entry: p.Entry, split: Split, observations: Observations, facts: Facts) -> Places:
    """The place of the value that the document of each observation has, −1 where it has none."""
    found = _of_documents(facts[_name("places", entry, split)], "place", entry, observations, facts, -1)
    return np.asarray(found, dtype=np.intp)


def _of_documents(
    rows: Mapping[str, Any], column: str, entry: p.Entry, observations: Observations, facts: Facts, without: float
) -> NDArray[Any]:
    """What the document of each observation has in a column."""
    ids = document_ids(entry, facts)[_of_document(observations)]
    having = np.asarray(rows["document"], dtype=np.int64)
    order = np.argsort(having)
    at = np.minimum(np.searchsorted(having[order], ids), max(len(having) - 1, 0))
    if not len(having):
        return np.full(ids.shape, without)
    return np.where(having[order][at] == ids, np.asarray(rows[column])[order][at], without)


def _of_document(observations: Observations) -> Places:
    if observations.document is None:
        raise ValueError("the documents were not read one by one")
    return observations.document
