"""The measures: MEASURES is the one table of them, in display order. Numbers only: nothing here knows SQL or a
query.
"""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.measures import extraction, filtering
from warehouse.measures.extraction import EXTRACTION
from warehouse.measures.filtering import FILTERING
from warehouse.measures.formula import Ratio
from warehouse.measures.measure import Measure, Parameter, Setting, Statistic, Task, settle

__all__ = [
    "COUNTS",
    "MEASURES",
    "TASKS",
    "Measure",
    "Parameter",
    "Ratio",
    "Setting",
    "Statistic",
    "Task",
    "measure_named",
    "settle",
]

MEASURES: tuple[Measure, ...] = EXTRACTION + FILTERING

TASKS: tuple[Task, ...] = ("extraction", "filtering", "values", "published")
"""The kinds of stored rows, the ones that say more first."""

COUNTS: Mapping[Task, tuple[str, ...]] = {"extraction": extraction.COLUMNS, "filtering": filtering.COLUMNS}
"""What the rows of a task count."""


def measure_named(name: str, task: Task) -> Measure | None:
    """The measure of a task, by its exact name or else by its name in any case."""
    of_task = [measure for measure in MEASURES if measure.task == task]
    exact = [measure for measure in of_task if measure.name == name]
    folded = [measure for measure in of_task if measure.name.casefold() == name.casefold()]
    return next(iter(exact or folded), None)
