"""A report of a study as files: REPORTS is the one table of what it can be written as.

A report is a description (`description`) and is drawn from that alone; pictures are drawn by the room beside.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from warehouse.render import files
from warehouse.render.report.description import Asked, Passage, Piece, Report, Section, Source
from warehouse.render.style import Style

__all__ = ["REPORTS", "Asked", "Passage", "Piece", "Report", "Section", "Source", "check", "write"]

Files = dict[str, bytes]
"""The files of a report by their names: the report itself first, its pictures beside it."""

Draw = Callable[[Report, str, Style], Files]
"""Draws a report as files, given the name of the first."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What a report can be written as: the ending of its file, what that is, and the module that draws it."""

    suffix: str
    meaning: str
    module: str

    def draw(self, report: Report, name: str, style: Style) -> Files:
        """The files of a report."""
        drawn: Files = import_module(f"warehouse.render.report.{self.module}").draw(report, name, style)
        return drawn


REPORTS: Mapping[str, Kind] = {
    kind.suffix: kind
    for kind in (
        Kind(".html", "a page that needs nothing else", "page"),
        Kind(".md", "Markdown, with its pictures as SVG beside it", "plain"),
        Kind(".tex", "a LaTeX document, with its pictures as PDF beside it", "typeset"),
    )
}
"""By the ending of the file."""


def check(path: Path, force: bool) -> None:
    """Raises DataError for a file that cannot become a report: of another ending, or there already unless `force`."""
    if path.suffix.casefold() not in REPORTS:
        raise files.fault(path, f"a report has one of the endings {', '.join(REPORTS)}")
    files.check_free(path, force)


def write(report: Report, path: Path, style: Style, force: bool) -> tuple[Path, ...]:
    """Writes a report, all of its files or none, and gives their paths. Raises DataError if that cannot be, and
    WarehouseError if pictures cannot be drawn here.
    """
    drawn = REPORTS[path.suffix.casefold()].draw(report, path.name, style)
    contents = {path.with_name(name): content for name, content in drawn.items()}
    for each in contents:
        files.check_free(each, force)
    files.write_all(contents)
    return tuple(contents)
