"""`plot`: a question is answered as it would be without `plot`, and its answer becomes a chart.

What is drawn of the answer is said beside the other pictures; what it looks like is the business of rendering.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.grammar import nodes as n
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.printer import to_text
from evalhouse.warehouse.notes import fold
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import is_simulated, on, origins
from evalhouse.warehouse.plans.names import Scope, one_line, text_of
from evalhouse.warehouse.plans.path import Facts, Queries, Statement, Usage, Workforce
from evalhouse.warehouse.results import Result
from evalhouse.warehouse.statements.pictures import PICTURES
from evalhouse.warehouse.statements.questions import question

if TYPE_CHECKING:
    from evalhouse.warehouse.statements.pictures.picture import Drawn


class PlotPlan(Struct, frozen=True):
    text: str
    statement: Statement
    question: Any
    """The plan of the question."""
    to: str | None
    title: str = ""
    width: float | None = None
    """In points of 1/96 inch."""
    font: str = ""


UNITS = {"mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96.0, "pt": 96 / 72, "px": 1.0}
"""Units of a length, in points of 1/96 inch."""

LEAST_WIDE, MOST_WIDE = 75.0, 7600.0
"""A picture is from 20 mm to 2 m wide."""


def resolve(node: n.Plot, scope: Scope) -> PlotPlan:
    statement = question(type(node.question))
    to = None if node.to is None else text_of(node.to, node.to, "the name of a file")
    title = "" if node.title is None else one_line(node.title, "a title")
    font = "" if node.font is None else one_line(node.font, "the name of a font")
    width = None if node.width is None else _points(node.width)
    return PlotPlan(to_text(node), statement, statement.resolve(node.question, scope), to, title, width, font)


def _points(length: n.Name | n.Number) -> float:
    """A length in points. Raises QueryError if it is not a length, or not a possible width."""
    if isinstance(length, n.Number):
        raise QueryError("a length needs a unit", length.span, ("for example 80mm, 8cm, 3.3in or 240pt",))
    parts = re.fullmatch(r"(\d+(?:\.\d+)?) ?(mm|cm|in|pt|px)", length.text, re.ASCII)
    if parts is None:
        raise QueryError(
            f"{length.text} is not a length", length.span, ("write it like 80mm, 8cm, 3.3in, 240pt or 600px",)
        )
    points = float(parts[1]) * UNITS[parts[2]]
    if not LEAST_WIDE <= points <= MOST_WIDE:
        raise QueryError(f"a picture cannot be {length.text} wide", length.span, ("write a width from 20mm to 2000mm",))
    return points


def compile(plan: PlotPlan) -> Queries:
    """Raises QueryError for a question that has no picture."""
    if plan.statement.word not in PICTURES:
        with_pictures = list(PICTURES)
        listed = f"{', '.join(with_pictures[:-1])} and {with_pictures[-1]}"
        raise QueryError(f"{plan.statement.word} has no picture", hints=(f"only {listed} have pictures",))
    return (*plan.statement.compile(plan.question), *PICTURES[plan.statement.word].compile(plan.question))


def answer(plan: PlotPlan, facts: Facts, workforce: Workforce) -> Result:
    """The answer to the question, with its chart. Raises QueryError where there is nothing to draw, or too much."""
    from evalhouse.warehouse.charts import MOST_PANELS, Chart
    from evalhouse.warehouse.charts.axes import share_axes
    from evalhouse.warehouse.statements.pictures.picture import labels

    result = plan.statement.answer(plan.question, facts, workforce)
    drawn: Drawn = PICTURES[plan.statement.word].draw(plan.question, result, facts, workforce)
    if not drawn.panels:
        raise QueryError("there is no value to draw", hints=result.notes[:1])
    if len(drawn.panels) > MOST_PANELS:
        raise QueryError(
            f"that would be {len(drawn.panels)} panels in one picture; at most {MOST_PANELS} are allowed",
            hints=("ask for fewer measures or test sets",),
        )
    entries: Sequence[p.Entry] = drawn.entries
    chart = Chart(
        title=plan.title or drawn.title or f"{', '.join(labels(entries))} on {on(entries)}",
        subtitle=_subtitle(drawn, result),
        panels=share_axes(drawn.panels),
        legend=drawn.legend,
        notes=fold(drawn.notes),
        simulated=is_simulated(entries),
        alternative=drawn.alternative,
        width=plan.width,
        font=plan.font,
    )
    return replace(result, statement=plan.text, chart=chart, notes=(*result.notes, *drawn.notes))


def _subtitle(drawn: Drawn, result: Result) -> str:
    """Where the numbers come from, and what the caption says behind its heading."""
    return "; ".join(filter(None, (origins(drawn.entries, marked=True), result.how)))


PLOT = Statement(
    node=n.Plot,
    usage=Usage("plot QUESTION", "draw the answer of a question", 'plot score recall for all on TST3 to "recall.svg"'),
    resolve=resolve,
    compile=compile,
    answer=answer,
)
