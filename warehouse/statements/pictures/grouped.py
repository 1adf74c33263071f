"""The picture of `group`: the ranking with its intervals and its groups."""

from __future__ import annotations

from itertools import groupby

from warehouse.charts import Panel
from warehouse.charts.ladder import ranking
from warehouse.query import plan as p
from warehouse.query.comparison.resampling import spread
from warehouse.query.engine import DuckDBEngine
from warehouse.results import Cell
from warehouse.statements.group import group
from warehouse.statements.pictures.drawn import (
    INTERVALS,
    Drawn,
    computed,
    hollow,
    labels,
    number,
    panel_title,
    unit,
)
from warehouse.store.catalog import Catalog

NOT_TOLD_APART = "systems of a group are not told apart"


def grouped(plan: p.GroupPlan, engine: DuckDBEngine, catalog: Catalog) -> Drawn:
    result = group(plan, engine, catalog)
    panels: list[Panel] = []
    documents: dict[str, int] = {}
    said: list[str] = []
    measures = labels(plan.entries)

    def key(row: dict[str, Cell]) -> tuple[Cell, Cell]:
        return row["test_set"], row["measure"]

    groups = {each: list(rows) for each, rows in groupby(result.summary, key)}
    rows_of = {each: list(rows) for each, rows in groupby(result.rows, key)}
    for entry in plan.entries:
        known = spread(plan.how, entry, engine)
        documents[entry.test_set.name] = known.documents
        for statistic in entry.statistics:
            rows = rows_of[entry.test_set.name, statistic.label]
            ranked = [(str(row["system"]), number(row["value"]) or 0.0) for row in rows]
            intervals = {
                name: known.intervals[statistic.label, name]
                for name, _ in ranked
                if (statistic.label, name) in known.intervals
            }
            letters = [
                (
                    str(each["letter"]),
                    [str(row["system"]) for row in rows if each["letter"] in str(row["letters"]).split()],
                )
                for each in groups[entry.test_set.name, statistic.label]
            ]
            title = panel_title(plan.entries, measures, entry, statistic.label)
            panels.append(ranking(title, statistic.label, unit(entry), ranked, intervals, computed(entry), letters))
            said.append(
                f"{statistic.label} on {entry.test_set.name}: {len(ranked)} systems from {ranked[0][0]} to "
                f"{ranked[-1][0]} in {len(letters)} groups"
            )
    legend = (NOT_TOLD_APART, INTERVALS, *hollow(plan.entries))
    return Drawn(result, tuple(panels), documents, f"Ranking with significance groups. {'; '.join(said)}.", legend)
