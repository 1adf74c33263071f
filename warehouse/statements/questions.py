"""The table of questions: the statements that ask something of the rows.

They can be explained, plotted and exported. Each is imported when it is asked for, so that a statement loads no more
of the program than it needs.
"""

from __future__ import annotations

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError, Span
from evalhouse.warehouse.plans.path import Statement
from evalhouse.warehouse.process.lazy import Lazy, lazy

# === the table ========================================================================================================

QUESTIONS: dict[type[n.Node], Lazy] = {
    n.Score: lazy("evalhouse.warehouse.statements.score:SCORE"),
    n.Compare: lazy("evalhouse.warehouse.statements.compare:COMPARE"),
    n.Group: lazy("evalhouse.warehouse.statements.group:GROUP"),
    n.Rank: lazy("evalhouse.warehouse.statements.rank:RANK"),
    n.PaperTable: lazy("evalhouse.warehouse.statements.table:TABLE"),
    n.Power: lazy("evalhouse.warehouse.statements.power:POWER"),
    n.Generality: lazy("evalhouse.warehouse.statements.generality:GENERALITY"),
    n.Change: lazy("evalhouse.warehouse.statements.change:CHANGE"),
    n.Replicate: lazy("evalhouse.warehouse.statements.replicate:REPLICATE"),
    n.Project: lazy("evalhouse.warehouse.statements.project:PROJECT"),
    n.Audit: lazy("evalhouse.warehouse.statements.audit:AUDIT"),
    n.Agree: lazy("evalhouse.warehouse.statements.agree:AGREE"),
    n.Coverage: lazy("evalhouse.warehouse.statements.coverage:COVERAGE"),
    n.Spread: lazy("evalhouse.warehouse.statements.spread:SPREAD"),
    n.Documents: lazy("evalhouse.warehouse.statements.documents:DOCUMENTS"),
    n.Differ: lazy("evalhouse.warehouse.statements.differ:DIFFER"),
    n.Curve: lazy("evalhouse.warehouse.statements.curve:CURVE"),
    n.Confusion: lazy("evalhouse.warehouse.statements.confusion:CONFUSION"),
}
"""Where each is defined, in display order."""


def question(node: type[n.Node]) -> Statement:
    """The statement of a class of nodes. Raises KeyError for one that is not a question."""
    statement: Statement = QUESTIONS[node].load()
    return statement


def questions() -> tuple[Statement, ...]:
    """All of them, in display order."""
    return tuple(map(question, QUESTIONS))


# === sessions that only answer questions ==============================================================================
# Such a session refuses statements that change something or write a file. Nothing is looked up here; mistakes in
# questions are found when they are answered.

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
            raise QueryError(_refusal(words), Span(at, at + len(first)))

    def check(self, statement: n.AnyStatement) -> None:
        """Raises QueryError for what is not a question."""
        if isinstance(statement, CHANGING):
            raise QueryError(_refusal(statement.words), statement.span)
        if isinstance(statement, n.Plot) and statement.to is not None:
            raise QueryError(
                "plot … to writes a file, but only questions are answered here",
                statement.to.span,
                ("leave out to and the file",),
            )
        if isinstance(statement, n.SqlQuery) and not self.sql:
            hints = (f"{self.allowed_by} allows it",) if self.allowed_by else ()
            raise QueryError("sql is not allowed here", statement.span, hints)


def _refusal(words: str) -> str:
    return f"{words} is not a question, but only questions are answered here"
