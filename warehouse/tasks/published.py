"""Published: figures that are known only as printed, without documents."""

from __future__ import annotations

from warehouse.measures import Measure, measure_named
from warehouse.measures.direction import lower_by_name
from warehouse.measures.values import printed
from warehouse.tasks.task import Task


def _measure(name: str, stored: tuple[str, str], declared: bool | None) -> Measure:
    """The measure of a printed figure. If the language has this measure, the figure has the same direction."""
    task, figure = stored
    known = measure_named(figure.partition("(")[0], task)
    lower = lower_by_name(figure) if known is None else known.lower_is_better
    return printed(name, task, figure, lower if declared is None else declared)


PUBLISHED = Task(
    name="published",
    meaning="figures as printed in papers and reports",
    rows="published figures",
    facts="published",
    source="published",
    decided_by=("published",),
    dimensions=("system",),
    by_document=False,
    figure="published figure",
    figures_are="as printed",
    offered="as printed",
    figures=(("f", "F(beta=1)"), ("p", "precision"), ("r", "recall")),
    imported=_measure,
)
