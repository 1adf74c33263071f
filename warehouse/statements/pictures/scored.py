"""The pictures of `score`: ranked dots with intervals, and for two measures their plane."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, cast

from warehouse.charts import MOST_PANELS, Panel, Points, Unit
from warehouse.charts.ladder import ranking
from warehouse.charts.plane import plane
from warehouse.measures import PrintedFigure, Ratio, Statistic, measure_named, settle
from warehouse.query import plan as p
from warehouse.query.comparison.resampling import OwnIntervals, own_interval_queries, own_intervals
from warehouse.query.compile import keys
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts, Queries, Query
from warehouse.query.valuing import expectation
from warehouse.results import Cell, Result
from warehouse.statements.pictures.drawn import (
    Drawn,
    computed,
    hollow,
    intervals_of,
    lines_of,
    number,
    panel_title,
)
from warehouse.statements.score_corrected import CorrectedPlan
from warehouse.tasks import FILTERING, TASKS
from warehouse.tasks.observed import plural

if TYPE_CHECKING:
    from warehouse.statements.score import ScorePlan


def queries(plan: ScorePlan | CorrectedPlan) -> Queries:
    """What brings the intervals, or the line of guessing in a plane."""
    if isinstance(plan, CorrectedPlan):
        return ()
    if _is_plane(plan):
        return tuple(Query(_key_name(entry), keys.key_totals(entry)) for entry in plan.entries)
    if plan.by or plan.standardized:
        return ()
    return tuple(query for entry in plan.entries for query in own_interval_queries(plan.how, entry))


def _is_plane(plan: ScorePlan) -> bool:
    return len(plan.entries[0].statistics) == 2 and not plan.by and not plan.standardized


def _key_name(entry: p.Entry) -> str:
    return f"key of {entry.test_set.name!r}"


def scored(plan: ScorePlan | CorrectedPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    if isinstance(plan, CorrectedPlan):
        return _corrected(plan, result)
    measures = plan.column_labels()
    if _is_plane(plan):
        return _planes(plan, result, facts)
    panels: list[Panel] = []
    with_intervals = False
    for entry in plan.entries:
        known = OwnIntervals({}) if plan.by or plan.standardized else own_intervals(plan.how, entry, facts, workforce)
        rows = [row for row in result.rows if row["test_set"] == entry.test_set.name]
        with_intervals |= bool(known.intervals)
        scale: Unit = "number" if plan.standardized else entry.unit
        for label in measures:
            title = panel_title(plan.entries, measures, entry, label)
            for part, named in _facets(rows, label, plan.by, room=MOST_PANELS // (len(plan.entries) * len(measures))):
                of_part = ", ".join(filter(None, (title, part)))
                panels.append(ranking(of_part, label, scale, named, intervals_of(label, known), computed(entry)))
    legend = ((f"lines: {lines_of(plan.how, plan.entries)}",) if with_intervals else ()) + hollow(plan.entries)
    return Drawn(plan.entries, tuple(panels), _read_out(panels), legend)


def _corrected(plan: CorrectedPlan, result: Result) -> Drawn:
    """Values corrected by a judge, with the intervals of the answer."""
    [label] = plan.column_labels()
    panels: list[Panel] = []
    for entry in plan.entries:
        rows = [row for row in result.rows if row["test_set"] == entry.test_set.name]
        values = [(str(row["system"]), value) for row in rows if (value := number(row[label])) is not None]
        limits = {
            str(row["system"]): (low, high)
            for row in rows
            if (low := number(row[f"ci_low({label})"])) is not None
            and (high := number(row[f"ci_high({label})"])) is not None
        }
        if values:
            title = panel_title(plan.entries, [label], entry, label)
            panels.append(ranking(title, label, entry.unit, values, limits, []))
    return Drawn(plan.entries, tuple(panels), _read_out(panels), (f"lines: {result.how}",))


def _read_out(panels: Sequence[Panel]) -> str:
    """What the dots show, in words for people who cannot see them."""
    said = "; ".join(
        f"{panel.x.title}{f' on {panel.title}' if panel.title else ''}: {len(panel.y.names)} rows, "
        f"from {panel.y.names[0]} to {panel.y.names[-1]}"
        for panel in panels
    )
    return f"Ranked dots. {said}."


def _facets(
    rows: Sequence[dict[str, Cell]], label: str, by: Sequence[p.Dimension], room: int
) -> list[tuple[str, list[tuple[str, float]]]]:
    """What stands in a panel of its own: a title, and names with their values. Where rows are split, each part of them
    has a panel of the systems, unless there is one system only, or no room for so many.
    """
    values = [(row, value) for row in rows if (value := number(row[label])) is not None]
    if not values:
        return []
    systems = {row["system"] for row, _ in values}
    parts: dict[str, list[tuple[str, float]]] = {}
    for row, value in values:
        parts.setdefault(_part(row, by), []).append((str(row["system"]), value))
    if by and len(systems) > 1 and len(parts) <= room:
        return sorted(parts.items())
    named = [(", ".join(filter(None, (str(row["system"]), _part(row, by)))), value) for row, value in values]
    return [("", named)]


def _part(row: dict[str, Cell], by: Sequence[p.Dimension]) -> str:
    """The values that rows are split by; a dash where there is none."""
    parts = (row[dimension.name] for dimension in by)
    return ", ".join("–" if part is None else str(part) for part in parts)


def _planes(plan: ScorePlan, result: Result, facts: Facts) -> Drawn:
    """Systems in the plane of two measures."""
    panels: list[Panel] = []
    notes: list[str] = []
    legend: list[str] = []
    for entry in plan.entries:
        first, second = entry.statistics
        points = []
        for row in result.rows:
            x, y = number(row[first.label]), number(row[second.label])
            if row["test_set"] == entry.test_set.name and x is not None and y is not None:
                points.append((str(row["system"]), x, y))
        if not points:
            continue
        line = _guessing(entry, facts)
        recall_precision = {first.measure.name, second.measure.name} == {"recall", "precision"}
        title = entry.test_set.name if len(plan.entries) > 1 else ""
        units = (entry.unit, entry.unit)
        panels.append(plane(title, (first.label, second.label), units, points, computed(entry), line, recall_precision))
        if line:
            legend.append(f"dashed: judging a random share s of the {plural(entry.units.noun)} relevant")
        if recall_precision:
            legend.append("dotted: equal F")
    if not any(entry.task.by_document for entry in plan.entries) and "dashed" in "".join(legend):
        notes.append("the guessing line comes from the key labels, the figures are as printed")
    said = "; ".join(f"{sum(map(_measured, panel.marks_of(Points)))} points" for panel in panels)
    first, second = plan.entries[0].statistics
    alternative = f"Systems in the plane of {first.label} (across) and {second.label} (up): {said}."
    return Drawn(plan.entries, tuple(panels), alternative, tuple(dict.fromkeys(legend)), tuple(notes))


def _measured(points: Points) -> int:
    return 0 if points.hollow else len(points.points)


def _guessing(entry: p.Entry, facts: Facts) -> list[tuple[float, float, float]]:
    """Where judging a share of the documents relevant at random lies in the plane of two measures of filtering: (share,
    x, y); nothing for other measures, and without a key.
    """
    statistics = [_of_filtering(statistic, entry) for statistic in entry.statistics]
    relevant, optional, nonrelevant = (int(count) for count in facts[_key_name(entry)][0])
    labels = {"relevant": relevant, "optional": optional, "nonrelevant": nonrelevant}
    if None in statistics or not relevant + optional + nonrelevant:
        return []
    line = []
    for hundredths in range(1, 101):
        share = Decimal(hundredths) / 100
        x, y = (expectation(cast(Statistic, statistic), share, labels) for statistic in statistics)
        if x is not None and y is not None:
            line.append((float(share), x, y))
    return line


def _of_filtering(statistic: Statistic, entry: p.Entry) -> Statistic | None:
    """A statistic of filtering as it is computed, also of a figure that was printed; None for any other."""
    if entry.task.has_key:
        return statistic if isinstance(statistic.computation, Ratio) and not statistic.averaged else None
    if not isinstance(statistic.computation, PrintedFigure) or not TASKS[statistic.computation.task].has_key:
        return None
    name, _, rest = statistic.computation.name.partition("(beta=")
    measure = measure_named(name, FILTERING.name)
    if measure is None:
        return None
    computed = settle(measure, {"beta": Decimal(rest.removesuffix(")"))} if rest else {})
    return computed if isinstance(computed.computation, Ratio) else None
