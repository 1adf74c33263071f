"""The pictures of `curve`, `power` and `project`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from evalhouse.warehouse.charts import Panel, Unit, format_value
from evalhouse.warehouse.charts.curves import (
    MOST_BANDS,
    BestWhere,
    PowerCurve,
    Projected,
    ThresholdCurve,
    best,
    power_curves,
    projection,
    threshold_curves,
)
from evalhouse.warehouse.comparing.curves import OwnDecisions, curve_measure, own_decisions
from evalhouse.warehouse.comparing.intervals import percent
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.measures import Statistic
from evalhouse.warehouse.plans.labels import noun_of, some, unit_of, with_keys
from evalhouse.warehouse.plans.path import Facts, Workforce
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.significance.arrays import Floats
from evalhouse.warehouse.significance.curves import CELLS
from evalhouse.warehouse.statements.pictures.picture import Drawn, labels, number, unit_in, without_how
from evalhouse.warehouse.statements.projection import LEVEL, Projection, ProjectPlan, assumption, is_sum
from evalhouse.warehouse.statements.projection import projection as projections

if TYPE_CHECKING:
    from evalhouse.warehouse.statements.curve import CurvePlan
    from evalhouse.warehouse.statements.power import PowerPlan

# === the picture of curve =============================================================================================
# The first measure against the second, or against the threshold if one is given.

DRAWN = 160
"""A line has about this many points."""

DrawnRows = Sequence[dict[str, Cell]]


def draw_curves(plan: CurvePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    """One panel per test set. Between two thresholds, documents join in a constant proportion, so that lines are curved
    as they should be (Davis and Goadrich 2006).
    """
    up, *others = plan.statistics[:2]
    across = others[0] if others else None
    rows_of: dict[tuple[Cell, Cell], list[dict[str, Cell]]] = {}
    for row in result.rows:
        rows_of.setdefault((row["test_set"], row["system"]), []).append(row)
    best_at = {(row["test_set"], row["system"]): row["best_threshold"] for row in result.summary}
    panels: list[Panel] = []
    banded = points = rings = False
    placeless: dict[str, None] = {}
    said = []
    for entry in plan.entries:
        deciding = {system.system.name: system for system in own_decisions(entry, facts)}
        systems = []
        for system in entry.systems:
            rows = rows_of.get((entry.test_set.name, system.name), [])
            own = deciding.get(system.name)
            has_curve = own is not None and not own.lacking
            at = _own(own, rows, across, up)
            curve = _curve(rows, across, up) if has_curve else ()
            # Against the threshold a point has no place across.
            if curve or (at is not None and across is not None):
                band = _band(rows, across, up) if has_curve else ()
                best = _best(rows, best_at.get((entry.test_set.name, system.name)), across, up)
                systems.append(ThresholdCurve(system.name, curve, band, at, best))
            elif rows and across is None and not has_curve:
                placeless[system.name] = None
        if systems:
            title = entry.test_set.name if len(plan.entries) > 1 else ""
            named = None if across is None else (across.label, _unit(across))
            panels.append(threshold_curves(title, named, (up.label, _unit(up)), systems))
            curves = [system for system in systems if system.points]
            banded |= len(curves) <= MOST_BANDS and any(system.band for system in curves)
            points |= any(system.own is not None for system in systems)
            rings |= any(system.best is not None for system in curves)
            ends = [_range(system, up) for system in curves]
            said.append(f"{entry.test_set.name}: {'; '.join(ends)}" if ends else f"{entry.test_set.name}: points only")
    legend = []
    if points:
        legend.append("dots: the decisions of the systems themselves")
    if rings:
        legend.append(f"rings: the best threshold for {plan.best_for.label}")
    if banded:
        legend.append(f"shaded: {percent(plan.level)} band of {up.label} over all thresholds at once")
    if placeless:
        legend.append(
            f"not drawn, since they have no confidences: {some(list(placeless))}; two measures would show them "
            "as points"
        )
    # The rings show where the utility is best.
    if left_out := [statistic.label for statistic in plan.statistics[2:] if statistic != plan.best_for]:
        legend.append(f"a picture shows two measures, so it leaves out {some(left_out)}; the table has all")
    against = "the threshold" if across is None else across.label
    return Drawn(
        plan.entries,
        tuple(panels),
        f"{up.label} against {against}. {'. '.join(said)}.",
        tuple(legend),
        title=_title(plan, result),
    )


def _title(plan: CurvePlan, result: Result) -> str:
    """What is drawn, on which test sets: of more than two measures the first two."""
    whole, shown = (", ".join(of.label for of in some_of) for some_of in (plan.statistics, plan.statistics[:2]))
    return without_how(result).replace(whole, shown, 1)


def _unit(statistic: Statistic) -> Unit:
    return "number" if statistic.in_counts else "proportion"


def _thin_rows(rows: DrawnRows) -> DrawnRows:
    if len(rows) <= DRAWN:
        return rows
    kept = sorted({round(place) for place in np.linspace(0, len(rows) - 1, DRAWN).tolist()})
    return [rows[place] for place in kept]


def _cells(rows: DrawnRows) -> Floats:
    return np.array([[float(row[cell] or 0) for cell in CELLS] for row in rows]).T


def _curve(rows: DrawnRows, across: Statistic | None, up: Statistic) -> tuple[tuple[float, float], ...]:
    kept = _thin_rows(rows)
    if across is None:
        pairs = [(number(row["threshold"]), number(row[up.label])) for row in kept]
        return tuple((x, y) for x, y in pairs if x is not None and y is not None)
    cells = _cells(kept)
    parts = max(1, ceil(DRAWN / len(kept)))
    steps = np.arange(0, len(kept) - 1 + 0.5 / parts, 1 / parts)
    between = np.stack([np.interp(steps, np.arange(len(kept)), of) for of in cells])
    xs, ys = (curve_measure(statistic).values(between).tolist() for statistic in (across, up))
    return tuple((x, y) for x, y in zip(xs, ys, strict=True) if x == x and y == y)


def _band(rows: DrawnRows, across: Statistic | None, up: Statistic) -> tuple[tuple[float, float, float], ...]:
    at = "threshold" if across is None else across.label
    names = (at, f"low({up.label})", f"high({up.label})")
    found = [tuple(number(row[name]) for name in names) for row in _thin_rows(rows)]
    known = [(x, low, high) for x, low, high in found if x is not None and low is not None and high is not None]
    xs = [x for x, _, _ in known]
    if xs not in (sorted(xs), sorted(xs, reverse=True)):
        # What comes back to where it was has no shade of its own.
        return ()
    widest: dict[float, tuple[float, float]] = {}
    for x, low, high in sorted(known):
        so_far = widest.get(x, (low, high))
        widest[x] = min(low, so_far[0]), max(high, so_far[1])
    return tuple((x, low, high) for x, (low, high) in widest.items())


def _best(rows: DrawnRows, at: Cell, across: Statistic | None, up: Statistic) -> tuple[float, float] | None:
    """Where the best threshold is on a curve."""
    row = next((row for row in rows if at is not None and row["threshold"] == at), None)
    if row is None:
        return None
    x, y = number(row["threshold" if across is None else across.label]), number(row[up.label])
    return None if x is None or y is None else (x, y)


def _own(
    own: OwnDecisions | None, rows: DrawnRows, across: Statistic | None, up: Statistic
) -> tuple[float, float] | None:
    """Where a system's own decisions are; against the threshold, at the lowest confidence of a yes."""
    if own is None:
        pair = [number(rows[0][of.label]) for of in (across, up) if of is not None] if rows else []
        return (pair[0], pair[1]) if len(pair) == 2 and pair[0] is not None and pair[1] is not None else None
    cells = own.thresholds.own.astype(np.float64)
    y = float(curve_measure(up).values(cells))
    if across is not None:
        x = float(curve_measure(across).values(cells))
    else:
        x = float(own.confidence[own.yes].min()) if own.yes.any() and not own.lacking else float("nan")
    return (x, y) if x == x and y == y else None


