"""What can be wrong with a query, as data. Drawing it (carets, colour) is the business of rendering."""

from __future__ import annotations

from grammar.span import NOWHERE, Span


class QueryError(Exception):
    """A query that cannot be answered: what is wrong, where, and what would be right.

    `message` is one plain sentence without a full stop; `span` is the place in the text of the query; each hint is a
    line of its own below the caret ("did you mean UMASS?").
    """

    def __init__(self, message: str, span: Span = NOWHERE, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hints = hints
