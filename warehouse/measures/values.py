"""The measures of values and stored counts that other tools logged: means, tokens, correctness, attempts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction

from msgspec.structs import replace

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
    ratio,
)
from evalhouse.warehouse.measures.measure import SHARE, Measure, Parameter, PrintedFigure, Setting

# === imported and printed measures ====================================================================================
# Values per document, whose mean is the measure, and figures that are known only as printed.


def mean_of_values() -> Ratio:
    """The sum of the values divided by their number."""
    return ratio(LinearForm.of("value"), LinearForm.of("documents"))


def imported_measure(name: str, lower_is_better: bool = False, *, declared_share: bool = False) -> Measure:
    """The measure of the imported values of this name: their mean over documents. Values of a declared share are all
    between 0 and 1.
    """
    meaning = "mean of the imported values over documents"
    return Measure(
        name,
        "values",
        meaning,
        "imported",
        mean_of_values,
        steady=True,
        lower_is_better=lower_is_better,
        within=SHARE if declared_share else None,
        named_share=says_share(name),
        named_rate=says_error_rate(name),
    )


def printed_measure(called: str, task: str, name: str, lower_is_better: bool = False) -> Measure:
    """A figure that was printed for a task under a name; there are no documents for it."""
    figure = PrintedFigure(task, name)
    meaning = f"as printed of {task}"
    return Measure(called, "published", meaning, "published", lambda: figure, lower_is_better=lower_is_better)


# === accuracy of tokens ===============================================================================================
# Over the counts that the reader of CoNLL columns stores.

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


# === names of correctness =============================================================================================
# The names under which tools log whether an answer is right. Here the measure is always called `accuracy`. The decision
# must rest on names and never on values: an F1 that happens to be 0 or 1 in ten samples is not an accuracy, and all
# systems of a test set must have the measure under the same name.

ACCURACY = "accuracy"

SAME = (
    *("accuracy", "acc", "mean_acc", "exact_match", "em", "correct", "is_correct", "correctness", "match", "includes"),
    *("choice", "pattern", "answer", "exact", "resolved", "pass@1", "pass_at_1", "quasi_exact_match"),
    *("label_correct", "success", "passed", "pass", "prompt_level_strict_acc"),
)
"""The names that tools use, the most specific first."""


REWARD = "reward"
"""What agents are given for a task. An attempt passes where it is 1 (Yao et al. 2024)."""


def says_right(metric: str) -> bool:
    """Whether a metric of this name states that an answer is right or wrong."""
    return metric.casefold() in SAME


SHARES = (
    *SAME,
    *("f1", "f1_score", "f-score", "macro_f1", "micro_f1", "f1_macro", "f1_micro"),
    "precision",
    "recall",
    *("success_rate", "pass_rate", "win_rate", "hit_rate", "acc_norm"),
    *("mer", "wil"),
)
"""Names of shares: they lie between 0 and 1. Metrics that only happen to do so in the data are none."""

ERROR_RATES = ("wer", "cer", "ter")
"""Names of errors per word or character of what was right: like shares, but long answers may have more than 1."""


def says_share(metric: str) -> bool:
    """Whether a metric of this name is a share."""
    return metric.casefold() in SHARES


def says_error_rate(metric: str) -> bool:
    """Whether a metric of this name is a rate of errors."""
    return metric.casefold() in ERROR_RATES


def foremost(metrics: Iterable[str]) -> str | None:
    """The metric of a sample that states whether the answer is right, out of all its metrics; None if there is none."""
    deciding = sorted(
        (metric for metric in metrics if says_right(metric)), key=lambda metric: SAME.index(metric.casefold())
    )
    return deciding[0] if deciding else None


# === measures of attempts =============================================================================================
# The probability that at least one of k attempts at a sample passes, or that all k pass.

MOST_DRAWS = 1000

DRAWS = Parameter(
    "k", Decimal(1), "the number of draws", lowest=Decimal(1), highest=Decimal(MOST_DRAWS), whole=True, up_to="attempts"
)
ATTEMPT_COUNTS = ("attempts", "passed")
"""How often a document was attempted, and how many of the attempts passed."""

UNANSWERED = ((TOTAL, TOTAL), ("attempts", "attempts"))
"""The counts that are not 0 on a document without an answer: its tokens, all wrong, and attempts, which all fail."""

_ATTEMPTS, _PASSED = map(Count, ATTEMPT_COUNTS)


def _choose_quotient(of: Expression, k: Setting) -> Expression:
    """C(of, k) / C(attempts, k) as a product of k quotients; undefined if there are fewer than k attempts."""
    return _product([divide(_less(of, draw), _less(_ATTEMPTS, draw)) for draw in range(int(k))])


def _product(factors: Sequence[Expression]) -> Expression:
    """The product, built from two halves, so that the nesting depth is the logarithm of the number of factors."""
    if len(factors) == 1:
        return factors[0]
    half = len(factors) // 2
    return Operation(_product(factors[:half]), "*", _product(factors[half:]))


def _less(of: Expression, draws: int) -> Expression:
    return Operation(of, "-", Constant(Fraction(draws))) if draws else of


def _pass(k: Setting) -> Function:
    failed = Operation(_ATTEMPTS, "-", _PASSED)
    return Function(Operation(Constant(Fraction(1)), "-", _choose_quotient(failed, k)))


def _every(k: Setting) -> Function:
    return Function(_choose_quotient(_PASSED, k))


def _at_least(k: Setting) -> Function:
    """1 if so many attempts passed, else 0."""
    enough = Call("max", (_less(_PASSED, int(k) - 1), Constant(Fraction(0))))
    return Function(Call("min", (enough, Constant(Fraction(1)))))


ATTEMPTS = (
    Measure(
        "pass",
        "counts",
        "1 − C(n−c, k) / C(n, k) for n attempts of which c passed, averaged over documents: the chance that any "
        "of k passes",
        "Chen et al. 2021",
        _pass,
        (DRAWS,),
        shown=("k",),
        within=SHARE,
        needs=ATTEMPT_COUNTS,
        by_document=True,
    ),
    Measure(
        "every",
        "counts",
        "C(c, k) / C(n, k), averaged over documents: the chance that all of k pass",
        "Yao et al. 2024",
        _every,
        (DRAWS,),
        shown=("k",),
        within=SHARE,
        needs=ATTEMPT_COUNTS,
        by_document=True,
    ),
    Measure(
        "at_least",
        "counts",
        "the share of documents with at least k attempts that pass",
        "Inspect at_least",
        _at_least,
        (replace(DRAWS, meaning="the number of attempts that must pass"),),
        shown=("k",),
        within=SHARE,
        needs=ATTEMPT_COUNTS,
        by_document=True,
    ),
)
