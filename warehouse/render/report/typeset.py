"""Draws a report as LaTeX or Markdown, with its pictures beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html.entities import codepoint2name

from evalhouse.warehouse.render.latex import breakable, longtable, paragraph, typeset
from evalhouse.warehouse.render.markup import bullet_list, escape_markup, grid, grids, markdown_word
from evalhouse.warehouse.render.panels import Rectangle
from evalhouse.warehouse.render.paper import on_paper, printed
from evalhouse.warehouse.render.report.prose import (
    SOURCES,
    MarkdownText,
    Report,
    ReportedStatement,
    above,
    latex_lines,
    markdown_code,
    picture_name,
    provenance,
    read_sections,
    shorten_report,
    sources_rectangle,
)
from evalhouse.warehouse.render.site.contents import Piece, describe_chart, notes
from evalhouse.warehouse.render.style import Style, clean

# === LaTeX ============================================================================================================
# Pictures are PDF files. It is tested with pdfLaTeX; the preamble also supports LuaLaTeX and XeLaTeX.

LINE = 114
"""The most characters of a table, as many digits as a line has in \\scriptsize."""

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


def draw_latex(report: Report, name: str, style: Style) -> dict[str, bytes]:
    """The document and its pictures. Raises WarehouseError where pictures cannot be drawn."""
    report = shorten_report(report)
    pictures: dict[str, bytes] = {}
    body = [rf"{{\LARGE\bfseries {typeset(report.title)}\par}}", *map(typeset, above(report))]
    for section, _ in read_sections(report):
        if isinstance(section, MarkdownText):
            body.append(section.latex())
        else:
            body += _answer_lines(section, name, style, pictures)
    body += _sources(report)
    text = "\n\n".join(body)
    preamble = _PREAMBLE.lstrip() % {"letters": _letters(text)}
    document = f"{preamble}\\begin{{document}}\n\n{text}\n\n\\end{{document}}\n"
    return {name: document.encode(), **pictures}


def _answer_lines(statement: ReportedStatement, name: str, style: Style, pictures: dict[str, bytes]) -> list[str]:
    parts = [rf"\answer{{{statement.number}}}{{{typeset(statement.title)}}}"] if statement.number is not None else []
    parts.append(_statement(statement.pieces))
    result = statement.result
    if result is None:
        return [*parts, latex_lines("\n".join(map(clean, statement.error.split("\n"))))] if statement.error else parts
    if result.sentence:
        parts.append(paragraph(result.sentence))
    if result.chart is not None:
        from evalhouse.warehouse.render.vegalite import pdf

        picture = picture_name(name, statement.number, ".pdf")
        pictures[picture] = pdf(result.chart)
        parts.append(rf"\drawing{{{picture}}}")
    else:
        for rectangle in printed(result, style).rectangles:
            if rectangle.title:
                parts.append(rf"\textit{{{typeset(rectangle.title)}}}\nopagebreak")
            parts.append(_table(rectangle))
    parts += [rf"{{\footnotesize\raggedright {breakable(note)}\par}}" for note in notes(result)]
    return [*parts, rf"{{\raggedright\scriptsize Signature: \texttt{{{breakable(result.signature)}}}\par}}"]


def _statement(pieces: Iterable[Piece]) -> str:
    """A statement as it is written, with bold keywords. Spaces at the beginning of a line are kept."""
    return "{\\raggedright\\ttfamily\\footnotesize\n" + "".join(map(_piece, pieces)) + "\n\\par}"


def _piece(piece: Piece) -> str:
    first, *others = piece.text.split("\n")
    indented = (re.sub("^ *", lambda blanks: "~" * len(blanks[0]), typeset(line)) for line in others)
    shown = "\\\\\n".join((typeset(first), *indented))
    return rf"\textbf{{{shown}}}" if piece.kind == "keyword" else shown


# --- tables -----------------------------------------------------------------------------------------------------------


def _table(rectangle: Rectangle) -> str:
    """A table that continues over pages, in letters small enough for the page, and divided if necessary."""
    return "\n".join(line for panel in on_paper(rectangle, LINE) for line in longtable(panel, line=LINE))


# --- where the numbers come from --------------------------------------------------------------------------------------


def _sources(report: Report) -> list[str]:
    parts = [
        rf"\section*{{{SOURCES}}}",
        *(rf"{{\raggedright {breakable(sentence)}\par}}" for sentence in provenance(report)),
    ]
    if report.sources:
        parts.append(_table(sources_rectangle(report.sources)))
    return [*parts, f"{{\\small evalhouse {typeset(report.version)}\\par\n{typeset(report.made)}\\par}}"]


def _letters(text: str) -> str:
    """Tells pdfLaTeX how to print letters that it does not know: mathematical ones as mathematics, others by their
    code.
    """
    unknown = sorted({letter for letter in text if letter in _STRANGE_LATIN or not _KNOWN.match(letter)})
    return "".join(f"  \\DeclareUnicodeCharacter{{{ord(letter):04X}}}{{{_instead(letter)}}}\n" for letter in unknown)


def _instead(letter: str) -> str:
    command = _MATHEMATICS.get(letter)
    return rf"\ensuremath{{\{command}}}" if command else rf"\texttt{{U+{ord(letter):04X}}}"


# === Markdown =========================================================================================================
# Pictures are SVG files.


def draw_markdown(report: Report, name: str, style: Style) -> dict[str, bytes]:
    """The text and its pictures. Raises WarehouseError where pictures cannot be drawn."""
    report = shorten_report(report)
    pictures: dict[str, bytes] = {}
    parts = [f"# {escape_markup(report.title)}", bullet_list(above(report))]
    for section, level in read_sections(report):
        if isinstance(section, MarkdownText):
            parts.append(section.markdown())
        else:
            parts += _markdown_statement(section, level + 1, name, style, pictures)
    parts += [f"## {SOURCES}", *(escape_markup(sentence) for sentence in provenance(report))]
    if report.sources:
        parts.append(grid(sources_rectangle(report.sources)))
    parts.append(f"evalhouse {escape_markup(report.version)}\n{escape_markup(report.made)}")
    return {name: ("\n\n".join(parts) + "\n").encode(), **pictures}


def _markdown_statement(
    statement: ReportedStatement, level: int, name: str, style: Style, pictures: dict[str, bytes]
) -> list[str]:
    parts = (
        [f"{'#' * level} {statement.number} {escape_markup(statement.title)}"] if statement.number is not None else []
    )
    parts.append(_code(statement.text))
    result = statement.result
    if result is None:
        return [*parts, _code(statement.error)] if statement.error else parts
    if result.sentence:
        parts.append(escape_markup(result.sentence))
    if result.chart is not None:
        from evalhouse.warehouse.render.vegalite import svg

        picture = picture_name(name, statement.number, ".svg")
        pictures[picture] = svg(result.chart).encode()
        parts.append(f"![{escape_markup(describe_chart(result.chart))}]({picture})")
    else:
        parts += grids(printed(result, style).rectangles)
    below = bullet_list(notes(result))
    return [*parts, *([below] if below else []), f"Signature: {markdown_word(clean(result.signature))}"]


def _code(text: str) -> str:
    return markdown_code("\n".join(map(clean, text.split("\n"))))
