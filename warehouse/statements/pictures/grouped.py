"""The picture of `group`: the ranking with its intervals and its groups."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from warehouse.charts import Panel
from warehouse.charts.ladder import ranking
from warehouse.query.comparison.resampling import own_interval_queries, own_intervals
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts, Queries
from warehouse.results import Cell, Result
from warehouse.statements.pictures.drawn import (
    Drawn,
    computed,
    hollow,
    intervals_of,
    labels,
    lines_of,
    number,
    panel_title,
)

if TYPE_CHECKING:
    from warehouse.statements.group import GroupPlan

SHARED_LETTER = "systems that share a letter do not differ significantly"


def queries(plan: GroupPlan) -> Queries:
    """What brings the intervals."""
    return tuple(query for entry in plan.entries for query in own_interval_queries(plan.how, entry))


def grouped(plan: GroupPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    panels: list[Panel] = []
    said: list[str] = []
    measures = labels(plan.entries)

    def key(row: dict[str, Cell]) -> tuple[Cell, Cell]:
        return row["test_set"], row["measure"]

    groups = {contest: list(rows) for contest, rows in groupby(result.summary, key)}
    rows_of = {contest: list(rows) for contest, rows in groupby(result.rows, key)}
    for entry in plan.entries:
        known = own_intervals(plan.how, entry, facts, workforce)
        for statistic in entry.statistics:
            rows = rows_of[entry.test_set.name, statistic.label]
            ranked = [(str(row["system"]), number(row["value"]) or 0.0) for row in rows]
            letters = [
                (letter, [str(row["system"]) for row in rows if letter in str(row["letters"]).split()])
                for letter in (str(group["letter"]) for group in groups[entry.test_set.name, statistic.label])
            ]
            title = panel_title(plan.entries, measures, entry, statistic.label)
            intervals, unit = intervals_of(statistic.label, known), entry.unit
            panels.append(ranking(title, statistic.label, unit, ranked, intervals, computed(entry), letters))
            said.append(
                f"{statistic.label} on {entry.test_set.name}: {len(ranked)} systems from {ranked[0][0]} to "
                f"{ranked[-1][0]} in {len(letters)} groups"
            )
    legend = (SHARED_LETTER, f"lines: {lines_of(plan.how, plan.entries)}", *hollow(plan.entries))
    return Drawn(plan.entries, tuple(panels), f"Ranking with significance groups. {'; '.join(said)}.", legend)
