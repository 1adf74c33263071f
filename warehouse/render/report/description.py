"""A report as data: prose, statements with their results, and the sources of the numbers. Nothing here draws.

Everything is kept as it was written or computed. The drawings decide how much of it is shown, and how.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from warehouse.render.site.pieces import Piece
from warehouse.results import Result, Table

LONGEST = 1000
"""A report shows no more rows of one table than this."""

LONGEST_TITLE = 80
"""A statement used as a caption is cut after this many characters."""


class Passage(Struct, frozen=True):
    """Prose, in Markdown."""

    text: str


class ReportedStatement(Struct, frozen=True):
    """A statement with its outcome: a result, an error drawn with its caret, or neither if the statement only sets
    something. Statements with something to show are numbered.
    """

    pieces: tuple[Piece, ...]
    number: int | None = None
    result: Result | None = None
    error: str | None = None

    @property
    def text(self) -> str:
        """The statement as it was written."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def title(self) -> str:
        """The title of its result, or a note that it has no result."""
        if self.result is None:
            return "not answered"
        statement = " ".join(self.result.statement.split())
        return self.result.caption or (f"{statement[:LONGEST_TITLE]}…" if len(statement) > LONGEST_TITLE else statement)


Section = Passage | ReportedStatement


class Source(Struct, frozen=True):
    """A file that was loaded into the warehouse. `settings` holds the options for its fields and columns."""

    number: int
    name: str
    reader: str
    rows: int
    simulated: bool
    sha256: str
    version: str
    settings: str


class Report(Struct, frozen=True):
    """A study and its answers.

    `study` is the name of its file, and `sha256` is the digest of its text. `given` holds the variables that were set
    from outside, with their values. `warehouse` describes in words which data were used. `version` and `made` tell
    which version made the report, and when. For the same study, variables, warehouse and version, only `made` changes.
    """

    title: str
    study: str
    sha256: str
    given: tuple[tuple[str, str], ...]
    sections: tuple[Section, ...]
    warehouse: str
    sources: tuple[Source, ...]
    version: str
    made: str

    @property
    def statements(self) -> tuple[ReportedStatement, ...]:
        """The statements, in order."""
        return tuple(section for section in self.sections if isinstance(section, ReportedStatement))

    @property
    def wrong(self) -> int:
        """The number of statements with an error."""
        return sum(section.error is not None for section in self.statements)


def shortened(report: Report, longest: int = LONGEST) -> Report:
    """The report with at most this many rows per table. A note gives the full number."""
    return replace(report, sections=tuple(_shortened(section, longest) for section in report.sections))


def _shortened(section: Section, longest: int) -> Section:
    if isinstance(section, Passage) or section.result is None or len(section.result.table.rows) <= longest:
        return section
    if section.result.grid is not None and len(section.result.grid.systems) <= longest:
        # Each of its lines is a system, which has many rows.
        return section
    table = section.result.table
    note = f"the first {longest:,} of {len(table.rows):,} rows, also in copies; evalhouse query prints them all"
    cut = replace(section.result, table=Table(table.columns, table.rows[:longest]), triangle=None, grid=None)
    return replace(section, result=replace(cut, notes=(note, *cut.notes)))
