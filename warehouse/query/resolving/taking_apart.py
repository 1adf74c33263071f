"""What questions that split up differences share: which pairs are meant, and which of their rows."""

from __future__ import annotations

from msgspec.structs import replace

from grammar import nodes as n
from grammar.errors import QueryError
from warehouse.query import plan as p
from warehouse.query.resolving.conditions import filter_of
from warehouse.query.resolving.entries import Wanted, entries_on, named
from warehouse.query.resolving.names import Scope
from warehouse.query.resolving.testing import check_replicates, check_twice, check_two


def pairs_of(statement: n.Documents | n.Differ, scope: Scope) -> tuple[tuple[p.Entry, ...], p.Testing]:
    """The entries of a question about the documents behind differences, and which rows count."""
    if statement.missing == "bounds":
        raise QueryError(
            "missing bounds works only with compare", statement.span, ("write missing drop, or missing zero",)
        )
    check_twice(statement.systems)
    entries = entries_on(statement.test_sets, Wanted.of(statement), scope)
    if not named(statement.test_sets):
        # Asked of all test sets, the question is meant for those that can answer it.
        entries = tuple(entry for entry in entries if entry.task.by_document) or entries
    word = statement.words
    for entry in entries:
        if not entry.task.by_document:
            raise QueryError(
                f"{entry.task.rows} have no documents, so their differences cannot be traced to documents",
                statement.task.span if statement.task else statement.span,
            )
        check_two(word, entry.systems, entry, statement)
        for baseline in entry.baselines:
            if baseline.share != 1:
                place = statement.systems.span if statement.systems else statement.span
                raise QueryError(f"{baseline.name} has only expected values, no decisions", place)
    where = filter_of(scope, statement.where, entries[0].task)
    check_replicates(entries, statement.replicates or statement, (), where)
    return entries, replace(p.Testing.plain(where), missing=statement.missing or "error")
