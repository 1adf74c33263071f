"""The measures. MEASURES is the one table of them, in display order. Measures work on numbers only: nothing here may
know SQL or a query.
"""

from __future__ import annotations

from evalhouse.warehouse.measures.averages import OverUnits, UnitAverage
from evalhouse.warehouse.measures.extraction import EXTRACTION
from evalhouse.warehouse.measures.filtering import FILTERING
from evalhouse.warehouse.measures.forms import Function, OfNumbers, Probabilities, Ranking, Ratio
from evalhouse.warehouse.measures.harness import HARNESS
from evalhouse.warehouse.measures.measure import (
    CUTOFF,
    Measure,
    Parameter,
    PrintedFigure,
    Setting,
    Statistic,
    TaskName,
    settle,
)
from evalhouse.warehouse.measures.numbers import NUMBERS
from evalhouse.warehouse.measures.rankings import RANKINGS, ListSummary, ListValue, without_cutoff
from evalhouse.warehouse.measures.translation import TRANSLATION
from evalhouse.warehouse.measures.values import ATTEMPTS, TOKENS

__all__ = [
    "CUTOFF",
    "MEASURES",
    "Function",
    "ListSummary",
    "ListValue",
    "Measure",
    "OfNumbers",
    "OverUnits",
    "Parameter",
    "PrintedFigure",
    "Probabilities",
    "Ranking",
    "Ratio",
    "Setting",
    "Statistic",
    "TaskName",
    "UnitAverage",
    "find_measure",
    "settle",
    "without_cutoff",
]

MEASURES: tuple[Measure, ...] = EXTRACTION + FILTERING + RANKINGS + NUMBERS + TOKENS + TRANSLATION + HARNESS + ATTEMPTS


def find_measure(name: str, task: str) -> Measure | None:
    """The measure of a task by its exact name, else by its name in any letter case or by a synonym; None if there is no
    such measure. A cutoff after the name (P@10) or a parameter after it (F2) is not part of the name.
    """
    of_task = [measure for measure in MEASURES if measure.kind == task]
    exact = [measure for measure in of_task if measure.name == name]
    folded = [
        measure
        for measure in of_task
        if name.casefold() in map(str.casefold, (measure.name, *measure.also)) or measure.in_name(name)
    ]
    found = next(iter(exact or folded), None)
    bare, cutoff = without_cutoff(name)
    if found is None and cutoff is not None:
        found = find_measure(bare, task)
        return found if found is not None and any(one.name == CUTOFF for one in found.parameters) else None
    return found
