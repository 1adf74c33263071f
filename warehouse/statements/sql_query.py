"""`sql`: one SELECT of the user's own, on the documented views."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import Any

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Queries, Query, Statement, Usage, Workforce
from evalhouse.warehouse.results import Cell, CellKind, Column, Result, Table
from evalhouse.warehouse.store.sql import Sql


class SqlPlan(Struct, frozen=True):
    text: str
    query: str


def resolve(statement: n.SqlQuery, scope: Scope) -> SqlPlan:
    return SqlPlan(to_text(statement), statement.text.text)


def compile(plan: SqlPlan) -> Queries:
    return (Query("answer", Sql(plan.query), "typed"),)


def answer(plan: SqlPlan, facts: Facts, workforce: Workforce) -> Result:
    """The rows of the user's query."""
    names, rows = facts["answer"]
    table = tuple(tuple(_cell(typed) for typed in row) for row in rows)
    columns = tuple(Column(name, _kind([row[place] for row in table])) for place, name in enumerate(_unlike(names)))
    return Result(plan.text, "", plan.text, Table(columns, table))


def _unlike(names: tuple[str, ...]) -> list[str]:
    """The names, later ones numbered where they repeat, so that each column can be told."""
    unlike: list[str] = []
    for name in names:
        number, fresh = 1, name
        while fresh in unlike:
            number += 1
            fresh = f"{name}_{number}"
        unlike.append(fresh)
    return unlike


def _cell(typed: Any) -> Cell:
    if isinstance(typed, Decimal):
        typed = float(typed)
    if isinstance(typed, float) and not isfinite(typed):
        return None
    return typed if typed is None or isinstance(typed, str | int | float | bool) else str(typed)


def _kind(cells: list[Cell]) -> CellKind:
    types = {type(cell) for cell in cells if cell is not None}
    if types <= {int}:
        return "whole"
    return "number" if types <= {int, float} else "text"


SQL = Statement(
    node=n.SqlQuery,
    usage=Usage('sql "SELECT …"', "one SELECT on the warehouse", 'sql "select * from scores limit 5"'),
    resolve=resolve,
    compile=compile,
    answer=answer,
)
