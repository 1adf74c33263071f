"""The measures of a result of `score`, and their values with intervals as the tables of pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from warehouse.render.site.contents import IntervalBar
from warehouse.render.style import cell
from warehouse.results import Cell, CellKind, Result


class MeasuredColumn(Struct, frozen=True):
    """A measure of a result: its column in the data, its kind, and whether it has intervals."""

    name: str
    kind: CellKind
    has_interval: bool

    @property
    def low(self) -> str:
        """The column of lower limits."""
        return f"ci_low({self.name})"

    @property
    def high(self) -> str:
        """The column of upper limits."""
        return f"ci_high({self.name})"

    def shown(self, row: Mapping[str, Cell]) -> str:
        """The value of a row."""
        return cell(self.kind, row.get(self.name))

    def limits(self, row: Mapping[str, Cell]) -> str:
        """The interval of a row."""
        low, high = row.get(self.low), row.get(self.high)
        return "–" if low is None or high is None else f"{cell(self.kind, low)} – {cell(self.kind, high)}"


def measured(values: Result) -> list[MeasuredColumn]:
    """The measures of a result, in order."""
    names = set(values.columns)
    return [
        MeasuredColumn(column.name, column.kind, f"ci_low({column.name})" in names)
        for column in values.table.columns
        if column.kind in ("proportion", "number") and not column.name.startswith(("se(", "ci_low(", "ci_high("))
    ]


def extent_of(rows: Iterable[Mapping[str, Cell]], measure: MeasuredColumn) -> tuple[float, float]:
    """The lowest and the highest limit of a measure."""
    names = (measure.low, measure.name, measure.high)
    numbers = [number for row in rows for name in names if (number := _number(row.get(name))) is not None]
    return (min(numbers), max(numbers)) if numbers else (0.0, 1.0)


def interval(row: Mapping[str, Cell], measure: MeasuredColumn, extent: tuple[float, float]) -> IntervalBar:
    """The interval of a row on the scale of its column."""
    low, middle, high = (_number(row.get(name)) for name in (measure.low, measure.name, measure.high))
    return IntervalBar(middle, low, high, *extent, measure.limits(row))


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float) else None
