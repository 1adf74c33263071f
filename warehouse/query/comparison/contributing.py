"""The documents behind a difference, one by one: their values, what each contributes to it, and their names. Nothing is
tested here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warehouse.query import plan as p
from warehouse.query.comparison.observations import document_names
from warehouse.query.comparison.pairs import Comparison, Pair, comparison_queries, comparisons
from warehouse.query.path import Facts, Queries
from warehouse.significance.contributions import contributions
from warehouse.significance.paired import Floats

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDING = 1e-12
"""A contribution below this share of all contributions together is only rounding."""


class Listed(Struct, frozen=True):
    """Two systems of a comparison on each of its documents, in the order of names.

    `first` and `second` are their values, NaN where a document has none; `contributed` what each adds to the
    difference, 0 where the two do not differ. `difference` is that of the totals, None where they are equal.
    """

    comparison: Comparison
    pair: Pair
    names: NDArray[Any]
    first: Floats
    second: Floats
    contributed: Floats
    difference: float | None

    @property
    def systems(self) -> tuple[str, str]:
        """The names of the two systems."""
        a, b = (self.comparison.entry.systems[place].name for place in self.pair)
        return a, b

    @property
    def for_first(self) -> Floats:
        """How far each document favours the first system; below 0, the second."""
        return -self.contributed if self.comparison.statistic.measure.lower_is_better else self.contributed


def by_document(entry: p.Entry) -> p.Entry:
    """An entry with its documents one by one, whatever tests would exchange."""
    return replace(entry, units=entry.units.list_documents())


def listed_queries(how: p.Testing, entry: p.Entry) -> Queries:
    """What brings the documents of an entry."""
    return comparison_queries(how, by_document(entry), None)


def listed(how: p.Testing, entry: p.Entry, facts: Facts) -> Iterator[Listed]:
    """Every pair of systems by every statistic of an entry.

    Raises QueryError for a document that not every system has, and for a statistic that is undefined.
    """
    for batch in comparisons(how, by_document(entry), None, facts):
        for comparison in batch:
            names = document_names(entry, facts)[comparison.observations.document]
            for pair in comparison.pairs:
                contributed = contributed_to(comparison, pair)
                first, second = (comparison.sums.own_values(place) for place in pair)
                yield Listed(comparison, pair, names, first, second, contributed, whole(comparison, pair, contributed))


def contributed_to(comparison: Comparison, pair: Pair) -> Floats:
    """What each exchange unit adds to the difference of two systems."""
    sums = comparison.data_of(*pair)
    found = float(sums.factor) * contributions(sums)
    # A unit that adds nothing but rounding adds nothing.
    return np.where(np.abs(found) > ROUNDING * np.abs(found).max(initial=0.0), found, 0.0)


def whole(comparison: Comparison, pair: Pair, contributed: Floats) -> float | None:
    """The difference of two systems, None where they are equal."""
    difference = comparison.difference(*pair) or 0.0
    return difference if abs(difference) > ROUNDING * float(np.abs(contributed).sum()) else None
