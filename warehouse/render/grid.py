"""A grid as a rectangle: one line per system, one column per test set and measure, and the best value of each column.

Values are compared as they are printed, so every value that looks like the best is bold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from warehouse.render.panels import GAP, Figure, Rectangle, spans, widths
from warehouse.render.style import UNDEFINED, Style, cell, width
from warehouse.results import Cell, Grid, GridMeasure, Result

LEAST_FOR_BEST, LEAST_FOR_SECOND = 2, 3
"""The number of values that a column needs before one is marked as the best, and before one is marked as the second."""

BEST, BEST_BY_SIGNS = "the best bold, the second underlined", "*the best*, _the second_"

Row = Mapping[str, Cell]


def best_below(result: Result, signs: bool = False) -> tuple[str, ...]:
    """The meaning of bold and underlined, or of the signs that replace them, if there are several systems."""
    return (BEST_BY_SIGNS if signs else BEST,) if result.grid and len(result.grid.systems) >= LEAST_FOR_BEST else ()


def grid_rectangle(result: Result, style: Style, signs: bool = False) -> Rectangle:
    """The whole grid, however wide it is. Signs may replace bold and underlining."""
    grid = result.grid
    if grid is None:
        raise ValueError("the result has no grid")
    rows = {(row["system"], row["test_set"], row["measure"]): row for row in result.table.records()}
    lettered = dict(grid.letters)
    keys = [[lettered[name] for name in grid.systems]] if lettered else []
    keys.append([cell("name", name) for name in grid.systems])
    headings = [*([""] if lettered else []), grid.system_heading]
    columns: list[list[Figure]] = []
    for test_set, heading in grid.test_sets:
        if test_set in grid.counted:
            headings.append(f"{heading}\n{grid.count_heading}")
            columns.append([_count(rows, name, test_set, grid) for name in grid.systems])
        for measure in grid.measures:
            headings.append(f"{heading}\n{measure.heading}{' ↓' if measure.lower_is_better else ''}")
            of_systems = [rows.get((name, test_set, measure.label), {}) for name in grid.systems]
            columns.append(figures(of_systems, measure, grid.digits if style.digits is None else style.digits))
    texts = [*keys, *([plain(figure, signs) for figure in column] for column in columns)]
    lines = tuple(zip(*texts, strict=True))
    return Rectangle(
        headings=tuple(headings),
        rows=lines,
        numeric=tuple(place >= len(keys) for place in range(len(headings))),
        limits=tuple(_limits(headings, lines)),
        figures={
            (row, len(keys) + place): figure
            for place, column in enumerate(columns)
            for row, figure in enumerate(column)
        },
        keys=len(keys),
    )


def _count(rows: Mapping[tuple[Cell, Cell, Cell], Row], system: str, test_set: str, grid: Grid) -> Figure:
    """The number of documents that a system was scored on."""
    known = (rows.get((system, test_set, measure.label), {}).get("documents") for measure in grid.measures)
    return Figure(cell("count", next((count for count in known if count is not None), None)))


def figures(rows: Sequence[Row], measure: GridMeasure, digits: int | None) -> list[Figure]:
    """The figures of one column: the values of a measure on a test set, with what is printed beside them."""
    numbers = [cell(measure.kind, row.get("value"), digits) for row in rows]
    best, second = _first_two(numbers, measure.lower_is_better)
    marks = [cell("text", row["mark"]) if row.get("mark") else "" for row in rows]
    halves = [_half(row, measure, digits) for row in rows]
    ranks = [_rank(row) for row in rows]
    mark_room, half_room, ranks_room = (max(texts, key=len, default="") for texts in (marks, halves, ranks))
    return [
        Figure(number, number == best, number == second, mark, mark_room, half, half_room, rank, ranks_room)
        for number, mark, half, rank in zip(numbers, marks, halves, ranks, strict=True)
    ]


def _first_two(numbers: Sequence[str], lower_is_better: bool) -> tuple[str, str]:
    """The best and the second-best number as they are printed; empty if there are too few numbers."""
    known = [number for number in numbers if number != UNDEFINED]
    ranked = sorted(set(known), key=Decimal, reverse=not lower_is_better)
    best = ranked[0] if len(known) >= LEAST_FOR_BEST else ""
    return best, ranked[1] if len(known) >= LEAST_FOR_SECOND and len(ranked) > 1 else ""


def _half(row: Row, measure: GridMeasure, digits: int | None) -> str:
    """Half of the width of an interval."""
    low, high = row.get("ci_low"), row.get("ci_high")
    if low is None or high is None:
        return ""
    return cell(measure.kind, (float(high) - float(low)) / 2, digits)


def _rank(row: Row) -> str:
    low, high = row.get("rank_low"), row.get("rank_high")
    return "" if low is None else f"{low}" if low == high else f"{low}–{high}"


def _limits(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> list[int]:
    """The maximum widths of the columns. The first is wide enough for its heading."""
    limits = widths([heading.rpartition("\n")[2] for heading in headings], lines)
    for head, places in spans(headings):
        limits[places[0]] += max(0, width(head) - sum(limits[place] + GAP for place in places) + GAP)
    return limits


def plain(figure: Figure, signs: bool) -> str:
    """A figure as a text, each part aligned with the same part of the other figures in the column."""
    sign = "" if not signs else "*" if figure.best else "_" if figure.second else " "
    parts = [f"{sign}{figure.number}{sign}" + figure.mark.ljust(len(figure.mark_room))]
    if figure.half_room:
        half = f"±{figure.half.rjust(len(figure.half_room))}" if figure.half else ""
        parts.append(half.ljust(len(figure.half_room) + 1))
    if figure.ranks_room:
        parts.append((f"({figure.ranks})" if figure.ranks else "").ljust(len(figure.ranks_room) + 2))
    return " ".join(parts)
