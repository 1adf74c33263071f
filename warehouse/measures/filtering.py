"""The measures of text filtering, over the cells of a contingency table (Lewis and Tong 1992, figure 1).

a, b: decided yes on relevant, nonrelevant documents; c, d: decided no on them; x, y: yes, no on optional documents. How
optional documents count is a parameter of every measure; it only says which cells are hits, false alarms, misses and
rejections.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.measures.averages import UnitAverage, unit_measure
from evalhouse.warehouse.measures.extraction import BETA
from evalhouse.warehouse.measures.forms import (
    Call,
    Constant,
    Expression,
    Function,
    FunctionName,
    LinearForm,
    Operation,
    Probabilities,
    Ranking,
    Ratio,
    of_form,
    of_ratio,
    ratio,
)
from evalhouse.warehouse.measures.measure import SHARE, Measure, Parameter, Setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLUMNS = ("a", "b", "c", "d", "x", "y")
"""The cells; each is always known."""


class Contingency(Struct, frozen=True):
    """A contingency table after optional documents were assigned; each cell is a linear form over the six cells."""

    hits: LinearForm
    false_alarms: LinearForm
    misses: LinearForm
    rejections: LinearForm


OPTIONAL: Mapping[str, Contingency] = {
    "credit": Contingency(LinearForm.of("a", "x"), LinearForm.of("b"), LinearForm.of("c"), LinearForm.of("d", "y")),
    "excluded": Contingency(LinearForm.of("a"), LinearForm.of("b"), LinearForm.of("c"), LinearForm.of("d")),
    "relevant": Contingency(LinearForm.of("a", "x"), LinearForm.of("b"), LinearForm.of("c", "y"), LinearForm.of("d")),
    "nonrelevant": Contingency(
        LinearForm.of("a"), LinearForm.of("b", "x"), LinearForm.of("c"), LinearForm.of("d", "y")
    ),
}
"""How optional documents count. `credit`: either decision is right (MUC-4)."""

_OPPOSED = "opposed"
_TABLES: Mapping[str, Contingency] = {
    **OPTIONAL,
    _OPPOSED: Contingency(LinearForm.of("a"), LinearForm.of("b", "x"), LinearForm.of("c", "y"), LinearForm.of("d")),
}
"""The conventions, and the labelling of optional documents that makes every decision on them wrong."""

LABELLINGS = ("credit", "relevant", "nonrelevant", _OPPOSED)
"""The extreme labellings of optional documents: all accepted ones are relevant or all are nonrelevant, and so for the
rejected ones. Any other labelling gives a value between theirs. With `credit` every decision is right.
"""

EXTREMES: Mapping[str, FunctionName] = {"lowest": "min", "highest": "max"}
"""Settings for the labelling of optional documents with the lowest or the highest value."""

OF_TOPICS = frozenset({"T9U", "T11U", "T11SU", "T11F"})
"""The measures of TREC's filtering tracks, which are computed topic by topic and averaged over topics."""

ALL, BOUNDS = "all", "bounds"

CONVENTIONS = Parameter(
    "optional",
    "credit",
    "how optional documents count",
    choices=tuple(OPTIONAL),
    several={ALL: "expands to four measures; only score, compare, group, rank, table and power accept it"},
)
"""The parameter of measures that have no lowest and highest value over labellings."""

POLICY = replace(
    CONVENTIONS,
    choices=(*OPTIONAL, *EXTREMES),
    several={**CONVENTIONS.several, BOUNDS: "tries every labelling; only score and compare accept it"},
)


def _by_labelling(formula: Callable[..., Ratio | Function]) -> Callable[..., Ratio | Function]:
    """Extend a formula to the settings `lowest` and `highest`.

    If more of the accepted documents are relevant, or more of the rejected ones, a measure moves in one direction only.
    So its extremes are at LABELLINGS; tests/test_optional_documents.py tries every labelling of small tables.
    """

    def computation(**settings: Setting) -> Ratio | Function:
        extreme = EXTREMES.get(str(settings[CONVENTIONS.name]))
        if extreme is None:
            return formula(**settings)
        ends = (formula(**{**settings, CONVENTIONS.name: labelling}) for labelling in LABELLINGS)
        values = (of_ratio(end) if isinstance(end, Ratio) else end.expression for end in ends)
        return Function(Call(extreme, tuple(values)))

    return computation


