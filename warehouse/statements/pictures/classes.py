"""The picture of `confusion`: a matrix of shaded squares for each system."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.charts import Panel
from evalhouse.warehouse.charts.planes import confusion
from evalhouse.warehouse.plans.labels import on
from evalhouse.warehouse.plans.path import Facts, Workforce
from evalhouse.warehouse.results import Cell, Result
from evalhouse.warehouse.statements.pictures.picture import Drawn, number

if TYPE_CHECKING:
    from evalhouse.warehouse.statements.confusion import ConfusionPlan

MOST_DRAWN = 40
"""A matrix of more classes has squares too small for a page."""

ABSENT = "no answer"


def draw_confusion(plan: ConfusionPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    """One panel per system and test set. Lines are classes of the key, columns answers, and each square has its number
    of documents.
    """
    of_panels: dict[tuple[Cell, Cell], list[Mapping[str, Cell]]] = {}
    for row in result.rows:
        of_panels.setdefault((row["system"], row["test_set"]), []).append(row)
    panels = []
    for (system, test_set), rows in of_panels.items():
        title = f"{system} on {test_set}" if len(plan.entries) > 1 else str(system)
        panels.append(_panel(title, str(test_set), rows))
    return Drawn(
        plan.entries,
        tuple(panels),
        f"Confusion matrices, with classes of the key in rows and answers in columns. {result.sentence}".rstrip(),
        ("rows: gold; columns: answers; numbers: documents",),
        title=f"confusion on {on(plan.entries)}",
    )


def _panel(title: str, test_set: str, rows: list[Mapping[str, Cell]]) -> Panel:
    gold, answers = (list(dict.fromkeys(_name(row[side]) for row in rows)) for side in ("gold", "answer"))
    if max(len(gold), len(answers)) > MOST_DRAWN:
        many = f"{test_set} has {len(gold):,} classes, and a picture can have {MOST_DRAWN}"
        raise QueryError(many, hints=("leave out plot for the commonest confusions",))
    counted = {
        (_name(row["gold"]), _name(row["answer"])): (number(row["documents"]) or 0.0, number(row["share_of_gold"]))
        for row in rows
    }
    return confusion(title, gold, answers, counted)


def _name(cell: Cell) -> str:
    return ABSENT if cell is None else str(cell)
