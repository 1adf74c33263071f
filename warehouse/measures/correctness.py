"""Whether an answer is right: what tools call that, which is `accuracy` here whatever its name in a log.

It goes by names and never by values. An F1 that happens to be 0 or 1 in ten samples is no accuracy, and all systems of
a test set have to have it under the same name.
"""

from __future__ import annotations

from collections.abc import Iterable

ACCURACY = "accuracy"

SAME = (
    *("accuracy", "acc", "mean_acc", "exact_match", "em", "correct", "is_correct", "correctness", "match", "includes"),
    *("choice", "pattern", "answer", "exact", "resolved", "pass@1", "pass_at_1", "quasi_exact_match"),
)
"""What tools call it, the names that say most first."""


def says_right(metric: str) -> bool:
    """Whether a metric of this name says of an answer whether it is right."""
    return metric.casefold() in SAME


def foremost(metrics: Iterable[str]) -> str | None:
    """Of some metrics of one sample, the one that says whether it is right; None where none does."""
    deciding = sorted(
        (metric for metric in metrics if says_right(metric)), key=lambda metric: SAME.index(metric.casefold())
    )
    return deciding[0] if deciding else None
