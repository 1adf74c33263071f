"""What can be said to a warehouse: the one table of statements that have an answer, a file each.

Those that change the session or the warehouse (let, define, load, forget) have no plan; the session carries them out.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from grammar import nodes as n
from warehouse.lazy import Lazy, lazy
from warehouse.query.engine import Engine
from warehouse.query.path import Statement, execute
from warehouse.query.resolving.names import Scope
from warehouse.query.sealing import sealed
from warehouse.results import Result
from warehouse.statements.questions import question, questions

OTHERS: dict[type[n.Node], Lazy] = {
    n.Expect: lazy("warehouse.statements.expect:EXPECT"),
    n.Plot: lazy("warehouse.statements.plot:PLOT"),
    n.Explain: lazy("warehouse.statements.explain:EXPLAIN"),
    n.Export: lazy("warehouse.statements.export:EXPORT"),
    n.Show: lazy("warehouse.statements.show:SHOW"),
    n.SqlQuery: lazy("warehouse.statements.sql_query:SQL"),
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
    return Planned(statement, statement.resolve(node, scope))


def answer(planned: Planned, engine: Engine) -> Result:
    """The answer to a statement; its signature ends with a seal of its numbers. Raises QueryError for what only the
    data could show.
    """
    return sealed(execute(planned.statement, planned.plan, engine))
