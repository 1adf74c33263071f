"""A report of a study as files: REPORTS is the one table of what it can be written as.

A report is a description (`description`) and is drawn from that alone; pictures are drawn by the room beside.
"""

from __future__ import annotations

from pathlib import Path

from grammar.value import value
from warehouse.render import files
from warehouse.render.report.description import Passage, Report, ReportedStatement, Section, Source
from warehouse.render.site.pieces import Piece
from warehouse.render.style import Style

__all__ = ["REPORTS", "Passage", "Piece", "Report", "ReportedStatement", "Section", "Source", "check", "write"]

Files = dict[str, bytes]
"""The files of a report by their names: the report itself first, its pictures beside it."""


@value
class ReportFormat:
    """What a report can be written as: the ending of its file."""

    suffix: str

    def draw(self, report: Report, name: str, style: Style) -> Files:
        """The files of a report, given the name of the first. The drawing is imported only here."""
        match self.suffix:
            case ".html":
                from warehouse.render.report.page import draw
            case ".md":
                from warehouse.render.report.plain import draw
            case _:
                from warehouse.render.report.typeset import draw
        return draw(report, name, style)


REPORTS = {suffix: ReportFormat(suffix) for suffix in (".html", ".md", ".tex")}
"""By the ending of the file: a page that needs nothing else, Markdown with its pictures as SVG beside it, and a LaTeX
document with its pictures as PDF beside it.
"""


def check(path: Path, force: bool) -> None:
    """Raises DataError for a file that cannot become a report: of another ending, or there already unless `force`."""
    if path.suffix.casefold() not in REPORTS:
        raise files.fault(path, f"a report must end in one of {', '.join(REPORTS)}")
    files.check_free(path, force)


def write(report: Report, path: Path, style: Style, force: bool) -> tuple[Path, ...]:
    """Writes a report, all of its files or none, and gives their paths. Raises DataError if that cannot be, and
    WarehouseError if pictures cannot be drawn here.
    """
    drawn = REPORTS[path.suffix.casefold()].draw(report, path.name, style)
    contents = {path.with_name(name): content for name, content in drawn.items()}
    for file in contents:
        files.check_free(file, force)
    files.write_all(contents)
    return tuple(contents)
