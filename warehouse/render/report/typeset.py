"""A report as a LaTeX document, with its pictures as PDF beside it. It is tried with pdfLaTeX; for LuaLaTeX and
XeLaTeX there is a preamble too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.entities import codepoint2name

from warehouse.render.markup import headings_of, latex_cell, typeset
from warehouse.render.rectangle import Rectangle, unbounded_rectangles
from warehouse.render.report.description import Piece, Report, ReportedStatement, shortened
from warehouse.render.report.prose import MarkdownText, latex_lines, read_sections
from warehouse.render.report.wording import SOURCES, above, notes, picture_name, provenance, sources_rectangle
from warehouse.render.style import Style, clean

TEXT_WIDTH = 470.0
"""Points that a line has."""

LETTER = 0.53
"""How wide a letter is taken to be, as a share of its size."""

SIZES = ((r"\normalsize", 10.0, 6.0), (r"\small", 9.0, 5.0), (r"\footnotesize", 8.0, 4.0), (r"\scriptsize", 7.0, 3.0),
         (r"\tiny", 5.0, 2.0))  # fmt: skip
"""Command, points, and points on either side of a column; a table is set in the largest in which it fits."""

BROKEN_FROM = 24
"""Columns of texts that are wider than so many letters may be broken into lines, where a table is too wide."""

_PREAMBLE = r"""
\documentclass[10pt,a4paper]{article}
\usepackage{iftex}
\ifPDFTeX
  \usepackage[T1]{fontenc}
  \usepackage{lmodern,textcomp}
%(letters)s\else
  \usepackage{fontspec}
