"""Rows of a table by the names of their columns, so that no cell is read or written by its position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from warehouse.results import Cell, Column, Table


class TableRows:
    """Rows that are added one at a time, for columns whose names are known beforehand and whose looks may not be."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = tuple(names)
        self.rows: list[tuple[Cell, ...]] = []

    @classmethod
    def of(cls, columns: Iterable[Column]) -> TableRows:
        """Rows for these columns."""
        return cls(column.name for column in columns)

    def add(self, **cells: Cell) -> None:
        """Adds a row. Raises TypeError for a cell too many or too few."""
        if len(cells) != len(self.names):
            raise TypeError(f"a row of {', '.join(self.names)} is given {', '.join(cells)}")
        try:
            self.rows.append(tuple(map(cells.__getitem__, self.names)))
        except KeyError as missing:
            raise TypeError(f"a row is given no {missing}") from None

    def cells(self, name: str) -> tuple[Cell, ...]:
        """The cells of one name. Raises ValueError where there are none."""
        place = self.names.index(name)
        return tuple(row[place] for row in self.rows)

    def records(self) -> list[dict[str, Cell]]:
        """The rows by name."""
        return [dict(zip(self.names, row, strict=True)) for row in self.rows]

    def table(self, columns: Sequence[Column]) -> Table:
        """The rows as a table. The columns stand in the order of the names; where measures are called as columns are,
        the names here differ from theirs. Raises ValueError for another number of columns.
        """
        if len(columns) != len(self.names):
            raise ValueError(f"the rows are of {', '.join(self.names)}")
        return Table(tuple(columns), tuple(self.rows))
