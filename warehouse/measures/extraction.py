"""The measures of extraction, over the summed counts of score tuples (Chinchor 1992, MUC-4 evaluation metrics).

A partially correct item earns the credit `partial`, one half unless said otherwise.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from evalhouse.warehouse.measures.forms import Function, LinearForm, Ratio, of_form, ratio
from evalhouse.warehouse.measures.measure import SHARE, Measure, Parameter

COLUMNS = ("possible", "actual", "correct", "partial", "incorrect", "spurious", "missing", "noncommittal")
"""The counts of a score tuple; the first four are always there, the others may be unknown."""

SUPPORT, ANSWERS = LinearForm.of("possible"), LinearForm.of("actual")
"""The items of the key, and those of the answers."""

BETA = Parameter("beta", Decimal(1), "the weight of recall relative to precision", above=Decimal(0))
CREDIT = Parameter(
    "partial", Decimal("0.5"), "the credit of a partially correct item", lowest=Decimal(0), highest=Decimal(1)
)


def partial_credit(partial: Decimal) -> LinearForm:
    """correct + w·partial."""
    return LinearForm.of("correct") + Fraction(partial) * LinearForm.of("partial")


def _f(beta: Decimal, partial: Decimal) -> Ratio:
    weight = Fraction(beta) ** 2
    return ratio((weight + 1) * partial_credit(partial), weight * LinearForm.of("possible") + LinearForm.of("actual"))


def _wrong(partial: Decimal) -> LinearForm:
    """incorrect + (1−w)·partial: the lost credit of the matched items."""
    return LinearForm.of("incorrect") + (1 - Fraction(partial)) * LinearForm.of("partial")


def _error(partial: Decimal) -> Ratio:
    return ratio(
        _wrong(partial) + LinearForm.of("missing", "spurious"),
        LinearForm.of("correct", "partial", "incorrect", "missing", "spurious"),
    )


_METRICS = "Chinchor 1992, MUC-4 evaluation metrics"

EXTRACTION = (
    Measure(
        "recall",
        "extraction",
        "(correct + ½·partial) / possible",
        _METRICS,
        lambda partial: ratio(partial_credit(partial), LinearForm.of("possible")),
        (CREDIT,),
        steady=True,
        proportion=True,
        within=SHARE,
        also=("R",),
    ),
    Measure(
        "precision",
        "extraction",
        "(correct + ½·partial) / actual",
        _METRICS,
        lambda partial: ratio(partial_credit(partial), LinearForm.of("actual")),
        (CREDIT,),
        proportion=True,
        within=SHARE,
        also=("P",),
    ),
    Measure(
        "F",
        "extraction",
        "(β²+1)·(correct + ½·partial) / (β²·possible + actual)",
        "van Rijsbergen 1979; Chinchor 1992",
        _f,
        (BETA, CREDIT),
        shown=("beta",),
        within=SHARE,
        behind=BETA.name,
    ),
    Measure(
        "support",
        "extraction",
        "possible: the number of key items",
        "scikit-learn support",
        lambda: Function(of_form(SUPPORT.terms)),
    ),
    Measure(
        "overgeneration",
        "extraction",
        "spurious / actual",
        _METRICS,
        lambda: ratio(LinearForm.of("spurious"), LinearForm.of("actual")),
        lower_is_better=True,
        proportion=True,
        within=SHARE,
    ),
    Measure(
        "undergeneration",
        "extraction",
        "missing / possible",
        _METRICS,
        lambda: ratio(LinearForm.of("missing"), LinearForm.of("possible")),
        steady=True,
        lower_is_better=True,
        proportion=True,
        within=SHARE,
    ),
    Measure(
        "substitution",
        "extraction",
        "(incorrect + ½·partial) / (correct + partial + incorrect)",
        _METRICS,
        lambda partial: ratio(_wrong(partial), LinearForm.of("correct", "partial", "incorrect")),
        (CREDIT,),
        lower_is_better=True,
        proportion=True,
        within=SHARE,
        not_without_wrong_matches="substitution is of items that are matched with wrong ones, and no item is here: "
        "what is wrong counts as missing and as spurious",
    ),
    Measure(
        "error",
        "extraction",
        "(incorrect + ½·partial + missing + spurious) / (correct + partial + incorrect + missing + spurious)",
        _METRICS,
        _error,
        (CREDIT,),
        lower_is_better=True,
        proportion=True,
        within=SHARE,
        not_of_classes="error counts a wrong class twice, as missing and as spurious, and is no error rate",
    ),
)
