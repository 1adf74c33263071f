"""The measures that evaluation harnesses compute from all samples together, and not as the mean of the samples.

Their counts are stored by the reader of the harness, `metric|filter|count`, so that each metric has its own. A log
likelihood is stored as its opposite, a number of nats, in two whole numbers: the nats and the billionths of one.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

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
from evalhouse.warehouse.measures.measure import SHARE, Computation, Measure

BILLION = 10**9

NATS, BILLIONTHS = "nats", "billionths"
"""The counts of the surprise at a text: minus its log likelihood."""

RIGHT, INSTRUCTIONS = "right", "instructions"
HITS, FALSE_ALARMS, MISSES, REJECTIONS = CELLS = ("hits", "false-alarms", "misses", "rejections")

_ONE = Constant(Fraction(1))


def _surprise() -> Expression:
    return Operation(Count(NATS), "+", divide(Count(BILLIONTHS), Constant(Fraction(BILLION))))


def _perplexity(per: str) -> Callable[[], Function]:
    return lambda: Function(Call("exp", (divide(_surprise(), Count(per)),)))


def _bits(per: str) -> Callable[[], Function]:
    nats = divide(_surprise(), Count(per))
    return lambda: Function(divide(nats, Call("log", (Constant(Fraction(2)),))))


def _followed() -> Ratio:
    return ratio(LinearForm.of(RIGHT), LinearForm.of(INSTRUCTIONS))


def _f() -> Ratio:
    return ratio(2 * LinearForm.of(HITS), 2 * LinearForm.of(HITS) + LinearForm.of(FALSE_ALARMS, MISSES))


def _mcc() -> Function:
    """The correlation of truth and answer; 0 where one of them is always the same, as in scikit-learn."""

    def product(*forms: LinearForm) -> Expression:
        first, *rest = (of_form(form.terms) for form in forms)
        for form in rest:
            first = Operation(first, "*", form)
        return first

    cell = LinearForm.of
    determinant = Operation(product(cell(HITS), cell(REJECTIONS)), "-", product(cell(FALSE_ALARMS), cell(MISSES)))
    margins = product(
        cell(HITS, FALSE_ALARMS), cell(HITS, MISSES), cell(FALSE_ALARMS, REJECTIONS), cell(MISSES, REJECTIONS)
    )
    # Where a margin is 0 the determinant is, too; elsewhere the root is at least 1.
    return Function(divide(determinant, Call("max", (Call("sqrt", (margins,)), _ONE))))


def _measure(
    name: str,
    meaning: str,
    source: str,
    formula: Callable[[], Computation],
    needs: tuple[str, ...],
    *,
    lower_is_better: bool = False,
    within: tuple[float, float] | None = None,
    proportion: bool = False,
    logged: str = "",
) -> Measure:
    return Measure(
        name,
        "counts",
        meaning,
        source,
        formula,
        lower_is_better=lower_is_better,
        within=within,
        proportion=proportion,
        needs=needs,
        also=(logged,) if logged else (),
        family=logged or name,
    )


_LM_EVAL = "lm-evaluation-harness"
_IFEVAL = "Zhou et al. 2023"

HARNESS = (
    *(
        _measure(
            f"inst_level_{how}_acc",
            "instructions that were followed / instructions",
            _IFEVAL,
            _followed,
            (RIGHT, INSTRUCTIONS),
            within=SHARE,
            proportion=True,
        )
        for how in ("strict", "loose")
    ),
    _measure(
        "binary-F1",
        "2 · hits / (2 · hits + false alarms + misses) over all samples, of the class 1",
        _LM_EVAL,
        _f,
        (HITS, FALSE_ALARMS, MISSES),
        within=SHARE,
        logged="f1",
    ),
    _measure(
        "mcc",
        "the correlation of truth and answer over all samples",
        f"{_LM_EVAL}; Matthews 1975",
        _mcc,
        CELLS,
        within=(-1.0, 1.0),
    ),
    *(
        _measure(
            name,
            f"e^(nats / {per})",
            _LM_EVAL,
            _perplexity(per),
            (NATS, BILLIONTHS, per),
            lower_is_better=True,
            within=None,
        )
        for name, per in (("perplexity", "samples"), ("word_perplexity", "words"), ("byte_perplexity", "bytes"))
    ),
    _measure(
        "bits_per_byte",
        "nats / bytes / ln 2",
        _LM_EVAL,
        _bits("bytes"),
        (NATS, BILLIONTHS, "bytes"),
        lower_is_better=True,
    ),
)
