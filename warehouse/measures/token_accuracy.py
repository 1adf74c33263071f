"""The measures of tagged tokens, over the counts that the reader of CoNLL columns stores."""

from __future__ import annotations

from warehouse.measures.formula import LinearForm, Ratio, ratio
from warehouse.measures.measure import SHARE, Measure

TOTAL, RIGHT = "tokens", "right"
"""The counts of a sentence: how many tokens it has, and how many of them have the gold tag."""


def _token_accuracy() -> Ratio:
    return ratio(LinearForm.of(RIGHT), LinearForm.of(TOTAL))


TOKENS = (
    Measure(
        "token-accuracy",
        "counts",
        f"{RIGHT} / {TOTAL}",
        "Tjong Kim Sang and Buchholz 2000",
        _token_accuracy,
        steady=True,
        proportion=True,
        within=SHARE,
        needs=(RIGHT, TOTAL),
    ),
)
