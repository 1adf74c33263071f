"""Imported measures: values per document, whose mean is the measure, and figures that are known only as printed."""

from __future__ import annotations

from warehouse.measures.formula import LinearForm, Ratio, ratio
from warehouse.measures.measure import Measure, PrintedFigure

COLUMNS = ("value", "documents")
"""The sum of the values and the number of documents."""


def mean_of_values() -> Ratio:
    """The sum of the values divided by their number."""
    return ratio(LinearForm.of("value"), LinearForm.of("documents"))


def imported(name: str, lower_is_better: bool = False) -> Measure:
    """The measure of the imported values of this name: their mean over documents."""
    meaning = "mean of the imported values over documents"
    return Measure(name, "values", meaning, "imported", mean_of_values, steady=True, lower_is_better=lower_is_better)


def printed(called: str, task: str, name: str, lower_is_better: bool = False) -> Measure:
    """A figure that was printed for a task under a name; there are no documents for it."""
    figure = PrintedFigure(task, name)
    meaning = f"as printed of {task}"
    return Measure(called, "published", meaning, "published", lambda: figure, lower_is_better=lower_is_better)
