"""The measures of extraction, over the summed counts of score tuples (Chinchor 1992, MUC-4 evaluation metrics).

A partially correct item earns the credit `partial`, one half unless said otherwise. Where the places of spans are
known, `match` says which pairs of spans are correct. Where units are classes there are measures of these, too, equal to
scikit-learn's.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from evalhouse.warehouse.measures.averages import (
    ANSWERS_SQUARED,
    BY_CHANCE,
    DOCUMENTS,
    KEY_SQUARED,
    RIGHT,
    ClassAgreement,
    UnitAverage,
    unit_measure,
)
from evalhouse.warehouse.measures.forms import (
    Call,
    Constant,
    Count,
    Expression,
    Function,
    LinearForm,
    Operation,
    Ratio,
    divide,
    of_form,
    ratio,
)
from evalhouse.warehouse.measures.measure import SHARE, Measure, Parameter

PAIRS = ("same_place", "overlapping", "same_type", "unpaired")
"""Counts of pairs of a key item and an answer, whatever their types are: with the same place, with another one that
overlaps, those of the two that have the same type, and answers in no pair. They are known where places are.
"""

COLUMNS = ("possible", "actual", "correct", "partial", "incorrect", "spurious", "missing", "noncommittal", *PAIRS)
"""The counts of a score tuple; the first four are always there, the others may be unknown."""

SUPPORT, ANSWERS = LinearForm.of("possible"), LinearForm.of("actual")
"""The items of the key, and those of the answers."""

BETA = Parameter("beta", Decimal(1), "the weight of recall relative to precision", above=Decimal(0))
CREDIT = Parameter(
    "partial", Decimal("0.5"), "the credit of a partially correct item", lowest=Decimal(0), highest=Decimal(1)
)


STRICT, EXACT, PARTIAL, TYPE = "strict", "exact", "partial", "type"
MATCH = Parameter(
    "match",
    None,
    "which pairs of a key item and an answer are correct: of the same place and type, of the same place, "
    "of the same place with overlapping ones partially so, or of the same type where they overlap",
    (STRICT, EXACT, PARTIAL, TYPE),
    optional=True,
)
"""How spans are matched (SemEval-2013 task 9). Without it the stored tuple decides."""


def credited(partial: Decimal, match: str = "") -> LinearForm:
    """What counts as correct: correct + w·partial of the tuple, or what a way of matching takes for it."""
    weight = Fraction(partial)
    return {
        STRICT: LinearForm.of("correct"),
        EXACT: LinearForm.of("same_place"),
        PARTIAL: LinearForm.of("same_place") + weight * LinearForm.of("overlapping"),
        TYPE: LinearForm.of("same_type"),
    }.get(match) or LinearForm.of("correct") + weight * LinearForm.of("partial")


_PAIRED = LinearForm.of("same_place", "overlapping")


def _answers(match: str = "") -> LinearForm:
    """The answers. Where types do not matter, an answer in a pair is one of the type of its key item."""
    return _PAIRED + LinearForm.of("unpaired") if match in (EXACT, PARTIAL) else ANSWERS


def _f(beta: Decimal, partial: Decimal, match: str = "") -> Ratio:
    weight = Fraction(beta) ** 2
    return ratio((weight + 1) * credited(partial, match), weight * SUPPORT + _answers(match))


def _wrong(partial: Decimal, match: str = "") -> LinearForm:
    """incorrect + (1−w)·partial: the lost credit of the matched items."""
    if match:
        return _PAIRED + -1 * credited(partial, match)
    return LinearForm.of("incorrect") + (1 - Fraction(partial)) * LinearForm.of("partial")


def _matched(match: str = "") -> LinearForm:
    return _PAIRED if match else LinearForm.of("correct", "partial", "incorrect")


def _missing(match: str = "") -> LinearForm:
    return SUPPORT + -1 * _PAIRED if match else LinearForm.of("missing")


def _spurious(match: str = "") -> LinearForm:
    return LinearForm.of("unpaired" if match else "spurious")


def _error(partial: Decimal, match: str = "") -> Ratio:
    apart = _missing(match) + _spurious(match)
    return ratio(_wrong(partial, match) + apart, _matched(match) + apart)


def _overgeneration(match: str = "") -> Ratio:
    return ratio(_spurious(match), _matched(match) + _spurious(match) if match else ANSWERS)


# === classes ==========================================================================================================


def _times(left: Expression, right: Expression) -> Expression:
    return Operation(left, "*", right)


_ALL_PAIRS = _times(Count(DOCUMENTS), Count(DOCUMENTS))
_ABOVE_CHANCE = Operation(_times(Count(RIGHT), Count(DOCUMENTS)), "-", Count(BY_CHANCE))
_KAPPA = divide(_ABOVE_CHANCE, Operation(_ALL_PAIRS, "-", Count(BY_CHANCE)))
_MCC = divide(
    _ABOVE_CHANCE,
    Call(
        "sqrt",
        (
            _times(
                Operation(_ALL_PAIRS, "-", Count(KEY_SQUARED)),
                Operation(_ALL_PAIRS, "-", Count(ANSWERS_SQUARED)),
            ),
        ),
    ),
)
_COUNTED = ("possible", "actual", "correct")


def _kappa(units: Sequence[int] = ()) -> ClassAgreement:
    return ClassAgreement.over_stored(_KAPPA, None, _COUNTED, units)


def _mcc(units: Sequence[int] = ()) -> ClassAgreement:
    """Also 0 where the key or the answers have one class alone, as in scikit-learn."""
    return ClassAgreement.over_stored(_MCC, Fraction(0), _COUNTED, units)


def _balanced_accuracy(units: Sequence[int] = ()) -> UnitAverage:
    """The mean of recall over the classes of the key."""
    recall = ratio(LinearForm.of("correct"), SUPPORT)
    return UnitAverage.over_stored(unit_measure(recall, SUPPORT, LinearForm(())), False, units)


def _all_right() -> Function:
    """Whether a document has all classes of the key and no other: 1 − min(1, how many are missing or too many)."""
    wrong = of_form((LinearForm.of("possible", "actual") + -2 * LinearForm.of("correct")).terms)
    return Function(Operation(Constant(Fraction(1)), "-", Call("min", (Constant(Fraction(1)), wrong))))


_METRICS = "Chinchor 1992, MUC-4 evaluation metrics"

EXTRACTION = (
    Measure(
        "recall",
        "extraction",
        "(correct + ½·partial) / possible",
        _METRICS,
        lambda partial, match="": ratio(credited(partial, match), SUPPORT),
        (CREDIT, MATCH),
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
        lambda partial, match="": ratio(credited(partial, match), _answers(match)),
        (CREDIT, MATCH),
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
        (BETA, CREDIT, MATCH),
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
        _overgeneration,
        (MATCH,),
        lower_is_better=True,
        proportion=True,
        within=SHARE,
    ),
    Measure(
        "undergeneration",
        "extraction",
        "missing / possible",
        _METRICS,
        lambda match="": ratio(_missing(match), SUPPORT),
        (MATCH,),
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
        lambda partial, match="": ratio(_wrong(partial, match), _matched(match)),
        (CREDIT, MATCH),
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
        (CREDIT, MATCH),
        lower_is_better=True,
        proportion=True,
        within=SHARE,
        not_of_classes="error counts a wrong class twice, as missing and as spurious, so it is not an error rate",
    ),
    Measure(
        "accuracy",
        "extraction",
        "the share of documents with the right class; with all right classes and no other, where there may be several",
        "scikit-learn accuracy_score",
        lambda: ratio(LinearForm.of("correct"), SUPPORT),
        steady=True,
        proportion=True,
        within=SHARE,
        also=("acc",),
        of_labels="any",
        of_several=_all_right,
    ),
    Measure(
        "balanced-accuracy",
        "extraction",
        "the mean of recall over the classes of the key",
        "Brodersen et al. 2010; scikit-learn balanced_accuracy_score",
        _balanced_accuracy,
        within=SHARE,
        also=("balanced_accuracy",),
        of_labels="one",
        over_classes=_balanced_accuracy,
    ),
    Measure(
        "kappa",
        "extraction",
        "(r·n − Σ t·p) / (n² − Σ t·p) with r of n documents right, and t of the key and p of the answers in each class",
        "Cohen 1960; scikit-learn cohen_kappa_score",
        _kappa,
        within=(-1.0, 1.0),
        of_labels="one",
        over_classes=_kappa,
    ),
    Measure(
        "MCC",
        "extraction",
        "(r·n − Σ t·p) / √((n² − Σ t²)·(n² − Σ p²)), 0 where only one class is right or answered",
        "Gorodkin 2004; scikit-learn matthews_corrcoef",
        _mcc,
        within=(-1.0, 1.0),
        of_labels="one",
        over_classes=_mcc,
    ),
)
