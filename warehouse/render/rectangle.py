"""Turns a result into rectangles of text, for all formats that people read.

It decides which columns are shown, puts test sets side by side, shortens long names, and leaves out columns that do
not fit on the screen. It must not know terminals or markup.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import compress
from textwrap import wrap

from msgspec.structs import replace

from evalhouse.warehouse.render.panels import GAP, TIGHT, Figure, Rectangle, middle, panels, spans, widths
from evalhouse.warehouse.render.style import UNDEFINED, Style, cell, width
from evalhouse.warehouse.results import (
    LETTERS,
    TEXTS,
    UNEVEN,
    UNEVEN_MEANS,
    Cell,
    CellKind,
    Column,
    GridMeasure,
    Matrix,
    Result,
    Table,
    TableSection,
    Triangle,
)

# === grids ============================================================================================================
# One line per system, one column per test set and measure, and the best value of each column in bold. Values are
# compared as they are printed, so every value that looks like the best is bold.

LEAST_FOR_BEST, LEAST_FOR_SECOND = 2, 3
"""The number of values that a column needs before one is marked as the best, and before one is marked as the second."""

BEST, BEST_BY_SIGNS = "the best bold, the second underlined", "*the best*, _the second_"

Row = Mapping[str, Cell]


def best_below(result: Result, signs: bool = False) -> tuple[str, ...]:
    """The meaning of bold and underlined, or of the signs that replace them, if there are several systems of which one
    may be the best.
    """
    grid = result.grid
    if grid is None or len(grid.systems) < LEAST_FOR_BEST:
        return ()
    columns = {(test_set, measure.label) for test_set, _ in grid.test_sets for measure in grid.measures}
    return (BEST_BY_SIGNS if signs else BEST,) if columns - result.uneven else ()


def grid_rectangle(result: Result, style: Style, signs: bool = False) -> Rectangle:
    """The whole grid, however wide it is. Signs may replace bold and underlining."""
    grid = result.grid
    if grid is None:
        raise ValueError("the result has no grid")
    rows = {(row["system"], row[grid.across], row["measure"]): row for row in result.table.records()}
    lettered = dict(grid.letters)
    keys = [[lettered[name] for name in grid.systems]] if lettered else []
    keys.append([cell("name", name) for name in grid.systems])
    headings = [*([""] if lettered else []), grid.system_heading]
    columns: list[list[Figure]] = []
    for test_set, heading in grid.test_sets:
        counts = [[_count(rows, name, test_set, measure) for name in grid.systems] for measure in grid.measures]
        apart = any(of_measure != counts[0] for of_measure in counts)
        for place, measure in enumerate(grid.measures):
            if test_set in grid.counted and (apart or place == 0):
                headings.append(f"{heading}\n{grid.count_heading}")
                columns.append(counts[place])
            called = f"{measure.heading}{' ↓' if measure.lower_is_better else ''}"
            headings.append(f"{called}\n{heading}" if grid.is_split else f"{heading}\n{called}")
            of_systems = [rows.get((name, test_set, measure.label), {}) for name in grid.systems]
            digits = grid.digits if style.digits is None else style.digits
            columns.append(figures(of_systems, measure, digits, (test_set, measure.label) in result.uneven))
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


def _count(rows: Mapping[tuple[Cell, Cell, Cell], Row], system: str, test_set: str, measure: GridMeasure) -> Figure:
    """The number of documents that a system was scored on by a measure."""
    return Figure(cell("count", rows.get((system, test_set, measure.label), {}).get("documents")))


def figures(rows: Sequence[Row], measure: GridMeasure, digits: int | None, uneven: bool = False) -> list[Figure]:
    """The figures of one column: the values of a measure on a test set, with what is printed beside them. None of
    `uneven` values is the best, since they rest on different documents.
    """
    numbers = [cell(measure.kind, row.get("value"), digits) for row in rows]
    best, second = ("", "") if uneven else _first_two(numbers, measure.lower_is_better)
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


# === tables ===========================================================================================================

SHORTEST = 12
"""A name is not shortened below this many characters."""

NARROWEST = 20
"""A text is never broken into lines narrower than this."""


def rectangles(result: Result, style: Style) -> list[Rectangle]:
    """The rectangles of a result that fit into a width. To make them fit, the function breaks texts, moves columns
    together, shortens names and leaves out columns, in this order; if nothing helps, it shows rows as records. A
    triangle is divided into blocks before it becomes a list of pairs. A summary is a rectangle of its own.
    """
    if result.grid:
        # Without colours, nothing is bold, so signs replace it.
        whole = grid_rectangle(result, style, signs=not style.colour)
        return panels(whole, lambda panel: panel.width <= style.width, SHORTEST)
    if result.triangle:
        for digits in (LEVEL_DIGITS, LEVEL_DIGITS - 1) if style.digits is None else (style.digits,):
            drawn = unbounded_rectangles(result, style, digits)
            triangles = [_pack_triangle(triangle) for triangle in drawn]
            if all(triangle.width <= style.width for triangle in triangles):
                return triangles
        blocks = [block for triangle in drawn for block in _blocks(triangle, style.width)]
        if all(block.width <= style.width for block in blocks):
            return blocks
    if result.matrix:
        whole_ones = matrix_rectangles(result.table, result.matrix, style)
        return [
            part for whole in whole_ones for part in panels(whole, lambda panel: panel.width <= style.width, SHORTEST)
        ]
    return _draw_tables(result, style, whole=False)


def _draw_tables(result: Result, style: Style, whole: bool) -> list[Rectangle]:
    """The rectangles of tables or of sections. Not all rows are shown unless they are to be `whole`."""
    drawn = []
    for section in result.sections:
        rows = section.rows if whole else section.rows[: section.shown]
        shown = _columns_on_screen(Table(result.table.columns, rows))
        part = _rectangle(shown if whole else _with_beginnings(shown), style)
        drawn.append(replace(part, title=section.title, more=len(section.rows) + section.more - len(rows)))
    return drawn + [_rectangle(table, style) for table in tables(result)[1 if drawn else 0 :]]


BEGINNING = 40
"""The number of characters of a passage that are shown on screen and on paper."""


def _with_beginnings(table: ShownTable) -> ShownTable:
    """The same table with only the beginnings of its passages, each on one line."""
    passages = {place for place, column in enumerate(table.columns) if column.kind == "passage"}
    if not passages:
        return table
    rows = (
        tuple(beginning(cell) if place in passages else cell for place, cell in enumerate(row)) for row in table.rows
    )
    return replace(table, rows=tuple(rows))


def beginning(passage: Cell) -> Cell:
    """The part of a passage that is shown, on one line."""
    if not isinstance(passage, str):
        return passage
    line = " ".join(passage[: 4 * BEGINNING].split())
    return line if len(line) <= BEGINNING and len(passage) <= 4 * BEGINNING else f"{line[: BEGINNING - 1].rstrip()}…"


class ShownTable(Table, frozen=True):
    """A table with the columns that are shown. `uneven` are the rows and columns of values that rest on different
    documents.
    """

    uneven: frozenset[tuple[int, int]] = frozenset()


def tables(result: Result) -> list[ShownTable]:
    """The part of a result that is shown: the columns for the screen, with test sets side by side. A summary is a table
    of its own.
    """
    first = _side_by_side(result) if result.side_by_side else _columns_on_screen(result.table, result)
    return [first, _columns_on_screen(result.summary_table)] if has_summary(result) else [first]


def has_summary(result: Result) -> bool:
    """Whether a summary is drawn: triangles have none, and what a summary leaves out is read in the notes."""
    summary = result.summary_table
    return bool(summary.rows) and not result.triangle and any(column.on_screen for column in summary.columns)


def _rectangle(table: ShownTable, style: Style) -> Rectangle:
    rows = [
        tuple(cell(column.kind, value, style.digits) for column, value in zip(table.columns, row, strict=True))
        for row in table.rows
    ]
    marked = {place for _, place in table.uneven}
    if marked:
        signs = {True: f" {UNEVEN}", False: "  "}
        rows = [
            tuple(
                text + signs[(number, place) in table.uneven] if place in marked else text
                for place, text in enumerate(row)
            )
            for number, row in enumerate(rows)
        ]
    columns, rows = _join_intervals(table.columns, rows)
    rows = _align_letters(columns, rows)
    drawn = _fit_columns(columns, rows, style)
    if drawn.width <= style.width:
        return drawn
    kept = [place for place, column in enumerate(columns) if not column.spare]
    # If there is space, the most informative columns return first.
    for spare in sorted((set(range(len(columns))) - set(kept)), key=lambda place: columns[place].spare):
        wanted = sorted([*kept, spare])
        if _of_columns(columns, rows, wanted, style).width <= style.width:
            kept = wanted
    drawn = _of_columns(columns, rows, kept, style)
    if drawn.width > style.width:
        return replace(_fit_columns(columns, rows, replace(style, width=sys.maxsize)), as_records=True)
    left_out = (_distinct_heading(column, table) for place, column in enumerate(columns) if place not in kept)
    return replace(drawn, left_out=tuple(left_out))


def _of_columns(
    columns: tuple[Column, ...], rows: Sequence[tuple[str, ...]], places: Sequence[int], style: Style
) -> Rectangle:
    """Only some of the columns, within a width."""
    chosen = tuple(columns[place] for place in places)
    return _fit_columns(chosen, [tuple(row[place] for place in places) for row in rows], style)


def _distinct_heading(column: Column, table: Table) -> str:
    """The heading of a column, or its name in the data if another column has the same heading."""
    alike = [other for other in table.columns if other.heading == column.heading]
    return column.heading if column.heading and len(alike) == 1 else column.name


def _fit_columns(columns: tuple[Column, ...], rows: Sequence[tuple[str, ...]], style: Style) -> Rectangle:
    """All columns within a width, as far as breaking texts, moving columns together and shortening names can achieve
    it.
    """
    headings = tuple(column.heading or column.name for column in columns)
    limits = widths(headings, rows)
    gap = GAP
    over = sum(limits) + gap * (len(limits) - 1) - style.width
    over = narrow(limits, {place: _longest_word(rows, place) for place in _places_of(columns, "text")}, over)
    while over > 0 and gap > TIGHT:
        over -= len(limits) - 1
        gap -= 1
    names = _places_of(columns, "name")
    over = narrow(limits, dict.fromkeys(names, SHORTEST), over)
    # A system may be the heading of its values.
    cells = widths([""] * len(columns), rows)
    for place in sorted(range(len(columns)), key=lambda place: cells[place] - limits[place]):
        if cells[place] < limits[place] and "\n" not in headings[place]:
            room = max(cells[place], min(SHORTEST, limits[place]), limits[place] - max(over, 0))
            over -= limits[place] - room
            limits[place] = room
    headings = tuple(
        heading if "\n" in heading else _broken(heading, limit) for heading, limit in zip(headings, limits, strict=True)
    )
    return Rectangle(
        headings=headings,
        rows=tuple(
            tuple(middle(text, limits[place]) if place in names else text for place, text in enumerate(row))
            for row in rows
        ),
        numeric=tuple(column.kind not in TEXTS for column in columns),
        limits=tuple(limits),
        gap=gap,
        spaced=frozenset(place for place, column in enumerate(columns) if column.kind == "letters"),
        keys=_keys(columns),
    )


def _places_of(columns: Sequence[Column], kind: CellKind) -> list[int]:
    return [place for place, column in enumerate(columns) if column.kind == kind]


def _longest_word(rows: Sequence[tuple[str, ...]], place: int) -> int:
    """The width below which a column of texts would be broken inside a word, or into very short lines."""
    return max([NARROWEST, *(width(word) for row in rows for word in row[place].split())])


def _broken(heading: str, limit: int) -> str:
    """A heading in lines that end between words; a name that is longer than a line is shortened."""
    if width(heading) <= limit:
        return heading
    lines = wrap(heading, max(limit, 1), break_long_words=False, break_on_hyphens=False)
    return "\n".join(middle(line, limit) for line in lines)


def _keys(columns: Sequence[Column]) -> int:
    """The number of columns at the left that identify a row: names, and one number before them, a rank."""
    names = [column.kind == "name" for column in columns]
    first = 1 if names[:2] == [False, True] else 0
    count = next((place for place, name in enumerate(names) if place >= first and not name), len(names))
    return count if first < count < len(names) else 0


def _join_intervals(
    columns: tuple[Column, ...], rows: list[tuple[str, ...]]
) -> tuple[tuple[Column, ...], list[tuple[str, ...]]]:
    """Joins each lower limit with its upper limit in one cell: [-4.46, +16.97]. A single limit becomes ≥ -4.46."""
    uppers = [place for place, column in enumerate(columns) if column.upper]
    for place in reversed(uppers):
        lows, highs = ([row[at].removesuffix(UNDEFINED) for row in rows] for at in (place - 1, place))
        widest = max(map(width, highs), default=0)
        joined = [_interval(low, high, widest) for low, high in zip(lows, highs, strict=True)]
        rows = [(*row[: place - 1], text, *row[place + 1 :]) for row, text in zip(rows, joined, strict=True)]
        columns = (*columns[:place], *columns[place + 1 :])
    return columns, rows


def _interval(low: str, high: str, widest: int) -> str:
    """An interval written from its limits; empty if there are none."""
    if low and high:
        return f"[{low}, {high.rjust(widest)}]"
    return f"≥ {low}" if low else f"≤ {high}" if high else UNDEFINED


def _align_letters(columns: tuple[Column, ...], rows: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Aligns the letters of groups, so that each group reads as a line down the ranking. Of more groups than letters
    each system has the numbers: 3–17.
    """
    for place, column in enumerate(columns):
        if column.kind == "letters":
            written = [row[place].split() for row in rows]
            known = sorted(set().union(*written), key=_number_of)
            if known and _number_of(known[-1]) > LETTERS:
                drawn = [_runs([_number_of(letter) for letter in letters]) for letters in written]
            else:
                drawn = [" ".join(one if one in letters else " " for one in known) for letters in written]
            rows = [(*row[:place], text, *row[place + 1 :]) for row, text in zip(rows, drawn, strict=True)]
    return rows


