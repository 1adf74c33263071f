"""The formats for documents that are typeset: Markdown and LaTeX. A table with its caption and its notes, every
character of a name shown as it is.

What a result looks like as rectangles comes from layout; here they only get their marks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from warehouse.render.rectangle import Rectangle, notes_below, unbounded_rectangles
from warehouse.render.style import UNDEFINED, Style, clean, width
from warehouse.results import Met, Result

CROWDED = 9
"""A LaTeX table of more columns than this is set in smaller type with less room between them."""


OUTCOMES: Mapping[Met, str] = {"met": "✅", "not met": "❌", "undecided": "❔"}
"""What stands before the caption of what was expected, in the summary of a run of tests."""


# --- Markdown ---------------------------------------------------------------------------------------------------------

_MARKDOWN = re.compile(r"[\\`*_\[\]<>|~&$#]")


def markdown(result: Result, style: Style) -> str:
    """The caption, a table with aligned columns or more than one, the notes as a list, and the signature."""
    sign = f"{OUTCOMES[result.outcome]} " if result.outcome else ""
    caption = f"{sign}**{escaped(result.caption)}**" if result.caption else ""
    signature = f"Signature: {markdown_word(clean(result.signature))}" if result.signed else ""
    blocks = (caption, *grids(result, style), listed(notes_below(result)), signature)
    return "\n\n".join(filter(None, blocks)) + "\n\n"


def grids(result: Result, style: Style) -> list[str]:
    """The tables of a result, each below its title where there are several."""
    blocks: list[str] = []
    for rectangle in unbounded_rectangles(result, style):
        if rectangle.title:
            blocks.append(f"*{escaped(rectangle.title)}*")
        blocks.append(grid(rectangle))
    return blocks


def listed(texts: Sequence[str]) -> str:
    """Texts as a list, a line each."""
    return "\n".join(f"- {escaped(text)}" for text in texts)


def grid(rectangle: Rectangle) -> str:
    # No format for tables in Markdown has two lines of headings.
    lines = [[escaped(heading.replace("\n", " ").rstrip()) for heading in rectangle.headings]]
    lines += [[escaped(text.rstrip()) for text in row] for row in rectangle.rows]
    sizes = [max(3, *map(width, column)) for column in zip(*lines, strict=True)]
    ends = [":" if numeric else "-" for numeric in rectangle.numeric]
    rule = ["-" * (size - 1) + end for size, end in zip(sizes, ends, strict=True)]
    padded = [_padded(line, sizes, rectangle.numeric) for line in [lines[0], rule, *lines[1:]]]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in padded)


def _padded(line: Sequence[str], sizes: Sequence[int], numeric: Sequence[bool]) -> list[str]:
    blanks = [" " * (size - width(text)) for text, size in zip(line, sizes, strict=True)]
    return [blank + text if right else text + blank for text, blank, right in zip(line, blanks, numeric, strict=True)]


def escaped(text: str) -> str:
    return _MARKDOWN.sub(r"\\\g<0>", clean(text))


def longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def markdown_word(text: str) -> str:
    """A word or more in the letters of a typewriter."""
    fence = "`" * (longest_run(text) + 1)
    room = " " if text.startswith(("`", " ")) or text.endswith(("`", " ")) else ""
    return f"{fence}{room}{text}{room}{fence}"


# --- LaTeX ------------------------------------------------------------------------------------------------------------

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    '"': r"\char34{}",
    # Behind the end of a row both would be taken for a part of it.
    "[": "{[}",
    "*": "{*}",
    **{sign: "\\" + sign for sign in "{}$&#%_"},
}
_BEYOND_LATIN = re.compile("[^\u0000-\u017f–—‘’“”…]")
"""Letters that pdfLaTeX knows only with packages that fit the script."""

_SCIENTIFIC = re.compile(r"(\d(?:\.\d+)?)e([-+]\d+)")


_SIGN = re.compile(r"(?:(?<=[\[ ])|^)[-+<]")
"""A sign before a number, and not one within a power of ten."""


def latex(result: Result, style: Style) -> str:
    """A `table` of the package booktabs, with the caption and the notes; the signature is a comment before it."""
    drawn = unbounded_rectangles(result, style)
    lines = [f"% {clean(result.signature)}", r"% \usepackage{booktabs}", r"\begin{table}[htbp]", r"\centering"]
    if result.caption:
        lines.append(rf"\caption{{{typeset(result.caption)}}}")
    if max(len(rectangle.headings) for rectangle in drawn) > CROWDED:
        lines.append(r"\footnotesize\setlength{\tabcolsep}{3pt}")
    for rectangle in drawn:
        if rectangle is not drawn[0]:
            lines.append(r"\par\medskip")
        if rectangle.title:
            lines.append(rf"\textit{{{typeset(rectangle.title)}}}\par\smallskip")
        lines += _tabular(rectangle)
    for note in notes_below(result):
        lines.append(rf"\par\smallskip{{\footnotesize {typeset(note)}\par}}")
    if any(_BEYOND_LATIN.search(line) for line in lines[1:]):
        lines.insert(1, "% for LuaLaTeX or XeLaTeX: pdfLaTeX lacks some letters of these names")
    return "\n".join([*lines, r"\end{table}"]) + "\n\n"


def _tabular(rectangle: Rectangle) -> list[str]:
    rows = [
        " & ".join(latex_cell(rectangle, place, text) for place, text in enumerate(row)).rstrip() + r" \\"
        for row in rectangle.rows
    ]
    columns = "".join("r" if numeric else "l" for numeric in rectangle.numeric)
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return [begin, r"\toprule", *headings_of(rectangle), r"\midrule", *rows, r"\bottomrule", end]


def headings_of(rectangle: Rectangle) -> list[str]:
    """One line of headings; above it the test sets, each over its columns, where they stand side by side."""
    lower = " & ".join(typeset(heading.split("\n")[-1].rstrip()) for heading in rectangle.headings) + r" \\"
    if not any("\n" in heading for heading in rectangle.headings):
        return [lower]
    above, rules = [], []
    for head, places in spans(rectangle.headings):
        above.append(rf"\multicolumn{{{len(places)}}}{{c}}{{{typeset(head)}}}" if head else "")
        if head:
            rules.append(rf"\cmidrule(lr){{{places[0] + 1}-{places[-1] + 1}}}")
    return [" & ".join(above).lstrip() + r" \\", " ".join(rules), lower]


def spans(headings: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The first lines of headings of two lines, each with the places it stands over; others are one at a time."""
    upper = [heading.partition("\n")[0] if "\n" in heading else "" for heading in headings]
    spanning: list[tuple[str, list[int]]] = []
    for head, group in groupby(range(len(upper)), key=upper.__getitem__):
        places = list(group)
        spanning += [(head, places)] if head else [("", [place]) for place in places]
    return spanning


def latex_cell(rectangle: Rectangle, place: int, text: str) -> str:
    if place in rectangle.spaced:
        return rf"\texttt{{{text.rstrip().replace(' ', '~')}}}" if text.strip() else ""
    return _figure(text) if rectangle.numeric[place] else typeset(text)


def _figure(text: str) -> str:
    """A number or an interval: signs and powers of ten as mathematics; the mark behind a level takes no room."""
    text = text.rstrip()
    if text == UNDEFINED:
        return "--"
    if text.endswith(("*", "?")):
        return _figure(text[:-1]) + rf"\rlap{{{text[-1]}}}"
    text = _SCIENTIFIC.sub(lambda number: rf"${number[1]}\times10^{{{int(number[2])}}}$", text)
    return _SIGN.sub(r"$\g<0>$", text).replace("[", "{[}") if not text.endswith("$") else text


def typeset(text: str) -> str:
    """Text as LaTeX prints it, with every character as it is; hyphens side by side stay hyphens."""
    return "".join(_LATEX.get(sign, sign) for sign in clean(text)).replace("--", "-{}-").replace("--", "-{}-")
