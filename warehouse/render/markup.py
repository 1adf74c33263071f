"""The Markdown format: a table with its caption and its notes, with every character of a name shown as it is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from evalhouse.warehouse.render.panels import Figure, Rectangle
from evalhouse.warehouse.render.paper import printed
from evalhouse.warehouse.render.style import Style, clean, width
from evalhouse.warehouse.results import Met, Result

OUTCOMES: Mapping[Met, str] = {"met": "✅", "not met": "❌", "undecided": "❔"}
"""The sign before the caption of an expectation, in the summary of a run of tests."""


# --- Markdown ---------------------------------------------------------------------------------------------------------

_MARKDOWN = re.compile(r"[\\`*_\[\]<>|~&$#]")


def markdown(result: Result, style: Style) -> str:
    """The sentence or the caption, tables with aligned columns, the notes as a list, and how all was found."""
    sign = f"{OUTCOMES[result.outcome]} " if result.outcome else ""
    shown = printed(result, style)
    headline = f"{sign}**{escape_markup(shown.sentence or shown.caption)}**" if result.headline else ""
    foot = (
        f"Signature: {markdown_word(clean(result.signature))}" if style.signature else f"*{escape_markup(result.foot)}*"
    )
    blocks = (headline, *grids(shown.rectangles), bullet_list(shown.notes), foot if result.signed else "")
    return "\n\n".join(filter(None, blocks)) + "\n\n"


def grids(rectangles: Sequence[Rectangle]) -> list[str]:
    """The tables of a result, each below its title if there are several."""
    blocks: list[str] = []
    for rectangle in rectangles:
        if rectangle.title:
            blocks.append(f"*{escape_markup(rectangle.title)}*")
        blocks.append(grid(rectangle))
    return blocks


def bullet_list(texts: Sequence[str]) -> str:
    """Texts as a list, one line each."""
    return "\n".join(f"- {escape_markup(text)}" for text in texts)


def grid(rectangle: Rectangle) -> str:
    # No Markdown format has headings of two lines.
    lines = [[escape_markup(heading.replace("\n", " ").rstrip()) for heading in rectangle.headings]]
    lines += [
        [
            _mark_figure(figure) if (figure := rectangle.figures.get((number, place))) else escape_markup(text.rstrip())
            for place, text in enumerate(row)
        ]
        for number, row in enumerate(rectangle.rows)
    ]
    sizes = [max(3, *map(width, column)) for column in zip(*lines, strict=True)]
    ends = [":" if numeric else "-" for numeric in rectangle.numeric]
    rule = ["-" * (size - 1) + end for size, end in zip(sizes, ends, strict=True)]
    padded = [_pad_line(line, sizes, rectangle.numeric) for line in [lines[0], rule, *lines[1:]]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in padded)


def _pad_line(line: Sequence[str], sizes: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    blanks = [" " * (size - width(text)) for text, size in zip(line, sizes, strict=True)]
    return [blank + text if right else text + blank for text, blank, right in zip(line, blanks, numeric, strict=True)]


def _mark_figure(figure: Figure) -> str:
    """A figure with its marks. HTML is used where Markdown has no signs."""
    number = escape_markup(figure.number)
    number = f"**{number}**" if figure.best else f"<u>{number}</u>" if figure.second else number
    mark = f"<sup>{escape_markup(figure.mark)}</sup>" if figure.mark else ""
    half = f" ±{escape_markup(figure.half)}" if figure.half else ""
    return f"{number}{mark}{half}{f' ({figure.ranks})' if figure.ranks else ''}"


def escape_markup(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", clean(text))


def longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def markdown_word(text: str) -> str:
    """One or more words in a monospaced font."""
    fence = "`" * (longest_run(text) + 1)
    room = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{room}{text}{room}{fence}"
