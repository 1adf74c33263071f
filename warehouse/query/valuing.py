"""The values of measures, from sums of the database: one line per system and `by` values. It makes no table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from warehouse.filtering.generality import KeyCounts
from warehouse.filtering.guessing import expected, expected_cells
from warehouse.measures import Function, PrintedFigure, Ranking, Ratio, Statistic, settle
from warehouse.measures.expression import exact
from warehouse.query import plan as p
from warehouse.query.compile import keys, scores
from warehouse.query.compile.fact_rows import FIXED_POINT
from warehouse.query.path import Facts, Queries, Query
from warehouse.results import Cell

By = tuple[Cell, ...]


class ValueLine(Struct, frozen=True):
    """One row of the answer: a system, its `by` values, the documents behind it, and one value per statistic."""

    system: p.System
    by: By
    documents: int | None
    values: tuple[float | None, ...]
    source: str
    left_out: tuple[int, ...] = ()
    """How many documents have no value, a statistic; 0 where it is neither a mean over documents nor imported."""
    replicates: int | None = None
    """How many runs the system is averaged from."""
    deviations: tuple[float | None, ...] = ()
    """The standard deviation of the runs' own values, a statistic."""


class Valued(Struct, frozen=True):
    """What lines are asked for: an entry, what its rows are split by and which are chosen. Where one statement asks of
    an entry twice, `of` tells the facts apart.
    """

    entry: p.Entry
    by: tuple[p.Dimension, ...] = ()
    where: p.Filter | None = None
    of: str = ""

    def name(self, what: str) -> str:
        """What the facts of a query are called."""
        return f"{what}{f' of {self.of}' if self.of else ''} on {self.entry.test_set.name!r}"

    def of_runs(self) -> Valued:
        """Each run of each system by itself, split and chosen as their averages are."""
        measures = ", ".join(repr(of.label) for of in self.entry.statistics)
        statistics = tuple(settle(of.measure, of.settings, of.averaged) for of in self.entry.statistics)
        apart = replace(self.entry.in_runs(), statistics=statistics)
        return replace(self, entry=apart, of=f"runs for {measures}")

    def queries(self) -> Queries:
        """What brings the lines."""
        return (*self._of_systems(), *self._of_baselines())

    def _of_systems(self) -> Queries:
        if not self.entry.stored_systems:
            return ()
        if not self.entry.task.by_document:
            return (Query(self.name("figures"), scores.published(self.entry, self.by, self.where)),)
        orders: Queries = ()
        if any(isinstance(statistic.computation, Ranking) for statistic in self.entry.statistics):
            orders = (Query(self.name("confidences"), scores.confidences(self.entry, self.where), "columns"),)
        return (Query(self.name("sums"), scores.score_sums(self.entry, self.by, self.where)), *orders)

    def _of_baselines(self) -> Queries:
        if not self.entry.baselines:
            return ()
        return (Query(self.name("key"), keys.key_counts(self.entry, self.by, self.where)),)

    def lines(self, facts: Facts) -> list[ValueLine]:
        """The lines of the stored systems, from rows by document or from printed figures."""
        systems = {system.id: system for system in self.entry.stored_systems}
        if not systems:
            return []
        if not self.entry.task.by_document:
            return self._printed(systems, facts[self.name("figures")])
        split = len(self.by)
        return [
            self._summed(systems[number], tuple(rest[:split]), rest[split], rest[split + 1 :], facts)
            for number, *rest in facts[self.name("sums")]
        ]

    def _summed(
        self, system: p.StoredSystem, by: By, documents: int, sums: Sequence[int | None], facts: Facts
    ) -> ValueLine:
        """The line of a system from its sums, which stand in the order of the statistics."""
        values: list[float | None] = []
        left_out: list[int] = []
        remaining = iter(sums)
        for statistic in self.entry.statistics:
            left_out.append(0)
            if isinstance(statistic.computation, Ranking):
                values.append(_of_order(statistic.computation, system, facts[self.name("confidences")]))
                continue
            taken = [next(remaining) for _ in range(_taken(statistic))]
            values.append(_value(statistic, self.entry, taken))
            if statistic.averaged or not self.entry.task.is_counted:
                left_out[-1] = documents - (taken[1] or 0)
        return ValueLine(system, by, documents, tuple(values), "documents", tuple(left_out))

    def _printed(self, systems: Mapping[int, p.StoredSystem], rows: Sequence[tuple[Any, ...]]) -> list[ValueLine]:
        figures: dict[tuple[int, By], dict[PrintedFigure, float]] = {}
        for number, *by, task, measure, printed in rows:
            figures.setdefault((number, tuple(by)), {})[PrintedFigure(task, measure)] = printed
        wanted = [statistic.computation for statistic in self.entry.statistics]
        return [
            ValueLine(systems[number], by, None, tuple(known.get(figure) for figure in wanted), "published")  # type: ignore[arg-type]
            for (number, by), known in figures.items()
            if any(figure in known for figure in wanted)
        ]

    def expected_lines(self, facts: Facts) -> list[ValueLine]:
        """The expected values of judging a share of the documents relevant at random (Lewis and Tong 1992, figure 2,
        (5) to (7)).
        """
        if not self.entry.baselines:
            return []
        counts: dict[By, dict[str, int]] = {}
        for *by, label, documents in facts[self.name("key")]:
            counts.setdefault(tuple(by), {})[label] = documents
        return [
            ValueLine(
                baseline,
                by,
                sum(labels.values()),
                tuple(expectation(statistic, baseline.share, labels) for statistic in self.entry.statistics),
                "documents",
            )
            for baseline in self.entry.baselines
            for by, labels in counts.items()
        ]

    def values(self, facts: Facts) -> dict[tuple[str, str], float | None]:
        """The value of each system and statistic, by name and label, where rows are not split."""
        return {
            (line.system.name, statistic.label): value
            for line in (*self.lines(facts), *self.expected_lines(facts))
            for statistic, value in zip(self.entry.statistics, line.values, strict=True)
        }


