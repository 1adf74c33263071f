"""What can be said to a warehouse: the one table of statements that have an answer, a file each.

Those that change the session or the warehouse (let, define, load, forget) have no plan; the session carries them out.
"""

from __future__ import annotations

from typing import Any

from grammar import nodes as n
from grammar.value import value
from warehouse.query.engine import Engine
from warehouse.query.path import Statement, execute
from warehouse.query.resolving.names import Scope
from warehouse.query.sealing import sealed
from warehouse.results import Result
from warehouse.statements.questions import question, questions


def statement_of(node: type[n.Node]) -> Statement:
    """The statement of a class of nodes. Raises KeyError for one that has no plan."""
    if node is n.Expect:
        from warehouse.statements.expect import EXPECT

        return EXPECT
    if node is n.Plot:
        from warehouse.statements.plot import PLOT

        return PLOT
    if node is n.Explain:
        from warehouse.statements.explain import EXPLAIN

        return EXPLAIN
    if node is n.Export:
        from warehouse.statements.export import EXPORT

        return EXPORT
    if node is n.Show:
        from warehouse.statements.show import SHOW

        return SHOW
    if node is n.SqlQuery:
        from warehouse.statements.sql_query import SQL

        return SQL
    return question(node)


def statements() -> tuple[Statement, ...]:
    """All of them, in display order."""
    return (*questions(), *(statement_of(node) for node in (n.Expect, n.Plot, n.Explain, n.Export, n.Show, n.SqlQuery)))


@value
class Planned:
    """A statement with its plan."""

    statement: Statement
    plan: Any


def resolve(node: n.AnyStatement, scope: Scope) -> Planned:
    """The plan of a statement. Raises QueryError for anything that is not there or does not fit, and KeyError for a
    statement that has no plan.
    """
    statement = statement_of(type(node))
    return Planned(statement, statement.resolve(node, scope))


def answer(planned: Planned, engine: Engine) -> Result:
    """The answer to a statement; its signature ends with a seal of its numbers. Raises QueryError for what only the
    data could show.
    """
    return sealed(execute(planned.statement, planned.plan, engine))
