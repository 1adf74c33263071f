"""The names under which tools log whether an answer is right. Here the measure is always called `accuracy`.

The decision must rest on names and never on values: an F1 that happens to be 0 or 1 in ten samples is not an accuracy,
and all systems of a test set must have the measure under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable

ACCURACY = "accuracy"

SAME = (
    *("accuracy", "acc", "mean_acc", "exact_match", "em", "correct", "is_correct", "correctness", "match", "includes"),
    *("choice", "pattern", "answer", "exact", "resolved", "pass@1", "pass_at_1", "quasi_exact_match"),
)
"""The names that tools use, the most specific first."""


def says_right(metric: str) -> bool:
    """Whether a metric of this name states that an answer is right or wrong."""
    return metric.casefold() in SAME


def foremost(metrics: Iterable[str]) -> str | None:
    """The metric of a sample that states whether the answer is right, out of all its metrics; None if there is none."""
    deciding = sorted(
        (metric for metric in metrics if says_right(metric)), key=lambda metric: SAME.index(metric.casefold())
    )
    return deciding[0] if deciding else None
