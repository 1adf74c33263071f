"""Between which limits verdicts hold, where not everything is known: missing documents could have been anything, and
optional documents may be labelled either way.

The verdict on a pair is then the one that holds for all that could be. What could be is tried elsewhere, by one module
for each, which is imported where its bounds are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from warehouse.query.comparison.deciding import Decisions
from warehouse.query.comparison.pairs import Comparison
from warehouse.query.conventions import is_bounded
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts

if TYPE_CHECKING:
    from warehouse.query.comparison.missing_bounds import Bounded


class Bounds(Struct, frozen=True):
    """The verdicts on pairs that hold between their bounds, the bounds of those that have some, and notes."""

    decided: Decisions
    of_pairs: Bounded
    notes: tuple[str, ...] = ()


def bounds_of(
    comparisons: Sequence[Comparison], decided: Decisions, facts: Facts, workforce: Workforce, pairs: int
) -> Bounds:
    """The bounds that the statement asks for of comparisons of one test set, which were `decided` without them. It
    compares `pairs` in all."""
    bounds = Bounds(decided, {})
    if comparisons[0].how.missing == "bounds":
        bounds = _over_missing(comparisons, decided, facts, workforce, pairs)
    optional = [comparison for comparison in comparisons if is_bounded(comparison.statistic)]
    return _over_labellings(optional, bounds, workforce, pairs) if optional else bounds


def _over_missing(
    comparisons: Sequence[Comparison], decided: Decisions, facts: Facts, workforce: Workforce, pairs: int
) -> Bounds:
    """The bounds over everything that missing documents could have been."""
    from warehouse.query.comparison import missing_bounds

    bounded = missing_bounds.bounded(comparisons, decided, facts, workforce, pairs)
    over_all = missing_bounds.over_all(comparisons, decided, bounded)
    notes = (note for one in comparisons for note in missing_bounds.notes(one, over_all, bounded))
    return Bounds(over_all, bounded, tuple(notes))


def _over_labellings(comparisons: Sequence[Comparison], known: Bounds, workforce: Workforce, pairs: int) -> Bounds:
    """The bounds over every labelling of the optional documents, beside those that are known."""
    from warehouse.query.comparison import optional_bounds

    bounded, partly = optional_bounds.bounded(comparisons, workforce, pairs)
    of_pairs = known.of_pairs | bounded
    decided = known.decided | optional_bounds.over_all(comparisons, known.decided, of_pairs)
    notes = (
        note
        for one in comparisons
        for note in optional_bounds.notes(one, decided, of_pairs, partly.get(one.statistic.label))
    )
    return Bounds(decided, of_pairs, (*known.notes, *notes))
