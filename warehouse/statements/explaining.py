"""The lines of an explanation that the explanations of several statements share."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.query import plan as p
from warehouse.query.path import Line, Queries


def entry_line(entry: p.Entry) -> Line:
    """What is asked of an entry."""
    statistics = ", ".join(statistic.label for statistic in entry.statistics)
    names = ", ".join(system.name for system in entry.systems)
    return "plan", f"{statistics} of {entry.task.name} on {entry.test_set.name} for {names}"


def query_lines(queries: Queries) -> Iterator[Line]:
    """The SQL of some queries with its parameters."""
    for query in queries:
        yield "sql", query.sql.text
        yield "parameters", ", ".join(repr(parameter) for parameter in query.sql.params)
