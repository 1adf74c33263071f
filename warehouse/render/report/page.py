"""Draws a report as one self-contained HTML page. It loads nothing, and its few lines of script only sort and copy
tables.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files as resources

from evalhouse.warehouse.render.data import csv
from evalhouse.warehouse.render.html import NUMBERS, SORTING, table, text
from evalhouse.warehouse.render.latex import latex
from evalhouse.warehouse.render.report.prose import (
    LONGEST,
    SOURCES,
    MarkdownText,
    Report,
    ReportedStatement,
    above,
    provenance,
    read_sections,
    shorten_report,
    sources_rectangle,
)
from evalhouse.warehouse.render.site.contents import (
    highlight,
    lines,
    listed_notes,
    picture,
    proof,
    sentence,
    signature,
    tables,
)
from evalhouse.warehouse.render.site.drawing import SKIP, head, looks
from evalhouse.warehouse.render.style import Style
from evalhouse.warehouse.results import Result

LARGEST = 3_000_000
"""The size of a page in bytes. If a report would be larger, fewer rows of each table are shown."""

SHORTEST = 20
"""The rows of a table that are always shown, however large the page is."""


def draw(report: Report, name: str, style: Style) -> dict[str, bytes]:
    """The page. Raises WarehouseError where pictures cannot be drawn."""
    longest = LONGEST
    while True:
        page = _page(shorten_report(report, longest), style).encode()
        if len(page) <= LARGEST or longest == SHORTEST:
            return {name: page}
        longest = max(SHORTEST, longest * LARGEST * 9 // (len(page) * 10))


Heading = tuple[int, str, str]
"""Level, anchor and title of a heading."""


def _page(report: Report, style: Style) -> str:
    script = SORTING + _resource("page.js")
    headings: list[Heading] = []
    body: list[str] = []
    for section, level in read_sections(report):
        if isinstance(section, MarkdownText):
            anchors = [f"part-{len(headings) + place}" for place in range(1, len(section.headings) + 1)]
            body.append(f'<div class="prose">\n{section.html(anchors)}</div>')
            headings += [
                (depth, anchor, title) for (depth, title), anchor in zip(section.headings, anchors, strict=True)
            ]
        else:
            body.append(_statement(section, level + 1, style))
            if section.number is not None:
                headings.append((level + 1, f"result-{section.number}", f"{section.number} {section.title}"))
    headings.append((2, "sources", SOURCES))
    copies = {
        str(section.number): {"csv": "".join(csv(section.result, style)), "latex": latex(section.result, style)}
        for section in report.statements
        if section.result is not None
    }
    parts = [
        *head(
            report.title,
            first=[f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'],
            last=[f"<style>\n{looks()}</style>"],
        ),
        "<body>",
        SKIP,
        _heading(report),
        _contents(headings),
        '<main id="content" tabindex="-1">',
        *body,
        _sources(report),
        "</main>",
        f"<footer>\n<p>evalhouse {text(report.version)}</p>\n<p>{text(report.made)}</p>\n</footer>",
        f'<script type="application/json" id="copies">{_harmless(json.dumps(copies, ensure_ascii=False))}</script>',
        f"<script>{script}</script>",
        "</body>",
        "</html>",
    ]
    return "\n".join(parts) + "\n"


def _resource(name: str) -> str:
    return resources("evalhouse.warehouse.render.report").joinpath(name).read_text(encoding="utf-8")


def _policy(script: str) -> str:
    """The content security policy: it allows only the page's own style and exactly this script."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    allowed = ("default-src 'none'", "style-src 'unsafe-inline'", f"script-src 'sha256-{digest}'")
    return "; ".join((*allowed, "base-uri 'none'", "form-action 'none'"))


def _harmless(data: str) -> str:
    """JSON that cannot close the HTML element that contains it."""
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _heading(report: Report) -> str:
    sentences = (f"<p>{text(sentence)}</p>" for sentence in above(report))
    return "\n".join(["<header>", f"<h1>{text(report.title)}</h1>", *sentences, "</header>"])


def _contents(headings: Sequence[Heading]) -> str:
    """The table of contents: the headings as nested lists."""
    lines = ['<nav aria-label="Contents">', "<details open>", "<summary>Contents</summary>"]
    depth = 1
    for level, anchor, title in headings:
        if level > depth:
            lines += ["<ol>"] * (level - depth)
        else:
            lines.append("</li>" + "</ol></li>" * (depth - level))
        depth = level
        lines.append(f'<li><a href="#{anchor}">{text(title)}</a>')
    lines.append("</li></ol>" * (depth - 1))
    return "\n".join([*lines, "</details>", "</nav>"])


# --- a statement and its result
# ---------------------------------------------------------------------------------------


def _statement(statement: ReportedStatement, level: int, style: Style) -> str:
    query = highlight(statement.pieces)
    if statement.number is None:
        return query
    name = f"result-{statement.number}"
    wrong = statement.result is None
    heading = f'<a class="number" href="#{name}">{statement.number}</a> {text(statement.title)}'
    parts = [
        f'<section class="{"wrong" if wrong else "result"}" id="{name}" aria-labelledby="{name}-title">',
        f'<h{level} id="{name}-title">{heading}</h{level}>',
        query,
    ]
    if statement.result is None:
        parts.append(f"<pre>{lines(statement.error or '')}</pre>")
    else:
        parts += _answer(statement.result, statement, name, style)
    return "\n".join([*parts, "</section>"])


def _answer(result: Result, statement: ReportedStatement, name: str, style: Style) -> list[str]:
    shown = [
        '<div class="copying" hidden>',
        *(f'<button type="button" data-copy="{kind}" data-of="{statement.number}">Copy {shown}</button>'
          for kind, shown in (("csv", "CSV"), ("latex", "LaTeX"))),
        '<span role="status"></span>',
        "</div>",
        *tables(result, statement.title, style),
    ]  # fmt: skip
    if result.chart is not None:
        shown = [picture(result.chart, name), "<details>", f"<summary>{NUMBERS}</summary>", *shown, "</details>"]
    return [*sentence(result), *shown, *proof(result), *listed_notes(result), signature(result)]


# --- where the numbers come from --------------------------------------------------------------------------------------


def _sources(report: Report) -> str:
    lines = [f'<section id="sources" aria-labelledby="sources-title">\n<h2 id="sources-title">{SOURCES}</h2>']
    lines += [f"<p>{text(sentence)}</p>" for sentence in provenance(report)]
    if report.sources:
        files = table(sources_rectangle(report.sources), sortable=True, caption=SOURCES)
        lines.append(f'<div class="table">{files}</div>')
    return "\n".join([*lines, "</section>"])
