"""Turns drafts into statements: it assigns the written clauses to the fields of their node.

It refuses a clause that is written twice, `to "file"` without `plot` or `export`, `at least` without `expect`, and a
statement without a clause that it requires.
"""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.clauses import ABOUT_QUESTIONS, CLAUSES, QUESTIONS, field_names
from grammar.errors import QueryError
from grammar.parsing.building import Draft, Preceded, WrittenClause
from grammar.span import Span


class UnfinishedError(QueryError):
    """The statement ends too early, so more text could correct it."""


def finished(piece: Any, text: str) -> nodes.AnyStatement:
    """The statement for a draft; a finished statement is returned unchanged. Raises QueryError."""
    if isinstance(piece, Preceded):
        return _preceded(piece, text)
    if isinstance(piece, Draft):
        return _question(piece, _by_field(piece, text))
    statement: nodes.AnyStatement = piece
    return statement


def _preceded(piece: Preceded, text: str) -> nodes.AnyStatement:
    """The statement before a question takes the clauses for which the question has no field."""
    clauses = _by_field(piece.question, text)
    of_question = field_names(QUESTIONS[piece.question.word])
    question = _question(piece.question, {field: clauses[field] for field in clauses if field in of_question})
    others = {field: clauses[field] for field in clauses if field not in of_question}
    kind = ABOUT_QUESTIONS[piece.word]
    _check(kind, others, piece.span)
    return kind(question, **_values(others), span=piece.span)


def _question(draft: Draft, clauses: dict[str, WrittenClause]) -> nodes.Question:
    kind = QUESTIONS[draft.word]
    _check(kind, clauses, draft.span)
    values = _values(clauses)
    if draft.measures is not None:
        values["measures"] = draft.measures
    return kind(**values, span=draft.span)


def _by_field(draft: Draft, text: str) -> dict[str, WrittenClause]:
    """The clauses by the fields they fill. Raises QueryError if one is written twice."""
    written: dict[str, WrittenClause] = {}
    for clause in draft.clauses:
        for field in clause.values:
            first = written.setdefault(field, clause)
            if first is not clause:
                keyword = text[clause.keyword.start : clause.keyword.end]
                earlier = " ".join(text[first.span.start : first.span.end].split())
                raise QueryError(f"clause '{keyword}' is given twice, first as '{earlier}'", clause.keyword)
    return written


def _check(kind: type[nodes.StatementNode], clauses: dict[str, WrittenClause], span: Span) -> None:
    """Raises QueryError for a clause that has no field in the statement, and for a missing clause that the statement
    requires.
    """
    word = kind.words.split()[0]
    for field, clause in clauses.items():
        if field not in field_names(kind):
            known = next(known for known in CLAUSES if known.field == field)
            hint = f"it belongs to {' and '.join(known.statements)}"
            raise QueryError(f"clause '{known.words}' does not apply to {word}", clause.keyword, (hint,))
    for field, needed in kind.needs.items():
        if field not in clauses and needed.instead not in clauses:
            raise UnfinishedError(f"{word} needs {needed.what}", Span(span.end, span.end), needed.examples)


def _values(clauses: dict[str, WrittenClause]) -> dict[str, Any]:
    values = {field: clause.values[field] for field, clause in clauses.items()}
    if spoken := sorted({clause.synonym for clause in clauses.values() if clause.synonym}):
        values["spoken"] = tuple(spoken)
    return values
