"""PPI++ compared with ppi_py, by its own equations, and in cases where nothing can be corrected."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from evalhouse.warehouse.significance.prediction_powered import Corrected, correct_mean

PEOPLE = [0.1, 0.4, 0.9, 0.6, 0.3, 0.8, 0.5, 0.7]
JUDGE = [0.2, 0.5, 0.7, 0.6, 0.1, 0.9, 0.3, 0.8]
REST = [0.4, 0.9, 0.6, 0.2, 0.7, 0.5, 0.8, 0.3, 0.9, 0.6, 0.1, 0.7]

RECORDED = (0.4538440942765635, 0.665676305028992)
"""ppi_mean_ci(PEOPLE, JUDGE, REST, alpha=0.1) of ppi-python 0.2.3. `benchmarks/judges.py --beside-ppi-py` asks more."""


def given_to(people: list[float], judge: list[float], rest: list[float]) -> Corrected:
    """The mean of what people say of the first documents, and the judge of these and the rest."""
    labelled = np.arange(len(judge) + len(rest)) < len(people)
    said = np.concatenate((people, np.zeros(len(rest))))
    return correct_mean((said, labelled.astype(float)), (np.array([*judge, *rest]), np.ones(len(labelled))), labelled)


def test_the_value_and_its_limits_are_those_of_ppi_py() -> None:
    low, high = RECORDED
    found = given_to(PEOPLE, JUDGE, REST)
    assert found.value == pytest.approx((low + high) / 2, abs=1e-12)
    # Its variance of what the judge leaves is over n, and its quantile is that of the normal distribution.
    assert found.error is not None
    rest = found.weight**2 * np.var(REST) / len(REST)
    by_its_rules = sqrt((found.error**2 - rest) * (len(PEOPLE) - 2) / len(PEOPLE) + rest)
    assert stats.norm.ppf(0.95) * by_its_rules == pytest.approx((high - low) / 2, abs=1e-12)
    limits = found.limits(0.1)
    assert limits is not None
    assert limits[1] - limits[0] == pytest.approx(2 * stats.t.ppf(0.95, len(PEOPLE) - 2) * found.error, abs=1e-9)
    assert limits[1] - limits[0] > high - low


def test_a_judge_who_says_the_same_of_everything_corrects_nothing() -> None:
    found = given_to(PEOPLE, [0.5] * 8, [0.5] * 12)
    assert (found.weight, found.value) == (0.0, pytest.approx(np.mean(PEOPLE)))
    assert found.error == found.people_error == pytest.approx(stats.sem(PEOPLE), abs=1e-12)
    assert found.limits(0.05) == pytest.approx(stats.t.interval(0.95, 7, np.mean(PEOPLE), stats.sem(PEOPLE)), abs=1e-9)
    assert found.effective == pytest.approx(8)


def test_a_judge_who_is_always_right_makes_all_documents_count() -> None:
    found = given_to(JUDGE, JUDGE, REST)
    assert found.exact
    everything = np.array([*JUDGE, *REST])
    # λ is N / (n + N) but for the divisor of the covariance, and then the value is the mean of all.
    assert found.weight == pytest.approx(12 / 20 * np.cov(JUDGE, bias=True) / everything.var(ddof=1))
    assert found.value == pytest.approx(np.mean(JUDGE) + found.weight * (np.mean(REST) - np.mean(JUDGE)))


def test_few_documents_without_a_mistake_of_the_judge_give_no_interval() -> None:
    few, many = given_to(JUDGE, JUDGE, REST), given_to(JUDGE * 4, JUDGE * 4, REST)
    assert (few.unseen, few.limits(0.05), few.effective) == (True, None, None)
    assert (many.exact, many.unseen) == (True, False)
    assert many.limits(0.05) is not None


def test_a_judge_who_says_the_opposite_is_not_believed() -> None:
    found = given_to(PEOPLE, [1 - one for one in JUDGE], REST)
    assert (found.weight, found.value) == (0.0, pytest.approx(np.mean(PEOPLE)))
    assert found.unlimited < 0


def test_a_judge_in_a_smaller_unit_is_held_at_1() -> None:
    found = given_to(PEOPLE, [one / 10 for one in JUDGE], [one / 10 for one in REST])
    assert (found.weight, found.unlimited > 2) == (1.0, True)


def test_what_is_missing_gives_nothing() -> None:
    nobody = given_to([], [], REST)
    assert (nobody.value, nobody.error, nobody.labelled, nobody.judge) == (None, None, 0, pytest.approx(np.mean(REST)))
    one = given_to([0.5], [0.4], REST)
    assert (one.error, one.limits(0.05), one.effective) == (None, None, None)
    everything = given_to(PEOPLE, JUDGE, [])
    assert (everything.weight, everything.value) == (0.0, pytest.approx(np.mean(PEOPLE)))
    assert everything.error == pytest.approx(stats.sem(PEOPLE))


def test_a_ratio_without_a_denominator_is_undefined() -> None:
    nothing = np.zeros(6)
    labelled = np.arange(6) < 3
    found = correct_mean((nothing, nothing), (np.ones(6), np.ones(6)), labelled)
    assert (found.value, found.people, found.error) == (None, None, None)


@given(st.integers(0, 2**32))
def test_the_order_of_documents_and_clusters_of_one_change_nothing(seed: int) -> None:
    source = np.random.default_rng(seed)
    people, judge = source.random((2, 30)), source.random((2, 30)) + 0.1
    people[1] += 0.1
    labelled = np.arange(30) < 12
    plain = correct_mean((people[0], people[1]), (judge[0], judge[1]), labelled)
    order = source.permutation(30)
    turned = correct_mean((people[0][order], people[1][order]), (judge[0][order], judge[1][order]), labelled[order])
    assert numbers(turned) == pytest.approx(numbers(plain))
    apart = correct_mean((people[0], people[1]), (judge[0], judge[1]), labelled, order)
    # Of clusters λ has the variance of both parts by itself, so it differs a little.
    assert apart.people_error == pytest.approx(plain.people_error)
    assert apart.labelled == plain.labelled


def numbers(found: Corrected) -> list[float]:
    assert found.value is not None
    assert found.error is not None
    return [found.value, found.error, found.weight, found.effective or 0.0]


def test_documents_drawn_together_are_one() -> None:
    source = np.random.default_rng(4)
    people, judge = source.random((2, 40))
    labelled = np.arange(40) < 20
    ones: NDArray[np.float64] = np.ones(40)
    twice = np.repeat(np.arange(40), 2)
    plain = correct_mean((people, ones), (judge, ones), labelled, np.arange(40))
    doubled = correct_mean(
        (people[twice], ones[twice]), (judge[twice], ones[twice]), labelled[twice], twice.astype(np.intp)
    )
    assert numbers(doubled)[:3] == pytest.approx(numbers(plain)[:3])
    assert (doubled.degrees, doubled.labelled) == (plain.degrees, 40)


# === laws of the interval =============================================================================================


def drawn(seed: int, sigma: float, documents: int = 90) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values of people and judge with a long tail, the longer the larger `sigma`."""
    source = np.random.default_rng(seed)
    people = np.exp(sigma * source.normal(size=documents))
    return people, people * np.exp(0.4 * source.normal(size=documents))


