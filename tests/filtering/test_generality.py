"""Generality, guessing and projection: the laws of Lewis and Tong (1992) and the numbers they print."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.filtering.generality import (
    Generalities,
    Guess,
    KeyCounts,
    expected_cells,
    expected_value,
    generalities,
    guess,
)
from evalhouse.warehouse.measures import Ratio, find_measure, settle
from evalhouse.warehouse.measures.filtering import COLUMNS
from tests.filtering.printed import keys, rows

COUNTS = st.integers(0, 500)
KEYS = st.builds(KeyCounts, COUNTS, COUNTS, COUNTS)
SHARES = st.fractions(0, 1, max_denominator=1000)
PROPORTIONS = st.floats(0, 1)
POSITIVE = st.floats(1e-6, 1)


# --- generality -------------------------------------------------------------------------------------------------------


def test_generalities_by_hand() -> None:
    assert generalities(KeyCounts(65, 4, 31)) == Generalities(judged=65 / 96, strict=0.65, generality=0.69)


def test_printed_generalities_are_those_of_the_keys_but_for_tst4() -> None:
    found = {test_set: generalities(key).generality for test_set, key in keys().items()}
    assert found == {"TST2": 0.66, "TST3": 0.69, "TST4": 0.57}
    for test_set, printed in {"TST2": "0.66", "TST3": "0.69", "TST4": "0.55"}.items():
        assert rows()[test_set, "allrel"]["precision"].value == Decimal(printed)


def test_generality_is_undefined_without_documents() -> None:
    assert generalities(KeyCounts(0, 0, 0)) == Generalities(None, None, None)
    assert generalities(KeyCounts(0, 3, 0)) == Generalities(judged=None, strict=0.0, generality=1.0)


def test_negative_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="65 relevant, -4 optional and 31 nonrelevant"):
        KeyCounts(65, -4, 31)


@given(KEYS)
def test_the_three_generalities_agree_where_nothing_is_optional(key: KeyCounts) -> None:
    found = generalities(KeyCounts(key.relevant, 0, key.nonrelevant))
    assert found.judged == found.strict == found.generality


# --- guessing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "recall", "precision", "fallout"), [("0.70", 0.71, 0.69, 0.67), ("0.25", 0.26, 0.69, 0.23)]
)
def test_guessing_on_tst3_is_as_printed(share: str, recall: float, precision: float, fallout: float) -> None:
    found = guess(KeyCounts(65, 4, 31), Decimal(share))
    assert found.recall == pytest.approx(recall, abs=0.005)
    assert found.precision == pytest.approx(precision, abs=0.005)
    assert found.fallout == pytest.approx(fallout, abs=0.005)


@given(KEYS, SHARES)
def test_guessing_is_the_measures_on_the_expected_cells(key: KeyCounts, share: Fraction) -> None:
    found = guess(key, share)
    for name in ("recall", "precision", "fallout"):
        measure = find_measure(name, "filtering")
        assert measure is not None
        ratio = settle(measure, {}).computation
        assert isinstance(ratio, Ratio)
        assert expected_value(ratio, key, share) == getattr(found, name)


@given(KEYS, SHARES.filter(bool))
def test_the_precision_of_guessing_is_generality(key: KeyCounts, share: Fraction) -> None:
    assert guess(key, share).precision == generalities(key).generality


@given(KEYS, SHARES)
def test_expected_cells_hold_all_documents(key: KeyCounts, share: Fraction) -> None:
    cells = expected_cells(key, share)
    assert set(cells) == set(COLUMNS)
    assert cells["a"] + cells["c"] == key.relevant
    assert cells["b"] + cells["d"] == key.nonrelevant
    assert cells["x"] + cells["y"] == key.optional
    assert cells["a"] + cells["b"] + cells["x"] == share * key.documents


def test_allrel_judges_every_document_relevant_and_a_share_of_0_none() -> None:
    key = KeyCounts(65, 4, 31)
    assert guess(key, 1) == Guess(recall=1.0, precision=0.69, fallout=1.0)
    assert guess(key, 0) == Guess(recall=0.0, precision=None, fallout=0.0)
    assert guess(KeyCounts(0, 4, 0), 1) == Guess(recall=1.0, precision=1.0, fallout=None)


def test_a_share_is_a_proportion() -> None:
    with pytest.raises(ValueError, match=r"is 1\.2 and must be between 0 and 1"):
        guess(KeyCounts(1, 1, 1), Decimal("1.2"))
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        expected_cells(KeyCounts(1, 1, 1), -1)
