"""How much of a long result a page or a report shows, with the note that says so: the lines that people see are
counted, not the rows of the data behind them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from evalhouse.warehouse.results import Cell, Grid, Matrix, Result, SideBySide, Table, TableSection


def for_page(result: Result, most: int, elsewhere: str) -> Result:
    """A result as a page that can be scrolled shows it: all rows of its sections, up to `most` rows of each table."""
    whole = tuple(replace(section, shown=None) for section in result.sections)
    return shorten(replace(result, sections=whole), most, elsewhere)


def shorten(result: Result, most: int, elsewhere: str) -> Result:
    """A result with at most `most` lines of each of its tables. A note says of how many, and where the others are."""
    lines, shorter = _first_lines(result, most)
    many = len(result.summary_table.rows)
    notes = [f"the first {most:,} of {lines:,} rows; {elsewhere}"] if lines > most else []
    notes += [f"the first {most:,} of {many:,} rows of the summary; {elsewhere}"] if many > most else []
    return replace(shorter, summary_table=_cut(result.summary_table, most), notes=(*notes, *result.notes))


def _first_lines(result: Result, most: int) -> tuple[int, Result]:
    """How many lines are shown of a result, and the result with the first of them."""
    match result:
        case Result(grid=Grid(systems=systems) as grid):
            shorter = replace(grid, systems=systems[:most], letters=grid.letters[:most])
            return len(systems), replace(result, grid=shorter)
        case Result(side_by_side=SideBySide(lines=lines) as across):
            return len(lines), replace(result, side_by_side=replace(across, lines=lines[:most]))
        case Result(matrix=Matrix() as matrix):
            places = [result.columns.index(name) for name in (*matrix.within, matrix.row)]
            all_lines = dict.fromkeys(tuple(row[place] for place in places) for row in result.table.rows)
            kept = {*list(all_lines)[:most]}
            rows_of = tuple(row for row in result.table.rows if tuple(row[place] for place in places) in kept)
            return len(all_lines), replace(result, table=replace(result.table, rows=rows_of))
        case Result(sections=(_, *_)):
            shown = sum(section.lines for section in result.sections)
            return shown, replace(result, sections=tuple(_first_sections(result.sections, most)))
        case _:
            # Half of a triangle would look like a whole one of fewer systems.
            rows = len(result.table.rows)
            return rows, replace(result, table=_cut(result.table, most), triangle=None) if rows > most else result


def _first_sections(sections: Sequence[TableSection], most: int) -> Iterator[TableSection]:
    left = most
    for section in sections:
        if left > 0:
            rows = section.rows if section.lines <= left else section.rows[:left]
            yield replace(section, rows=rows, more=section.more + len(section.rows) - len(rows))
        left -= section.lines


def _cut(table: Table, most: int) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = table.rows[:most]
    return replace(table, rows=rows)
