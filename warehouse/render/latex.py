"""The LaTeX format: booktabs tables that are never wider than the text, with every character printed as it is.

A table is set in the largest type in which it fits. If it does not fit in \\footnotesize, its texts are broken into
lines. If it is still too wide, it is divided into panels, one below the other. A table taller than a page becomes a
longtable. `latex_widths` calculates the width in advance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from warehouse.render.latex_widths import (
    LONGEST_HEADING,
    SIZES,
    TEXT_HEIGHT,
    TEXT_WIDTH,
    SetTable,
    TypeSize,
    heading_is_broken,
    lines_of,
    set_within,
)
from warehouse.render.panels import Figure, Rectangle, spans
from warehouse.render.rectangle import notes_below, unbounded_rectangles
from warehouse.render.style import UNDEFINED, Style, clean
from warehouse.results import Result

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
    "×": r"$\times$",
    "−": "$-$",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    **{chr(0x2080 + digit): rf"\textsubscript{{{digit}}}" for digit in range(10)},
}
_BEYOND_LATIN = re.compile("[^\u0000-\u017f–—‘’“”…]")
"""Letters that pdfLaTeX can print only with packages for their script."""

_SCIENTIFIC = re.compile(r"(\d(?:\.\d+)?)e([-+]\d+)")


_SIGN = re.compile(r"(?:(?<=[\[ ])|^)[-+<]")
"""A sign before a number, but not a sign within a power of ten."""

LONG, WIDE = 0.2, 0.8
"""A word that takes a larger share of a line than the first number may be broken after punctuation. A part of it that
takes a larger share than the second number is cut into pieces as wide as the first.
"""

_BEHIND_SIGNS = re.compile(r"(?<=[-=,;:/()_])(?<!\d,)(?=.)")

FULL = 0.9
"""A float takes at most this share of the height of a page."""


def latex(result: Result, style: Style) -> str:
    """A `table`, or longtables if it would be taller than a page, with the caption and the notes. The signature is a
    comment at the top.
    """
    drawn = [set_within(rectangle, TEXT_WIDTH) for rectangle in unbounded_rectangles(result, style)]
    notes = notes_below(result)
    caption = rf"\caption{{{breakable(result.caption)}}}" if result.caption else ""
    caption += rf"\label{{{result.grid.label}}}" if result.grid and result.grid.label else ""
    height = sum(panel.height for panels in drawn for panel in panels) + _height_of_texts(result.caption, notes)
    below = [rf"{{\footnotesize\raggedright {breakable(note)}\par}}" for note in notes]
    if height > FULL * TEXT_HEIGHT:
        lines = [*_over_pages(drawn, caption), *below]
        packages = "booktabs,array,longtable"
    else:
        lines = [*_floating(drawn, caption), *([r"\par\smallskip"] if below else []), *below, r"\end{table}"]
        packages = "booktabs,array"
    first = [f"% {clean(result.signature)}", rf"% \usepackage{{{packages}}}"]
    if any(_BEYOND_LATIN.search(line) for line in lines):
        first.insert(1, "% for LuaLaTeX or XeLaTeX: pdfLaTeX lacks some letters of these names")
    return "\n".join([*first, *lines]) + "\n\n"


def _height_of_texts(caption: str, notes: Sequence[str]) -> float:
    """The height of the caption and the notes, in points."""
    normal, _, footnote, *_ = SIZES
    of_notes = sum(lines_of(note, TEXT_WIDTH, footnote) for note in notes) * footnote.leading
    return lines_of(caption, TEXT_WIDTH, normal) * normal.leading + of_notes + 3 * normal.leading


def _floating(drawn: Sequence[Sequence[SetTable]], caption: str) -> list[str]:
    """A float with the tables one below the other. The caller ends it after the notes."""
    lines = [r"\begin{table}[htbp]", r"\centering"]
    lines += [caption] if caption else []
    first = True
    for of_rectangle in drawn:
        for panel in of_rectangle:
            lines += [] if first else [r"\par\medskip"]
            first = False
            title = panel.rectangle.title if panel is of_rectangle[0] else ""
            lines += [rf"\textit{{{breakable(title)}}}\par\smallskip"] if title else []
            begin, end = rf"\begin{{tabular}}{{{_columns(panel)}}}", r"\end{tabular}"
            group = _group(panel)
            lines += [*group, begin, *_head(panel), *rows_of(panel), r"\bottomrule", end + "}" * len(group)]
    return lines


def _over_pages(drawn: Sequence[Sequence[SetTable]], caption: str) -> list[str]:
    """Tables that continue over pages, one below the other. The first one has the caption."""
    lines: list[str] = []
    for of_rectangle in drawn:
        for panel in of_rectangle:
            title = panel.rectangle.title if panel is of_rectangle[0] else ""
            lines += [rf"\begin{{center}}\textit{{{breakable(title)}}}\end{{center}}\nopagebreak"] if title else []
            lines += longtable(panel, caption)
            caption = ""
    return lines


def longtable(panel: SetTable, caption: str = "") -> list[str]:
    """A table that continues over pages, with its headings on each page."""
    return [
        *(_group(panel) or ["{"]),
        *([r"\setlength{\LTcapwidth}{\linewidth}"] if caption else []),
        rf"\begin{{longtable}}{{{_columns(panel)}}}",
        *([caption + r"\\", *_head(panel), r"\endfirsthead"] if caption else []),
        *_head(panel),
        r"\endhead",
        *rows_of(panel),
        r"\bottomrule",
        r"\end{longtable}}",
    ]


def _group(panel: SetTable) -> list[str]:
    """The beginning of the group that sets the type of a table, if that is not the normal size."""
    size = panel.size
    return [] if size is SIZES[0] else [rf"{{{size.command}\setlength{{\tabcolsep}}{{{size.room:g}pt}}"]


def _columns(panel: SetTable) -> str:
    """The column specification of `tabular`. Columns that are broken into lines have a width."""
    return "".join(
        rf">{{\raggedright\arraybackslash}}p{{{int(panel.broken[place])}pt}}"
        if place in panel.broken
        else "r"
        if numeric
        else "l"
        for place, numeric in enumerate(panel.rectangle.numeric)
    )


def rows_of(panel: SetTable) -> list[str]:
    """The lines of a table."""
    return [
        " & ".join(
            breakable(text, panel.broken[place], panel.size)
            if place in panel.broken
            else _cell(panel.rectangle, number, place, text)
            for place, text in enumerate(row)
        ).rstrip()
        + r" \\"
        for number, row in enumerate(panel.rectangle.rows)
    ]


def _head(panel: SetTable) -> list[str]:
    """The rules and the headings. If test sets are side by side, each is named above its columns."""
    headings = panel.rectangle.headings
    lower = [heading.rpartition("\n")[2].rstrip() for heading in headings]
    shown = [_heading(panel, place, text) for place, text in enumerate(lower)]
    lines = [" & ".join(shown) + r" \\", r"\midrule"]
    if not any("\n" in heading for heading in headings):
        return [r"\toprule", *lines]
    above, rules = [], []
    for head, places in spans(headings):
        above.append(_over(panel, head, places) if head else "")
        if head:
            rules.append(rf"\cmidrule(lr){{{places[0] + 1}-{places[-1] + 1}}}")
    return [r"\toprule", " & ".join(above).lstrip() + r" \\", " ".join(rules), *lines]


def _heading(panel: SetTable, place: int, heading: str) -> str:
    """A heading, broken into lines if it is too wide."""
    if place in panel.broken:
        return breakable(heading, panel.broken[place], panel.size)
    side = r"\raggedleft" if panel.rectangle.numeric[place] else r"\raggedright"
    return _broken_heading(panel, heading, side)


def _over(panel: SetTable, head: str, places: Sequence[int]) -> str:
    """A heading over several columns."""
    shown = _broken_heading(panel, head, r"\centering")
    return rf"\multicolumn{{{len(places)}}}{{c}}{{{shown}}}"


def _broken_heading(panel: SetTable, heading: str, side: str) -> str:
    if not heading_is_broken(panel, heading):
        return typeset(heading)
    inner = breakable(heading, LONGEST_HEADING, panel.size)
    return rf"\parbox[b]{{{LONGEST_HEADING:.0f}pt}}{{{side} {inner}}}"


def _cell(rectangle: Rectangle, number: int, place: int, text: str) -> str:
    figure = rectangle.figures.get((number, place))
    if figure is not None:
        return _marked(figure)
    if place in rectangle.spaced:
        return rf"\texttt{{{text.rstrip().replace(' ', '~')}}}" if text.strip() else ""
    return _figure(text) if rectangle.numeric[place] else typeset(text)


def _marked(figure: Figure) -> str:
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
    if text.endswith(("*", "?")):
        return _figure(text[:-1]) + rf"\rlap{{{text[-1]}}}"
    text = _SCIENTIFIC.sub(lambda number: rf"${number[1]}\times10^{{{int(number[2])}}}$", text)
    return _SIGN.sub(r"$\g<0>$", text).replace("[", "{[}") if not text.endswith("$") else text


def typeset(text: str) -> str:
    """Text that LaTeX prints with every character as it is. Adjacent hyphens stay hyphens."""
    return "".join(_LATEX.get(sign, sign) for sign in clean(text)).replace("--", "-{}-").replace("--", "-{}-")


def breakable(text: str, within: float = TEXT_WIDTH, size: TypeSize = SIZES[0]) -> str:
    """A text with places where a long word may be broken: after punctuation that is not part of a number, and at
    intervals in parts that are about as wide as the line.
    """
    return " ".join(_breakable(word, within, size) for word in clean(text).split(" "))


def _breakable(word: str, within: float, size: TypeSize) -> str:
    return r"\allowbreak{}".join(map(typeset, short_enough(word, within, size)))


def short_enough(word: str, within: float, size: TypeSize) -> list[str]:
    """A word in parts; a line may end after each part."""
    if size.width_of(word) <= LONG * within:
        return [word]
    return [part for piece in _BEHIND_SIGNS.split(word) for part in _divided(piece, within, size)]


def _divided(piece: str, within: float, size: TypeSize) -> list[str]:
    """A part of a word, divided again if it is about as wide as the line."""
    taken = size.width_of(piece)
    if taken <= WIDE * within:
        return [piece]
    step = max(1, int(LONG * within / taken * len(piece)))
    return [piece[start : start + step] for start in range(0, len(piece), step)]
