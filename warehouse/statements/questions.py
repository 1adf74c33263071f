"""The table of questions: the statements that ask something of the rows, and so can be explained, plotted and exported.

Each is imported when it is asked for, so that a statement loads no more of the program than it needs.
"""

from __future__ import annotations

from grammar import nodes as n
from warehouse.lazy import Lazy, lazy
from warehouse.query.path import Statement

QUESTIONS: dict[type[n.Node], Lazy] = {
    n.Score: lazy("warehouse.statements.score:SCORE"),
    n.Compare: lazy("warehouse.statements.compare:COMPARE"),
    n.Group: lazy("warehouse.statements.group:GROUP"),
    n.Rank: lazy("warehouse.statements.rank:RANK"),
    n.PaperTable: lazy("warehouse.statements.paper_table:TABLE"),
    n.Power: lazy("warehouse.statements.power:POWER"),
    n.Generality: lazy("warehouse.statements.generality:GENERALITY"),
    n.Change: lazy("warehouse.statements.change:CHANGE"),
    n.Replicate: lazy("warehouse.statements.replicate:REPLICATE"),
    n.Project: lazy("warehouse.statements.project:PROJECT"),
    n.Audit: lazy("warehouse.statements.audit:AUDIT"),
    n.Agree: lazy("warehouse.statements.agree:AGREE"),
    n.Coverage: lazy("warehouse.statements.coverage:COVERAGE"),
    n.Spread: lazy("warehouse.statements.spread:SPREAD"),
    n.Documents: lazy("warehouse.statements.documents:DOCUMENTS"),
    n.Differ: lazy("warehouse.statements.differ:DIFFER"),
    n.Curve: lazy("warehouse.statements.curve:CURVE"),
}
"""Where each is defined, in display order."""


def question(node: type[n.Node]) -> Statement:
    """The statement of a class of nodes. Raises KeyError for one that is not a question."""
    statement: Statement = QUESTIONS[node].load()
    return statement


def questions() -> tuple[Statement, ...]:
    """All of them, in display order."""
    return tuple(map(question, QUESTIONS))
