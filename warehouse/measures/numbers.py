"""The measures of numbers that systems predict beside the true ones: correlations and errors.

Pearson's correlation, the root of the mean squared error and R² are functions of sums over documents, the mean absolute
error is a mean, and Spearman's and Kendall's correlations are of the ranks of all documents together. This module
describes them as data and computes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from msgspec.structs import replace

from evalhouse.warehouse.measures.forms import (
    MOMENTS,
    Call,
    Constant,
    Count,
    Expression,
    Function,
    MeanDistance,
    OfMoments,
    OfNumbers,
    OfRanks,
    Operation,
)
from evalhouse.warehouse.measures.measure import Measure, Parameter

TRUTH, PREDICTION = COLUMNS = ("truth", "prediction")
"""What is stored of a document."""

CORRELATION = (-1.0, 1.0)
"""The range of a correlation."""


N, X, Y, XX, YY, XY, EE = MOMENTS


def _times(a: Expression, b: Expression) -> Expression:
    return Operation(a, "*", b)


def _scatter(both: str, one: str, other: str) -> Expression:
    """n·Σxy − Σx·Σy."""
    return Operation(_times(Count(N), Count(both)), "-", _times(Count(one), Count(other)))


STANDARDIZED = Parameter(
    "standardized",
    "no",
    "whether an exchange takes predictions as z-scores, each system's less their mean and over their standard "
    "deviation; that changes no value, only what two systems' exchanges mix",
    ("no", "yes"),
    also={"standardized": {"true": "yes", "false": "no"}},
)
"""How the predictions of systems on different scales are made comparable before they are exchanged."""


def _measure(name: str, meaning: str, source: str, of: OfNumbers, **more: object) -> Measure:
    formula: Callable[..., OfNumbers] = lambda: of  # noqa: E731
    return Measure(name, "numbers", meaning, source, formula, **more)  # type: ignore[arg-type]


def _correlation(name: str, meaning: str, source: str, of: OfNumbers, also: tuple[str, ...]) -> Measure:
    formula: Callable[..., OfNumbers] = lambda standardized: replace(of, standardized=standardized == "yes")  # noqa: E731
    return Measure(name, "numbers", meaning, source, formula, (STANDARDIZED,), within=CORRELATION, also=also)


NUMBERS = (
    _correlation(
        "pearson",
        "Σ (x − x̄)(y − ȳ) / √(Σ (x − x̄)² · Σ (y − ȳ)²)",
        "Pearson 1895; scipy.stats.pearsonr",
        OfMoments(
            Function(
                Operation(_scatter(XY, X, Y), "/", Call("sqrt", (_times(_scatter(XX, X, X), _scatter(YY, Y, Y)),)))
            )
        ),
        also=("pearsonr", "pearson_r"),
    ),
    _correlation(
        "spearman",
        "Pearson's correlation of the ranks; equal numbers share their mean rank",
        "Spearman 1904; scipy.stats.spearmanr",
        OfRanks(by_pairs=False),
        also=("spearmanr", "spearman_rho"),
    ),
    _correlation(
        "kendall",
        "(concordant − discordant) / √(pairs that x orders · pairs that y orders), tau-b",
        "Kendall 1945; scipy.stats.kendalltau",
        OfRanks(by_pairs=True),
        also=("kendalltau", "kendall_tau"),
    ),
    _measure(
        "rmse",
        "√(Σ (y − x)² / n)",
        "scikit-learn root_mean_squared_error",
        OfMoments(Function(Call("sqrt", (Operation(Count(EE), "/", Count(N)),)))),
        lower_is_better=True,
        also=("root_mean_squared_error",),
    ),
    _measure(
        "mae",
        "Σ |y − x| / n",
        "scikit-learn mean_absolute_error",
        MeanDistance(),
        lower_is_better=True,
        steady=True,
        also=("mean_absolute_error",),
    ),
    _measure(
        "r2",
        "1 − Σ (y − x)² / Σ (x − x̄)²",
        "scikit-learn r2_score",
        OfMoments(
            Function(
                Operation(
                    Constant(Fraction(1)),
                    "-",
                    Operation(_times(Count(N), Count(EE)), "/", _scatter(XX, X, X)),
                )
            )
        ),
        also=("r2_score",),
    ),
)
"""In display order; x are the true numbers, y the predictions."""