def corrected(
    people: NDArray[np.float64],
    judge: NDArray[np.float64],
    labelled: NDArray[np.bool_],
    unit: NDArray[np.intp] | None = None,
) -> Corrected:
    ones = np.ones(len(people))
    return correct_mean((people, ones), (judge, ones), labelled, unit)


SEEDS, SIGMAS = st.integers(0, 2**32), st.sampled_from((0.2, 0.7, 1.5))


@given(SEEDS, SIGMAS, st.sampled_from((2.0**-9, 3.0, 1000.0)))
def test_values_times_a_factor_have_an_interval_times_this_factor(seed: int, sigma: float, factor: float) -> None:
    people, judge = drawn(seed, sigma)
    plain, times = (corrected(people * by, judge * by, np.arange(90) < 40) for by in (1.0, factor))
    assert plain.is_resampled(0.05) == times.is_resampled(0.05)
    limits = plain.limits(0.05)
    assert limits is not None
    assert times.limits(0.05) == pytest.approx([factor * limit for limit in limits], rel=1e-9)
    assert times.may_be_narrow == plain.may_be_narrow


@given(SEEDS, SIGMAS)
def test_a_judge_on_another_scale_changes_nothing_where_its_weight_is_not_capped(seed: int, sigma: float) -> None:
    people, judge = drawn(seed, sigma)
    labelled = np.arange(90) < 40
    plain, scaled = corrected(people, judge * 20, labelled), corrected(people, judge * 50 + 7, labelled)
    assume(0 < plain.unlimited < 1)
    assert scaled.value == pytest.approx(plain.value)
    assert scaled.limits(0.05) == pytest.approx(plain.limits(0.05), rel=1e-6)


