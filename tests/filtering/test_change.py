"""Change from one test set to another: what Lewis and Tong (1992, Analysis) report about their tables, and its laws."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from itertools import product
from statistics import mean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalhouse.warehouse.filtering.change import ChangeSummary, change_summary
from tests.filtering.printed import rows, values

SCORES = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), max_size=9)


def summary(measure: str, before: str, after: str, trim: int = 0) -> ChangeSummary:
    """The change of the printed values of a measure from one test set to another."""
    printed_before, printed_after = values(measure, before, after)
    return change_summary(printed_before, printed_after, trim)


def test_f_on_tst3_is_as_described() -> None:
    (found,) = values("F(beta=1)", "TST3")
    assert (min(found), max(found)) == (46, 92)
    assert round(mean(found)) == 80
    assert median(found) == 82


def test_f_from_tst3_to_tst4_is_as_described() -> None:
    found = summary("F(beta=1)", "TST3", "TST4")
    assert (found.systems, found.fell, found.rose, found.unchanged) == (17, 12, 5, 0)
    assert found.mean_fall == pytest.approx(-4.9, abs=0.05)
    assert found.mean == pytest.approx(-1.4, abs=0.05)
    printed = rows()
    assert printed["TST4", "allrel"]["F(beta=1)"].value - printed["TST3", "allrel"]["F(beta=1)"].value == Decimal(
        "-0.11"
    )


def test_8_of_the_11_systems_of_both_conferences_rose() -> None:
    found = summary("F(beta=1)", "TST2", "TST3")
    assert (found.systems, found.rose) == (11, 8)


def test_precision_fell_and_fallout_rose_by_table_2() -> None:
    """The text says 7.9 and 1.9, trimmed 8.0 and 1.0; the table gives 8.1 and 1.65, trimmed 8.3 and 1.3."""
    precision = summary("precision", "TST3", "TST4", trim=1)
    fallout = summary("fallout", "TST3", "TST4", trim=1)
    assert (precision.mean, precision.trimmed_mean) == (-138 / 17, -124 / 15)
    assert (fallout.mean, fallout.trimmed_mean) == (28 / 17, 20 / 15)


def test_a_summary_by_hand() -> None:
    found = change_summary([0.79, 0.5, 0.4, 0.1], [0.82, 0.4, 0.4, 0.8], trim=1)
    assert found == ChangeSummary(
        systems=4,
        mean=0.1575,
        trimmed_mean=0.015,
        trim=1,
        rose=2,
        fell=1,
        unchanged=1,
        mean_rise=0.365,
        mean_fall=-0.1,
        p_sign=1.0,
        # The sums of ±3, ±10, ±70 that reach 63: 83, 77, 63 and their opposites.
        p_randomization=6 / 8,
    )


def test_decimals_and_floats_of_the_same_face_are_the_same() -> None:
    before, after = [0.1, 0.7, 0.29], [0.3, 0.1, 0.3]
    printed_before, printed_after = ([Decimal(str(value)) for value in each] for each in (before, after))
    assert change_summary(before, after) == change_summary(printed_before, printed_after)


@given(SCORES, st.integers(0, 5))
def test_the_trimmed_mean_leaves_out_the_extremes(scores: list[tuple[int, int]], trim: int) -> None:
    found = change_summary([a for a, _ in scores], [b for _, b in scores], trim)
    kept = sorted(b - a for a, b in scores)[trim:]
    kept = kept[: len(kept) - trim] if len(kept) > trim else []
    assert found.trimmed_mean == (float(Fraction(sum(kept), len(kept))) if kept else None)


@given(SCORES)
def test_the_randomization_level_is_that_of_all_changes_of_sign(scores: list[tuple[int, int]]) -> None:
    differences = [b - a for a, b in scores]
    found = change_summary([a / 100 for a, _ in scores], [b / 100 for _, b in scores])
    sums = [
        abs(sum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in product((-1, 1), repeat=len(scores))
    ]
    extreme = sum(each >= abs(sum(differences)) for each in sums)
    assert found.p_randomization == pytest.approx(extreme / len(sums), rel=1e-12)


@given(SCORES)
def test_to_turn_the_direction_mirrors_the_summary(scores: list[tuple[int, int]]) -> None:
    there = change_summary([a for a, _ in scores], [b for _, b in scores], 1)
    back = change_summary([b for _, b in scores], [a for a, _ in scores], 1)
    assert (there.rose, there.fell, there.unchanged) == (back.fell, back.rose, back.unchanged)
    assert (there.p_sign, there.p_randomization) == (back.p_sign, back.p_randomization)
    assert (there.mean_rise is None) == (back.mean_fall is None)
    if there.mean is not None and back.mean is not None:
        assert there.mean == -back.mean


@settings(max_examples=30)
@given(st.lists(st.integers(1, 40), min_size=2, max_size=10))
def test_ties_of_values_with_many_digits_count_as_ties(thirds: list[int]) -> None:
    """Differences of k/30 have no finite decimals, but their sums tie as those of k do."""
    signs = np.resize([1, -1, 1], len(thirds))
    differences = [int(k * sign) for k, sign in zip(thirds, signs, strict=True)]
    whole = change_summary([0] * len(thirds), differences)
    broken = change_summary([0.0] * len(thirds), [difference / 30 for difference in differences])
    assert broken.p_randomization == pytest.approx(whole.p_randomization, rel=1e-12)


def test_many_systems_with_values_of_many_digits_have_no_randomization_level() -> None:
    rng = np.random.default_rng(1992)
    found = change_summary(rng.random(100).tolist(), rng.random(100).tolist())
    assert found.p_randomization is None
    assert 0 < found.p_sign <= 1
    printed = change_summary(np.round(rng.random(100), 2).tolist(), np.round(rng.random(100), 2).tolist())
    assert printed.p_randomization is not None


def test_without_systems_there_is_no_mean() -> None:
    found = change_summary([], [], trim=2)
    assert (found.systems, found.mean, found.trimmed_mean, found.mean_rise, found.mean_fall) == (0, *[None] * 4)
    assert (found.p_sign, found.p_randomization) == (1.0, 1.0)


def test_what_is_no_pair_of_values_is_refused() -> None:
    with pytest.raises(ValueError, match="2 values before and 1 after"):
        change_summary([0.1, 0.2], [0.1])
    with pytest.raises(ValueError, match="a value is nan"):
        change_summary([0.1], [float("nan")])
    with pytest.raises(ValueError, match="trim is -1"):
        change_summary([0.1], [0.2], trim=-1)
