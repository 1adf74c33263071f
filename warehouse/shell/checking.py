"""Finds mistakes while a text is typed: in its grammar, or in the names of a statement that is complete so far.

Nothing is run, and the word being typed is never marked.
"""

from __future__ import annotations

from grammar import nodes as n
from grammar.editing.mistakes import as_sql
from grammar.errors import QueryError, UnfinishedError
from grammar.parser import parse
from grammar.span import NOWHERE
from warehouse.faults import WarehouseError
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.substitution import substituted
from warehouse.session import Session
from warehouse.statements import resolve


def mistake(text: str, session: Session) -> QueryError | None:
    """The first mistake before the last word of a text."""
    if as_sql(text):
        return None
    try:
        statements = parse(text)
        if not any(isinstance(statement, n.Let | n.Define) for statement in statements):
            for statement in statements:
                _look_up(statement, session)
    except (UnfinishedError, WarehouseError):
        return None
    except QueryError as error:
        typing = error.span.end >= len(text)
        return None if typing or error.span == NOWHERE else error
    return None


def _look_up(statement: n.AnyStatement, session: Session) -> None:
    """Raises QueryError for a name that does not exist."""
    if isinstance(statement, n.Question):
        resolve(substituted(statement, session.variables), Scope(session.catalog))
    elif isinstance(statement, n.Plot | n.Explain | n.Export):
        _look_up(statement.question, session)
