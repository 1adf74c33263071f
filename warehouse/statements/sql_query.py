"""Runs an SqlPlan: one SELECT of the user's own, on the documented views."""

from __future__ import annotations

from decimal import Decimal
from math import isfinite
from typing import Any

from grammar.errors import QueryError
from warehouse.faults import DataError
from warehouse.query import plan as p
from warehouse.query.engine import DuckDBEngine
from warehouse.results import Cell, Column, Kind, Result, Table


def ask(plan: p.SqlPlan, engine: DuckDBEngine) -> Result:
    """The rows of the user's query. Raises QueryError with the database's own words where it cannot be run."""
    try:
        names, rows = engine.untrusted(plan.query)
    except DataError as error:
        raise QueryError(error.faults[0].message) from None
    table = tuple(tuple(_cell(value) for value in row) for row in rows)
    columns = tuple(Column(name, _kind([row[place] for row in table])) for place, name in enumerate(_unlike(names)))
    return Result(plan.text, "", plan.text, Table(columns, table))


def _unlike(names: tuple[str, ...]) -> list[str]:
    """The names, later ones numbered where they repeat, so that each column can be told."""
    told: list[str] = []
    for name in names:
        number, fresh = 1, name
        while fresh in told:
            number += 1
            fresh = f"{name}_{number}"
        told.append(fresh)
    return told


def _cell(value: Any) -> Cell:
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and not isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def _kind(cells: list[Cell]) -> Kind:
    found = {type(cell) for cell in cells if cell is not None}
    if found <= {int}:
        return "whole"
    return "number" if found <= {int, float} else "text"
