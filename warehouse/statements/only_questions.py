"""Statements that change something or write a file, which a session that only answers questions refuses.

Nothing is looked up here; mistakes in questions are found when they are answered.
"""

from __future__ import annotations

from msgspec import Struct

from grammar import nodes as n
from grammar.errors import QueryError
from grammar.span import Span

CHANGING = (n.Load, n.Forget, n.Define, n.Export)
"""The statements that always change a warehouse or write a file."""


class OnlyQuestions(Struct, frozen=True):
    """Whether such a session also answers `sql`; if not, `allowed_by` says what would
    allow it.
    """

    sql: bool = False
    allowed_by: str = ""

    def check_beginning(self, text: str) -> None:
        """Raises QueryError for a text whose beginning shows that it is not a question."""
        first = text.split(None, 1)[0].casefold() if text.strip() else ""
        words = next((kind.words for kind in CHANGING if kind.words.split()[0] == first), "")
        if words:
            at = text.casefold().index(first)
            raise QueryError(_refused(words), Span(at, at + len(first)))

    def check(self, statement: n.AnyStatement) -> None:
        """Raises QueryError for what is not a question."""
        if isinstance(statement, CHANGING):
            raise QueryError(_refused(statement.words), statement.span)
        if isinstance(statement, n.Plot) and statement.to is not None:
            raise QueryError(
                "plot … to writes a file, but only questions are answered here",
                statement.to.span,
                ("leave out to and the file",),
            )
        if isinstance(statement, n.SqlQuery) and not self.sql:
            hints = (f"{self.allowed_by} allows it",) if self.allowed_by else ()
            raise QueryError("sql is not allowed here", statement.span, hints)


def _refused(words: str) -> str:
    return f"{words} is not a question, but only questions are answered here"