def _recall(optional: str) -> Ratio:
    table = _TABLES[optional]
    return ratio(table.hits, table.hits + table.misses)


def _precision(optional: str) -> Ratio:
    table = _TABLES[optional]
    return ratio(table.hits, table.hits + table.false_alarms)


def _f(beta: Decimal, optional: str) -> Ratio:
    table, weight = _TABLES[optional], Fraction(beta) ** 2
    return ratio((weight + 1) * table.hits, weight * (table.hits + table.misses) + (table.hits + table.false_alarms))


def _fallout(optional: str) -> Ratio:
    table = _TABLES[optional]
    return ratio(table.false_alarms, table.false_alarms + table.rejections)


def _accuracy(optional: str) -> Ratio:
    table = _TABLES[optional]
    return ratio(table.hits + table.rejections, table.hits + table.false_alarms + table.misses + table.rejections)


def _specificity(optional: str) -> Ratio:
    table = _TABLES[optional]
    return ratio(table.rejections, table.rejections + table.false_alarms)


def _support(optional: str) -> Function:
    table = _TABLES[optional]
    return Function(of_form((table.hits + table.misses).terms))


def _jaccard(optional: str) -> Ratio:
    table = _TABLES[optional]
    return ratio(table.hits, table.hits + table.false_alarms + table.misses)


def _utility(a: Decimal, b: Decimal, c: Decimal, d: Decimal, optional: str) -> Function:
    """The sum of the worths of all documents, by cell."""
    table = _TABLES[optional]
    total = LinearForm(())
    for worth, cell in zip((a, b, c, d), (table.hits, table.false_alarms, table.misses, table.rejections), strict=True):
        total = total + Fraction(worth) * cell
    # If all worths are 0 the utility is 0, but it still needs the columns, so that it belongs to documents.
    return Function(of_form(total.terms or tuple((cell, 0) for cell, _ in table.hits.terms)))


_T11U = {"a": Decimal(2), "b": Decimal(-1), "c": Decimal(0), "d": Decimal(0)}
"""The worth of documents in the utilities of TREC's filtering tracks from 2000 to 2002."""


def _t11u(optional: str) -> Function:
    return _utility(**_T11U, optional=optional)


def _t9u(min: Decimal, optional: str) -> Function:
    """The utility, never below a floor."""
    return Function(Call("max", (_t11u(optional).expression, Constant(Fraction(min)))))


def _t11su(min: Decimal, optional: str) -> Function:
    """(max(U/U⁺, min) − min) / (1 − min), where U⁺ is the utility of accepting all relevant documents and no other."""
    table, lowest = _TABLES[optional], Constant(Fraction(min))
    best = of_form((Fraction(_T11U["a"]) * (table.hits + table.misses)).terms)
    floored = Call("max", (Operation(_t11u(optional).expression, "/", best), lowest))
    return Function(Operation(Operation(floored, "-", lowest), "/", Constant(1 - Fraction(min))))


def _t11f(optional: str) -> Ratio:
    return _f(Decimal("0.5"), optional)


def _t11f_alone(optional: str) -> Function:
    """T11F of a topic; also 0 if no document is relevant and none was accepted. Only then is the denominator 5·h + 4·f
    + m equal to 0; otherwise it is at least 1.
    """
    table = _TABLES[optional]
    under = of_form((5 * table.hits + 4 * table.false_alarms + table.misses).terms)
    return Function(Operation(of_form((5 * table.hits).terms), "/", Call("max", (under, Constant(Fraction(1))))))


def _balanced_accuracy(optional: str) -> Function:
    """The mean of recall and specificity."""
    both = Operation(of_ratio(_recall(optional)), "+", of_ratio(_specificity(optional)))
    return Function(Operation(both, "/", Constant(Fraction(2))))


def _product(*forms: LinearForm) -> Expression:
    factors: Iterator[Expression] = (of_form(form.terms) for form in forms)
    return reduce(lambda left, right: Operation(left, "*", right), factors)


