"""Measures that were imported: values a document, whose mean is the measure, and figures known only as printed."""

from __future__ import annotations

from warehouse.measures.formula import LinearForm, Ratio, ratio
from warehouse.measures.measure import Measure, PrintedFigure

COLUMNS = ("value", "documents")
"""The sum of the values, and over how many documents."""


def mean_of_values() -> Ratio:
    """Their sum over how many there are."""
    return ratio(LinearForm.of("value"), LinearForm.of("documents"))


def imported(name: str, lower_is_better: bool = False) -> Measure:
    """The measure of imported values of a name: their mean over documents."""
    meaning = "mean of the imported values over documents"
    return Measure(name, "values", meaning, "imported", mean_of_values, steady=True, lower_is_better=lower_is_better)


def printed(called: str, task: str, name: str, lower_is_better: bool = False) -> Measure:
    """A figure as it was printed of a task under a name: no documents stand behind it."""
    figure = PrintedFigure(task, name)
    meaning = f"as printed of {task}"
    return Measure(called, "published", meaning, "published", lambda: figure, lower_is_better=lower_is_better)
