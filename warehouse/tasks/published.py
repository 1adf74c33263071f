"""Published: figures that are known only as they were printed, without documents."""

from __future__ import annotations

from warehouse.measures import Measure
from warehouse.measures.values import printed
from warehouse.tasks.task import Task


def _measure(name: str, stored: tuple[str, str]) -> Measure:
    return printed(name, *stored)


PUBLISHED = Task(
    name="published",
    meaning="figures known only as printed",
    rows="published figures",
    facts="published",
    source="published",
    decided_by=("published",),
    dimensions=("system",),
    by_document=False,
    figure="published figure",
    figures_are="as printed",
    offered="as printed",
    figures=(("f", "F(beta=1)"),),
    imported=_measure,
)
