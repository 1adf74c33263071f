"""Agreement as functions of sums: the same numbers as without sums, and standard errors compared with statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray
from sklearn.metrics import f1_score
from statsmodels.stats.inter_rater import cohens_kappa

from evalhouse.warehouse.filtering.agreement import (
    KAPPA,
    MISSING,
    F,
    agree,
    alpha_over,
    cells,
    coincidences,
    f_of_second,
    swap_annotators,
)
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.interval_kinds import INTERVALS, IntervalKind, IntervalPlan
from evalhouse.warehouse.significance.draws import Draws
from evalhouse.warehouse.significance.sums import Sums, Valuation
from tests.filtering.test_agreement import LABELS


def each(labels: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.arange(labels.shape[-1])


def both(of: Valuation, sums: NDArray[np.int64]) -> float | None:
    """The value of sums, which floating point and fractions agree on."""
    exact = of.exactly(tuple(int(number) for number in sums))
    [inexact] = of.values(sums[:, None].astype(np.float64))
    assert (exact is None) == bool(np.isnan(inexact))
    assert exact is None or float(exact) == pytest.approx(inexact, abs=1e-9)
    return None if exact is None else float(exact)


@settings(max_examples=100, deadline=None)
@given(labels=LABELS)
def test_sums_over_documents_give_what_all_labels_give(labels: NDArray[np.int64]) -> None:
    measured = agree(labels)
    for pair in measured.pairs:
        sums = cells(labels[pair.first], labels[pair.second], each(labels)).sum(axis=1)
        assert sums.tolist() == pair.confusion.ravel().tolist()
        assert both(KAPPA, sums) == (None if pair.kappa is None else pytest.approx(pair.kappa, abs=1e-12))
        assert both(F, sums) == f_of_second(pair.confusion)
        assert swap_annotators(sums).ravel().tolist() == pair.confusion.T.ravel().tolist()
    counts, one = coincidences(labels, each(labels))
    for scale, expected in (("nominal", measured.alpha_nominal), ("ordinal", measured.alpha_ordinal)):
        found = both(alpha_over(one, scale), counts.sum(axis=1))  # type: ignore[arg-type]
        assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_f_without_optional_labels_is_that_of_scikit_learn_either_way() -> None:
    draws = np.random.default_rng(5)
    key = draws.choice([0, 2], size=60)
    other = np.where(draws.random(60) < 0.7, key, 2 - key)
    [pair] = agree(np.stack((key, other))).pairs
    expected = f1_score(key == 2, other == 2)
    assert f_of_second(pair.confusion) == pytest.approx(expected, abs=1e-12)
    assert f_of_second(pair.confusion.T) == pytest.approx(expected, abs=1e-12)


def test_an_optional_label_is_half_a_yes_and_an_optional_document_is_credited() -> None:
    # One hit; an optional answer to a relevant document is half a hit and half a miss.
    assert f_of_second(np.array([[0, 0, 0], [0, 0, 0], [0, 1, 1]])) == pytest.approx(2 * 1.5 / (2 * 1.5 + 0.5))
    # An optional document that is answered no counts for nothing, one that is answered yes is a hit.
    assert f_of_second(np.array([[0, 0, 0], [3, 0, 0], [1, 0, 1]])) == pytest.approx(2 / 3)
    assert f_of_second(np.array([[0, 0, 0], [3, 0, 2], [1, 0, 1]])) == pytest.approx(6 / 7)
    assert f_of_second(np.array([[5, 0, 0], [3, 0, 0], [0, 0, 0]])) is None


@pytest.mark.parametrize("agreeing", [0.5, 0.9])
def test_the_standard_error_of_kappa_is_that_of_statsmodels(agreeing: float) -> None:
    draws = np.random.default_rng(7)
    first = draws.choice(3, size=80, p=[0.6, 0.1, 0.3])
    second = np.where(draws.random(80) < agreeing, first, draws.choice(3, size=80))
    counts = cells(first, second, each(first))
    limits = Bootstrap(Draws(2000)).values(Sums.of_counts(np.stack((counts, counts)), KAPPA))
    # Statsmodels has the asymptotic variance of Fleiss, Cohen and Everitt (1969).
    [pair] = agree(np.stack((first, second))).pairs
    assert limits.errors[0] == pytest.approx(cohens_kappa(pair.confusion).std_kappa, rel=1e-3)


def test_documents_that_share_a_unit_are_one() -> None:
    labels = np.array([[0, 2, 2, 0, 1], [0, 2, 0, MISSING, 1], [0, 2, 2, 2, MISSING]])
    unit = np.array([0, 0, 1, 1, 2])
    counts, one = coincidences(labels, unit)
    assert (counts.shape, one) == ((9, 3), 2)
    assert counts.sum() == one * (labels != MISSING).sum()
    assert cells(labels[0], labels[1], unit).sum(axis=0).tolist() == [2, 1, 1]


@pytest.mark.long
@pytest.mark.parametrize("kind", INTERVALS, ids=lambda kind: kind.name)
def test_documents_counted_by_kind_have_the_interval_of_documents_one_by_one(kind: IntervalKind) -> None:
    draws = np.random.default_rng(9)
    first = draws.choice(3, size=400, p=[0.6, 0.1, 0.3])
    second = np.where(draws.random(400) < 0.8, first, draws.choice(3, size=400))
    counts = cells(first, second, each(first))
    many, plan = Sums.of_counts(np.stack((counts, counts)), KAPPA), IntervalPlan(kind=kind)
    bootstrap = Bootstrap(Draws(20_000))
    one_by_one, by_kind = bootstrap.values(many, plan), bootstrap.of_kinds(many, plan)
    assert by_kind.errors[0] == pytest.approx(one_by_one.errors[0], rel=1e-9)
    # The limits differ by the chance of the resamples alone: by a twentieth of a standard error, give or take.
    assert by_kind.low[0] == pytest.approx(one_by_one.low[0], abs=0.2 * one_by_one.errors[0])
    assert by_kind.high[0] == pytest.approx(one_by_one.high[0], abs=0.2 * one_by_one.errors[0])
