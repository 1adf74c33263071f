"""Rankings: the ordered items that runs return for topics, with judgments of their relevance.

What the language calls a document is a topic here. A measure is the mean of its values over topics. The values are
computed from the stored rows whenever a query needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from warehouse.tasks.task import Task

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def completions(
    counts: Mapping[str, NDArray[Any]], present: NDArray[np.bool_], whole: int
) -> list[Mapping[str, NDArray[Any]]]:
    """The extreme completions: the worst and the best list that a system could have for a topic. Every measure lies
    between 0 and 1.
    """
    import numpy as np

    return [{"value": np.where(present, counts["value"], extreme)} for extreme in (0.0, 1.0)]


RANKINGS = Task(
    name="rankings",
    meaning="runs that rank items for topics, scored against judgments",
    rows="rankings",
    facts="ranking",
    source="ranking",
    shown_first=("AP", "nDCG@10", "P@10", "RR"),
    decided_by=("ranking", "judgment"),
    dimensions=("document", "system"),
    unit="number",
    of_lists=True,
    completions=completions,
)