def _range(system: ThresholdCurve, up: Statistic) -> str:
    """The first and the last value of a curve."""
    ys = [y for _, y in system.points]
    return f"{up.label} of {system.name} from {format_value(min(ys), _unit(up))} to {format_value(max(ys), _unit(up))}"


# === the picture of power =============================================================================================
# A curve for each difference.

_OF_PAIRS = ("test_set", "measure", "system_a", "system_b")


def draw_power(plan: PowerPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
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
                curves.append(PowerCurve(_amount_text(number(amount) or 0.0, plan), drawn))
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


def _amount_text(amount: float, plan: PowerPlan) -> str:
    """A difference as a curve is called by it: 2%, 0.5."""
    return f"{100 * amount:.4g}%" if unit_of(plan.entries) == "proportion" else f"{amount:.4g}"


# === the picture of project ===========================================================================================
# Curves over generality with bands, their crossings, and which system is best where.

MOST_CROSSINGS = 3
"""More crossings than this are not marked in one panel."""

POINTS = 81


def draw_projection(plan: ProjectPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
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
            drawn = _projected_curve(known, statistic, system, grid)
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
        unit = unit_in(result, "value")
        marked = [
            (at, f"{row['system_a']} = {row['system_b']}")
            for row in result.summary
            if row["measure"] == statistic.label and (at := number(row["crossing"])) is not None and low < at < high
        ]
        crossing += [f"{statistic.label} of {names} at {at:.4g}" for at, names in marked]
        title = statistic.label if len(plan.entry.statistics) > 1 else ""
        axis = f"{statistic.label} per {plan.entry.units.noun}" if is_sum(statistic) else statistic.label
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
        with_keys(plan.entries),
        tuple(panels),
        said,
        _legend(plan, panels, known),
        title=f"{measures} from {plan.entry.test_set.name} {_elsewhere(plan)}",
    )


def _projected_curve(known: Projection, statistic: Statistic, system: str, grid: Floats) -> Projected:
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
