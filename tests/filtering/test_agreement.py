"""Agreement of annotators, compared with scikit-learn and the krippendorff package, and by hand."""

from __future__ import annotations

import warnings

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score, confusion_matrix

from evalhouse.warehouse.filtering.agreement import LEVELS, MISSING, agree, alpha, kappa

LABELS = st.tuples(st.integers(1, 5), st.integers(1, 30)).flatmap(
    lambda shape: arrays(np.int64, shape, elements=st.sampled_from([MISSING, 0, 0, 1, 2, 2]))
)

KRIPPENDORFF_2011 = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, 0, 0, 0],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, 0, 3],
        [0, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, 0],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, 0],
    ]
)
"""Four observers, twelve units and five values, 0 where missing (Krippendorff 2011, part C)."""


@pytest.mark.parametrize(("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815)])
def test_alpha_of_krippendorffs_example(scale: str, expected: float) -> None:
    assert alpha(KRIPPENDORFF_2011 - 1, scale, levels=5) == pytest.approx(expected, abs=0.0005)  # type: ignore[arg-type]


@settings(max_examples=200, deadline=None)
@given(labels=LABELS, scale=st.sampled_from(["nominal", "ordinal"]))
def test_alpha_is_that_of_the_krippendorff_package(labels: NDArray[np.int64], scale: str) -> None:
    ours = alpha(labels, scale)  # type: ignore[arg-type]
    together = labels[:, (labels != MISSING).sum(axis=0) > 1]
    if len(np.unique(together[together != MISSING])) < 2:
        assert ours is None
        return
    peer = krippendorff.alpha(
        reliability_data=np.where(labels == MISSING, np.nan, labels),
        value_domain=[0, 1, 2],
        level_of_measurement=scale,  # type: ignore[arg-type]
    )
    assert ours == pytest.approx(peer, abs=1e-12)


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(labels=LABELS.filter(lambda labels: len(labels) > 1))
def test_pairs_are_those_of_scikit_learn(labels: NDArray[np.int64]) -> None:
    for pair in agree(labels).pairs:
        both = (labels[pair.first] != MISSING) & (labels[pair.second] != MISSING)
        first, second = labels[pair.first, both], labels[pair.second, both]
        assert pair.documents == len(first)
        if not len(first):
            assert (pair.agreement, pair.kappa) == (None, None)
            continue
        assert pair.agreement == pytest.approx((first == second).mean())
        np.testing.assert_array_equal(pair.confusion, confusion_matrix(first, second, labels=[0, 1, 2]))
        if len({*first, *second}) == 1:
            assert pair.kappa is None
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            peer = cohen_kappa_score(first, second, labels=[0, 1, 2])
        assert pair.kappa == pytest.approx(peer, abs=1e-12)


def test_kappa_by_hand() -> None:
    # Agreement 35 of 50; by chance ½ · 0.6 + ½ · 0.4 = ½.
    assert kappa([[20, 5], [10, 15]]) == pytest.approx(0.4)
    assert kappa([[7, 0], [0, 0]]) is None
    assert kappa([[0, 0], [0, 0]]) is None


def test_full_agreement_is_1_and_every_pair_is_there_once() -> None:
    found = agree([[0, 1, 2, 2], [0, 1, 2, MISSING], [0, MISSING, 2, 2]])
    assert [(pair.first, pair.second, pair.documents) for pair in found.pairs] == [(0, 1, 3), (0, 2, 3), (1, 2, 2)]
    assert {pair.kappa for pair in found.pairs} == {pair.agreement for pair in found.pairs} == {1.0}
    assert (found.annotators, found.alpha_nominal, found.alpha_ordinal) == (3, 1.0, 1.0)


@given(LABELS, st.integers(0, 2**32))
def test_the_order_of_annotators_and_documents_is_nothing_to_alpha(labels: NDArray[np.int64], seed: int) -> None:
    rows, columns = (np.random.default_rng(seed).permutation(size) for size in labels.shape)
    assert alpha(labels[rows][:, columns], "ordinal") == alpha(labels, "ordinal")


def test_far_labels_cost_more_than_near_ones_on_the_ordinal_scale_only() -> None:
    rest = [0, 0, 1, 1, 2, 2]
    near, far = ([[*rest, 0, 1], [*rest, 1, 2]], [[*rest, 0, 1], [*rest, 2, 1]])
    assert alpha(near, "nominal") is not None
    ordinal_near, ordinal_far = alpha(near, "ordinal"), alpha(far, "ordinal")
    assert ordinal_near is not None
    assert ordinal_far is not None
    assert ordinal_near > ordinal_far


def test_one_annotator_agrees_with_nobody() -> None:
    found = agree([[0, 1, 2]])
    assert (found.annotators, found.pairs, found.alpha_nominal, found.alpha_ordinal) == (1, (), None, None)


def test_the_levels_are_in_order() -> None:
    assert LEVELS == ("nonrelevant", "optional", "relevant")


def test_what_are_no_labels_is_refused() -> None:
    with pytest.raises(ValueError, match="have 1 dimensions and need 2"):
        agree([0, 1, 2])
    with pytest.raises(ValueError, match="labels hold float64"):
        agree([[0.0, 1.0]])
    with pytest.raises(ValueError, match="go from 0 to 3 and must go from 0 to 2"):
        agree([[0, 3]])
    with pytest.raises(ValueError, match="go from -2 to 1"):
        agree([[-2, 1]])
