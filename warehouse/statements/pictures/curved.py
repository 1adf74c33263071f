"""The picture of `curve`: the first measure against the second, or against the threshold where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from warehouse.charts import Panel, Unit, written
from warehouse.charts.threshold_curves import MOST_BANDS, ThresholdCurve, threshold_curves
from warehouse.measures import Statistic
from warehouse.query.comparison.curving import OwnDecisions, curve_measure, decided
from warehouse.query.comparison.intervals import percent
from warehouse.query.engine import Workforce
from warehouse.query.labels import some
from warehouse.query.path import Facts
from warehouse.results import Cell, Result
from warehouse.statements.pictures.drawn import Drawn, number, without_how

if TYPE_CHECKING:
    from warehouse.significance.paired import Floats
    from warehouse.statements.curve_plan import CurvePlan

DRAWN = 160
"""A line has about this many points."""

DrawnRows = Sequence[dict[str, Cell]]


def curved(plan: CurvePlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
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
        deciding = {system.system.name: system for system in decided(entry, facts)}
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


def _thinned(rows: DrawnRows) -> DrawnRows:
    if len(rows) <= DRAWN:
        return rows
    kept = sorted({round(place) for place in np.linspace(0, len(rows) - 1, DRAWN).tolist()})
    return [rows[place] for place in kept]


def _cells(rows: DrawnRows) -> Floats:
    from warehouse.significance.curves.thresholds import CELLS

    return np.array([[float(row[cell] or 0) for cell in CELLS] for row in rows]).T


def _curve(rows: DrawnRows, across: Statistic | None, up: Statistic) -> tuple[tuple[float, float], ...]:
    kept = _thinned(rows)
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
    found = [tuple(number(row[name]) for name in names) for row in _thinned(rows)]
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
    return f"{up.label} of {system.name} from {written(min(ys), _unit(up))} to {written(max(ys), _unit(up))}"
