"""Components of variance compared with lme4, statsmodels, a brute-force REML and the definitions of the standard
errors.
"""

from __future__ import annotations

import warnings
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import astuple
from scipy import optimize

from evalhouse.warehouse.significance import components as module
from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.components import Components, components

PLATES = """
272326232321 272326232321 252125242420 262325232320 252226222320 242225232219 242023212219 262226242421
242124222220 242124232219 262326242421 252226242420 262426242522 262326232320 262325242422 252225232320
252124232320 252224232319 242123212119 262326242421 252124222218 252225222220 242124222419 242124222118
"""
"""Diameters of zones around six samples of penicillin, two digits each, on each of 24 plates (Davies and Goldsmith
1972, section 6.6; the data Penicillin of lme4)."""


def penicillin() -> Floats:
    """Shape (samples, plates)."""
    return np.array([[int(plate[at : at + 2]) for plate in PLATES.split()] for at in range(0, 12, 2)], dtype=np.float64)


def everywhere(values: Floats) -> Booleans:
    return np.ones(values.shape, dtype=np.bool_)


def found(values: Floats, present: Booleans | None = None) -> Components:
    result = components(values, everywhere(values) if present is None else present)
    assert result is not None
    return result


def test_penicillin_as_lme4_has_it() -> None:
    """lme4 2.0.1 gives `diameter ~ 1 + (1 | plate) + (1 | sample)` the standard deviations 0.84670, 1.93161 and 0.54992
    and the standard error 0.8085954, as far as its optimizer goes; MixedModels.jl tests for 0.8467057, 1.9315556,
    0.5499230 and 0.8085723 with a tolerance of 1e-6."""
    of = found(penicillin())
    deviations = [sqrt(variance) for variance in (of.document, of.replicate, of.residual)]
    assert deviations == pytest.approx([0.84670, 1.93161, 0.54992], abs=6e-5)
    assert deviations == pytest.approx([0.8467057, 1.9315556, 0.5499230], abs=4e-6)
    assert of.error == pytest.approx(0.8085954, abs=3e-5)
    assert of.error == pytest.approx(0.8085723, abs=2e-6)


