"""The LaTeX format: booktabs tables that are never wider than the text, with every character printed as it is.

A table is a float, and adjustbox scales it down if it is wider than the line. A very wide one is divided into panels,
one below the other, and one taller than a page into several floats, so that it can be set in one column of text and in
two. Only who asks for it gets a longtable, which cannot be scaled: its type is chosen by the number of its characters.
This module measures nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import accumulate
from math import ceil

from msgspec import Struct, field

from evalhouse.warehouse.render.panels import Figure, Rectangle, spans
from evalhouse.warehouse.render.paper import (
    LINE,
    LONGEST_HEADING,
    READABLE,
    heading_is_broken,
    is_broken,
    on_paper,
    printed,
    short_enough,
)
from evalhouse.warehouse.render.style import UNDEFINED, Style, clean, width
from evalhouse.warehouse.results import UNEVEN, Result

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\char34{}",
    # After the end of a row, LaTeX would read both as a part of it.
    "[": "{[}",
    "*": "{*}",
    **{sign: "\\" + sign for sign in "{}$&#%_"},
    "†": r"\dag{}",
    "‡": r"\ddag{}",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "≠": r"$\ne$",
    "×": r"$\times$",
    "−": "$-$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    **{chr(0x2080 + digit): f"$_{digit}$" for digit in range(10)},
}
_BEYOND_LATIN = re.compile("[^\u0000-\u017f–—‘’“”…]")
"""Letters that pdfLaTeX can print only with packages for their script."""

_SCIENTIFIC = re.compile(r"(\d(?:\.\d+)?)e([-+]\d+)")


_SIGN = re.compile(r"(?:(?<=[\[ ])|^)[-+<]")
"""A sign before a number, but not a sign within a power of ten."""

_SIGNS = {UNEVEN: rf"\,{_LATEX[UNEVEN]}"}
"""The signs after a number that are not written as they are."""

CHARACTER = 0.55
"""The ems that a float, which can be scaled, gives each character of a line of broken text."""

ACROSS = 105
"""The most characters of a panel that is scaled to the line."""

COLUMN = 48
"""One of two columns of text has room for a panel of so many characters in \\footnotesize. A wider one is set across
both.
"""

TALLEST = 38
"""A float has at most so many lines, with its caption and notes."""

LEAST_ROOM = 10
"""A float has room for so many lines, however long its caption is."""

MOST_FLOATS = 12
"""So many floats may wait for their page."""

SIZES = (
    (0.68, ""),
    (READABLE, r"\footnotesize\setlength{\tabcolsep}{4pt}"),
    (1.0, r"\scriptsize\setlength{\tabcolsep}{3pt}"),
)
"""The type of a longtable that takes at most such a share of the characters of a line."""


Length = Callable[[int], str]
"""The length, in LaTeX, of a line of so many characters."""


def latex(result: Result, style: Style) -> str:
    """The sentence, and a table with its caption and notes: a float, or several that continue it if it would be taller
    than a page. `width page` asks for a longtable instead. The signature is a comment at the top.
    """
    shown = printed(result, style)
    extent = result.grid.width if result.grid else ""
    drawn = [on_paper(rectangle, LINE if extent == "page" else ACROSS) for rectangle in shown.rectangles]
    caption = rf"\caption{{{breakable(shown.caption)}}}" if shown.caption else ""
    caption += rf"\label{{{result.grid.label}}}" if result.grid and result.grid.label else ""
    below = [rf"{{\footnotesize\raggedright {breakable(note)}\par}}" for note in shown.notes]
    first = [f"% {clean(result.signature)}"]
    if extent == "page":
        lines = [*_over_pages(drawn, caption), *below]
        first += [r"% \usepackage{booktabs,array,longtable}"]
        first += [r"% with two columns of text: \onecolumn before it, \twocolumn after it"]
    else:
        panels = [panel for of_rectangle in drawn for panel in of_rectangle]
        # Where the class has one column of text, both are the same.
        starred = extent != "column" and any(panel.width > COLUMN for panel in panels)
        line = LINE if starred else COLUMN
        floats = _floats(drawn, _lines(line, shown.caption))
        beside = _lines(line, *shown.notes) <= floats[-1].room
        environment = "table*" if starred else "table"
        lines = _draw_floats(floats, environment, caption, below if beside else ())
        lines += [] if beside else below
        first += [r"% \usepackage{booktabs,array,adjustbox}"]
    if shown.sentence:
        lines = [paragraph(shown.sentence), *lines]
    if any(_BEYOND_LATIN.search(line) for line in lines):
        first.insert(1, "% for LuaLaTeX or XeLaTeX: pdfLaTeX lacks some letters of these names")
    return "\n".join([*first, *lines]) + "\n\n"


def paragraph(text: str) -> str:
    """A paragraph, with wide spaces rather than a long name beyond the end of the line."""
    return rf"{{\sloppy\noindent {breakable(text)}\par}}"


def _lines(line: int, *texts: str) -> int:
    """About how many lines texts take below each other, each beginning a line of so many characters."""
    return sum(ceil(width(text) / line) for text in texts)


# --- floats -----------------------------------------------------------------------------------------------------------


class Float(Struct):
    """The tables of a float, filled while they are divided, and for how many lines it has room."""

    room: int
    lines: list[str] = field(default_factory=list)


def _floats(drawn: Sequence[Sequence[Rectangle]], caption: int) -> list[Float]:
    """Floats with the tables one below the other, each with room for a caption of so many lines. A table is divided
    between its rows only if a page has not enough room for it.
    """
    room = max(TALLEST - caption, LEAST_ROOM)
    floats = [Float(room)]
    for of_rectangle in drawn:
        for panel in of_rectangle:
            title = panel.title if panel is of_rectangle[0] else ""
            above = 3 + any("\n" in heading for heading in panel.headings) + bool(title)
            heights, rows = _row_heights(panel), rows_of(panel)
            start = 0
            while True:
                if above + sum(heights[start:]) > floats[-1].room < room:
                    floats.append(Float(room))
                end = start + _fitting(heights[start:], floats[-1].room - above)
                floats[-1].lines += [r"\par\medskip"] if floats[-1].lines else []
                floats[-1].lines += [rf"\textit{{{breakable(title)}}}\par\smallskip"] if title and not start else []
                floats[-1].lines += _tabular(panel, rows[start:end])
                floats[-1].room -= above + sum(heights[start:end])
                start = end
                if start >= len(rows):
                    break
    return floats


def _fitting(heights: Sequence[int], room: int) -> int:
    """How many of the rows fit: at least one."""
    return max(1, sum(height <= room for height in accumulate(heights)))


def _row_heights(panel: Rectangle) -> list[int]:
    """About how many lines each row of a table takes. Lines that are broken between words are not full."""
    broken = [place for place in range(len(panel.headings)) if is_broken(panel, place)]
    return [max([1, *(ceil(1.3 * width(row[place]) / panel.limits[place]) for place in broken)]) for row in panel.rows]


def _tabular(panel: Rectangle, rows: Sequence[str]) -> list[str]:
    """Some rows of a table below its headings, scaled down to the line."""
    return [
        r"\begin{adjustbox}{max width=\linewidth}",
        rf"\begin{{tabular}}{{{_columns(panel, _in_ems)}}}",
        *_head(panel, _in_ems),
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{adjustbox}",
    ]


def _draw_floats(floats: Sequence[Float], environment: str, caption: str, below: Sequence[str]) -> list[str]:
    """The floats, the first with the caption and the last with the notes. The others continue its number."""
    lines = []
    for number, one in enumerate(floats):
        # LaTeX keeps few floats in mind, so it is told to print them.
        lines += [r"\clearpage"] if number and not number % MOST_FLOATS else []
        lines += [rf"\begin{{{environment}}}[htbp]", r"\centering"]
        if caption:
            lines.append(r"\addtocounter{table}{-1}\caption{(continued)}" if number else caption)
        lines += one.lines
        if below and number == len(floats) - 1:
            lines += [r"\par\smallskip", *below]
        lines.append(rf"\end{{{environment}}}")
    return lines


# --- longtables -------------------------------------------------------------------------------------------------------


def _over_pages(drawn: Sequence[Sequence[Rectangle]], caption: str) -> list[str]:
    """Tables that continue over pages, one below the other. The first one has the caption."""
    lines: list[str] = []
    for of_rectangle in drawn:
        for panel in of_rectangle:
            title = panel.title if panel is of_rectangle[0] else ""
            lines += [rf"\begin{{center}}\textit{{{breakable(title)}}}\end{{center}}\nopagebreak"] if title else []
            lines += longtable(panel, caption)
            caption = ""
    return lines


def longtable(panel: Rectangle, caption: str = "", line: int = LINE) -> list[str]:
    """A table that continues over pages, with its headings on each page, in type for a line of so many characters."""
    size = next((size for share, size in SIZES if panel.width <= share * line), SIZES[-1][1])

    def share(characters: int) -> str:
        # Two characters more, for the space at both ends.
        return rf"{characters / (line + 2):.3f}\linewidth"

    head = _head(panel, share)
    return [
        f"{{{size}",
        *([r"\setlength{\LTcapwidth}{\linewidth}"] if caption else []),
        rf"\begin{{longtable}}{{{_columns(panel, share)}}}",
        *([caption + r"\\", *head, r"\endfirsthead"] if caption else []),
        *head,
        r"\endhead",
        *rows_of(panel),
        r"\bottomrule",
        r"\end{longtable}}",
    ]


def _in_ems(characters: int) -> str:
    return f"{CHARACTER * characters:.1f}em"


def _columns(panel: Rectangle, length: Length) -> str:
    """The column specification of `tabular`. Columns that are broken into lines have a width."""
    return "".join(
        rf">{{\raggedright\arraybackslash}}p{{{length(panel.limits[place])}}}"
        if is_broken(panel, place)
        else "r"
        if numeric
        else "l"
        for place, numeric in enumerate(panel.numeric)
    )


def rows_of(panel: Rectangle) -> list[str]:
    """The lines of a table."""
    broken = {place for place in range(len(panel.headings)) if is_broken(panel, place)}
    return [
        " & ".join(
            breakable(text, panel.limits[place]) if place in broken else _cell(panel, number, place, text)
            for place, text in enumerate(row)
        ).rstrip()
        + r" \\"
        for number, row in enumerate(panel.rows)
    ]


def _head(panel: Rectangle, length: Length) -> list[str]:
    """The rules and the headings. If test sets are side by side, each is named above its columns."""
    headings = panel.headings
    lower = [heading.rpartition("\n")[2].rstrip() for heading in headings]
    shown = [_heading(panel, place, text, length) for place, text in enumerate(lower)]
    lines = [" & ".join(shown) + r" \\", r"\midrule"]
    if not any("\n" in heading for heading in headings):
        return [r"\toprule", *lines]
    above, rules = [], []
    for head, places in spans(headings):
        above.append(_over(head, places, length) if head else "")
        if head:
            rules.append(rf"\cmidrule(lr){{{places[0] + 1}-{places[-1] + 1}}}")
    return [r"\toprule", " & ".join(above).lstrip() + r" \\", " ".join(rules), *lines]


def _heading(panel: Rectangle, place: int, heading: str, length: Length) -> str:
    """A heading, broken into lines if it is too wide."""
    if is_broken(panel, place):
        return breakable(heading, panel.limits[place])
    side = r"\raggedleft" if panel.numeric[place] else r"\raggedright"
    return _broken_heading(heading, side, length)


def _over(head: str, places: Sequence[int], length: Length) -> str:
    """A heading over several columns."""
    shown = _broken_heading(head, r"\centering", length)
    return rf"\multicolumn{{{len(places)}}}{{c}}{{{shown}}}"


def _broken_heading(heading: str, side: str, length: Length) -> str:
    if not heading_is_broken(heading):
        return typeset(heading)
    inner = breakable(heading, LONGEST_HEADING)
    return rf"\parbox[b]{{{length(LONGEST_HEADING)}}}{{{side} {inner}}}"


def _cell(rectangle: Rectangle, number: int, place: int, text: str) -> str:
    figure = rectangle.figures.get((number, place))
    if figure is not None:
        return _mark_figure(figure)
    if place in rectangle.spaced:
        return rf"\texttt{{{text.rstrip().replace(' ', '~')}}}" if text.strip() else ""
    return _figure(text) if rectangle.numeric[place] else typeset(text)


def _mark_figure(figure: Figure) -> str:
    """A figure with its marks. Space is kept for marks that only other figures of its column have."""
    number = _figure(figure.number)
    parts = [rf"\textbf{{{number}}}" if figure.best else rf"\underline{{{number}}}" if figure.second else number]
    if figure.mark_room:
        # Letters differ in width, so the rest of the longest mark would not fill the space of a missing one exactly.
        shown = rf"\textsuperscript{{{typeset(figure.mark)}}}" if figure.mark else ""
        room = rf"\textsuperscript{{{typeset(figure.mark_room)}}}"
        beside = rf"\rlap{{{shown}}}" if shown else ""
        parts.append(room if shown == room else rf"{beside}\phantom{{{room}}}")
    if figure.half_room:
        lacking = figure.half_room[: len(figure.half_room) - len(figure.half)]
        room = rf"\phantom{{{lacking}}}" if lacking else ""
        shown = rf" $\pm$ {room}{figure.half}"
        parts.append(shown if figure.half else rf"\phantom{{ $\pm$ {figure.half_room}}}")
    if figure.ranks_room:
        lacking = figure.ranks_room[len(figure.ranks) :]
        shown = rf" ({typeset(figure.ranks)})" if figure.ranks else r"\phantom{ ()}"
        parts.append(shown + (rf"\phantom{{{lacking}}}" if lacking else ""))
    return "".join(parts)


def _figure(text: str) -> str:
    """A number or an interval, with signs and powers of ten as mathematics. The sign after a p-value takes no space."""
    text = text.rstrip()
    if text == UNDEFINED:
        return "--"
    if text.endswith(("*", "?", UNEVEN)):
        return _figure(text[:-1]) + rf"\rlap{{{_SIGNS.get(text[-1], text[-1])}}}"
    text = _SCIENTIFIC.sub(lambda number: rf"${number[1]}\times10^{{{int(number[2])}}}$", text)
    return _SIGN.sub(r"$\g<0>$", text).replace("[", "{[}") if not text.endswith("$") else text


def typeset(text: str) -> str:
    """Text that LaTeX prints with every character as it is. Adjacent hyphens stay hyphens."""
    return "".join(_LATEX.get(sign, sign) for sign in clean(text)).replace("--", "-{}-").replace("--", "-{}-")


def breakable(text: str, within: int = LINE) -> str:
    """A text with places where a long word may be broken, for lines of so many characters: after punctuation that is
    not part of a number, and at intervals in parts that are about as long as the line.
    """
    return " ".join(r"\allowbreak{}".join(map(typeset, short_enough(word, within))) for word in clean(text).split(" "))
