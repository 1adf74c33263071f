"""The values of measures, from the sums that the database returned.

There is one line per system and `by` value. This module makes no table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from math import fsum, lcm, sqrt
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from evalhouse.warehouse.comparing.numbers import value as value_of_numbers
from evalhouse.warehouse.comparing.some_runs import InSomeRuns, in_some_runs, some_runs_query
from evalhouse.warehouse.filtering.generality import KeyCounts, expected_cells, expected_value
from evalhouse.warehouse.measures import (
    Function,
    OfNumbers,
    OverUnits,
    PrintedFigure,
    Probabilities,
    Ranking,
    Ratio,
    Statistic,
)
from evalhouse.warehouse.measures.averages import of_unit
from evalhouse.warehouse.measures.forms import Form, Summary, exact, to_float
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans import scores
from evalhouse.warehouse.plans.averages import common_scale, pooled_statistic
from evalhouse.warehouse.plans.fact_rows import FIXED_POINT
from evalhouse.warehouse.plans.path import Facts, Queries, Query
from evalhouse.warehouse.results import Cell

# === values of measures ===============================================================================================

By = tuple[Cell, ...]

OfRun = tuple[NDArray[Any], NDArray[Any]]
"""What is known of the documents of one run: their true numbers and its predictions, or its confidences, NaN where it
has none, and their labels.
"""


class ValueLine(Struct, frozen=True):
    """One row of the answer: a system, its `by` values, the documents behind it, and one value per statistic."""

    system: p.System
    by: By
    documents: int | None
    values: tuple[float | None, ...]
    source: str
    left_out: tuple[int, ...] = ()
    """How many documents have no value, a statistic; 0 where it is neither a mean over documents nor imported."""
    undefined: tuple[int, ...] = ()
    """How many units count 0 since the measure is undefined there, a statistic; 0 where it is no average over units."""
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
        statistics = tuple(
            replace(of, computation=of.of_one or of.computation, of_one=None) for of in self.entry.statistics
        )
        apart = replace(self.entry.in_runs(), statistics=statistics)
        return replace(self, entry=apart, of=f"runs for {measures}")

    def queries(self) -> Queries:
        """What brings the lines."""
        return (*self._of_systems(), *self._of_baselines())

    def _of_systems(self) -> Queries:
        if not self.entry.stored_systems:
            return ()
        if not self.entry.kind.by_document:
            return (Query(self.name("figures"), scores.published_rows(self.entry, self.by, self.where)),)
        more: Queries = ()
        if self.entry.of_confidences:
            more = (Query(self.name("confidences"), scores.confidences(self.entry.in_runs(), self.where), "columns"),)
        if self.entry.kind.of_numbers:
            numbers = scores.predicted_numbers(self.entry.in_runs(), self.by, self.where)
            more = (*more, Query(self.name("numbers"), numbers))
        if self.entry.units.runs_of_models is not None:
            more = (*more, some_runs_query(self.name("some runs"), self.entry, self.where))
        if self.entry.counts_by_unit:
            more = (*more, Query(self.name("sums by unit"), scores.sums_by_unit(self.entry, self.by, self.where)))
        return (Query(self.name("sums"), scores.score_sums(self.entry, self.by, self.where)), *more)

    def _of_baselines(self) -> Queries:
        if not self.entry.baselines:
            return ()
        return (Query(self.name("key"), scores.key_counts(self.entry, self.by, self.where)),)

    def lines(self, facts: Facts) -> list[ValueLine]:
        """The lines of the stored systems, from rows by document or from printed figures."""
        systems = {system.id: system for system in self.entry.stored_systems}
        if not systems:
            return []
        if not self.entry.kind.by_document:
            return self._printed_lines(systems, facts[self.name("figures")])
        split, by_unit, by_run = len(self.by), self._sums_by_unit(facts), self._by_run(facts)
        return [
            self._line_of_sums(
                systems[number],
                tuple(rest[:split]),
                rest[split],
                rest[split + 1 :],
                by_unit.get((number, *rest[:split]), {}),
                by_run.get((number, tuple(rest[:split])), ()),
            )
            for number, *rest in facts[self.name("sums")]
        ]

    def _sums_by_unit(self, facts: Facts) -> dict[tuple[Cell, ...], dict[str, int | None]]:
        """By system id and `by` values, the sums of each count of each unit."""
        found: dict[tuple[Cell, ...], dict[str, int | None]] = {}
        counts, split = self.entry.counts_by_unit, len(self.by)
        for number, *rest in facts[self.name("sums by unit")] if counts else ():
            own = found.setdefault((number, *rest[:split]), {})
            unit = rest[split]
            own.update((of_unit(count, unit), total) for count, total in zip(counts, rest[split + 1 :], strict=True))
        return found

    def _line_of_sums(
        self,
        system: p.StoredSystem,
        by: By,
        documents: int,
        sums: Sequence[int | None],
        by_unit: Mapping[str, int | None],
        runs: Sequence[OfRun],
    ) -> ValueLine:
        """The line of a system from its sums, which stand in the order of the statistics, but for those by unit."""
        values: list[float | None] = []
        left_out: list[int] = []
        undefined: list[int] = []
        remaining = iter(sums)
        for statistic in self.entry.statistics:
            left_out.append(0)
            undefined.append(0)
            if (average := statistic.over_units) is not None:
                taken = (
                    [_add_up(form, by_unit) for form in average.forms]
                    if statistic.by_unit
                    else [next(remaining) for _ in average.forms]
                )
                known = [total for total in taken if total is not None]
                values.append(average.value(known) if len(known) == len(taken) else None)
                undefined[-1] = average.undefined(known) if len(known) == len(taken) else 0
                continue
            if isinstance(statistic.computation, Ranking | Probabilities | OfNumbers):
                values.append(_mean_of_runs(statistic.computation, runs))
                continue
            taken = [next(remaining) for _ in range(_count_sums(statistic))]
            values.append(_value(statistic, self.entry, taken))
            if statistic.averaged or not self.entry.kind.is_counted:
                left_out[-1] = documents - (taken[1] or 0)
        return ValueLine(system, by, documents, tuple(values), "documents", tuple(left_out), tuple(undefined))

    def _by_run(self, facts: Facts) -> dict[tuple[int, By], list[OfRun]]:
        """By system id and `by` values, what is known of each document of each run, where a measure needs that."""
        known: dict[tuple[int, By], OfRun] = {}
        if self.entry.of_confidences:
            columns = facts[self.name("confidences")]
            system, label = np.asarray(columns["system"]), np.asarray(columns["label"], dtype=np.str_)
            confidence = np.ma.filled(columns["confidence"].astype(np.float64), np.nan)
            for number in np.unique(system).tolist():
                known[number, ()] = confidence[system == number], label[system == number]
        if self.entry.kind.of_numbers:
            rows: dict[tuple[int, By], list[tuple[float, float]]] = {}
            for number, *by, truth, prediction in facts[self.name("numbers")]:
                rows.setdefault((number, tuple(by)), []).append((truth, prediction))
            for key, pairs in rows.items():
                truths, predictions = np.array(pairs, dtype=np.float64).T
                known[key] = truths, predictions
        systems = {run: system for system, many in self.entry.units.runs.items() for run in many}
        found: dict[tuple[int, By], list[OfRun]] = {}
        for (number, by), of_run in sorted(known.items(), key=lambda item: item[0][0]):
            found.setdefault((systems.get(number, number), by), []).append(of_run)
        return found

    def _printed_lines(self, systems: Mapping[int, p.StoredSystem], rows: Sequence[tuple[Any, ...]]) -> list[ValueLine]:
        """The printed figures of each system, or the means of those that its runs have."""
        runs = {run: system for system, many in self.entry.units.runs.items() if system in systems for run in many}
        printed: dict[tuple[int, By], dict[PrintedFigure, list[float]]] = {}
        for number, *by, task, measure, figure in rows:
            of_system = printed.setdefault((runs.get(number, number), tuple(by)), {})
            of_system.setdefault(PrintedFigure(task, measure), []).append(figure)
        figures = {key: {figure: _mean(of_runs) for figure, of_runs in known.items()} for key, known in printed.items()}
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

    def in_some_runs(self, facts: Facts) -> list[InSomeRuns]:
        """The systems whose runs do not all have the same documents."""
        return in_some_runs(self.name("some runs"), self.entry, facts)

    def values(self, facts: Facts) -> dict[tuple[str, str], float | None]:
        """The value of each system and statistic, by name and label, where rows are not split."""
        return {
            (line.system.name, statistic.label): value
            for line in (*self.lines(facts), *self.expected_lines(facts))
            for statistic, value in zip(self.entry.statistics, line.values, strict=True)
        }


def pooled_lines(of_test_sets: Sequence[Valued], facts: Facts) -> list[ValueLine]:
    """The lines of the documents of several test sets together, of the systems that are on all of them."""
    entries = [valued.entry for valued in of_test_sets]
    scale = common_scale(entries)
    statistics = tuple(pooled_statistic(statistic, entries) for statistic in entries[0].statistics)
    units = entries[0].units
    if units.grouped is not None:
        units = replace(units, replication=replace(units.grouped, common=scale))
    together = replace(of_test_sets[0], entry=replace(entries[0], statistics=statistics, units=units))
    found: dict[tuple[str, By], list[tuple[int, list[int | None]]]] = {}
    by_unit: dict[tuple[str, By], dict[str, int | None]] = {}
    by_run: dict[tuple[str, By], list[list[OfRun]]] = {}
    split = len(together.by)
    for valued in of_test_sets:
        names = {system.id: system.name for system in valued.entry.stored_systems}
        factor = scale // valued.entry.units.scale
        factors = _factors_of_sums(valued.entry, factor)
        for (system, *parts_of_by), of_units in valued._sums_by_unit(facts).items() if names else ():
            so_far = by_unit.setdefault((names[system], tuple(parts_of_by)), {})  # type: ignore[index]
            for count, total in of_units.items():
                before = so_far.get(count, 0)
                so_far[count] = None if total is None or before is None else before + total * factor
        for (number, by), runs in valued._by_run(facts).items() if names else ():
            by_run.setdefault((names[number], by), []).append(runs)
        for number, *rest in facts[valued.name("sums")] if names else ():
            sums = [None if total is None else total * by for total, by in zip(rest[split + 1 :], factors, strict=True)]
            found.setdefault((names[number], tuple(rest[:split])), []).append((rest[split], sums))
    systems = {system.name: system for system in entries[0].stored_systems}
    lines = []
    for (name, by), parts in found.items():
        if len(parts) < len(entries):
            continue
        added = [
            None if any(total is None for total in totals) else sum(totals)
            for totals in zip(*(sums for _, sums in parts), strict=True)
        ]
        documents = sum(number for number, _ in parts)
        of_units, runs = by_unit.get((name, by), {}), _beside_one_another(by_run.get((name, by), ()))
        lines.append(together._line_of_sums(systems[name], by, documents, added, of_units, runs))
    return lines


def _factors_of_sums(entry: p.Entry, by: int) -> list[int]:
    """What each sum of an entry is multiplied by where its counts are: those of documents' own values are shares of
    documents, and of imported values only the first of two is a sum of values.
    """
    factors: list[int] = []
    for statistic in entry.statistics:
        many = 0 if statistic.by_unit else _count_sums(statistic)
        if not entry.kind.is_counted:
            factors += [by, 1]
        else:
            factors += [1 if statistic.averaged else by] * many
    return factors


def _mean_of_runs(measured: Ranking | Probabilities | OfNumbers, runs: Sequence[OfRun]) -> float | None:
    """The mean of the values of runs, None where one has none."""
    known = [value for run in runs if (value := _of_run(measured, *run)) is not None]
    return fsum(known) / len(known) if known and len(known) == len(runs) else None


def _of_run(measured: Ranking | Probabilities | OfNumbers, one: NDArray[Any], other: NDArray[Any]) -> float | None:
    """The value of one run; None where it is undefined, or a decision has no confidence."""
    if isinstance(measured, OfNumbers):
        return value_of_numbers(measured, one, other)
    return None if np.isnan(one).any() else measured.value(one, other)


def _beside_one_another(parts: Sequence[Sequence[OfRun]]) -> list[OfRun]:
    """The runs of a system on several test sets, those of one behind those of another: the next run of each, as often
    as their numbers have a common multiple.
    """
    turns = range(lcm(*map(len, parts)) if parts else 0)
    runs = ([part[turn % len(part)] for part in parts] for turn in turns)
    return [(np.concatenate([run[0] for run in of]), np.concatenate([run[1] for run in of])) for of in runs]


def _add_up(form: Form, sums: Mapping[str, int | None]) -> int | None:
    """The sum of a form from those of the counts of units; a unit without rows has none, and None is unknown."""
    known = [(sums.get(column, 0), by) for column, by in form]
    return sum((total or 0) * by for total, by in known) if all(total is not None for total, _ in known) else None


def _count_sums(statistic: Statistic) -> int:
    """How many sums a statistic takes from a row."""
    if statistic.of_numbers or statistic.of_confidences:
        return 0
    return 2 if statistic.averaged or statistic.sums is None else len(statistic.sums.forms)


def _value(statistic: Statistic, entry: p.Entry, sums: Sequence[int | None]) -> float | None:
    """The value of a statistic, rounded once; None where it is undefined or a count is unknown."""
    known = [total for total in sums if total is not None]
    if len(known) < len(sums):
        return None
    if isinstance(statistic.computation, Function) and not statistic.averaged:
        return statistic.computation.value(known)
    over, under = known
    fixed = FIXED_POINT if statistic.averaged or not entry.kind.is_counted else 1
    fixed *= 1 if entry.kind.is_counted else entry.units.scale
    if isinstance(statistic.computation, Summary):
        return to_float(statistic.computation.of_values(Fraction(over, fixed), under))
    if isinstance(statistic.computation, Ratio):
        return statistic.computation.value((over, under * fixed))
    return over / (under * fixed) if under else None


def _mean(values: Sequence[float]) -> float:
    """The mean of some printed figures, as it is written in decimals; the figure itself where there is one."""
    return float(sum(Decimal(repr(value)) for value in values) / len(values)) if len(values) > 1 else values[0]


def expectation(statistic: Statistic, share: Decimal, labels: Mapping[str, int]) -> float | None:
    """The value of a statistic of filtering that is expected of judging a share relevant at random, for a key."""
    key = KeyCounts(*(labels.get(label, 0) for label in ("relevant", "optional", "nonrelevant")))
    match statistic.computation:
        case Ratio() as ratio:
            return expected_value(ratio, key, share)
        case Function(expression):
            value = exact(expression, expected_cells(key, share))
            return None if value is None else float(value)
        case OverUnits() as average:
            cells = expected_cells(key, share)
            sums = [sum((by * cells[cell] for cell, by in form), Fraction(0)) for form in average.forms]
            return average.value(sums)
        case Probabilities():
            return None
        case Ranking() | OfNumbers() | PrintedFigure():
            return 0.5


# === deviations and spread ============================================================================================
# Systems beside one another: values less the mean of all systems, in standard deviations, and the spread of the
# replicates of one system.

# --- standardized values ----------------------------------------------------------------------------------------------


def standardize(
    lines: Sequence[ValueLine], everyone: Sequence[ValueLine], by: Sequence[p.Dimension], entry: p.Entry
) -> tuple[list[ValueLine], list[str]]:
    """The lines with their values less the mean of all systems, divided by their standard deviation (n − 1), and a note
    for each statistic (Webber, Moffat and Zobel 2008; EvaluatIR, Armstrong et al. 2009). Where rows are split, each
    part is standardized by itself; an attribute of the systems splits no part.
    """
    shared = [place for place, dimension in enumerate(by) if dimension.of != "system"]

    def part(line: ValueLine) -> By:
        return tuple(line.by[place] for place in shared)

    population: dict[tuple[int, By], list[float]] = {}
    for line in everyone:
        if isinstance(line.system, p.StoredSystem):
            for number, value in enumerate(line.values):
                if value is not None:
                    population.setdefault((number, part(line)), []).append(value)
    standards = {key: _standard(values) for key, values in population.items()}

    def moved(line: ValueLine) -> ValueLine:
        of_line = [standards.get((number, part(line))) for number in range(len(line.values))]
        values = tuple(
            None if value is None or standard is None else (value - standard[0]) / standard[1]
            for value, standard in zip(line.values, of_line, strict=True)
        )
        deviations = tuple(
            None if deviation is None or standard is None else deviation / standard[1]
            for deviation, standard in zip(line.deviations, of_line, strict=False)
        )
        return replace(line, values=values, deviations=deviations)

    notes = []
    for number, statistic in enumerate(entry.statistics):
        alike = [key for key, standard in standards.items() if key[0] == number and standard is None]
        if alike:
            what = "a part" if shared else entry.test_set.name
            notes.append(
                f"{statistic.label} cannot be standardized on {what}: that needs two systems with different values"
            )
        elif not shared and (standard := standards.get((number, ()))) is not None:
            mean, deviation = standard
            notes.append(
                f"{statistic.label} on {entry.test_set.name}: mean {mean:.4f}, standard deviation {deviation:.4f} "
                f"of {len(population[number, ()])} systems"
            )
    return [moved(line) for line in lines], notes


def _standard(values: Sequence[float]) -> tuple[float, float] | None:
    """The mean and the standard deviation (n − 1); None where no two values differ."""
    if min(values) == max(values):
        return None
    mean = fsum(values) / len(values)
    return mean, sqrt(fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


# --- replicates -------------------------------------------------------------------------------------------------------


def with_deviations(
    lines: Sequence[ValueLine], of_runs: Sequence[ValueLine], by: Sequence[p.Dimension], replicates: p.Replicates
) -> list[ValueLine]:
    """The lines with the number of their replicates and the standard deviation of these. What splits rows by systems
    is the same for all replicates of one, but for their names.
    """
    system_of = {run: number for number, runs in replicates.runs for run in runs}
    shared = [place for place, dimension in enumerate(by) if dimension.of != "system"]

    def part(line: ValueLine) -> By:
        return tuple(line.by[place] for place in shared)

    values_of: dict[tuple[int, By], list[tuple[float | None, ...]]] = {}
    for line in of_runs:
        if isinstance(line.system, p.StoredSystem):
            values_of.setdefault((system_of[line.system.id], part(line)), []).append(line.values)
    result = []
    for line in lines:
        number = line.system.id if isinstance(line.system, p.StoredSystem) else 0
        runs = values_of.get((number, part(line)), [])
        deviations: list[float | None] = []
        for place in range(len(line.values)):
            known = [value for values in runs if (value := values[place]) is not None]
            standard = _standard(known) if len(known) > 1 else None
            deviations.append(standard[1] if standard else 0.0 if len(known) > 1 else None)
        result.append(replace(line, replicates=len(runs), deviations=tuple(deviations)))
    return result