def dense(values: Floats, present: Booleans) -> tuple[float, float, float]:
    """The three variances that maximize the restricted likelihood, with all matrices written out."""
    replicate, document = np.nonzero(present)
    y, size = values[present], int(present.sum())
    same = [(of[:, None] == of[None, :]).astype(float) for of in (document, replicate)]

    def criterion(logarithms: Floats) -> float:
        of_document, of_replicate, residual = np.exp(logarithms)
        covariance = of_document * same[0] + of_replicate * same[1] + residual * np.eye(size)
        inverse, ones = np.linalg.inv(covariance), np.ones(size)
        information = ones @ inverse @ ones
        left = y - (ones @ inverse @ y) / information
        return float(np.linalg.slogdet(covariance)[1] + np.log(information) + left @ inverse @ left)

    starts = [[0.0, 0.0, 0.0], [-3.0, 0.0, 0.0], [0.0, -3.0, 0.0], [-6.0, -6.0, 0.0]]
    shift = np.log(y.var())
    bounds = [(shift - 25, shift + 5)] * 3
    options = {"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000, "maxfev": 4000}
    fits = [
        optimize.minimize(criterion, np.array(start) + shift, method="Nelder-Mead", bounds=bounds, options=options)
        for start in starts
    ]
    best = min(fits, key=lambda fit: fit.fun)
    a, b, c = np.exp(best.x)
    return float(a), float(b), float(c)


def crossed(
    seed: int, replicates: int, documents: int, deviations: tuple[float, float, float], holes: float
) -> tuple[Floats, Booleans]:
    source = np.random.default_rng(seed)
    values = (
        3
        + deviations[0] * source.normal(size=documents)
        + deviations[1] * source.normal(size=(replicates, 1))
        + deviations[2] * source.normal(size=(replicates, documents))
    )
    present = source.random((replicates, documents)) >= holes
    present[0, ~present.any(axis=0)] = True
    return values, present


CASES = [
    (1, 4, 12, (1.0, 1.0, 1.0), 0.3),
    (2, 3, 15, (1.0, 0.2, 0.5), 0.2),
    (3, 5, 10, (0.0, 1.0, 1.0), 0.3),
    (4, 5, 10, (1.0, 0.0, 1.0), 0.5),
    (5, 6, 8, (0.0, 0.0, 1.0), 0.4),
    (6, 2, 14, (2.0, 0.5, 0.3), 0.2),
]


@pytest.mark.parametrize(("seed", "replicates", "documents", "deviations", "holes"), CASES)
def test_with_holes_as_brute_force_finds_it(
    seed: int, replicates: int, documents: int, deviations: tuple[float, float, float], holes: float
) -> None:
    values, present = crossed(seed, replicates, documents, deviations, holes)
    of, expected = found(values, present), dense(values, present)
    assert (of.document, of.replicate, of.residual) == pytest.approx(expected, rel=1e-4, abs=2e-6)


def test_with_holes_as_statsmodels_finds_it() -> None:
    """One group of all cells, with documents and replicates as variance components."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pandas as pd
        from statsmodels.regression.mixed_linear_model import MixedLM

        values, present = crossed(1, 4, 12, (1.0, 1.0, 1.0), 0.3)
        replicate, document = np.nonzero(present)
        frame = pd.DataFrame({"y": values[present], "document": document, "replicate": replicate, "all": 1})
        parts = {"document": "0 + C(document)", "replicate": "0 + C(replicate)"}
        fit = MixedLM.from_formula("y ~ 1", frame, groups="all", vc_formula=parts).fit(reml=True)
    of = found(values, present)
    by_name = dict(zip(fit.model.exog_vc.names, fit.vcomp, strict=True))
    assert of.document == pytest.approx(by_name["document"], rel=1e-3)
    assert of.replicate == pytest.approx(by_name["replicate"], rel=1e-3)
    assert of.residual == pytest.approx(fit.scale, rel=1e-3)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10**6),
    st.integers(2, 5),
    st.integers(2, 12),
    st.sampled_from([(1.0, 1.0, 1.0), (0.0, 1.0, 1.0), (1.0, 0.0, 1.0), (0.0, 0.0, 1.0), (3.0, 0.1, 1.0)]),
)
def test_mean_squares_give_what_the_likelihood_does(
    seed: int, replicates: int, documents: int, deviations: tuple[float, float, float]
) -> None:
    """The closed form, with variances of 0 where they would be negative, is the minimum of the criterion."""
    values, present = crossed(seed, replicates, documents, deviations, 0.0)
    of = found(values, present)
    centred = values - values.mean()
    assert (of.document, of.replicate, of.residual) == pytest.approx(
        module._unbalanced_variances(centred, present), rel=1e-8, abs=1e-9 * float((centred**2).mean())
    )


def variance_of_mean(weights: Floats, of: Components) -> float:
    """The variance of a weighted sum of the cells by its definition; weights are of shape (replicates, documents)."""
    return float(
        of.document * (weights.sum(axis=0) ** 2).sum()
        + of.replicate * (weights.sum(axis=1) ** 2).sum()
        + of.residual * (weights**2).sum()
    )


@pytest.mark.parametrize("holes", [0.0, 0.3])
def test_standard_errors_are_those_of_the_mean_over_documents(holes: float) -> None:
    """Each document counts alike, with the mean over its replicates; a document more has them all, and each document
    has the replicate more."""
    values, present = crossed(7, 4, 9, (1.0, 0.5, 1.0), holes)
    of = found(values, present)

    def error(there: Booleans) -> float:
        return sqrt(variance_of_mean(there / there.sum(axis=0) / there.shape[1], of))

    with_document = np.hstack((present, np.ones((4, 1), dtype=np.bool_)))
    with_replicate = np.vstack((present, np.ones((1, 9), dtype=np.bool_)))
    assert astuple(of)[3:] == pytest.approx([error(present), error(with_document), error(with_replicate)])


def test_on_average_the_standard_error_is_that_of_means_that_are_drawn_again() -> None:
    """Over 2,000 tables of four replicates and 25 documents: the mean square within 5%, and the mean of many tables."""
    tables = [crossed(seed, 4, 25, (1.0, 0.5, 1.0), 0.0)[0] for seed in range(2000)]
    squares = np.array([found(table).error ** 2 for table in tables])
    drawn = np.array([table.mean() for table in tables])
    assert squares.mean() == pytest.approx(1 / 25 + 0.25 / 4 + 1 / 100, rel=0.05)
    assert drawn.var() == pytest.approx(squares.mean(), rel=0.15)


def test_unit_and_shift_do_not_matter() -> None:
    values, present = crossed(8, 4, 10, (1.0, 0.5, 1.0), 0.3)
    of, moved = found(values, present), found(1e6 + 100 * values, present)
    assert np.array(astuple(moved)) == pytest.approx(np.array(astuple(of)) * np.array([1e4] * 3 + [100] * 3), rel=1e-4)


def test_what_does_not_vary() -> None:
    same = np.full((3, 5), 0.7)
    assert astuple(found(same)) == (0,) * 6
    by_document = np.tile(np.array([0.0, 1.0, 1.0, 0.0, 1.0]), (3, 1))
    holes = everywhere(by_document)
    holes[1, 2] = False
    for present in (everywhere(by_document), holes):
        of = found(by_document, present)
        assert of.document == pytest.approx(0.3, rel=1e-3)
        assert (of.replicate, of.residual) == pytest.approx((0, 0), abs=1e-7)


def test_what_cannot_be_told_apart() -> None:
    values = np.arange(12, dtype=np.float64).reshape(3, 4)
    folds = np.arange(3)[:, None] == np.arange(4) % 3
    assert components(values, folds) is None
    assert components(values[:1], everywhere(values[:1])) is None
    assert components(values[:, :1], everywhere(values[:, :1])) is None
    joined = folds.copy()
    joined[0] = True
    assert components(values, joined) is None
    joined[1, :2] = True
    assert components(values, joined) is not None
