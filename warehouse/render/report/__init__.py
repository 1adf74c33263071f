"""Writes the report of a study as files. REPORTS is the only table of the formats.

A report is drawn only from its description (`description`). The neighbouring package draws the pictures.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evalhouse.warehouse.faults import file_error
from evalhouse.warehouse.process.lazy import lazy
from evalhouse.warehouse.render import files
from evalhouse.warehouse.render.report.prose import Passage, Report, ReportedStatement, Section, Source
from evalhouse.warehouse.render.site.contents import Piece
from evalhouse.warehouse.render.style import Style

__all__ = ["REPORTS", "Passage", "Piece", "Report", "ReportedStatement", "Section", "Source", "check", "write"]

Files = dict[str, bytes]
"""The files of a report by name: the report first, then its pictures."""


DrawReport = Callable[[Report, str, Style], Files]
"""Draws a report as its files, given the name of the first."""


REPORTS: dict[str, DrawReport] = {
    ".html": lazy("evalhouse.warehouse.render.report.page:draw"),
    ".md": lazy("evalhouse.warehouse.render.report.typeset:draw_markdown"),
    ".tex": lazy("evalhouse.warehouse.render.report.typeset:draw_latex"),
}
"""What draws a report, by file extension: as a self-contained page, as Markdown with its pictures as SVG files, or as a
LaTeX document with its pictures as PDF files. The modules that draw are imported only then.
"""


def check(path: Path, force: bool) -> None:
    """Raises DataError for a file that cannot become a report: it has another extension, or it exists and `force` is
    not set.
    """
    if path.suffix.casefold() not in REPORTS:
        raise file_error(path, f"a report must end in one of {', '.join(REPORTS)}")
    files.check_free(path, force)


def write(report: Report, path: Path, style: Style, force: bool) -> tuple[Path, ...]:
    """Writes a report, either all of its files or none, and returns their paths. Raises DataError if they cannot be
    written, and WarehouseError if pictures cannot be drawn on this machine.
    """
    drawn = REPORTS[path.suffix.casefold()](report, path.name, style)
    contents = {path.with_name(name): content for name, content in drawn.items()}
    for file in contents:
        files.check_free(file, force)
    files.write_all(contents)
    return tuple(contents)
