"""The kinds of rows with values: numbers per document, replicates, rankings, and published figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evalhouse.warehouse.kinds.kind import DeclaredMeasure, Kind
from evalhouse.warehouse.measures import Measure, find_measure, numbers
from evalhouse.warehouse.measures.measure import lower_by_name
from evalhouse.warehouse.measures.values import ATTEMPT_COUNTS, UNANSWERED, imported_measure, printed_measure

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# === values per document ==============================================================================================
# Numbers that another tool computed. A measure is the mean of the values of its name.


def complete_values(
    counts: Mapping[str, NDArray[Any]], present: NDArray[np.bool_], whole: int
) -> list[Mapping[str, NDArray[Any]]]:
    """The extreme completions: the lowest and the highest value that any system has on the test set."""
    import numpy as np

    values = counts["value"]
    extremes = values[present].min(), values[present].max()
    return [{"value": np.where(present, values, extreme)} for extreme in extremes]


def _imported_measure(name: str, stored: tuple[str, str], declared: DeclaredMeasure) -> Measure:
    lower = lower_by_name(name) if declared.lower_is_better is None else declared.lower_is_better
    return imported_measure(name, lower, declared_share=declared.is_share)


VALUES = Kind(
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
    imported=_imported_measure,
    completions=complete_values,
)


# === predicted numbers ================================================================================================
# A number that each system predicts for a document, beside the true one: correlations and errors.

NUMBERS = Kind(
    name="numbers",
    meaning="predicted numbers, beside the true ones",
    rows="predicted numbers",
    facts="prediction",
    source="prediction",
    shown_first=("pearson", "spearman", "rmse"),
    decided_by=("prediction",),
    dimensions=("document", "label", "system"),
    counts=numbers.COLUMNS,
    unit="number",
    of_numbers=True,
)


# === correctness over replicates ======================================================================================
# Values that say whether an answer is right, counted over replicates: the number of attempts and the number that
# passed. These counts are not stored rows, so they are not in the table of kinds.

REPLICATED = Kind(
    name=VALUES.name,
    meaning="replicates of right-or-wrong samples, counted as attempts",
    rows=VALUES.rows,
    facts=VALUES.facts,
    source=VALUES.source,
    decided_by=VALUES.decided_by,
    dimensions=VALUES.dimensions,
    counts=ATTEMPT_COUNTS,
    unanswered=UNANSWERED,
)


# === rankings =========================================================================================================
# The ordered items that runs return for topics, with judgments of their relevance. What the language calls a document
# is a topic here. A measure is the mean of its values over topics, and the values are computed from the stored rows
# whenever a query needs them.


def complete_rankings(
    counts: Mapping[str, NDArray[Any]], present: NDArray[np.bool_], whole: int
) -> list[Mapping[str, NDArray[Any]]]:
    """The extreme completions: the worst and the best list that a system could have for a topic. Every measure lies
    between 0 and 1.
    """
    import numpy as np

    return [{"value": np.where(present, counts["value"], extreme)} for extreme in (0.0, 1.0)]


RANKINGS = Kind(
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
    completions=complete_rankings,
)


# === published figures ================================================================================================
# Figures that are known only as printed, without documents.


def _printed_measure(name: str, stored: tuple[str, str], declared: DeclaredMeasure) -> Measure:
    """The measure of a printed figure. If the language has this measure, the figure has the same direction."""
    task, figure = stored
    known = find_measure(figure.partition("(")[0], task)
    lower = lower_by_name(figure) if known is None else known.lower_is_better
    return printed_measure(name, task, figure, lower if declared.lower_is_better is None else declared.lower_is_better)


PUBLISHED = Kind(
    name="published",
    meaning="figures as printed in papers and reports",
    rows="published figures",
    facts="published",
    source="published",
    decided_by=("published",),
    dimensions=("system",),
    by_document=False,
    shown_first=("F(beta=1)", "accuracy"),
    figure="published figure",
    figures_are="as printed",
    offered="as printed",
    figures=(("f", "F(beta=1)"), ("p", "precision"), ("r", "recall")),
    imported=_printed_measure,
)
