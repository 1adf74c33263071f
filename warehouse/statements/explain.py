"""`explain`: what would be done for a question, stage by stage, without testing anything."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.plans.names import Scope
from evalhouse.warehouse.plans.path import Facts, Line, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.results import Column, Result, Table
from evalhouse.warehouse.statements.questions import question


class ExplainPlan(Struct, frozen=True):
    text: str
    statement: Statement
    question: Any
    """The plan of the question."""


def resolve(node: n.Explain, scope: Scope) -> ExplainPlan:
    statement = question(type(node.question))
    return ExplainPlan(to_text(node), statement, statement.resolve(node.question, scope))


def compile(plan: ExplainPlan) -> Queries:
    return plan.statement.compile(plan.question) if plan.statement.weigh else ()


def answer(plan: ExplainPlan, facts: Facts, workforce: Workforce) -> Result:
    """Rows of a stage and what is done in it."""
    columns = (Column("stage", "name"), Column("what", "text"))
    caption = "how this statement would be answered"
    return Result(plan.text, caption, plan.text, Table(columns, tuple(_lines(plan, facts))))


def _lines(plan: ExplainPlan, facts: Facts) -> Iterator[Line]:
    statement, question = plan.statement, plan.question
    yield "statement", question.text
    for entry in question.entries:
        yield "plan", statement.subject(entry)
    for query in statement.compile(question):
        yield "sql", query.sql.text
        yield "parameters", ", ".join(repr(parameter) for parameter in query.sql.params)
    if statement.weigh:
        yield from statement.weigh(question, facts)
    if statement.executor:
        executor = statement.executor
        yield "executor", executor if isinstance(executor, str) else executor(question)


EXPLAIN = Statement(
    node=n.Explain,
    usage=Usage(
        "explain QUESTION",
        "show the SQL that would run, and which test would be chosen and why; nothing runs",
        "explain compare F for GE, UMASS on TST3",
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
)
