"""A report as Markdown, with its pictures as SVG beside it."""

from __future__ import annotations

from warehouse.render.markup import escaped, grid
from warehouse.render.rectangle import unbounded_sheets
from warehouse.render.report.description import Asked, Passage, Report, shortened
from warehouse.render.report.prose import Prose, markdown_code, markdown_word
from warehouse.render.report.wording import SOURCES, above, notes, picture_name, provenance, seen, sources_sheet
from warehouse.render.style import Style, clean


def draw(report: Report, name: str, style: Style) -> dict[str, bytes]:
    """The text and its pictures. Raises WarehouseError where pictures cannot be drawn."""
    report = shortened(report)
    pictures: dict[str, bytes] = {}
    parts = [f"# {escaped(report.title)}", "\n".join(f"- {escaped(said)}" for said in above(report))]
    level = 1
    for section in report.sections:
        if isinstance(section, Passage):
            prose = Prose(section.text, level)
            level = prose.level
            parts.append(prose.markdown())
        else:
            parts += _asked(section, level + 1, name, style, pictures)
    parts += [f"## {SOURCES}", *(escaped(said) for said in provenance(report))]
    if report.sources:
        parts.append(grid(sources_sheet(report.sources)))
    parts.append(f"evalhouse {escaped(report.version)}\n{escaped(report.made)}")
    return {name: ("\n\n".join(parts) + "\n").encode(), **pictures}


def _asked(asked: Asked, level: int, name: str, style: Style, pictures: dict[str, bytes]) -> list[str]:
    parts = [f"{'#' * level} {asked.number} {escaped(asked.title)}"] if asked.number is not None else []
    parts.append(_code(asked.text))
    result = asked.result
    if result is None:
        return [*parts, _code(asked.error)] if asked.error else parts
    if result.chart is not None:
        from warehouse.render.vega import svg

        picture = picture_name(name, asked.number, ".svg")
        pictures[picture] = svg(result.chart).encode()
        parts.append(f"![{escaped(seen(result.chart))}]({picture})")
    else:
        drawn = unbounded_sheets(result, style)
        for sheet in drawn:
            if sheet.title and len(drawn) > 1:
                parts.append(f"*{escaped(sheet.title)}*")
            parts.append(grid(sheet))
    said = [f"- {escaped(note)}" for note in notes(result)]
    parts += ["\n".join(said)] if said else []
    return [*parts, f"Signature: {markdown_word(clean(result.signature))}"]


def _code(text: str) -> str:
    return markdown_code("\n".join(map(clean, text.split("\n"))))
