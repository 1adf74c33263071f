"""Values: numbers per document that another tool computed. A measure is the mean of the values of its name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warehouse.measures import Measure
from warehouse.measures.direction import lower_by_name
from warehouse.measures.values import imported
from warehouse.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def completions(
    counts: Mapping[str, NDArray[Any]], present: NDArray[np.bool_], whole: int
) -> list[Mapping[str, NDArray[Any]]]:
    """The extreme completions: the lowest and the highest value that any system has on the test set."""
    import numpy as np

    values = counts["value"]
    extremes = values[present].min(), values[present].max()
    return [{"value": np.where(present, values, extreme)} for extreme in extremes]


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
    completions=completions,
)
