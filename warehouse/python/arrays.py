"""Two arrays compared as they are, without a warehouse of their own.

To make a warehouse and to load takes ten times as long as to compare. What a statement looks up is the same for any two
arrays, so two small ones are loaded, once in a process, and statements are resolved there; then the documents and the
values that were given take the place of the small ones. The answer is that of a warehouse with the arrays, to the last
digit. What may depend on more than the values is not answered here.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.parser import parse
from evalhouse.warehouse.comparing.arrivals import facts_of_one_import
from evalhouse.warehouse.comparing.observations import facts_of_values
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import answer_from
from evalhouse.warehouse.python.frames import TWO, digest_of
from evalhouse.warehouse.python.warehouse import Warehouse, at_work, create_warehouse
from evalhouse.warehouse.results import Result, seal_result
from evalhouse.warehouse.statements import resolve

VALUE = "value"
"""What the numbers of two arrays are called."""

HOW: Mapping[str, Any] = {"as_": "table", "wide": "systems", "measure": VALUE}
"""How a table with a column for each system is loaded, as the options of `Warehouse.load`."""

_PLAIN_NAME = re.compile(r"[A-Za-z][\w./:-]{0,99}", re.ASCII)
"""A name of a document that a load leaves as it is."""

_LARGEST = 1e15
_SMALLEST = 1e-15


def compare_arrays(table: Mapping[str, Sequence[Any]], text: str) -> Result | None:
    """The answer to a comparison of two arrays, which are columns of a table. None where a warehouse has to answer: for
    other statements, for what is not plain, and for every error.
    """
    documents = _names(table[PLAIN_NOUN])
    if documents is None or not all(map(_are_plain, (table[name] for name in TWO))):
        return None
    warehouse = _small(os.getpid())
    try:
        return at_work(warehouse, lambda: _answer(warehouse, table, documents, text))
    except QueryError:
        return None


@cache
def _small(process: int) -> Warehouse:
    """A warehouse with two small arrays. A forked process makes its own, since DuckDB does not survive a fork."""
    warehouse = create_warehouse(None)
    warehouse.load({PLAIN_NOUN: [1, 2], **{name: [0, 1] for name in TWO}}, **HOW)
    return warehouse


def _names(documents: Sequence[Any]) -> list[str] | None:
    """The names of the documents if a load would leave them as they are."""
    if all(type(document) is int and document > 0 for document in documents):
        return [str(document) for document in documents]
    plain = all(isinstance(document, str) and _PLAIN_NAME.fullmatch(document) for document in documents)
    return [*documents] if plain else None


def _are_plain(cells: Sequence[Any]) -> bool:
    """Whether a load reads all of these numbers as they are."""
    kinds = {type(cell) for cell in cells}
    if kinds == {bool}:
        return True
    size = np.abs(np.array(cells)) if kinds <= {int, float} and kinds else np.array([np.nan])
    return bool(np.all((size == 0) | ((size >= _SMALLEST) & (size <= _LARGEST))))


def _answer(
    warehouse: Warehouse, table: Mapping[str, Sequence[Any]], documents: Sequence[str], text: str
) -> Result | None:
    statement, *others = parse(text)
    if others or not isinstance(statement, n.Compare) or statement.as_of is not None:
        return None
    session = warehouse.session
    planned = resolve(statement, Scope(session.catalog, {}))
    if planned.plan.how.where is not None or planned.plan.over is not None or len(planned.plan.entries) != 1:
        return None
    (entry,) = planned.plan.entries
    fingerprint = session.catalog.fingerprint(entry.kind.name, entry.test_set.id, digest_of(table))
    entry = replace(entry, units=replace(entry.units, documents=len(documents)), fingerprint=fingerprint)
    order = sorted(range(len(documents)), key=documents.__getitem__)
    values = [[float(table[system.name][place]) for place in order] for system in entry.stored_systems]
    facts = {**facts_of_values(entry, [documents[place] for place in order], values), **facts_of_one_import(entry)}
    plan = replace(planned.plan, entries=(entry,))
    names = {query.name for query in planned.statement.compile(plan) if query.needed is None}
    if names != facts.keys():
        return None
    return seal_result(answer_from(planned.statement, plan, facts, session.engine.workforce))
