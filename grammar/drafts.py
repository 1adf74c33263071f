"""From drafts to statements: sorts the written clauses into the fields of their node.

Found here: a clause that stands twice, `to "file"` without `plot` or `export`, and the lack of one that must be there.
"""

from __future__ import annotations

from typing import Any

from grammar import nodes
from grammar.building import Draft, Preceded, WrittenClause
from grammar.clauses import QUESTIONS
from grammar.errors import QueryError
from grammar.span import Span


class UnfinishedError(QueryError):
    """A statement that ends too early, so that more text could make it right."""


def finished(piece: Any, text: str) -> nodes.Statement:
    """The statement that a draft or a finished statement stands for. Raises QueryError."""
    if isinstance(piece, Preceded):
        return _preceded(piece, text)
    if isinstance(piece, Draft):
        fields = _fields(piece, text)
        if "to" in fields:
            raise QueryError(
                f"clause 'to' does not apply to {piece.word}",
                _clause(piece, "to").keyword,
                ("it belongs to plot and export",),
            )
        return _question(piece, fields)
    statement: nodes.Statement = piece
    return statement


def _preceded(piece: Preceded, text: str) -> nodes.Statement:
    fields = _fields(piece.question, text)
    to = fields.pop("to", None)
    question = _question(piece.question, fields)
    if piece.word == "plot":
        return nodes.Plot(question, to, span=piece.span)
    if piece.word == "export":
        if to is None:
            raise UnfinishedError("export needs a file", _after(piece.span), ('to "scores.csv"',))
        return nodes.Export(question, to, span=piece.span)
    if to is not None:
        raise QueryError(
            "clause 'to' does not apply to explain",
            _clause(piece.question, "to").keyword,
            ("it belongs to plot and export",),
        )
    return nodes.Explain(question, span=piece.span)


def _fields(draft: Draft, text: str) -> dict[str, Any]:
    """The clauses by field. Raises QueryError where one stands twice."""
    written: dict[str, WrittenClause] = {}
    for clause in draft.clauses:
        first = written.setdefault(clause.field, clause)
        if first is not clause:
            keyword = text[clause.keyword.start : clause.keyword.end]
            earlier = " ".join(text[first.span.start : first.span.end].split())
            raise QueryError(f"clause '{keyword}' is given twice, first as '{earlier}'", clause.keyword)
    return {field: clause.value for field, clause in written.items()}


def _question(draft: Draft, fields: dict[str, Any]) -> nodes.Question:
    if draft.word in ("change", "replicate"):
        if "source" not in fields:
            raise UnfinishedError(f"{draft.word} needs two test sets", _after(draft.span), ("from TST3 to TST4",))
        fields["source"], fields["target"] = fields["source"]
    if draft.word == "project":
        if "source" not in fields:
            raise UnfinishedError("project needs a test set", _after(draft.span), ("from TST3",))
        if "generalities" not in fields:
            raise UnfinishedError("project needs a generality", _after(draft.span), ("to generality 0.01, 0.05",))
    if draft.measures is not None:
        fields["measures"] = draft.measures
    return QUESTIONS[draft.word](**fields, span=draft.span)


def _clause(draft: Draft, field: str) -> WrittenClause:
    return next(clause for clause in draft.clauses if clause.field == field)


def _after(span: Span) -> Span:
    return Span(span.end, span.end)
