"""The measures: MEASURES is the one table of them, in display order. Numbers only: nothing here knows SQL or a
query.
"""

from __future__ import annotations

from warehouse.measures.extraction import EXTRACTION
from warehouse.measures.filtering import FILTERING
from warehouse.measures.formula import Ratio
from warehouse.measures.function import Function, Ranking
from warehouse.measures.measure import Measure, Parameter, PrintedFigure, Setting, Statistic, TaskName, settle

__all__ = [
    "MEASURES",
    "Function",
    "Measure",
    "Parameter",
    "PrintedFigure",
    "Ranking",
    "Ratio",
    "Setting",
    "Statistic",
    "TaskName",
    "measure_named",
    "settle",
]

MEASURES: tuple[Measure, ...] = EXTRACTION + FILTERING


def measure_named(name: str, task: str) -> Measure | None:
    """The measure of a task, by its exact name or else by its name in any case."""
    of_task = [measure for measure in MEASURES if measure.task == task]
    exact = [measure for measure in of_task if measure.name == name]
    folded = [measure for measure in of_task if measure.name.casefold() == name.casefold()]
    return next(iter(exact or folded), None)
