"""The picture of `replicate`: each pair's difference on one test set against the other, one panel per measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from warehouse.charts import Panel, Unit
from warehouse.charts.carryover import CarriedOver, carried_over
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts
from warehouse.results import Result
from warehouse.statements.pictures.drawn import Drawn, labels, number

if TYPE_CHECKING:
    from warehouse.significance.shuffles.confidence import Verdict
    from warehouse.statements.replicate import ReplicatePlan


def carried(plan: ReplicatePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    first, second = (entry.test_set.name for entry in plan.entries)
    panels: list[Panel] = []
    said: list[str] = []
    for statistic, unit in zip(plan.source.statistics, plan.source.statistic_units, strict=True):
        rows = [row for row in result.rows if row["measure"] == statistic.label]
        pairs = [
            CarriedOver(f"{row['system_a']} − {row['system_b']}", before, after, cast("Verdict", row["verdict_from"]))
            for row in rows
            if (before := number(row["difference_from"])) is not None
            and (after := number(row["difference_to"])) is not None
        ]
        if pairs:
            kind: Unit = "number" if unit == "number" else plan.source.task.difference
            panels.append(carried_over(statistic.label, "difference", kind, (first, second), pairs))
            kept = sum(pair.first * pair.second > 0 for pair in pairs)
            said.append(f"{statistic.label}: {kept} of {len(pairs)} pairs keep the sign of their difference")
    return Drawn(
        plan.entries,
        tuple(panels),
        f"Differences of pairs on {first} and on {second}. {'; '.join(said)}.",
        (f"filled: significant on {first}", "dashed: the same difference on both", "below 0: the sign has changed"),
        title=f"{', '.join(labels([plan.source]))}: differences on {first} and {second}",
    )
