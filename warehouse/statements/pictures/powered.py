"""The picture of `power`: a curve for each difference."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from warehouse.charts import Panel
from warehouse.charts.power_curves import PowerCurve, power_curves
from warehouse.query.engine import Workforce
from warehouse.query.labels import noun_of
from warehouse.query.path import Facts
from warehouse.results import Cell, Result
from warehouse.statements.pictures.drawn import Drawn, number
from warehouse.tasks.observed import plural

if TYPE_CHECKING:
    from warehouse.statements.power import PowerPlan

_OF_PAIRS = ("test_set", "measure", "system_a", "system_b")


def powered(plan: PowerPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    def key(row: dict[str, Cell]) -> tuple[Cell, ...]:
        return tuple(row[name] for name in _OF_PAIRS)

    contests = {contest: list(rows) for contest, rows in groupby(result.rows, key)}
    there = {key(row): int(row["documents"] or 0) for row in result.summary}
    varying = [place for place in range(len(_OF_PAIRS)) if len({contest[place] for contest in contests}) > 1]
    panels: list[Panel] = []
    noun, wanted = plural(noun_of(plan.entries)), float(plan.wanted)
    for contest, rows in contests.items():
        curves = []
        for amount, of_amount in groupby(rows, lambda row: row["detect"]):
            points = [(number(row["documents"]), number(row["power"])) for row in of_amount]
            drawn = tuple(sorted((x, y) for x, y in points if x is not None and y is not None))
            if drawn:
                curves.append(PowerCurve(_named(number(amount) or 0.0, plan), drawn))
        if curves:
            name = " ".join(str(contest[place]) for place in varying)
            panels.append(power_curves(name, noun, curves, there[contest], wanted))
    measures = ", ".join(dict.fromkeys(str(row["measure"]) for row in result.rows))
    systems = " and ".join(dict.fromkeys(str(row[side]) for row in result.rows for side in ("system_a", "system_b")))
    legend = (
        f"a line for each difference; the horizontal line is a power of {100 * wanted:g}%",
        f"the vertical line is the present number of {noun}",
    )
    said = f"Power for {measures} of {systems} against the number of {noun}, a curve for each difference."
    where = ", ".join(entry.test_set.name for entry in plan.entries)
    return Drawn(plan.entries, tuple(panels), said, legend, title=f"power for {measures} of {systems} on {where}")


def _named(amount: float, plan: PowerPlan) -> str:
    """A difference as a curve is called by it: 2%, 0.5."""
    return f"{100 * amount:.4g}%" if plan.entries[0].unit == "proportion" else f"{amount:.4g}"
