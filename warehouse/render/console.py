"""The table for a terminal, drawn by rich. Markup in names is never interpreted, and no text is cut."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from evalhouse.warehouse.render.panels import GAP, Rectangle, middle, spans
from evalhouse.warehouse.render.rectangle import legend_below, rectangles
from evalhouse.warehouse.render.style import Style, clean, width
from evalhouse.warehouse.results import Result

MOST_ROWS = 500
"""The most rows that a terminal shows; rich would need seconds for thousands."""


def table(result: Result, style: Style) -> str:
    """The sentence or the caption, one or more tables, how many rows are not shown, and how all was found."""
    if result.chart:
        # Only pictures need these modules, so tables do not import them.
        from evalhouse.warehouse.render.screen import picture

        return terminal_text(picture(result.chart, style), style, style.width)
    drawn = rectangles(result, style)
    blocks = len(drawn)
    if result.triangle and blocks > 1:
        drawn = _first_blocks(drawn)
    parts: list[Text | Table] = []
    if result.headline:
        parts.append(Text(clean(result.headline), style="bold"))
    for rectangle in drawn:
        if len(parts) > 1:
            parts.append(Text())
        if rectangle.title:
            parts.append(Text(clean(rectangle.title), style="italic"))
        if not rectangle.rows:
            parts.append(Text("(no rows)", style="dim"))
        elif result.grid:
            parts.append(_below_heads(rectangle))
        else:
            parts += _records(rectangle, style.width) if rectangle.as_records else [_grid(rectangle)]
        if rectangle.left_out:
            left_out = ", ".join(heading.replace("\n", " ") for heading in rectangle.left_out)
            narrow = f"the screen is too narrow for {left_out}; --format tsv shows every column"
            parts.append(Text(clean(narrow), style="dim"))
        rows, shown = len(rectangle.rows) + rectangle.more, min(len(rectangle.rows), MOST_ROWS)
        if shown < rows:
            way = f"limit {rows}" if shown == len(rectangle.rows) and rows <= MOST_ROWS else "--format tsv"
            parts.append(Text(f"the first {shown:,} of {rows:,} rows; {way} shows all", style="dim"))
    if len(drawn) < blocks:
        way = "group and rank sum them up, --format tsv shows every pair"
        parts.append(Text(f"the first {len(drawn):,} of {blocks:,} blocks of pairs; {way}", style="dim"))
    legend = legend_below(result, signs=not style.colour)
    parts += [Text()] * bool(legend)
    for text in (*legend, *([drawn[0].legend] if drawn[0].legend else [])):
        parts.append(Text(clean(text), style="dim"))
    if result.signed:
        parts.append(Text(clean(result.signature if style.signature else result.foot), style="dim"))
    beside = 0 if result.grid else 4
    return terminal_text(parts, style, max([style.width, *(one.width + beside for one in drawn if not one.as_records)]))


def _first_blocks(blocks: Sequence[Rectangle]) -> list[Rectangle]:
    """The blocks of pairs that a terminal shows, at least one."""
    shown = list(blocks[:1])
    for block in blocks[1:]:
        if sum(len(one.rows) for one in (*shown, block)) > MOST_ROWS:
            break
        shown.append(block)
    return shown


def terminal_text(parts: Sequence[Text | Table], style: Style, width: int) -> str:
    """Prints texts and tables of this width as lines of a terminal, one below the other. The lines have colour codes if
    wanted.
    """
    out = io.StringIO()
    console = Console(
        # In a notebook, rich would show the lines directly and return nothing.
        force_jupyter=False,
        file=out,
        width=width,
        force_terminal=style.colour,
        no_color=not style.colour,
        color_system="standard" if style.colour else None,
        highlight=False,
        emoji=False,
        markup=False,
        legacy_windows=False,
    )
    for part in parts:
        console.print(part, width=style.width if isinstance(part, Text) else None)
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines()) + "\n"


def _records(rectangle: Rectangle, width: int) -> list[Text | Table]:
    """Each row as lines of a heading and a cell. The heading takes at most half of the width."""
    parts: list[Text | Table] = []
    for row in rectangle.rows[:MOST_ROWS]:
        if parts:
            parts.append(Text())
        record = Table.grid(padding=(0, 2, 0, 0))
        record.add_column(no_wrap=True)
        record.add_column(overflow="fold")
        for heading, text in zip(rectangle.headings, row, strict=True):
            called = middle(clean(heading.replace("\n", " ")), max(width // 2, 1))
            record.add_row(Text(called, style="bold"), Text(text.strip()))
        parts.append(record)
    return parts


def _grid(rectangle: Rectangle) -> Table:
    left = (rectangle.gap - 1) // 2
    padding = (0, rectangle.gap - 1 - left, 0, left)
    grid = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold", padding=padding)
    for heading, numeric, limit in zip(rectangle.headings, rectangle.numeric, rectangle.limits, strict=True):
        shown = Text("\n".join(clean(line) for line in heading.split("\n")))
        grid.add_column(shown, justify="right" if numeric else "left", min_width=limit, max_width=limit)
    for row in rectangle.rows[:MOST_ROWS]:
        grid.add_row(*(Text(text) for text in row))
    return grid


def _below_heads(rectangle: Rectangle) -> Text:
    """A table with headings over several columns, each above a rule of its own. The best values are bold."""
    places = range(len(rectangle.headings))
    edges = [sum(rectangle.limits[:place]) + GAP * place for place in places]
    over = [" "] * rectangle.width
    rules = [" "] * rectangle.width
    for head, below in spans(rectangle.headings):
        if head:
            start, end = edges[below[0]], edges[below[-1]] + rectangle.limits[below[-1]]
            shown = middle(clean(head), end - start)
            at = start + (end - start - width(shown)) // 2
            over[at : at + width(shown)] = [*shown, *([""] * (width(shown) - len(shown)))]
            rules[start:end] = "─" * (end - start)
    lower = [clean(heading.rpartition("\n")[2]) for heading in rectangle.headings]
    lines = [
        *(Text("".join(line).rstrip(), style="bold") for line in (over, rules)),
        Text(_line(rectangle, lower), style="bold"),
        Text("─" * rectangle.width),
    ]
    for number, row in enumerate(rectangle.rows[:MOST_ROWS]):
        line = Text(_line(rectangle, row))
        for place in places:
            figure = rectangle.figures.get((number, place))
            if figure is not None and (figure.best or figure.second):
                start = edges[place] + rectangle.limits[place] - width(row[place])
                line.stylize("bold" if figure.best else "underline", start, start + len(figure.number))
        lines.append(line)
    return Text("\n").join(lines)


def _line(rectangle: Rectangle, texts: Sequence[str]) -> str:
    """Texts in their columns, with numbers aligned to the right."""
    padded = []
    for text, limit, numeric in zip(texts, rectangle.limits, rectangle.numeric, strict=True):
        room = " " * (limit - width(text))
        padded.append(room + text if numeric else text + room)
    return (" " * GAP).join(padded).rstrip()
