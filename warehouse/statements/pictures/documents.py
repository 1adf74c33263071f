"""The pictures of `differ` and `documents`."""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

from evalhouse.warehouse.charts import Panel, format_value
from evalhouse.warehouse.charts.intervals import SliceDots, forest
from evalhouse.warehouse.charts.planes import NAMED, sorted_bars, together
from evalhouse.warehouse.comparing.intervals import percent
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.plans.path import Facts, Workforce
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.statements.pictures.picture import Drawn, number, unit_in, without_how

if TYPE_CHECKING:
    from evalhouse.warehouse.statements.differ import DifferPlan
    from evalhouse.warehouse.statements.documents import DocumentsPlan


# === the picture of differ ============================================================================================
# The difference in each slice with its interval, and the estimate shrunk towards the overall difference.

MOST_SLICES = 60
"""Of more slices than this the ones with the lowest adjusted levels are drawn."""


def draw_slices(plan: DifferPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    families: dict[tuple[Cell, ...], list[dict[str, Cell]]] = {}
    # On screen slices have shorter names than in data.
    for row in (dict(zip(result.columns, cells, strict=True)) for part in result.sections for cells in part.rows):
        families.setdefault(_of(row), []).append(row)
    unit = unit_in(result, "difference")
    reach = NormalDist().inv_cdf(1 - float(plan.how.level) / 2)
    panels: list[Panel] = []
    said: list[str] = []
    notes: dict[str, None] = {}
    for (measure, a, b, test_set), rows in families.items():
        known = [row for row in rows if row["difference"] is not None]
        drawn = _choose_rows(known)
        if len(drawn) < len(known):
            notes[f"the {len(drawn)} slices of {len(known):,} with the lowest adjusted p"] = None
        slices = [_slice(row, reach) for row in drawn]
        (whole, *_) = (number(row["difference"]) or 0.0 for row in result.summary if _of(row) == _of(rows[0]))
        title = f"{measure} of {a} − {b} on {test_set}" if len(families) > 1 else ""
        axis = f"difference of {measure}" if len(families) > 1 else f"{a} − {b} in {measure}"
        panels.append(forest(title, axis, unit, slices, whole))
        lowest, highest = (pick(drawn, key=_difference) for pick in (min, max)) if drawn else ({}, {})
        if drawn:
            said.append(
                f"{measure} on {test_set}: from {format_value(_difference(lowest), unit)} where {lowest['slice']} "
                f"to {format_value(_difference(highest), unit)} where {highest['slice']}"
            )
    legend = (
        f"hollow dots: the difference in a slice, with its {percent(plan.how.level)} interval by the normal "
        "distribution, not adjusted; filled dots: the estimate shrunk towards the overall difference (dotted line)",
    )
    title = without_how(result)
    return Drawn(plan.entries, tuple(panels), f"Slices. {'; '.join(said)}.", legend, tuple(notes), title)


def _choose_rows(rows: list[dict[str, Cell]]) -> list[dict[str, Cell]]:
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


# === the picture of documents =========================================================================================
# What each document contributes to the difference, as sorted bars.


def draw_documents(plan: DocumentsPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    families: dict[tuple[Cell, ...], list[tuple[str, float]]] = {}
    for row in result.rows:
        key = tuple(row[name] for name in ("measure", "system_a", "system_b", "test_set"))
        families.setdefault(key, []).append((str(row["document"]), number(row["contribution"]) or 0.0))
    nouns = {entry.test_set.name: entry.units.noun for entry in plan.entries}
    unit = unit_in(result, "contribution")
    panels: list[Panel] = []
    said: list[str] = []
    legend: dict[str, None] = {}
    are_all = plan.limit is None and plan.only is None
    for (measure, a, b, test_set), lengths in families.items():
        called = plural(nouns[str(test_set)])
        title = f"{measure} of {a} − {b} on {test_set}" if len(families) > 1 else ""
        axis = f"part of the difference of {measure}" if len(families) > 1 else f"part of {a} − {b} in {measure}"
        noun = nouns[str(test_set)] if len(lengths) <= NAMED else called
        panels.append(sorted_bars(title, axis, noun, unit, lengths))
        for_a, for_b = (sum(sign * length > 0 for _, length in lengths) for sign in (1, -1))
        shown = "" if are_all else f"of the {len(lengths):,} shown, "
        said.append(f"{measure} on {test_set}: {shown}{for_a:,} {called} raise {a} above {b}, {for_b:,} {b} above {a}")
        step = together(len(lengths))
        if len(lengths) > NAMED:
            legend[
                f"a bar for each of {len(lengths):,} {called}"
                if step == 1
                else f"a bar for every {step:,} of {len(lengths):,} {called}, with the mean as height"
            ] = None
    if len(families) == 1 and are_all:
        legend |= dict.fromkeys(said)
    alternative = f"Sorted bars. {'; '.join(said)}."
    return Drawn(plan.entries, tuple(panels), alternative, tuple(legend), (), without_how(result))