\fi
\usepackage[margin=2.2cm]{geometry}
\usepackage{array,booktabs,longtable,graphicx}
\setlength{\parindent}{0pt}
\setlength{\parskip}{.5\baselineskip}
\setlength{\LTleft}{0pt}
\setlength{\emergencystretch}{3em}
\raggedbottom
\newsavebox{\drawn}
\newcommand{\drawing}[1]{\par\nopagebreak\medskip{\centering\sbox{\drawn}{\includegraphics[scale=.7]{#1}}%%
  \ifdim\wd\drawn>\linewidth\includegraphics[width=\linewidth]{#1}\else\usebox{\drawn}\fi\par}\medskip}
\newcommand{\answer}[2]{\par\bigskip{\interlinepenalty=10000\raggedright\textbf{#1\quad #2}\par}\nopagebreak}
"""

_KNOWN = re.compile("[\u0000-\u007f\u00a1-\u00ac\u00ae-\u017f–—‘’‚“”„†‡•…‰‱‹›※€™←↑→↓]")
_STRANGE_LATIN = "ĦħĸĿŀŉŦŧſ"
_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
_MATHEMATICS = {letter: codepoint2name[ord(letter)] for letter in _GREEK} | {
    "≤": "le", "≥": "ge", "≠": "ne", "≈": "approx", "∞": "infty", "√": "surd", "∑": "sum", "∏": "prod", "∈": "in",
    "∪": "cup", "∩": "cap", "⇒": "Rightarrow", "≡": "equiv", "∼": "sim", "⊂": "subset", "∅": "emptyset",
}  # fmt: skip
"""The commands for letters of mathematics."""


def draw(report: Report, name: str, style: Style) -> dict[str, bytes]:
    """The document and its pictures. Raises WarehouseError where pictures cannot be drawn."""
    report = shortened(report)
    pictures: dict[str, bytes] = {}
    body = [rf"{{\LARGE\bfseries {typeset(report.title)}\par}}", *map(typeset, above(report))]
    for section, _ in read_sections(report):
        if isinstance(section, MarkdownText):
            body.append(section.latex())
        else:
            body += _answered(section, name, style, pictures)
    body += _sources(report)
    text = "\n\n".join(body)
    preamble = _PREAMBLE.lstrip() % {"letters": _letters(text)}
    document = f"{preamble}\\begin{{document}}\n\n{text}\n\n\\end{{document}}\n"
    return {name: document.encode(), **pictures}


def _answered(statement: ReportedStatement, name: str, style: Style, pictures: dict[str, bytes]) -> list[str]:
    parts = [rf"\answer{{{statement.number}}}{{{typeset(statement.title)}}}"] if statement.number is not None else []
    parts.append(_statement(statement.pieces))
    result = statement.result
    if result is None:
        return [*parts, latex_lines("\n".join(map(clean, statement.error.split("\n"))))] if statement.error else parts
    if result.chart is not None:
        from warehouse.render.vega import pdf

        picture = picture_name(name, statement.number, ".pdf")
        pictures[picture] = pdf(result.chart)
        parts.append(rf"\drawing{{{picture}}}")
    else:
        for rectangle in unbounded_rectangles(result, style):
            if rectangle.title:
                parts.append(rf"\textit{{{typeset(rectangle.title)}}}\nopagebreak")
            parts.append(_table(rectangle))
    parts += [rf"{{\footnotesize {typeset(note)}\par}}" for note in notes(result)]
    return [*parts, rf"{{\raggedright\scriptsize Signature: \texttt{{{_breakable(result.signature)}}}\par}}"]


def _statement(pieces: Iterable[Piece]) -> str:
    """A statement as it is written, its keywords bold; blanks at the beginning of a line are kept."""
    return "{\\raggedright\\ttfamily\\footnotesize\n" + "".join(map(_piece, pieces)) + "\n\\par}"


def _piece(piece: Piece) -> str:
    first, *others = piece.text.split("\n")
    indented = (re.sub("^ *", lambda blanks: "~" * len(blanks[0]), typeset(line)) for line in others)
    shown = "\\\\\n".join((typeset(first), *indented))
    return rf"\textbf{{{shown}}}" if piece.kind == "keyword" else shown


def _breakable(text: str) -> str:
    """A text in which a line may end behind every sign that is not within a number, and within a digest."""
    signs = re.sub(r"(?<=[=,;:/()_])(?<!\d,)(?![ {])", r"\\allowbreak{}", typeset(text))
    return re.sub(r"\b[0-9a-f]{64}\b", lambda digest: r"\allowbreak{}".join(re.findall(".{16}", digest[0])), signs)


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(rectangle: Rectangle) -> str:
    """A table that goes on over pages, in letters small enough for the page."""
    size, widths = _fitted(rectangle)
    columns = "".join(
        "r" if numeric else "l" if width is None else rf">{{\raggedright\arraybackslash}}p{{{width:.0f}pt}}"
        for numeric, width in zip(rectangle.numeric, widths, strict=True)
    )
    rows = [" & ".join(latex_cell(rectangle, place, text) if widths[place] is None else _breakable(text)
                       for place, text in enumerate(row)).rstrip() + r" \\" for row in rectangle.rows]  # fmt: skip
    command, _, room = size
    return "\n".join(
        [rf"{{{command}\setlength{{\tabcolsep}}{{{room:g}pt}}", rf"\begin{{longtable}}{{{columns}}}", r"\toprule",
         *headings_of(rectangle), r"\midrule", r"\endhead", *rows, r"\bottomrule", r"\end{longtable}}"]
    )  # fmt: skip


def _fitted(rectangle: Rectangle) -> tuple[tuple[str, float, float], list[float | None]]:
    """The letters for a table, and how wide the columns are that have to be broken."""
    whole: list[float | None] = [None] * len(rectangle.limits)
    for size in SIZES[:3]:
        if _width(rectangle.limits, size) <= TEXT_WIDTH:
            return size, whole
    wide = [place for place, limit in enumerate(rectangle.limits)
            if limit > BROKEN_FROM and not rectangle.numeric[place] and place not in rectangle.spaced]  # fmt: skip
    for size in SIZES:
        others = [0 if place in wide else limit for place, limit in enumerate(rectangle.limits)]
        left = TEXT_WIDTH - _width(others, size)
        if wide and left >= len(wide) * BROKEN_FROM * LETTER * size[1]:
            total = sum(rectangle.limits[place] for place in wide)
            return size, [
                left * limit / total if place in wide else None for place, limit in enumerate(rectangle.limits)
            ]
        if not wide and left >= 0:
            return size, whole
    return SIZES[-1], whole


def _width(limits: Iterable[int], size: tuple[str, float, float]) -> float:
    return sum(limit * LETTER * size[1] + 2 * size[2] for limit in limits)


# --- where the numbers come from --------------------------------------------------------------------------------------


def _sources(report: Report) -> list[str]:
    parts = [
        rf"\section*{{{SOURCES}}}",
        *(rf"{{\raggedright {_breakable(sentence)}\par}}" for sentence in provenance(report)),
    ]
    if report.sources:
        parts.append(_table(sources_rectangle(report.sources)))
    return [*parts, f"{{\\small evalhouse {typeset(report.version)}\\par\n{typeset(report.made)}\\par}}"]


def _letters(text: str) -> str:
    """How pdfLaTeX is to print the letters that it does not know: mathematics as such, others by their code."""
    unknown = sorted({letter for letter in text if letter in _STRANGE_LATIN or not _KNOWN.match(letter)})
    return "".join(f"  \\DeclareUnicodeCharacter{{{ord(letter):04X}}}{{{_instead(letter)}}}\n" for letter in unknown)


def _instead(letter: str) -> str:
    command = _MATHEMATICS.get(letter)
    return rf"\ensuremath{{\{command}}}" if command else rf"\texttt{{U+{ord(letter):04X}}}"
