"""The last answer as a page in the browser: one self-contained file, which is removed when the shell ends."""

from __future__ import annotations

import webbrowser
from base64 import b64encode
from pathlib import Path

from msgspec.structs import replace

from warehouse.publishing import discard, scratch
from warehouse.render import Style
from warehouse.render.site import assets
from warehouse.render.site.contents import Copies, Link, PageHeading, ShownAnswer, Surroundings
from warehouse.render.site.drawing import Drawing
from warehouse.results import Result, Table
from warehouse.version import __version__

MOST_ROWS = 1000
"""A page shows at most this many rows of a table."""


class AnswerPages:
    """The pages that were opened, in a folder that only this user can read."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._opened = 0

    def open(self, result: Result, style: Style) -> tuple[Path, bool]:
        """Writes the page of an answer and opens it. Returns its file, and whether there was a browser."""
        if self._folder is None:
            self._folder = scratch()
        self._opened += 1
        file = self._folder / f"answer-{self._opened}.html"
        file.write_text(page(result, style, file.name), encoding="utf-8")
        return file, webbrowser.open(file.as_uri())

    def close(self) -> None:
        """Removes the pages."""
        if self._folder is not None:
            discard(self._folder)
            self._folder = None


LONGEST_TITLE = 80
"""A statement used as a title is cut after this many characters."""


def page(result: Result, style: Style, name: str) -> str:
    """The page of an answer, which links only to itself."""
    surroundings = Surroundings(
        home=Link("evalhouse", name),
        ask="",
        completes="",
        assets={asset: _within(asset) for asset in assets.NAMES},
        foot=(f"evalhouse {__version__}",),
    )
    drawing = Drawing(surroundings, style)
    statement = " ".join(result.statement.split())
    heading = PageHeading(statement if len(statement) <= LONGEST_TITLE else f"{statement[:LONGEST_TITLE]}…")
    answer = drawing.block(ShownAnswer(result.caption or heading.title, _cut(result), Copies()))
    return drawing.beginning(heading) + answer + drawing.end()


def _within(asset: str) -> str:
    """A shared file as an address that contains it."""
    kind = assets.KINDS[Path(asset).suffix]
    return f"data:{kind};base64,{b64encode(assets.asset(asset)).decode()}"


def _cut(result: Result) -> Result:
    rows = result.table.rows
    if len(rows) <= MOST_ROWS or result.grid is not None:
        return result
    note = f"the first {MOST_ROWS:,} of {len(rows):,} rows; .output FILE.html has them all"
    cut = Table(result.table.columns, rows[:MOST_ROWS])
    return replace(result, table=cut, triangle=None, sections=(), notes=(note, *result.notes))
