"""What can be wrong with a query, as data. Drawing it (carets, colour) is the business of rendering."""

from __future__ import annotations

from grammar.span import NOWHERE, Span


class EvalhouseError(Exception):
    """What evalhouse raises where something that it was given is wrong. `drawn` is the message as people read it, with
    its place and what would help; whoever knows the text that is wrong puts it there.
    """

    drawn = ""

    def __str__(self) -> str:
        return self.drawn or super().__str__()


class QueryError(EvalhouseError):
    """A query that cannot be answered: what is wrong, where, and what would be right.

    `message` is one plain sentence without a full stop; `span` is the place in the text of the query; each hint is a
    line of its own below the caret ("did you mean UMASS?").
    """

    def __init__(self, message: str, span: Span = NOWHERE, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hints = hints

    def __reduce__(self) -> tuple[object, ...]:
        return QueryError, (self.message, self.span, self.hints), {"drawn": self.drawn}
