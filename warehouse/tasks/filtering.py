"""Filtering: decisions on whether documents are relevant, with the labels of a key (Lewis and Tong 1992)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warehouse.measures import filtering
from warehouse.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_FALLS: Mapping[bool, Mapping[str, str]] = {
    True: {"a": "a", "c": "a", "b": "b", "d": "b", "x": "x", "y": "x"},
    False: {"a": "c", "c": "c", "b": "d", "d": "d", "x": "y", "y": "y"},
}
"""For each cell, the cell of the same document if it is decided yes, and if it is decided no."""


def decide(
    counts: Mapping[str, NDArray[Any]], system: int, places: NDArray[np.intp], relevant: bool, whole: int
) -> None:
    """Put some observations of a system into the cells of one decision. `places` are their indices, and `whole` is the
    number that counts as one document. The label follows from the cells of the other systems. `counts` has arrays of
    shape (systems, observations) and is changed in place.
    """
    import numpy as np

    cells = np.stack([counts[cell].any(axis=0) for cell in filtering.COLUMNS])
    for cell, target in _FALLS[relevant].items():
        hit = places[cells[filtering.COLUMNS.index(cell), places]]
        counts[target][system, hit] = whole


def completions(
    counts: Mapping[str, NDArray[Any]], present: NDArray[np.bool_], whole: int
) -> list[Mapping[str, NDArray[Any]]]:
    """The extreme completions: every document that a system lacks is decided yes, or every one is decided no."""
    import numpy as np

    decided = []
    for relevant in (True, False):
        grids = {cell: np.where(present, grid, 0) for cell, grid in counts.items()}
        for system, own in enumerate(present):
            decide(grids, system, np.flatnonzero(~own), relevant, whole)
        decided.append(grids)
    return list(decided)


FILTERING = Task(
    name="filtering",
    meaning="relevance decisions, scored against key labels",
    rows="relevance decisions",
    facts="decision",
    source="cells",
    shown_first=("F", "recall", "precision"),
    decided_by=("decision", "key_label"),
    dimensions=("document", "label", "confidence", "system"),
    counts=filtering.COLUMNS,
    apart="label",
    decide=decide,
    completions=completions,
)