def _taken(statistic: Statistic) -> int:
    """How many sums a statistic takes from a row."""
    return 2 if statistic.averaged or statistic.sums is None else len(statistic.sums.forms)


def _value(statistic: Statistic, entry: p.Entry, sums: Sequence[int | None]) -> float | None:
    """The value of a statistic, rounded once; None where it is undefined or a count is unknown."""
    known = [total for total in sums if total is not None]
    if len(known) < len(sums):
        return None
    if isinstance(statistic.computation, Function) and not statistic.averaged:
        return statistic.computation.value(known)
    over, under = known
    fixed = FIXED_POINT if statistic.averaged or not entry.task.is_counted else 1
    if isinstance(statistic.computation, Ratio):
        return statistic.computation.value((over, under * fixed))
    return over / (under * fixed) if under else None


def _of_order(ranking: Ranking, system: p.StoredSystem, columns: Mapping[str, Any]) -> float | None:
    """The value of a system's order; None where a decision has no confidence."""
    import numpy as np

    own = np.asarray(columns["system"]) == system.id
    confidence = columns["confidence"][own]
    if np.ma.getmaskarray(confidence).any():
        return None
    return ranking.value(np.asarray(confidence, dtype=np.float64), np.asarray(columns["label"][own], dtype=np.str_))


def expectation(statistic: Statistic, share: Decimal, labels: Mapping[str, int]) -> float | None:
    """The value of a statistic of filtering that is expected of judging a share relevant at random, for a key."""
    key = KeyCounts(*(labels.get(label, 0) for label in ("relevant", "optional", "nonrelevant")))
    match statistic.computation:
        case Ratio() as ratio:
            return expected(ratio, key, share)
        case Function(expression):
            value = exact(expression, expected_cells(key, share))
            return None if value is None else float(value)
        case Ranking() | PrintedFigure():
            return 0.5