def _number_of(letters: str) -> int:
    """The number of the group that is called so: 1 for a, 27 for aa."""
    number = 0
    for letter in letters:
        number = number * LETTERS + ord(letter) - ord("a") + 1
    return number


def _runs(numbers: Sequence[int]) -> str:
    """Rising numbers, those that follow each other as one range: 3–17, 19."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("–".join(map(str, run)) for run in runs)


MARKS = {"significant": "*", "undecided": "?", "not significant": " "}
"""The sign after a p-value in a triangle."""


LEVEL_DIGITS = 3
"""The digits of a p-value in a triangle, if there is space for them."""


def unbounded_rectangles(
    result: Result, style: Style, level_digits: int | None = None, whole: bool = False
) -> list[Rectangle]:
    """The rectangles for a page without a fixed width: nothing is shortened, and every p-value of a triangle has a cell
    of its own. If the page can scroll, sections also have all their rows.
    """
    if result.grid:
        return [grid_rectangle(result, style)]
    if result.triangle:
        triangles = triangle_rectangles(result.table, result.triangle, style, level_digits)
        return triangles if len(triangles) > 1 else [replace(triangle, title="") for triangle in triangles]
    if result.matrix:
        return matrix_rectangles(result.table, result.matrix, style)
    return _draw_tables(result, replace(style, width=sys.maxsize), whole)


def notes_below(result: Result, whole: bool = False) -> tuple[str, ...]:
    """The text below the rectangles of a result: what the marks of a triangle or a grid mean, how many rows are not
    shown, and the notes.
    """
    cut = () if whole else tuple(map(_cut, result.sections))
    marks = ((result.triangle.legend,) if result.triangle else ()) + legend_below(result)
    return marks + tuple(filter(None, cut)) + result.folded_notes


def _cut(section: TableSection) -> str:
    """The number of rows shown of a section that is cut."""
    rows = len(section.rows) + section.more
    if section.lines >= rows:
        return ""
    of = f"{section.title}: " if section.title else ""
    return f"{of}the first {section.lines:,} of {rows:,} rows"


def legend_below(result: Result, signs: bool = False) -> tuple[str, ...]:
    """The meaning of the marks of a grid, of bold and underlined or of the signs that replace them, and of the mark of
    values that cannot be compared.
    """
    uneven = (UNEVEN_MEANS,) if result.uneven else ()
    return (*best_below(result, signs), *(result.grid.legend if result.grid else ()), *uneven)


def triangle_rectangles(table: Table, how: Triangle, style: Style, level_digits: int | None = None) -> list[Rectangle]:
    """One triangle for each value of the `within` columns, with the systems ranked by value: rank, system, value, and
    one column for each system but the last, with the p-value of the pair and its mark.
    """
    groups: dict[tuple[Cell, ...], list[dict[str, Cell]]] = {}
    for row in table.records():
        groups.setdefault(tuple(row[name] for name in how.within), []).append(row)
    kind = next(column.kind for column in table.columns if column.name == how.first_value)
    digits = style.digits if level_digits is None else level_digits
    shown = LEVEL_DIGITS if digits is None else digits
    return [_triangle(key, rows, how, kind, style, shown) for key, rows in groups.items()]


LEVELS_FROM = 3
"""The first column of a triangle that holds p-values."""


def _triangle(
    key: tuple[Cell, ...], rows: list[dict[str, Cell]], how: Triangle, kind: CellKind, style: Style, level_digits: int
) -> Rectangle:
    values: dict[Cell, Cell] = {}
    cells: dict[frozenset[Cell], str] = {}
    for row in rows:
        values[row[how.first]], values[row[how.second]] = row[how.first_value], row[how.second_value]
        level, mark = row[how.cell], MARKS.get(str(row[how.mark]), " ")
        cells[frozenset((row[how.first], row[how.second]))] = _short_level(level, level_digits) + mark
    sign = 1 if key in how.lowest_first else -1
    ranked = sorted(values, key=lambda name: (sign * float(values[name] or 0), str(name)))
    lines = [
        (
            str(place),
            cell("name", name),
            cell(kind, values[name], style.digits),
            *(cells[frozenset((name, other))] if other in ranked[: place - 1] else "" for other in ranked[:-1]),
        )
        for place, name in enumerate(ranked, 1)
    ]
    headings = ("", "system", "value", *(f"{place} " for place in range(1, len(ranked))))
    limits = tuple(widths(headings, lines))
    numeric = (True, False, *(True for _ in ranked))
    title = ", ".join(str(part) for part in key)
    return Rectangle(headings, tuple(lines), numeric, limits, 1, title, legend=how.legend, keys=LEVELS_FROM)


def _pack_triangle(triangle: Rectangle) -> Rectangle:
    """The same triangle with the p-values of a line as one column, because a mark between two of them separates them
    enough.
    """
    size = max(len(text) for row in triangle.rows for text in row[LEVELS_FROM:])

    def packed(row: tuple[str, ...]) -> tuple[str, ...]:
        return (*row[:LEVELS_FROM], "".join(text.rjust(size) for text in row[LEVELS_FROM:] if text))

    headings, rows = packed(triangle.headings), tuple(packed(row) for row in triangle.rows)
    limits = tuple(widths(headings, rows))
    numeric = (*triangle.numeric[:LEVELS_FROM], False)
    return replace(triangle, headings=headings, rows=rows, numeric=numeric, limits=limits)


def _blocks(triangle: Rectangle, width: int) -> list[Rectangle]:
    """The same triangle as blocks of columns that fit, one below the other, each with the systems that have p-values in
    it.
    """
    parts = panels(triangle, lambda part: _pack_triangle(part).width <= width, SHORTEST)
    filled = [replace(part, rows=tuple(row for row in part.rows if any(row[LEVELS_FROM:]))) for part in parts[1:]]
    blocks = [_pack_triangle(part) for part in (*parts[:1], *filled)]
    return [replace(block, title=block.title if place == 0 else "") for place, block in enumerate(blocks)]


def _short_level(level: Cell, digits: int) -> str:
    """A p-value without its leading zero, always of the same length: .042, 1.00; <.001 if it is too small to be
    shown.
    """
    if not isinstance(level, float):
        return UNDEFINED
    text = cell("probability", level, digits)
    return text if text.startswith("<") else text.removeprefix("0") if text.startswith("0") else text[: digits + 1]


def matrix_rectangles(table: Table, how: Matrix, style: Style) -> list[Rectangle]:
    """One matrix for each value of the `within` columns, with lines and columns in the order of the rows."""
    groups: dict[tuple[Cell, ...], list[dict[str, Cell]]] = {}
    for row in table.records():
        groups.setdefault(tuple(row[name] for name in how.within), []).append(row)
    kind = next(column.kind for column in table.columns if column.name == how.cell)
    drawn = []
    for key, rows in groups.items():
        title = " on ".join(cell("name", part) for part in key) if len(groups) > 1 else ""
        drawn.append(_matrix(title, rows, how, kind, style))
    return drawn


def _matrix(title: str, rows: Sequence[Row], how: Matrix, kind: CellKind, style: Style) -> Rectangle:
    cells = {(row[how.row], row[how.column]): cell(kind, row[how.cell], style.digits) for row in rows}
    down, across = (list(dict.fromkeys(key[side] for key in cells)) for side in (0, 1))
    headings = (how.corner, *(how.absent if name is None else cell("name", name) for name in across))
    lines = tuple((cell("name", name), *(cells.get((name, other), "") for other in across)) for name in down)
    numeric = (False, *(True for _ in across))
    return Rectangle(headings, lines, numeric, tuple(widths(headings, lines)), 2, title, keys=1)


def narrow(limits: list[int], least: Mapping[int, int], over: int) -> int:
    """Narrows the widest of some columns repeatedly, each down to the least that it may have, and returns by how much
    they are still too wide.
    """
    while over > 0 and (wider := [place for place, at_least in least.items() if limits[place] > at_least]):
        limits[max(wider, key=lambda place: limits[place])] -= 1
        over -= 1
    return over


def _columns_on_screen(table: Table, result: Result | None = None) -> ShownTable:
    """The columns for the screen; of a result, with the values that rest on different documents."""
    on_screen = [column.on_screen for column in table.columns]
    shown = tuple(compress(table.columns, on_screen))
    uneven = {
        (number, place)
        for number, row in enumerate(table.records() if result is not None and result.uneven else ())
        for place, column in enumerate(shown)
        if result is not None and _is_uneven(result, row, column.name)
    }
    return ShownTable(shown, tuple(tuple(compress(row, on_screen)) for row in table.rows), frozenset(uneven))


def _is_uneven(result: Result, row: Row, column: str) -> bool:
    """Whether a cell is a value that cannot be compared with those of other systems."""
    # The rows of a grid have one measure each.
    named, measure = ("value", row.get("measure")) if result.grid else (column, column)
    return column == named and row[column] is not None and (row.get("test_set"), measure) in result.uneven


def _side_by_side(result: Result) -> ShownTable:
    """One line per key, with the spread columns repeated for each value of the column across. A missing cell is
    undefined.
    """
    how = result.side_by_side
    if how is None:
        raise ValueError("the result is not side by side")
    table = result.table
    places = {column.name: place for place, column in enumerate(table.columns)}
    cells: dict[tuple[Cell, ...], dict[tuple[Cell, str], Cell]] = {}
    for row in table.rows:
        line = cells.setdefault(tuple(row[places[name]] for name in how.key), {})
        for name in how.spread:
            line[row[places[how.across]], name] = row[places[name]]
    # A table that was cut has fewer lines.
    lines = [(key, cells[key]) for key in how.lines if key in cells]
    keys = [table.columns[places[name]] for name in how.key]
    spread = [table.columns[places[name]] for name in how.spread]
    columns = [
        Column(column.name, column.kind, f"{heading}\n{column.heading or column.name}" if len(spread) > 1 else heading)
        for _, heading in how.values
        for column in spread
    ]
    rows = [(*key, *(line.get((value, c.name)) for value, _ in how.values for c in spread)) for key, line in lines]
    across = [(value, column.name) in result.uneven for value, _ in how.values for column in spread]
    marked = [len(keys) + place for place, is_uneven in enumerate(across) if is_uneven]
    uneven = frozenset((line, place) for line, row in enumerate(rows) for place in marked if row[place] is not None)
    return ShownTable((*keys, *columns), tuple(rows), uneven)
