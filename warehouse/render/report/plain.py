"""A report as Markdown, with its pictures as SVG beside it."""

from __future__ import annotations

from warehouse.render.markup import escaped, grid, grids, listed, markdown_word
from warehouse.render.report.description import Report, ReportedStatement, shortened
from warehouse.render.report.prose import MarkdownText, markdown_code, read_sections
from warehouse.render.report.wording import SOURCES, above, picture_name, provenance, sources_rectangle
from warehouse.render.site.drawn_answers import described, notes
from warehouse.render.style import Style, clean


def draw(report: Report, name: str, style: Style) -> dict[str, bytes]:
    """The text and its pictures. Raises WarehouseError where pictures cannot be drawn."""
    report = shortened(report)
    pictures: dict[str, bytes] = {}
    parts = [f"# {escaped(report.title)}", listed(above(report))]
    for section, level in read_sections(report):
        if isinstance(section, MarkdownText):
            parts.append(section.markdown())
        else:
            parts += _statement(section, level + 1, name, style, pictures)
    parts += [f"## {SOURCES}", *(escaped(sentence) for sentence in provenance(report))]
    if report.sources:
        parts.append(grid(sources_rectangle(report.sources)))
    parts.append(f"evalhouse {escaped(report.version)}\n{escaped(report.made)}")
    return {name: ("\n\n".join(parts) + "\n").encode(), **pictures}


def _statement(
    statement: ReportedStatement, level: int, name: str, style: Style, pictures: dict[str, bytes]
) -> list[str]:
    parts = [f"{'#' * level} {statement.number} {escaped(statement.title)}"] if statement.number is not None else []
    parts.append(_code(statement.text))
    result = statement.result
    if result is None:
        return [*parts, _code(statement.error)] if statement.error else parts
    if result.chart is not None:
        from warehouse.render.vega import svg

        picture = picture_name(name, statement.number, ".svg")
        pictures[picture] = svg(result.chart).encode()
        parts.append(f"![{escaped(described(result.chart))}]({picture})")
    else:
        parts += grids(result, style)
    below = listed(notes(result))
    return [*parts, *([below] if below else []), f"Signature: {markdown_word(clean(result.signature))}"]


def _code(text: str) -> str:
    return markdown_code("\n".join(map(clean, text.split("\n"))))