def _determinant(table: Contingency) -> Expression:
    """hits·rejections − false alarms·misses."""
    return Operation(_product(table.hits, table.rejections), "-", _product(table.false_alarms, table.misses))


def _kappa(optional: str) -> Function:
    """(agreement − agreement by chance) / (1 − agreement by chance), multiplied out for two kinds of documents."""
    table = _TABLES[optional]
    disagreed = Operation(
        _product(table.hits + table.false_alarms, table.rejections + table.false_alarms),
        "+",
        _product(table.hits + table.misses, table.rejections + table.misses),
    )
    twice = Operation(Constant(Fraction(2)), "*", _determinant(table))
    return Function(Operation(twice, "/", disagreed))


UNDEFINED, ZERO = "undefined", "zero"
CONSTANT = Parameter(
    "constant",
    ZERO,
    "the value where all labels or all decisions are the same: 0 as in scikit-learn, or none as in Matthews (1975)",
    (ZERO, UNDEFINED),
    defining=ZERO,
)

_ALMOST_NOTHING = Constant(Fraction(1, 10**30))
"""Below every product of margins that is not 0, also of averages over runs."""


def _mcc(constant: str, optional: str) -> Function:
    """hits·rejections − false alarms·misses over the root of the product of the four margins. Where a margin is 0 the
    difference above it is 0, too.
    """
    table = _TABLES[optional]
    margins = _product(
        table.hits + table.false_alarms,
        table.hits + table.misses,
        table.rejections + table.false_alarms,
        table.rejections + table.misses,
    )
    if constant == ZERO:
        margins = Call("max", (margins, _ALMOST_NOTHING))
    return Function(Operation(_determinant(table), "/", Call("sqrt", (margins,))))


def _auc(optional: str) -> Ranking:
    return Ranking(partial(auc, optional=optional), partial(sides, optional=optional))


BINS = Parameter(
    "bins", Decimal(15), "how many bins of equal width", lowest=Decimal(1), highest=Decimal(1000), whole=True
)


