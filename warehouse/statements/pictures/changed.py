"""The picture of `change`: a slope chart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.charts.slopes import slopes
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts
from warehouse.results import Result
from warehouse.statements.pictures.drawn import Drawn, labels, number

if TYPE_CHECKING:
    from warehouse.statements.change import ChangePlan


def changed(plan: ChangePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    names = (plan.source.test_set.name, plan.target.test_set.name)
    panels = []
    said = []
    for statistic in plan.source.statistics:
        systems = []
        for row in result.rows:
            first, second = number(row["value_from"]), number(row["value_to"])
            if row["measure"] == statistic.label and first is not None and second is not None:
                systems.append((str(row["system"]), first, second))
        if systems:
            title = statistic.label if len(plan.source.statistics) > 1 else ""
            panels.append(slopes(title, statistic.label, plan.source.unit, names, systems))
            rose = sum(second > first for _, first, second in systems)
            fell = sum(second < first for _, first, second in systems)
            said.append(f"{statistic.label}: {rose} of {len(systems)} systems rose and {fell} fell")
    measures = ", ".join(labels([plan.source]))
    return Drawn(
        plan.entries,
        tuple(panels),
        f"Slope chart from {names[0]} to {names[1]}. {'; '.join(said)}.",
        ("dashed lines fall",),
        title=f"{measures} from {names[0]} to {names[1]}",
    )
