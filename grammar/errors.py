"""The errors of a query, as data, with their places in the text. Rendering draws them (carets, colour)."""

from __future__ import annotations

from msgspec import Struct

# === places in a text =================================================================================================
# A span gives the position of something; it must not contain the text itself.


class Span(Struct, frozen=True):
    """The characters of a text from `start` up to, but not including, `end`, counted from 0."""

    start: int
    end: int

    def to(self, other: Span) -> Span:
        """The span from the start of this one to the end of the other."""
        return Span(min(self.start, other.start), max(self.end, other.end))


NOWHERE = Span(0, 0)
"""The span of a node that was built, not parsed."""


# === errors ===========================================================================================================


class EvalhouseError(Exception):
    """The error that evalhouse raises if its input is wrong. `drawn` is the message for people, with the place and what
    would help. It is set by the code that knows the wrong text.

    Examples
    --------
    >>> import evalhouse as eh
    >>> for ask in (lambda: eh.open("absent.duckdb"), lambda: eh.open().score("F1", "UMAS", on="TST3")):
    ...     try:
    ...         ask()
    ...     except eh.Error as error:
    ...         print(str(error).splitlines()[0])
    there is no warehouse absent.duckdb
    unknown system 'UMAS' on TST3
    """

    drawn = ""

    def __str__(self) -> str:
        return self.drawn or super().__str__()

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows of it: the message, and not the frames of the package."""
        return [f"{type(self).__name__}: {self}"]


class QueryError(EvalhouseError):
    """A query that cannot be answered: what is wrong, where, and what would be right.

    `message` is one plain sentence without a full stop. `span` is the place in the text of the query. Each hint is a
    separate line below the caret ("did you mean UMASS?").

    Examples
    --------
    >>> import evalhouse as eh
    >>> try:
    ...     eh.open().score("F1", "UMAS", on="TST3")
    ... except eh.QueryError as error:
    ...     print(error)
    unknown system 'UMAS' on TST3
      score F1 for UMAS on TST3
                   ^^^^
      did you mean UMASS?
    """

    def __init__(self, message: str, span: Span = NOWHERE, hints: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.span = span
        self.hints = hints

    def __reduce__(self) -> tuple[object, ...]:
        return QueryError, (self.message, self.span, self.hints), {"drawn": self.drawn}


class UnfinishedError(QueryError):
    """The text ends too early, so more text could correct it."""
