"""Values: numbers that came with their documents from elsewhere; a measure is the mean of those of its name."""

from __future__ import annotations

from warehouse.measures import Measure
from warehouse.measures.direction import lower_by_name
from warehouse.measures.values import imported
from warehouse.tasks.task import Task


def _measure(name: str, stored: tuple[str, str], declared: bool | None) -> Measure:
    return imported(name, lower_by_name(name) if declared is None else declared)


VALUES = Task(
    name="values",
    meaning="imported values, document by document",
    rows="values",
    facts="value",
    source="value",
    decided_by=("value",),
    dimensions=("document", "label", "system"),
    apart="measure",
    unit="number",
    figure="value",
    figures_are="mean of the imported values",
    offered="imported values",
    imported=_measure,
)
