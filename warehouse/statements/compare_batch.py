"""What `compare` finds of comparisons that have the same observations: verdicts, bounds, margins and intervals of their
pairs, the rows that show them, and the notes on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from math import isfinite

from msgspec import Struct

from warehouse.query.comparison.bounds import Bounds, bounds_of
from warehouse.query.comparison.deciding import decisions
from warehouse.query.comparison.interval_notes import comparison_interval_notes
from warehouse.query.comparison.intervals import Intervals, intervals
from warehouse.query.comparison.margins import INTERVAL, Margined, Margins, margin_notes, margined
from warehouse.query.comparison.pairs import Comparison, Pair
from warehouse.query.comparison.procedures import statistics
from warehouse.query.comparison.tested_pairs import TestedPairs
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts
from warehouse.query.table_rows import TableRows
from warehouse.results import Cell
from warehouse.statements.compare_columns import BOUNDS, MARGIN


class Batch(Struct, frozen=True, eq=False):
    """Comparisons of one test set and what was found of their pairs. Without margin or intervals there are none."""

    comparisons: Sequence[Comparison]
    bounds: Bounds
    margins: Margins
    limits: Intervals

    @property
    def resamples(self) -> int:
        """The most resamples that an interval took."""
        return max((interval.resamples for interval in self.limits.values()), default=0)

    @property
    def enough(self) -> list[int | None]:
        """About how many shuffles would decide each pair that is undecided."""
        keys = ((one.statistic.label, pair) for one in self.comparisons for pair in one.pairs)
        return [(self.margins[key] if key in self.margins else self.bounds.decided[key]).enough for key in keys]

    def add_notes(self, tested: TestedPairs) -> None:
        """Adds the pairs, and what there is to note of them."""
        tested.noted.extend(self.bounds.notes)
        for comparison in self.comparisons:
            tested.add(comparison, self.bounds.decided, margin_notes(comparison, self.margins))
            tested.look_at_pairs(comparison, self.bounds.decided)
            if self.limits:
                tested.noted.extend(comparison_interval_notes(comparison, self.limits))

    def add_rows(self, rows: TableRows) -> None:
        """Adds one row per pair."""
        for comparison in self.comparisons:
            of_all = _of_all(comparison)
            test_statistics = statistics(comparison)
            differing = [None] * len(comparison.pairs) if comparison.replicates else comparison.differing
            beside = zip(_units(comparison), differing, comparison.correlations, comparison.inflations, strict=True)
            for pair, (units, unlike, r, inflated) in zip(comparison.pairs, beside, strict=True):
                rows.add(
                    **of_all,
                    **_of_systems(comparison, pair),
                    **self._of_verdict(comparison, pair, test_statistics.get(pair)),
                    **(self._of_bounds(comparison, pair) if BOUNDS[0] in rows.names else {}),
                    units=units,
                    differing=unlike,
                    correlation=r,
                    inflation=inflated,
                )

    def _of_verdict(self, comparison: Comparison, pair: Pair, statistic: float | None) -> dict[str, Cell]:
        """The cells of the test and of the interval; the statistic is that of the outcome where None is given."""
        key = comparison.statistic.label, pair
        decided, margin, interval = self.bounds.decided[key], self.margins.get(key), self.limits.get(key)
        outcome = decided.outcome
        statistic = outcome.statistic if statistic is None else statistic
        return {
            "method": INTERVAL if margin is not None and margin.by_interval else outcome.method,
            "shuffles": outcome.shuffles,
            "nge": outcome.nge,
            "p": outcome.p,
            "p_adjusted": decided.adjusted,
            "confidence": decided.confidence,
            "verdict": decided.verdict if margin is None else margin.verdict,
            "ci_low": None if interval is None else interval.low,
            "ci_high": None if interval is None else interval.high,
            "statistic": statistic if statistic is None or isfinite(statistic) else None,
            **_of_margin(comparison.how.margin, margin),
        }

    def _of_bounds(self, comparison: Comparison, pair: Pair) -> dict[str, Cell]:
        bounds = self.bounds.of_pairs.get((comparison.statistic.label, pair))
        return {name: None if bounds is None else getattr(bounds, name) for name in BOUNDS}


def batch_of(
    comparisons: Sequence[Comparison], facts: Facts, workforce: Workforce, pairs: int, with_intervals: bool
) -> Batch:
    """What is found of comparisons of one test set. The statement makes verdicts on `pairs` in all.

    Raises QueryError where a test refuses a pair.
    """
    bounds = bounds_of(comparisons, decisions(comparisons, workforce, pairs), facts, workforce, pairs)
    margins = margined(comparisons, bounds.decided, workforce, pairs)
    return Batch(comparisons, bounds, margins, intervals(comparisons, workforce) if with_intervals else {})


def _of_all(comparison: Comparison) -> dict[str, Cell]:
    """The cells that all pairs of a comparison have alike."""
    how, entry = comparison.how, comparison.entry
    return {
        "test_set": entry.test_set.name,
        "task": entry.task.name,
        "measure": comparison.statistic.label,
        "test": how.test_name,
        "sides": how.sides,
        "level": float(how.level),
        "documents": comparison.observations.documents,
        "seed": how.seed,
    }


def _of_systems(comparison: Comparison, pair: Pair) -> dict[str, Cell]:
    """The cells of the two systems."""
    (a, b), systems = pair, comparison.entry.systems
    return {
        "system_a": systems[a].name,
        "system_b": systems[b].name,
        "value_a": comparison.values[a],
        "value_b": comparison.values[b],
        "difference": comparison.difference(a, b),
    }


def _units(comparison: Comparison) -> list[int]:
    """How many units each pair has: where whole runs change sides, its runs."""
    if runs := comparison.replicates:
        return [len(runs[a]) + len(runs[b]) for a, b in comparison.pairs]
    return [comparison.observations.units] * len(comparison.pairs)


def _of_margin(wanted: Decimal | None, margin: Margined | None) -> dict[str, Cell]:
    if margin is None or wanted is None:
        return {}
    return dict(zip(MARGIN, (float(wanted), margin.not_worse, margin.not_better), strict=True))
