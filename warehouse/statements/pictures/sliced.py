"""The picture of `differ`: the difference in each slice with its interval, and the estimate drawn towards the whole."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

from warehouse.charts import Panel, written
from warehouse.charts.forest import SliceDots, forest
from warehouse.query.comparison.intervals import percent
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts
from warehouse.results import Cell, Result
from warehouse.statements.pictures.drawn import Drawn, number, without_how

if TYPE_CHECKING:
    from warehouse.statements.differ import DifferPlan

MOST_SLICES = 60
"""Of more slices than this the ones with the lowest adjusted levels are drawn."""


def sliced(plan: DifferPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    families: dict[tuple[Cell, ...], list[dict[str, Cell]]] = {}
    # On screen slices have shorter names than in data.
    for row in (dict(zip(result.columns, cells, strict=True)) for part in result.sections for cells in part.rows):
        families.setdefault(_of(row), []).append(row)
    units = {entry.test_set.name: entry.task.difference for entry in plan.entries}
    reach = NormalDist().inv_cdf(1 - float(plan.how.level) / 2)
    panels: list[Panel] = []
    said: list[str] = []
    notes: dict[str, None] = {}
    for (measure, a, b, test_set), rows in families.items():
        known = [row for row in rows if row["difference"] is not None]
        drawn = _chosen(known)
        if len(drawn) < len(known):
            notes[f"the {len(drawn)} slices of {len(known):,} with the lowest adjusted p"] = None
        unit = units[str(test_set)]
        slices = [_slice(row, reach) for row in drawn]
        (whole, *_) = (number(row["difference"]) or 0.0 for row in result.summary if _of(row) == _of(rows[0]))
        title = f"{measure} of {a} − {b} on {test_set}" if len(families) > 1 else ""
        axis = f"difference of {measure}" if len(families) > 1 else f"{a} − {b} in {measure}"
        panels.append(forest(title, axis, unit, slices, whole))
        lowest, highest = (pick(drawn, key=_difference) for pick in (min, max)) if drawn else ({}, {})
        if drawn:
            said.append(
                f"{measure} on {test_set}: from {written(_difference(lowest), unit)} where {lowest['slice']} "
                f"to {written(_difference(highest), unit)} where {highest['slice']}"
            )
    legend = (
        f"hollow dots: the difference in a slice, with its {percent(plan.how.level)} interval by the normal "
        "distribution, not adjusted; filled dots: the estimate shrunk towards the overall difference (dotted line)",
    )
    title = without_how(result)
    return Drawn(plan.entries, tuple(panels), f"Slices. {'; '.join(said)}.", legend, tuple(notes), title)


def _chosen(rows: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
    """Those that are drawn, in their order."""
    if len(rows) <= MOST_SLICES:
        return rows

    def level(place: int) -> tuple[float, float]:
        adjusted, own = (number(rows[place][name]) for name in ("p_adjusted", "p"))
        return (2.0 if adjusted is None else adjusted, 2.0 if own is None else own)

    first = sorted(range(len(rows)), key=level)[:MOST_SLICES]
    return [rows[place] for place in sorted(first)]


def _slice(row: dict[str, Cell], reach: float) -> SliceDots:
    difference, error = _difference(row), number(row["se"])
    half = None if error is None else reach * error
    return SliceDots(str(row["slice"]), difference, half, number(row["shrunken"]))


def _difference(row: dict[str, Cell]) -> float:
    return number(row["difference"]) or 0.0


def _of(row: dict[str, Cell]) -> tuple[Cell, ...]:
    """The measure, the pair and the test set of a row."""
    return tuple(row[name] for name in ("measure", "system_a", "system_b", "test_set"))
