"""The rows and columns of `curve`: those of the data, those that a screen shows, and those of the summary."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from warehouse.measures import Statistic
from warehouse.query import plan as p
from warehouse.query.path import Facts
from warehouse.query.table_rows import TableRows
from warehouse.results import Cell, CellKind, Column, Table, TableSection
from warehouse.statements.curve_plan import MOST_THRESHOLDS, Curved, CurvePlan

if TYPE_CHECKING:
    from warehouse.significance.curves.bands import Known

SHOWN = 20
"""About this many thresholds of each system are shown on screen and on paper by default."""

SAID = 3
"""For more systems than this, the numbers of shown thresholds are not listed one by one."""

CELLS = ("a", "b", "c", "d", "x", "y")


class SystemRows(Struct, frozen=True):
    """The rows of a system, or of those that guess: where they begin, and which of them stand on a screen, None where
    all do.
    """

    curve: Curved | None
    begins: int
    shown: Sequence[int] | None

    @property
    def has_thresholds(self) -> bool:
        return self.curve is not None and self.curve.has_thresholds


def add_system(plan: CurvePlan, one: Curved, rows: TableRows) -> Sequence[int] | None:
    """Adds the rows of a system, and gives those of them that stand on a screen; None where all do.

    A system without confidences has one row, of its decisions.
    """
    from warehouse.query.comparison.curving import spread

    of_rows = {"test_set": one.entry.test_set.name, "system": one.system.system.name}
    thresholds, curves = one.system.thresholds, one.curves
    if not one.has_thresholds:
        values = {
            statistic.label: (known.value, known.low, known.high)
            for statistic, known in zip(plan.statistics, curves.own, strict=True)
        }
        rows.add(**of_rows, **_cells(None, thresholds.own.tolist()), **_measured(values))
        return None
    best = () if curves.best is None else (curves.best.place,)
    places = spread(thresholds, plan.limit or MOST_THRESHOLDS, *best)
    at: list[float | None] = [None, *thresholds.at.tolist()]
    limits = [[part[places].tolist() for part in (band.value, band.low, band.high)] for band in curves.bands]
    for number, (place, cells) in enumerate(zip(places.tolist(), thresholds.cells[:, places].T.tolist(), strict=True)):
        values = {
            statistic.label: (of[0][number], of[1][number], of[2][number])
            for statistic, of in zip(plan.statistics, limits, strict=True)
        }
        rows.add(**of_rows, **_cells(at[place], cells), **_measured(values))
    if plan.limit is not None:
        return None
    shown = set(spread(thresholds, _shown(plan), *best).tolist())
    return [number for number, place in enumerate(places.tolist()) if place in shown]


def _shown(plan: CurvePlan) -> int:
    """How many thresholds of each system stand on a screen: of many systems fewer."""
    systems = sum(len(entry.systems) for entry in plan.entries)
    return SHOWN if systems <= 2 else max(6, 2 * SHOWN // systems)


def _cells(threshold: float | None, cells: Sequence[int]) -> dict[str, Cell]:
    of = dict(zip(CELLS, cells, strict=True))
    return {"threshold": threshold, "decided": of["a"] + of["b"] + of["x"], **of}


def _measured(values: dict[str, tuple[float, float, float]]) -> dict[str, Cell]:
    """The cells of measures with their limits."""
    cells: dict[str, Cell] = {}
    for label, (known, low, high) in values.items():
        cells |= {label: _known(known), f"low({label})": _known(low), f"high({label})": _known(high)}
    return cells


def _known(number: float) -> float | None:
    return None if number != number else float(number)


def add_guesses(plan: CurvePlan, entry: p.Entry, facts: Facts, rows: TableRows, summary: TableRows) -> None:
    """Adds the rows of systems that guess: what is to be expected of them."""
    from warehouse.query.comparison.curving import curve_measure, guessed

    nothing = float("nan")
    for baseline in entry.baselines:
        cells = guessed(entry, baseline, facts)
        found = [float(curve_measure(statistic).values(cells)) for statistic in plan.statistics]
        values = {
            statistic.label: (known, nothing, nothing) for statistic, known in zip(plan.statistics, found, strict=True)
        }
        whole = [int(cell) for cell in cells.tolist()] if baseline.share in (0, 1) else None
        counted_so = dict.fromkeys(("threshold", "decided", *CELLS)) if whole is None else _cells(None, whole)
        of_rows = {"test_set": entry.test_set.name, "system": baseline.name}
        rows.add(**of_rows, **counted_so, **_measured(values))
        summary.add(**_summary(plan, **of_rows, own_value=_known(found[plan.chosen])))


SUMMARY = (
    "test_set",
    "system",
    "measure",
    "best_threshold",
    "best_low",
    "best_high",
    *(
        f"{what}{side}"
        for what in ("best_value", "own_value", "lost", "area_roc", "area_pr")
        for side in ("", "_low", "_high")
    ),
    "contradicting",
)


def _summary(plan: CurvePlan, **cells: Cell) -> dict[str, Cell]:
    return {**dict.fromkeys(SUMMARY), "measure": plan.best_for.label, **cells}


def summarize(plan: CurvePlan, one: Curved, summary: TableRows) -> None:
    curves, best = one.curves, one.curves.best if one.has_thresholds else None
    known: dict[str, Known | None] = {"own_value": curves.own[plan.chosen]}
    cells: dict[str, Cell] = {"test_set": one.entry.test_set.name, "system": one.system.system.name}
    if one.has_thresholds:
        known |= {"area_roc": one.roc, "area_pr": curves.area}
        cells["contradicting"] = one.system.thresholds.contradicting
    if best is not None:
        at: list[float | None] = [None, *one.system.thresholds.at.tolist()]
        # What decides more has the lower threshold.
        cells |= {"best_threshold": at[best.place], "best_low": at[best.last], "best_high": at[best.first]}
        known |= {"best_value": best.value, "lost": best.lost}
    for what, number in known.items():
        if number is not None:
            cells |= {
                what: _known(number.value),
                f"{what}_low": _known(number.low),
                f"{what}_high": _known(number.high),
            }
    summary.add(**_summary(plan, **cells))


# --- what a screen shows ----------------------------------------------------------------------------------------------


def section(plan: CurvePlan, table: Table, parts: Sequence[SystemRows]) -> tuple[TableSection, ...]:
    """What a screen shows: some thresholds of each system, those with confidences first, and how many they are."""
    ends = [*(part.begins for part in parts[1:]), len(table.rows)]
    rows: list[tuple[Cell, ...]] = []
    points: list[tuple[Cell, ...]] = []
    said = []
    for part, end in zip(parts, ends, strict=True):
        own = table.rows[part.begins : end]
        if part.curve is None or not part.curve.has_thresholds:
            points += own
            continue
        shown = own if part.shown is None else [own[number] for number in part.shown]
        rows += shown
        there = part.curve.system.thresholds.at.size + 1
        if len(shown) < there:
            name = part.curve.system.system.name
            where = f"{name} on {part.curve.entry.test_set.name}" if len(plan.entries) > 1 else name
            said.append(f"{len(shown):,} of {there:,} thresholds of {where}")
    title = ", ".join(said) if len(said) <= SAID else "some thresholds of each system"
    return (TableSection(title, (*rows, *points)),)


def _kind(statistic: Statistic) -> CellKind:
    return "number" if statistic.in_counts else "proportion"


def data_columns(plan: CurvePlan) -> tuple[Column, ...]:
    of_measures: list[Column] = []
    for statistic in plan.statistics:
        label, kind = statistic.label, _kind(statistic)
        of_measures += [
            Column(label, kind),
            Column(f"low({label})", kind, "band"),
            Column(f"high({label})", kind, upper=True),
        ]
    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("system", "name", on_screen=any(len(entry.systems) > 1 for entry in plan.entries)),
        Column("threshold", "number"),
        Column("decided", "count", "yes", spare=1),
        *(Column(cell, "count", on_screen=False) for cell in CELLS),
        *of_measures,
    )


def summary_columns_of(plan: CurvePlan, curved: bool) -> tuple[Column, ...]:
    from warehouse.query.comparison.intervals import percent

    kind, label, interval = _kind(plan.best_for), plan.best_for.label, f"{percent(plan.level)} CI"
    difference: CellKind = "number" if kind == "number" else "difference"

    def known(what: str, kind: CellKind, heading: str, spare: int = 0, limits: int | None = None) -> Iterator[Column]:
        """A number, and its limits, on screen where they are given a place in the order of what is left out."""
        shown = curved or what == "own_value"
        yield Column(what, kind, heading, on_screen=shown, spare=spare)
        yield Column(f"{what}_low", kind, interval, on_screen=shown and limits is not None, spare=limits or 0)
        yield Column(f"{what}_high", kind, on_screen=shown and limits is not None, upper=True)

    return (
        Column("test_set", "name", on_screen=len(plan.entries) > 1),
        Column("system", "name"),
        Column("measure", "name", on_screen=False),
        Column("best_threshold", "number", "best at", on_screen=curved),
        Column("best_low", "number", f"{percent(plan.level)} of resamples", on_screen=curved, spare=3),
        Column("best_high", "number", on_screen=curved, upper=True),
        *known("best_value", kind, f"best {label}"),
        *known("own_value", kind, "own" if curved else f"own {label}"),
        *known("lost", difference, "lost", 2, 4),
        *known("area_roc", "proportion", "ROC area", 1, 6),
        *known("area_pr", "proportion", "PR area", 5, 7),
        Column("contradicting", "count", on_screen=False),
    )
