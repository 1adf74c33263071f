"""The format for spreadsheets: a workbook with one sheet per result, which keeps numbers to 16 digits. It needs the
extra `excel`.

A name is always text, whatever it begins with. A workbook contains no formulas.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.render.rectangle import ShownTable, tables, triangle_rectangles
from evalhouse.warehouse.render.style import Style, below, clean, width
from evalhouse.warehouse.results import UNEVEN, UNEVEN_MEANS, Cell, CellKind, Column, Result, Table

WIDEST = 60
"""No column of a sheet is made wider than this many characters."""

_HEAD = 2
"""The row of the headings. The caption and an empty row are above it."""


def workbook(results: Sequence[Result], style: Style) -> bytes:
    """The workbook with all results. Raises WarehouseError if the extra is not installed."""
    try:
        import xlsxwriter
    except ImportError:
        raise WarehouseError(
            "writing a workbook needs the package xlsxwriter", ('pip install "evalhouse[excel]"',)
        ) from None
    out = io.BytesIO()
    with xlsxwriter.Workbook(out, {"in_memory": True}) as book:
        formats = _Formats(book, style.digits)
        for number, result in enumerate(results, 1):
            _result(book, formats, f"{number}", result)
            if result.triangle:
                _triangles(book, formats, f"{number} levels", result, style)
    return out.getvalue()


class _Formats:
    """The number formats of a workbook, by the content of a column."""

    def __init__(self, book: Any, digits: int | None) -> None:
        def decimals(usual: int) -> str:
            wanted = usual if digits is None else digits
            return "0." + "0" * wanted if wanted else "0"

        points = decimals(2)
        codes: dict[CellKind, str] = {
            "count": "#,##0",
            "whole": "0",
            "proportion": f"{points}%",
            "difference": f"+{points}%;-{points}%;{points}%",
            "probability": _probability(4 if digits is None else digits),
            "number": decimals(4),
        }
        self.of: dict[CellKind, Any] = {kind: book.add_format({"num_format": code}) for kind, code in codes.items()}
        # A number with a mark is a number still.
        self.uneven: dict[CellKind, Any] = {
            kind: book.add_format({"num_format": f'{codes[kind]}" {UNEVEN}"'}) for kind in ("proportion", "number")
        }
        self.bold = book.add_format({"bold": True})
        self.head = book.add_format({"bold": True, "bottom": 1})


def _probability(digits: int) -> str:
    """A p-value too small for the digits looks as on screen but stays a number."""
    return f'[<{10.0**-digits:.{digits}f}]"{below(digits)}";{"0." + "0" * digits if digits else "0"}'


def _result(book: Any, formats: _Formats, name: str, result: Result) -> None:
    sheet = book.add_worksheet(name)
    sheet.write_string(0, 0, clean(result.caption), formats.bold)
    # Pairs have the columns of their data, so that they can be filtered. Everything else has the columns shown on
    # screen.
    of_pairs = bool(result.triangle or result.sections)
    line = _HEAD
    for table in [result.table] if of_pairs else tables(result):
        _table(sheet, formats, line, table, not of_pairs)
        line += len(table.rows) + 2
    sheet.freeze_panes(_HEAD + 1, 0)
    marks = (UNEVEN_MEANS,) if result.uneven else ()
    for note in (*marks, *result.folded_notes, result.signature):
        sheet.write_string(line, 0, clean(note))
        line += 1


def _table(sheet: Any, formats: _Formats, line: int, table: Table, for_people: bool) -> None:
    for place, column in enumerate(table.columns):
        heading = (column.heading or column.name).replace("\n", " ") if for_people else column.name
        sheet.write_string(line, place, clean(heading), formats.head)
        texts = (row[place] for row in table.rows)
        longest = max([width(heading), *(width(clean(text)) for text in texts if isinstance(text, str))])
        sheet.set_column(place, place, min(max(longest, 9) + 2, WIDEST))
    for number, row in enumerate(table.rows, line + 1):
        for place, (column, cell) in enumerate(zip(table.columns, row, strict=True)):
            marked = isinstance(table, ShownTable) and (number - line - 1, place) in table.uneven
            _write(sheet, formats.uneven if marked else formats.of, number, place, column, cell)
    if table.columns and line == _HEAD:
        sheet.autofilter(line, 0, line + len(table.rows), len(table.columns) - 1)


def _write(sheet: Any, formats: Mapping[CellKind, Any], line: int, place: int, column: Column, cell: Cell) -> None:
    if cell is None:
        return
    if isinstance(cell, bool):
        sheet.write_boolean(line, place, cell)
    elif isinstance(cell, str):
        sheet.write_string(line, place, clean(cell))
    else:
        sheet.write_number(line, place, cell, formats.get(column.kind))


def _triangles(book: Any, formats: _Formats, name: str, result: Result, style: Style) -> None:
    """The p-values as they are printed, one triangle below the other."""
    sheet = book.add_worksheet(name)
    sheet.write_string(0, 0, result.triangle.legend if result.triangle else "")
    line = _HEAD
    for triangle in triangle_rectangles(result.table, result.triangle, style) if result.triangle else ():
        sheet.write_string(line, 0, clean(triangle.title), formats.bold)
        for number, row in enumerate((triangle.headings, *triangle.rows), line + 1):
            for place, text in enumerate(row):
                sheet.write_string(number, place, text.strip(), formats.head if number == line + 1 else None)
        line += len(triangle.rows) + 3
    sheet.set_column(0, 0, 4)
    sheet.set_column(1, 1, 24)