@given(SEEDS, SIGMAS, st.booleans())
def test_the_order_of_documents_and_the_numbers_of_clusters_change_no_digit(
    seed: int, sigma: float, together: bool
) -> None:
    people, judge = drawn(seed, sigma)
    labelled = np.arange(90) < 45
    unit = np.arange(90) // 3 if together else None
    order = np.random.default_rng(seed + 1).permutation(90)
    named = np.random.default_rng(seed + 2).permutation(30)
    plain = corrected(people, judge, labelled, unit)
    turned = corrected(people[order], judge[order], labelled[order], None if unit is None else named[unit][order])
    assert (plain.value, plain.error, plain.weight, plain.limits(0.05), plain.shown) == (
        turned.value,
        turned.error,
        turned.weight,
        turned.limits(0.05),
        turned.shown,
    )


@given(SEEDS, SIGMAS)
def test_no_interval_is_narrower_than_that_of_student(seed: int, sigma: float) -> None:
    found = corrected(*drawn(seed, sigma), np.arange(90) < 40)
    assert found.value is not None
    assert found.error is not None
    half, limits = stats.t.ppf(0.975, found.degrees) * found.error, found.limits(0.05)
    assert limits is not None
    assert limits[0] <= found.value - half + 1e-9
    assert limits[1] >= found.value + half - 1e-9


@given(st.floats(-1e6, 1e6), SEEDS)
def test_without_variation_there_is_no_interval(value: float, seed: int) -> None:
    judge = np.random.default_rng(seed).random(90)
    assert corrected(np.full(90, value), np.full(90, value), np.arange(90) < 40).limits(0.05) is None
    assert corrected(np.full(90, 1.0), judge, np.arange(90) < 40).limits(0.05) is None


@pytest.mark.long
@given(SEEDS)
def test_a_long_tail_is_resampled_and_noted_and_a_symmetric_one_is_not(seed: int) -> None:
    people, judge = drawn(seed, 1.5, 300)
    long = corrected(people, judge, np.arange(300) < 100)
    assert long.is_resampled(0.05)
    assert long.may_be_narrow
    values = np.random.default_rng(seed).permuted(np.tile(np.linspace(-1, 1, 300), (2, 1)), axis=1)
    even = corrected(values[0], values[1], np.arange(300) < 100)
    assert not even.may_be_narrow


@pytest.mark.long
def test_intervals_of_a_long_tail_hold_the_value() -> None:
    """The mean of lognormal values, σ 1: Student's t holds it in 87 of 100, the bootstrap-t in 92 or more."""
    source, held, by_student = np.random.default_rng(12), 0, 0
    for _ in range(400):
        people = np.exp(source.normal(size=400))
        found = corrected(people, people * np.exp(0.3 * source.normal(size=400)), np.arange(400) < 60)
        limits = found.limits(0.05)
        assert limits is not None
        assert found.value is not None
        assert found.error is not None
        held += limits[0] <= np.exp(0.5) <= limits[1]
        by_student += abs(found.value - np.exp(0.5)) <= stats.t.ppf(0.975, found.degrees) * found.error
    assert held / 400 >= 0.91 > by_student / 400


@pytest.mark.long
def test_intervals_of_a_ratio_hold_it() -> None:
    """F of a system on 400 documents of which people labelled 60: 95 of 100 intervals hold it, give or take 2.5."""
    source, held = np.random.default_rng(11), 0
    for _ in range(1000):
        relevant = source.random(400) < 0.4
        decided = np.where(source.random(400) < 0.8, relevant, ~relevant)
        seen = np.where(source.random(400) < 0.9, relevant, ~relevant)
        sides = [(2.0 * (of & decided), of.astype(float) + decided) for of in (relevant, seen)]
        limits = correct_mean(sides[0], sides[1], np.arange(400) < 60).limits(0.05)
        assert limits is not None
        held += limits[0] <= 2 * 0.32 / (0.4 + 0.32 + 0.12) <= limits[1]
    assert 0.925 <= held / 1000 <= 0.975
