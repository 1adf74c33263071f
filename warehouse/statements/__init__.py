"""What can be said to a warehouse: the one table of statements that have an answer, a file each.

Those that change the session or the warehouse (let, define, load, forget) have no plan; the session carries them out.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.warehouse.plans.left_out import completed
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Engine, Statement, execute
from evalhouse.warehouse.process.lazy import Lazy, lazy
from evalhouse.warehouse.results import Result, seal_result
from evalhouse.warehouse.statements.questions import question, questions

OTHERS: dict[type[n.Node], Lazy] = {
    n.Expect: lazy("evalhouse.warehouse.statements.expect:EXPECT"),
    n.Plot: lazy("evalhouse.warehouse.statements.plot:PLOT"),
    n.Explain: lazy("evalhouse.warehouse.statements.explain:EXPLAIN"),
    n.Export: lazy("evalhouse.warehouse.statements.export:EXPORT"),
    n.Show: lazy("evalhouse.warehouse.statements.show:SHOW"),
    n.SqlQuery: lazy("evalhouse.warehouse.statements.sql_query:SQL"),
}
"""Where the statements about questions, and those that list what there is, are defined, in display order."""


def statement_of(node: type[n.Node]) -> Statement:
    """The statement of a class of nodes. Raises KeyError for one that has no plan."""
    if node in OTHERS:
        statement: Statement = OTHERS[node].load()
        return statement
    return question(node)


def statements() -> tuple[Statement, ...]:
    """All of them, in display order."""
    return (*questions(), *map(statement_of, OTHERS))


class Planned(Struct, frozen=True):
    """A statement with its plan."""

    statement: Statement
    plan: Any


def resolve(node: n.AnyStatement, scope: Scope) -> Planned:
    """The plan of a statement. Raises QueryError for anything that is not there or does not fit, and KeyError for a
    statement that has no plan.
    """
    statement = statement_of(type(node))
    return Planned(statement, statement.resolve(completed(node, scope), scope))


def answer(planned: Planned, engine: Engine) -> Result:
    """The answer to a statement; its signature ends with a seal of its numbers. Raises QueryError for what only the
    data could show.
    """
    return seal_result(execute(planned.statement, planned.plan, engine))
