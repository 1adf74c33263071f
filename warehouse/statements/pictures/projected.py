"""The picture of `project`: curves over generality with bands, their crossings, and which system is best where."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from warehouse.charts import Panel, Unit
from warehouse.charts.curves import BestWhere, Projected, best, projection
from warehouse.measures import Statistic
from warehouse.query.engine import Workforce
from warehouse.query.labels import some
from warehouse.query.path import Facts
from warehouse.results import Result
from warehouse.significance.paired import Floats
from warehouse.statements.pictures.drawn import Drawn, labels, number
from warehouse.statements.projecting import LEVEL, Projection, assumption, summed
from warehouse.statements.projecting import projection as projections

if TYPE_CHECKING:
    from warehouse.statements.projecting import ProjectPlan

MOST_CROSSINGS = 3
"""More crossings than this are not marked in one panel."""

POINTS = 81


def projected(plan: ProjectPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    known = projections(plan, facts)
    wanted_at = [number(row["generality_to"]) for row in result.rows]
    # An estimate may be as low as 0, which has no place on a logarithmic axis.
    limits = [number(row[end]) or None for row in result.rows for end in ("generality_low", "generality_high")]
    ends = [known.start, *(at for at in (*wanted_at, *limits) if at is not None)]
    low, high = min(ends), max(ends)
    grid = np.geomspace(low, high, POINTS) if low > 0 else np.linspace(low, high, POINTS)
    panels: list[Panel] = []
    crossing: list[str] = []
    for statistic in plan.entry.statistics:
        rows = [row for row in result.rows if row["measure"] == statistic.label]
        systems = []
        for system in known.shares[statistic.label].measured:
            wanted = [
                (number(row["generality_to"]), number(row["value"]), str(row["estimator"] or ""))
                for row in rows
                if row["system"] == system
            ]
            drawn = _curve(known, statistic, system, grid)
            if drawn.curve:
                points = tuple((at, value, by) for at, value, by in wanted if at is not None and value is not None)
                spans = tuple(
                    (low_end, high_end, value)
                    for row in rows
                    if row["system"] == system
                    and (low_end := number(row["generality_low"])) is not None
                    and (high_end := number(row["generality_high"])) is not None
                    and (value := number(row["value"])) is not None
                )
                systems.append(Projected(system, drawn.curve, points, drawn.measured, drawn.band, spans))
        if not systems:
            continue
        unit: Unit = "number" if summed(statistic) else "proportion"
        marked = [
            (at, f"{row['system_a']} = {row['system_b']}")
            for row in result.summary
            if row["measure"] == statistic.label and (at := number(row["crossing"])) is not None and low < at < high
        ]
        crossing += [f"{statistic.label} of {names} at {at:.4g}" for at, names in marked]
        title = statistic.label if len(plan.entry.statistics) > 1 else ""
        axis = f"{statistic.label} per {plan.entry.units.noun}" if summed(statistic) else statistic.label
        panels.append(projection(title, axis, unit, systems, marked if len(marked) <= MOST_CROSSINGS else ()))
        if len(systems) > 1:
            ranked = known.best(statistic, grid)
            rows_of_best = [BestWhere(system.name, *ranked[system.name]) for system in systems]
            panels.append(best(panels[-1], grid.tolist(), rows_of_best))
    names = [system.name for system in plan.entry.systems]
    measures = ", ".join(labels([plan.entry]))
    said = f"{measures} of {some(names)} against generality, from the measured point at {known.start:.4f}."
    if crossing:
        said += f" Curves cross: {', '.join(crossing)}."
    return Drawn(
        [plan.entry],
        tuple(panels),
        said,
        _legend(plan, panels, known),
        title=f"{measures} from {plan.entry.test_set.name} {_elsewhere(plan)}",
    )


def _curve(known: Projection, statistic: Statistic, system: str, grid: Floats) -> Projected:
    """A system's curve where it is defined, its band, and the measured point."""
    values, drawn = (get(statistic, system, grid) for get in (known.values, known.draws))
    if values is None:
        return Projected(system, (), (), None)
    defined = ~np.isnan(values)
    band: tuple[tuple[float, float, float], ...] = ()
    if drawn is not None and defined.any():
        limits = np.quantile(drawn[:, defined], (LEVEL / 2, 1 - LEVEL / 2), axis=0)
        low, high = np.minimum(limits[0], values[defined]), np.maximum(limits[1], values[defined])
        band = tuple(zip(grid[defined].tolist(), low.tolist(), high.tolist(), strict=True))
    measured = known.measured.get((system, statistic.label))
    curve = tuple(zip(grid[defined].tolist(), values[defined].tolist(), strict=True))
    return Projected(system, curve, (), None if measured is None else (known.start, measured), band)


def _legend(plan: ProjectPlan, panels: list[Panel], known: Projection) -> tuple[str, ...]:
    where = plan.entry.test_set.name
    projected = "projected"
    if plan.stream is not None:
        projected = f"at the generality estimated for {plan.stream.entry.test_set.name} by the method beside it,"
    lines = [
        f"filled: measured on {where}, generality {known.start:.4f}",
        f"hollow: {projected} under {assumption(plan)}",
    ]
    if off := known.off_their_lines:
        lines.append(f"{some(off)}: measured off the line, since optional documents count as each system decided them")
    if plan.stream is not None:
        lines.append("horizontal lines through hollow dots: 95% intervals of that generality")
    if plan.resampled is not None:
        lines.append("bands: 95% intervals, separately at each generality")
    if any(panel.beneath for panel in panels):
        may = ", thin: no other is significantly better (5% level, unadjusted)" if plan.resampled else ""
        lines.append(f"rows below, thick: the best value{may}")
    return tuple(lines)


def _elsewhere(plan: ProjectPlan) -> str:
    return "at other generalities" if plan.stream is None else f"to {plan.stream.entry.test_set.name}"
