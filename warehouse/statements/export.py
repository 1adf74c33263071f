"""`export`: the answer to a question, which the session writes to a file."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from evalhouse.grammar import nodes as n
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.plans.names import Scope, text_of
from evalhouse.warehouse.plans.path import Facts, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.statements.questions import question


class ExportPlan(Struct, frozen=True):
    text: str
    statement: Statement
    question: Any
    """The plan of the question."""
    to: str


def resolve(node: n.Export, scope: Scope) -> ExportPlan:
    statement = question(type(node.question))
    resolved = statement.resolve(node.question, scope)
    return ExportPlan(to_text(node), statement, resolved, text_of(node.to, node.to, "the name of a file"))


def compile(plan: ExportPlan) -> Queries:
    return plan.statement.compile(plan.question)


def answer(plan: ExportPlan, facts: Facts, workforce: Workforce) -> Result:
    return plan.statement.answer(plan.question, facts, workforce)


EXPORT = Statement(
    node=n.Export,
    usage=Usage(
        "export QUESTION", "write the rows to a file", 'export score recall, precision for all on TST3 to "scores.csv"'
    ),
    resolve=resolve,
    compile=compile,
    answer=answer,
)
