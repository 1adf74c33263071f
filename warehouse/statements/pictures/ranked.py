"""The pictures of `rank`: the ranks that each system may have, and over test sets the critical-difference diagram."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from warehouse.charts import Panel
from warehouse.charts.rank_sets import critical_difference, rank_sets
from warehouse.query.comparison.intervals import percent
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts
from warehouse.results import Cell, Result
from warehouse.significance.groups import letters
from warehouse.statements.pictures.drawn import Drawn, number
from warehouse.statements.rank_over_test_sets import Over, mean_ranks, systems_told_apart

if TYPE_CHECKING:
    from warehouse.statements.rank import RankPlan


def ranked(plan: RankPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    return _rank_sets(plan, result) if plan.over is None else _over_test_sets(plan.over, facts)


def _rank_sets(plan: RankPlan, result: Result) -> Drawn:
    def key(row: dict[str, Cell]) -> tuple[Cell, Cell]:
        return row["test_set"], row["measure"]

    contests = {contest: list(rows) for contest, rows in groupby(result.rows, key)}
    panels: list[Panel] = []
    said: list[str] = []
    for (test_set, measure), rows in contests.items():
        sets = [
            (str(row["system"]), number(row["rank"]) or 0.0, int(row["rank_low"] or 0), int(row["rank_high"] or 0))
            for row in rows
        ]
        titles = [str(measure)] * (len({m for _, m in contests}) > 1) + [str(test_set)] * (
            len({t for t, _ in contests}) > 1
        )
        panels.append(rank_sets(" on ".join(titles), sets))
        first = [name for name, _, low, _ in sets if low == 1]
        said.append(f"{measure} on {test_set}: {len(first)} of {len(sets)} systems may be the best")
    legend = (f"lines: the ranks that a system may have, {percent(plan.how.level)} for all systems together",)
    return Drawn(plan.entries, tuple(panels), f"Sets of ranks. {'; '.join(said)}.", legend)


def _over_test_sets(over: Over, facts: Facts) -> Drawn:
    panels: list[Panel] = []
    said: list[str] = []
    labels = [statistic.label for statistic in over.entries[0].statistics]
    critical = None
    for place, label in enumerate(labels):
        found = mean_ranks(over, place, facts)
        order = sorted(range(len(over.names)), key=lambda system: (found.mean[system], over.names[system]))
        cliques = letters(systems_told_apart(found), order).members
        places = {system: row for row, system in enumerate(order)}
        critical = found.critical_difference
        panels.append(
            critical_difference(
                label if len(labels) > 1 else "",
                [(over.names[system], float(found.mean[system])) for system in order],
                [[places[system] for system in members] for members in cliques],
                critical,
            )
        )
        said.append(f"{label}: mean ranks from {found.mean.min():.2f} to {found.mean.max():.2f}")
    legend = ["brackets join systems that do not differ significantly"]
    legend += [f"the line is the critical difference, {critical:.2f}"] if critical is not None else []
    return Drawn(over.entries, tuple(panels), f"Mean ranks over test sets. {'; '.join(said)}.", tuple(legend))
