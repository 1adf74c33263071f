"""The values of measures, from sums that the database brings: a line a contender and `by` values. It makes no table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from warehouse.filtering.generality import KeyCounts
from warehouse.filtering.guessing import expected, expected_cells
from warehouse.measures import Statistic
from warehouse.measures.expression import columns, exact
from warehouse.measures.filtering import auc
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.results import Cell

By = tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the answer: a contender, its `by` values, the documents behind it, and a value a statistic."""

    contender: p.System
    by: By
    documents: int | None
    values: tuple[float | None, ...]
    source: str
    left_out: tuple[int, ...] = ()
    """How many documents have no value, a statistic; 0 where it is no mean over documents."""
    replicates: int | None = None
    """How many runs the contender is averaged from."""
    deviations: tuple[float | None, ...] = ()
    """The standard deviation of the runs' own values, a statistic."""


def values_on(entry: p.Entry, where: p.Filter | None, engine: DuckDBEngine) -> dict[tuple[str, str], float | None]:
    """The value of each contender and statistic of one test set, by name and label."""
    plan = p.ScorePlan("", (entry,), (), where, "system", False, None)
    lines = [*stored(plan, entry, engine), *expected_lines(plan, entry, engine)]
    return {
        (line.contender.name, statistic.label): value
        for line in lines
        for statistic, value in zip(entry.statistics, line.values, strict=True)
    }


# --- from rows by document --------------------------------------------------------------------------------------------


def stored(plan: p.ScorePlan, entry: p.Entry, engine: DuckDBEngine) -> list[Line]:
    """The lines of the systems of a entry, from rows by document or from printed figures."""
    systems = {contender.id: contender for contender in entry.contenders if isinstance(contender, p.StoredSystem)}
    if not systems:
        return []
    if entry.task == "published":
        return _printed(plan, entry, systems, engine)
    lines = []
    for row in engine.rows(sql.score_sums(entry, plan.by, plan.where)):
        system, by, documents = systems[row[0]], row[1 : 1 + len(plan.by)], row[1 + len(plan.by)]
        sums = iter(row[2 + len(plan.by) :])
        values = []
        left_out = []
        for statistic in entry.statistics:
            left_out.append(0)
            if statistic.ratio is None and statistic.expression is None:
                values.append(_auc(statistic, entry, system, plan, engine))
            else:
                taken = [next(sums) for _ in range(_taken(statistic))]
                values.append(_value(statistic, entry, taken))
                if statistic.averaged:
                    left_out[-1] = documents - (taken[1] or 0)
        lines.append(Line(system, tuple(by), documents, tuple(values), "documents", tuple(left_out)))
    return lines


def _taken(statistic: Statistic) -> int:
    """How many sums a statistic takes from a row."""
    plain = statistic.expression is not None and not statistic.averaged
    return len(columns(statistic.expression)) if plain and statistic.expression else 2


def _value(statistic: Statistic, entry: p.Entry, sums: Sequence[int | None]) -> float | None:
    """The value of a statistic, rounded once; None where it is undefined or a count is unknown."""
    known = [each for each in sums if each is not None]
    if len(known) < len(sums):
        return None
    if statistic.expression is not None and not statistic.averaged:
        found = exact(statistic.expression, dict(zip(columns(statistic.expression), known, strict=True)))
        return None if found is None else float(found)
    over, under = known
    fixed = sql.FIXED_POINT if statistic.averaged or entry.task == "values" else 1
    if statistic.ratio is not None:
        return statistic.ratio.value(over, under * fixed)
    return over / (under * fixed) if under else None


def _auc(
    statistic: Statistic, entry: p.Entry, system: p.StoredSystem, plan: p.ScorePlan, engine: DuckDBEngine
) -> float | None:
    import numpy as np

    columns = engine.columns(sql.confidences(entry, system.id, plan.where))
    confidence = columns["confidence"]
    if np.ma.getmaskarray(confidence).any():
        return None
    labels = np.asarray(columns["label"], dtype=np.str_)
    return auc(np.asarray(confidence, dtype=np.float64), labels, str(statistic.settings["optional"]))


def _printed(
    plan: p.ScorePlan, entry: p.Entry, systems: Mapping[int, p.StoredSystem], engine: DuckDBEngine
) -> list[Line]:
    figures: dict[tuple[int, By], dict[tuple[str, str] | None, float]] = {}
    for number, *by, task, measure, value in engine.rows(sql.published(entry, plan.by, plan.where)):
        figures.setdefault((number, tuple(by)), {})[task, measure] = value
    wanted = [statistic.measure.printed_as for statistic in entry.statistics]
    return [
        Line(systems[number], by, None, tuple(found.get(each) for each in wanted), "published")
        for (number, by), found in figures.items()
        if any(each in found for each in wanted)
    ]


# --- expected of a baseline -------------------------------------------------------------------------------------------


def expected_lines(plan: p.ScorePlan, entry: p.Entry, engine: DuckDBEngine) -> list[Line]:
    """The expected values of judging a share of the documents relevant at random (Lewis and Tong 1992, figure 2, (5)
    to (7)).
    """
    baselines = [contender for contender in entry.contenders if isinstance(contender, p.Baseline)]
    if not baselines:
        return []
    counts: dict[By, dict[str, int]] = {}
    for row in engine.rows(sql.key_counts(entry.test_set, plan.by, plan.where)):
        counts.setdefault(tuple(row[:-2]), {})[row[-2]] = row[-1]
    return [
        Line(
            baseline,
            by,
            sum(labels.values()),
            tuple(expectation(statistic, baseline.share, labels) for statistic in entry.statistics),
            "documents",
        )
        for baseline in baselines
        for by, labels in counts.items()
    ]


def expectation(statistic: Statistic, share: Decimal, labels: Mapping[str, int]) -> float | None:
    """The value of a statistic of filtering that is expected of judging a share relevant at random, for a key."""
    key = KeyCounts(*(labels.get(label, 0) for label in ("relevant", "optional", "nonrelevant")))
    if statistic.expression is not None:
        found = exact(statistic.expression, expected_cells(key, share))
        return None if found is None else float(found)
    if statistic.ratio is None:
        return 0.5
    return expected(statistic.ratio, key, share)
