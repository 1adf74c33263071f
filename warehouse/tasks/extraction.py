"""Extraction: score tuples, how much of a document's key a system got right (Chinchor 1992)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warehouse.measures import extraction
from warehouse.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def completions(
    counts: Mapping[str, NDArray[Any]], present: NDArray[np.bool_], whole: int
) -> list[Mapping[str, NDArray[Any]]]:
    """The extreme completions of missing documents: everything right; nothing right and as many answers as any system
    gave; no answers. The key of a document is taken from the systems that have it. `counts` and `present` have the
    shape (systems, observations).
    """
    import numpy as np

    def largest(column: str) -> NDArray[Any]:
        return np.broadcast_to(np.where(present, counts.get(column, 0), 0).max(axis=0), present.shape)

    possible, actual = largest("possible"), largest("actual")
    everything = {"possible": possible, "actual": possible, "correct": possible}
    nothing = {"possible": possible, "missing": possible}
    return [
        {column: np.where(present, grid, tuples.get(column, 0)) for column, grid in counts.items()}
        for tuples in (everything, {**nothing, "actual": actual, "spurious": actual}, nothing)
    ]


EXTRACTION = Task(
    name="extraction",
    meaning="score tuples: possible, actual, correct, partial",
    rows="score tuples",
    facts="score",
    source="score",
    shown_first=("F", "recall", "precision"),
    decided_by=("score",),
    dimensions=("document", "unit", "label", "system"),
    counts=extraction.COLUMNS,
    apart="unit_id",
    in_units=True,
    completions=completions,
    completed_from=("possible", "actual"),
)
