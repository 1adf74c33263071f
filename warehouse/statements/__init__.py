"""What can be said to a warehouse: STATEMENTS, the one table of statements that have an answer, a file each.

Those that change the session or the warehouse (let, define, load, forget) have no plan; the session carries them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grammar import nodes as n
from grammar.value import value
from warehouse.query.engine import Engine
from warehouse.query.path import Statement, execute
from warehouse.query.resolving.names import Scope
from warehouse.query.sealing import sealed
from warehouse.results import Result
from warehouse.statements.explain import EXPLAIN
from warehouse.statements.export import EXPORT
from warehouse.statements.plot import PLOT
from warehouse.statements.questions import QUESTIONS
from warehouse.statements.show import SHOW
from warehouse.statements.sql_query import SQL

STATEMENTS: Mapping[type[n.Node], Statement] = {
    **QUESTIONS,
    **{statement.node: statement for statement in (PLOT, EXPLAIN, EXPORT, SHOW, SQL)},
}
"""By the class of their node, in display order."""


@value
class Planned:
    """A statement with its plan."""

    statement: Statement
    plan: Any


def resolve(node: n.Statement, scope: Scope) -> Planned:
    """The plan of a statement. Raises QueryError for anything that is not there or does not fit, and KeyError for a
    statement that has no plan.
    """
    statement = STATEMENTS[type(node)]
    return Planned(statement, statement.resolve(node, scope))


def answer(planned: Planned, engine: Engine) -> Result:
    """The answer to a statement; its signature ends with a seal of its numbers. Raises QueryError for what only the
    data could show.
    """
    return sealed(execute(planned.statement, planned.plan, engine))