def _squared_error(probability: NDArray[np.float64], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    errors: NDArray[np.float64] = probability - relevant
    return errors * errors


def _log_loss(probability: NDArray[np.float64], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """−ln of what the right class was given, which is kept off 0 as by scikit-learn."""
    import numpy as np

    least = np.finfo(np.float64).eps
    given = np.where(relevant, probability, 1 - probability)
    losses: NDArray[np.float64] = -np.log(np.clip(given, least, 1 - least))
    return losses


def _top(probability: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the more likely class is given."""
    import numpy as np

    return np.maximum(probability, 1 - probability)


def _off(probability: NDArray[np.float64], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Whether the more likely class is right, less its probability; of two equal ones nonrelevant is taken."""
    off: NDArray[np.float64] = ((probability > 0.5) == relevant) - _top(probability)
    return off


def _bin_of(probability: NDArray[np.float64], bins: int) -> NDArray[np.intp]:
    """The bin of the more likely class, of which the upper edge is in the bin (Guo et al. 2017)."""
    import numpy as np

    return np.ceil(_top(probability) * bins).astype(np.intp) - 1


def _brier(optional: str) -> Probabilities:
    return Probabilities(_squared_error, partial(sides, optional=optional))


def _mean_log_loss(optional: str) -> Probabilities:
    return Probabilities(_log_loss, partial(sides, optional=optional))


def _ece(bins: Decimal, optional: str) -> Probabilities:
    return Probabilities(_off, partial(sides, optional=optional), int(bins), partial(_bin_of, bins=int(bins)))


_TONG = "Lewis and Tong 1992"
_CELLS = "with hits h = a + x, false alarms f = b, misses m = c and rejections r = d + y"

_TREC_2000, _TREC_2002 = "Robertson and Hull 2000", "Robertson and Soboroff 2002"


def _worth(cell: str, worth: Decimal) -> Parameter:
    of = {"a": "hit", "b": "false alarm", "c": "miss", "d": "rejection"}
    return Parameter(cell, worth, f"what a {of[cell]} is worth")


FILTERING = (
    Measure(
        "recall",
        "filtering",
        "(a + x) / (a + c + x)",
        f"{_TONG} (1)",
        _by_labelling(_recall),
        (POLICY,),
        proportion=True,
        within=SHARE,
        also=("R",),
    ),
    Measure(
        "precision",
        "filtering",
        "(a + x) / (a + b + x)",
        f"{_TONG} (2)",
        _by_labelling(_precision),
        (POLICY,),
        proportion=True,
        within=SHARE,
        also=("P",),
    ),
    Measure(
        "F",
        "filtering",
        "(β²+1)·P·R / (β²·P + R)",
        f"van Rijsbergen 1979; {_TONG}, table 3",
        _by_labelling(_f),
        (BETA, POLICY),
        shown=("beta",),
        within=SHARE,
        behind=BETA.name,
    ),
    Measure(
        "support",
        "filtering",
        "a + c + x: the number of relevant documents",
        "scikit-learn support",
        _by_labelling(_support),
        (POLICY,),
    ),
    Measure(
        "fallout",
        "filtering",
        "b / (b + d + y)",
        f"{_TONG} (3)",
        _by_labelling(_fallout),
        (POLICY,),
        lower_is_better=True,
        proportion=True,
        within=SHARE,
    ),
    Measure(
        "accuracy",
        "filtering",
        "(a + d + x + y) / n",
        f"{_TONG}, figure 1",
        _by_labelling(_accuracy),
        (POLICY,),
        steady=True,
        proportion=True,
        within=SHARE,
        also=("acc",),
    ),
    Measure(
        "specificity",
        "filtering",
        "(d + y) / (b + d + y)",
        "Yerushalmy 1947",
        _by_labelling(_specificity),
        (POLICY,),
        proportion=True,
        within=SHARE,
        also=("TNR",),
    ),
    Measure(
        "balanced-accuracy",
        "filtering",
        "(recall + specificity) / 2",
        "Brodersen et al. 2010",
        _by_labelling(_balanced_accuracy),
        (POLICY,),
        within=SHARE,
    ),
    Measure(
        "Jaccard",
        "filtering",
        "(a + x) / (a + b + c + x)",
        "Jaccard 1912",
        _by_labelling(_jaccard),
        (POLICY,),
        proportion=True,
        within=SHARE,
        also=("IoU",),
    ),
    Measure(
        "kappa",
        "filtering",
        f"2·(h·r − f·m) / ((h+f)·(r+f) + (h+m)·(r+m)) {_CELLS}",
        "Cohen 1960",
        _by_labelling(_kappa),
        (POLICY,),
        within=(-1.0, 1.0),
    ),
    Measure(
        "MCC",
        "filtering",
        f"(h·r − f·m) / √((h+f)·(h+m)·(r+f)·(r+m)) {_CELLS}",
        "Matthews 1975",
        _by_labelling(_mcc),
        (CONSTANT, POLICY),
        within=(-1.0, 1.0),
    ),
    Measure(
        "utility",
        "filtering",
        f"a·h + b·f + c·m + d·r {_CELLS}",
        _TREC_2000,
        _by_labelling(_utility),
        (*(_worth(cell, worth) for cell, worth in _T11U.items()), POLICY),
        shown=("a", "b"),
    ),
    Measure(
        "T11U",
        "filtering",
        "2·h − f: utility(a=2, b=-1)",
        _TREC_2002,
        _by_labelling(_t11u),
        (POLICY,),
        also=("T10U",),
    ),
    Measure(
        "T9U",
        "filtering",
        "max(2·h − f, min)",
        _TREC_2000,
        _by_labelling(_t9u),
        (Parameter("min", Decimal(-100), "the lower limit of T9U", highest=Decimal(0)), POLICY),
    ),
    Measure(
        "T11SU",
        "filtering",
        "(max(T11U/U⁺, min) − min) / (1 − min) with U⁺ = 2·(h + m), the largest T11U",
        _TREC_2002,
        _by_labelling(_t11su),
        (Parameter("min", Decimal("-0.5"), "the lowest T11U/U⁺ that counts", highest=Decimal(0)), POLICY),
        within=SHARE,
        also=("T10SU",),
    ),
    Measure(
        "T11F",
        "filtering",
        "5·h / (5·h + 4·f + m): F(beta=0.5)",
        _TREC_2002,
        _by_labelling(_t11f),
        (POLICY,),
        within=SHARE,
        also=("T10F",),
        alone=_by_labelling(_t11f_alone),
    ),
    Measure(
        "auc",
        "filtering",
        "how often a relevant document has a higher confidence than a nonrelevant one; optional ones are left "
        "out by default",
        "Hanley and McNeil 1982",
        _auc,
        (CONVENTIONS,),
        within=SHARE,
    ),
    Measure(
        "brier",
        "filtering",
        "the mean of (confidence − 1)² of relevant documents and confidence² of nonrelevant ones; optional ones are "
        "left out by default",
        "Brier 1950; scikit-learn brier_score_loss",
        _brier,
        (CONVENTIONS,),
        steady=True,
        lower_is_better=True,
        within=SHARE,
    ),
    Measure(
        "log-loss",
        "filtering",
        "the mean of −ln of the probability that the right class is given: the confidence, or 1 − confidence",
        "scikit-learn log_loss",
        _mean_log_loss,
        (CONVENTIONS,),
        steady=True,
        lower_is_better=True,
        also=("log_loss", "logloss"),
    ),
    Measure(
        "ECE",
        "filtering",
        "Σ |how many of a bin are right − Σ of their probabilities| / n, of the more likely class of each document",
        "Guo et al. 2017",
        _ece,
        (BINS, CONVENTIONS),
        shown=("bins",),
        lower_is_better=True,
        within=SHARE,
    ),
)


# === averages over the two classes ====================================================================================
# Relevant and nonrelevant documents are the two classes of yes and no. What is a hit of one class is a rejection of the
# other, and what counts as relevant for one counts as nonrelevant for the other.

_OTHER_CLASS: Mapping[str, str] = {"a": "d", "b": "c", "c": "b", "d": "a", "x": "y", "y": "x"}
"""The cells as the nonrelevant class sees them."""

_OTHER_CONVENTION: Mapping[str, str] = {
    "credit": "credit",
    "excluded": "excluded",
    "relevant": "nonrelevant",
    "nonrelevant": "relevant",
}


def average_of_classes(measure: Measure, settings: Mapping[str, Setting], weighted: bool) -> UnitAverage | None:
    """The average of a measure over both classes; None for a convention that labels optional documents by their
    decisions.
    """
    convention = str(settings[CONVENTIONS.name])
    if convention not in _OTHER_CONVENTION:
        return None
    of_classes = []
    for names, own in (
        (dict(zip(COLUMNS, COLUMNS, strict=True)), convention),
        (_OTHER_CLASS, _OTHER_CONVENTION[convention]),
    ):
        table, computation = _TABLES[own], measure.formula(**{**settings, CONVENTIONS.name: own})
        if not isinstance(computation, Ratio | Function):
            raise ValueError(f"{measure.name} is not computed from sums")
        of_class = unit_measure(computation, table.hits + table.misses, table.hits + table.false_alarms)
        of_classes.append(of_class.renamed(names))
    return UnitAverage(tuple(of_classes), weighted)


def sides(label: NDArray[np.str_], optional: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which documents are relevant and which are nonrelevant, for labels of shape (documents,). Optional documents
    follow the policy; under `credit` and `excluded` they are neither.
    """
    positive, negative = label == "relevant", label == "nonrelevant"
    if optional == "relevant":
        return positive | (label == "optional"), negative
    if optional == "nonrelevant":
        return positive, negative | (label == "optional")
    return positive, negative


def auc(confidence: NDArray[np.float64], label: NDArray[np.str_], optional: str) -> float | None:
    """The area under the ROC curve from the ranks of the relevant documents; ties of confidence count one half (Hanley
    and McNeil 1982).

    `confidence` and `label` have shape (documents,). Optional documents follow the policy; `credit` leaves them out,
    since either decision is right. None if there is no relevant or no nonrelevant document.
    """
    import numpy as np

    positive, negative = sides(label, optional)
    above, below = np.sort(confidence[positive]), np.sort(confidence[negative])
    if not above.size or not below.size:
        return None
    lower = np.searchsorted(below, above, side="left").sum()
    not_higher = np.searchsorted(below, above, side="right").sum()
    return float(int(lower) + int(not_higher)) / (2 * above.size * below.size)
