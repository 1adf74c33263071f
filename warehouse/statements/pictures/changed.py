"""The picture of `change`: a slope chart."""

from __future__ import annotations

from warehouse.charts.slopes import slopes
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.statements.change import change
from warehouse.statements.pictures.drawn import (
    Drawn,
    documents_of,
    labels,
    number,
    unit,
)
from warehouse.store.catalog import Catalog


def changed(plan: p.ChangePlan, engine: DuckDBEngine, catalog: Catalog) -> Drawn:
    result = change(plan, engine, catalog)
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
            panels.append(slopes(title, statistic.label, unit(plan.source), names, systems))
            rose = sum(second > first for _, first, second in systems)
            fell = sum(second < first for _, first, second in systems)
            said.append(f"{statistic.label}: {rose} of {len(systems)} systems rose and {fell} fell")
    measures = ", ".join(labels([plan.source]))
    return Drawn(
        result,
        tuple(panels),
        documents_of((plan.source, plan.target), engine),
        f"Slope chart from {names[0]} to {names[1]}. {'; '.join(said)}.",
        ("dashed lines fall",),
        title=f"{measures} from {names[0]} to {names[1]}",
    )
