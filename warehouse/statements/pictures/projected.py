"""The picture of `project`: curves over generality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.charts.curves import Projected, projection
from warehouse.query.labels import some
from warehouse.query.path import Facts
from warehouse.results import Result
from warehouse.statements.pictures.drawn import Drawn, labels, number
from warehouse.statements.projecting import curves

if TYPE_CHECKING:
    from warehouse.statements.project import ProjectPlan


def projected(plan: ProjectPlan, result: Result, facts: Facts) -> Drawn:
    rows = result.rows
    start = number(rows[0]["generality_from"]) or 0.0
    ends = [start, *map(float, plan.generalities)]
    low, high = min(ends), max(ends)
    grid: list[float] = (np.geomspace(low, high, 60) if low > 0 else np.linspace(low, high, 60)).tolist()
    curve_of = curves(plan, facts, grid)
    panels = []
    for statistic in plan.entry.statistics:
        systems = []
        for system in plan.entry.systems:
            mine = [row for row in rows if (row["measure"], row["system"]) == (statistic.label, system.name)]
            wanted = [(number(row["generality_to"]), number(row["value"])) for row in mine]
            measured = number(mine[0]["value_from"]) if mine else None
            drawn = [
                (at, value)
                for at, value in zip(grid, curve_of.get((statistic.label, system.name), []), strict=False)
                if value is not None
            ]
            if drawn:
                systems.append(
                    Projected(
                        system.name,
                        tuple(drawn),
                        tuple((at, value) for at, value in wanted if at is not None and value is not None),
                        None if measured is None else (start, measured),
                    )
                )
        if systems:
            title = statistic.label if len(plan.entry.statistics) > 1 else ""
            panels.append(projection(title, statistic.label, "proportion", systems))
    names = [system.name for system in plan.entry.systems]
    measures = ", ".join(labels([plan.entry]))
    where = plan.entry.test_set.name
    return Drawn(
        [plan.entry],
        tuple(panels),
        f"{measures} of {some(names)} against generality, from the measured point at {start:.4f}.",
        (f"filled: measured on {where}, generality {start:.4f}", f"hollow: projected under {rows[0]['assumption']}"),
        title=f"{measures} from {where} at other generalities",
    )
