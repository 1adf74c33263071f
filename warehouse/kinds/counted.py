"""The kinds of rows with counts: extraction, filtering, and counts with any names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalhouse.warehouse.kinds.kind import Kind
from evalhouse.warehouse.measures import extraction, filtering, translation, values

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# === extraction =======================================================================================================
# Score tuples: how much of a document's key a system got right (Chinchor 1992).


def complete_tuples(
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
    everything = dict.fromkeys(("possible", "actual", "correct", "same_place", "same_type"), possible)
    nothing = {"possible": possible, "missing": possible}
    spurious = dict.fromkeys(("actual", "spurious", "unpaired"), actual)
    return [
        {column: np.where(present, grid, tuples.get(column, 0)) for column, grid in counts.items()}
        for tuples in (everything, {**nothing, **spurious}, nothing)
    ]


OF_LABELS = ("sklearn", "pairs")
"""The readers whose score tuples are of the classes of documents: one or several in the key, and in the answers."""

EXTRACTION = Kind(
    name="extraction",
    meaning="score tuples: possible, actual, correct, partial",
    rows="score tuples",
    facts="score",
    source="score",
    shown_first=("F", "recall", "precision"),
    shown_of_labels=(("one", ("accuracy", "macro(F1)")), ("any", ("F1", "macro(F1)"))),
    decided_by=("score",),
    dimensions=("document", "unit", "label", "system"),
    counts=extraction.COLUMNS,
    apart="unit_id",
    in_units=True,
    unanswered=(("possible", "possible"), ("missing", "possible")),
    completions=complete_tuples,
    completed_from=("possible", "actual"),
)


# === filtering ========================================================================================================
# Decisions on whether documents are relevant, with the labels of a key (Lewis and Tong 1992).

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


def complete_decisions(
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


FILTERING = Kind(
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
    completions=complete_decisions,
)


# === named counts =====================================================================================================
# Named whole numbers for a system and a document, or for a unit of a document. Measures are functions of their sums.

UNANSWERED = (*values.UNANSWERED, *translation.UNANSWERED)
"""Of the counts that readers store, those that do not depend on the answer. What other counts are of is not known."""

COUNTS = Kind(
    name="counts",
    meaning="named whole numbers, such as attempts and passed",
    rows="counts",
    facts="counted",
    source="counted",
    decided_by=("counted",),
    dimensions=("document", "unit", "label", "system"),
    named_counts=True,
    apart="unit_id",
    in_units=True,
    unanswered=UNANSWERED,
    shown_first=("BLEU",),
)
