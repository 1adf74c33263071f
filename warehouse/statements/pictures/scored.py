"""The pictures of `score`: ranked dots with intervals, and for two measures their plane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, cast

from warehouse.charts import Panel, Points
from warehouse.charts.chart import Unit
from warehouse.charts.ladder import ranking
from warehouse.charts.plane import plane
from warehouse.measures import Statistic, measure_named, settle
from warehouse.query import compile as sql
from warehouse.query import plan as p
from warehouse.query.comparison.resampling import Spread, spread
from warehouse.query.engine import DuckDBEngine
from warehouse.query.valuing import expectation
from warehouse.results import Cell, Result
from warehouse.statements.pictures.drawn import (
    INTERVALS,
    Drawn,
    computed,
    documents_of,
    hollow,
    number,
    panel_title,
    unit,
)
from warehouse.statements.score import column_labels, score
from warehouse.store.catalog import Catalog


def scored(plan: p.ScorePlan, engine: DuckDBEngine, catalog: Catalog) -> Drawn:
    result = score(plan, engine, catalog)
    measures = column_labels(plan)
    if len(measures) == 2 and not plan.by and not plan.standardized:
        return _planes(plan, result, engine)
    panels: list[Panel] = []
    documents: dict[str, int] = {}
    with_intervals = False
    for entry in plan.entries:
        known = Spread(0, {}) if plan.by or plan.standardized else spread(p.Testing.plain(plan.where), entry, engine)
        rows = [row for row in result.rows if row["test_set"] == entry.test_set.name]
        if not plan.by:
            counted = max((number(row["documents"]) or 0.0 for row in rows), default=0.0)
            documents[entry.test_set.name] = known.documents or round(counted)
        with_intervals |= bool(known.intervals)
        scale: Unit = "number" if plan.standardized else unit(entry)
        for label in measures:
            names = [_name(row, plan.by) for row in rows]
            values = [(name, number(row[label])) for name, row in zip(names, rows, strict=True)]
            ranked = [(name, value) for name, value in values if value is not None]
            if ranked:
                intervals = {
                    name: known.intervals[label, name] for name, _ in ranked if (label, name) in known.intervals
                }
                title = panel_title(plan.entries, measures, entry, label)
                panels.append(ranking(title, label, scale, ranked, intervals, computed(entry)))
    said = "; ".join(
        f"{panel.x.title}{f' on {panel.title}' if panel.title else ''}: {len(panel.y.names)} rows, "
        f"from {panel.y.names[0]} to {panel.y.names[-1]}"
        for panel in panels
    )
    legend = ((INTERVALS,) if with_intervals else ()) + hollow(plan.entries)
    return Drawn(result, tuple(panels), documents, f"Ranked dots. {said}.", legend)


def _name(row: dict[str, Cell], by: Sequence[p.Dimension]) -> str:
    """A system, and the values that its rows are split by; a dash where there is none."""
    parts = [row["system"], *(row[dimension.name] for dimension in by)]
    return ", ".join("–" if part is None else str(part) for part in parts)


def _planes(plan: p.ScorePlan, result: Result, engine: DuckDBEngine) -> Drawn:
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
        line = _guessing(entry, engine)
        recall_precision = {first.measure.name, second.measure.name} == {"recall", "precision"}
        title = entry.test_set.name if len(plan.entries) > 1 else ""
        units = (unit(entry), unit(entry))
        panels.append(plane(title, (first.label, second.label), units, points, computed(entry), line, recall_precision))
        if line:
            legend.append("dashed: judging a share s of the documents relevant at random")
        if recall_precision:
            legend.append("dotted: equal F")
    if {entry.task for entry in plan.entries} == {"published"} and "dashed" in "".join(legend):
        notes.append("the line of guessing is computed from the key labels; the figures are those printed")
    said = "; ".join(f"{sum(len(each.points) for each in _points(panel))} points" for panel in panels)
    first, second = plan.entries[0].statistics
    alternative = f"Systems in the plane of {first.label} (across) and {second.label} (up): {said}."
    documents = documents_of(plan.entries, engine)
    return Drawn(result, tuple(panels), documents, alternative, tuple(dict.fromkeys(legend)), tuple(notes))


def _points(panel: Panel) -> Iterator[Any]:
    return (mark for mark in panel.marks if isinstance(mark, Points) and not mark.hollow)


def _guessing(entry: p.Entry, engine: DuckDBEngine) -> list[tuple[float, float, float]]:
    """Where judging a share of the documents relevant at random lies in the plane of two measures of filtering: (share,
    x, y); nothing for other measures, and without a key.
    """
    statistics = [_of_filtering(statistic, entry) for statistic in entry.statistics]
    relevant, optional, nonrelevant = (int(count) for count in engine.rows(sql.key_totals(entry.test_set))[0])
    labels = {"relevant": relevant, "optional": optional, "nonrelevant": nonrelevant}
    if None in statistics or not relevant + optional + nonrelevant:
        return []
    line = []
    for percent in range(1, 101):
        share = Decimal(percent) / 100
        x, y = (expectation(cast(Statistic, statistic), share, labels) for statistic in statistics)
        if x is not None and y is not None:
            line.append((float(share), x, y))
    return line


def _of_filtering(statistic: Statistic, entry: p.Entry) -> Statistic | None:
    """A statistic of filtering as it is computed, also of a figure that was printed; None for any other."""
    if entry.task == "filtering":
        return statistic if statistic.ratio is not None and not statistic.averaged else None
    if statistic.measure.printed_as is None or statistic.measure.printed_as[0] != "filtering":
        return None
    name, _, rest = statistic.measure.printed_as[1].partition("(beta=")
    measure = measure_named(name, "filtering")
    if measure is None or measure.formula is None:
        return None
    return settle(measure, {"beta": Decimal(rest.removesuffix(")"))} if rest else {})
