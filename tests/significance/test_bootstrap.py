"""Bootstrap intervals and test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import ceil, sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from evalhouse.warehouse.significance.bootstrap import estimates
from evalhouse.warehouse.significance.bootstrap.bootstrap_t import BEYOND, Student
from evalhouse.warehouse.significance.bootstrap.confidence_intervals import Bootstrap
from evalhouse.warehouse.significance.bootstrap.interval_kinds import (
    INTERVALS,
    IntervalPlan,
    LimitSides,
    Simultaneous,
    find_interval,
)
from evalhouse.warehouse.significance.bootstrap.resamples import CHUNK, FOR_INTERVALS, resample_units
from evalhouse.warehouse.significance.bootstrap.shifted import bootstrap_test
from evalhouse.warehouse.significance.draws import Draws, Work
from evalhouse.warehouse.significance.sums import Sums
from tests.significance import brute

KINDS = [kind.name for kind in INTERVALS]


def example(systems: int = 2, documents: int = 60) -> Sums:
    return Sums.of_ratios(*brute.f(brute.muc_counts(np.random.default_rng(1), systems, documents)))


def plan(
    kind: str = "studentized", level: float = 0.05, bounds: LimitSides = "both", family: Simultaneous = "each"
) -> IntervalPlan:
    return IntervalPlan(level, find_interval(kind), bounds, family)


def interval(
    paired: Sums, asked: IntervalPlan, draws: Draws = FOR_INTERVALS, factor: float = 1.0
) -> tuple[float, float]:
    limits = Bootstrap(draws).differences(paired, [(0, 1)], asked, factor)
    return float(limits.low[0]), float(limits.high[0])


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Resamples are drawn also where Student's t would do."""
    monkeypatch.setattr(estimates, "near_student", lambda influences, *asked: np.zeros(len(influences), dtype=bool))


# --- oracles ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "method"), [("percentile", "percentile"), ("bca", "BCa")])
def test_intervals_agree_with_scipy(kind: str, method: str) -> None:
    """scipy.stats.bootstrap of the same statistic; the ends of 20,000 resamples are known to about 2% of the width."""
    many = example()

    def difference(index: np.ndarray, axis: int) -> np.ndarray:
        shares = many.numerators[:, index].sum(axis=axis) / many.denominators[:, index].sum(axis=axis)
        found: np.ndarray = shares[0] - shares[1]
        return found

    oracle = stats.bootstrap(
        (np.arange(many.units),), difference, n_resamples=20_000, method=method, vectorized=True, batch=500,
        rng=np.random.default_rng(2),
    ).confidence_interval  # fmt: skip
    low, high = interval(many.pair(0, 1), plan(kind), Draws(20_000))
    width = oracle.high - oracle.low
    assert low == pytest.approx(oracle.low, abs=0.04 * width)
    assert high == pytest.approx(oracle.high, abs=0.04 * width)


def by_definition(paired: Sums, draws: Draws) -> tuple[float, float, NDArray[np.float64]]:
    """The difference, its standard error, and t of each resample, in plain floating point: the residual of each unit
    from its system's value over the sum of the denominators is what the unit adds to that value."""
    columns = [paired.numerators[0], paired.denominators[0], paired.numerators[1], paired.denominators[1]]

    def of(counts: NDArray[np.float64]) -> tuple[float, float]:
        n_a, d_a, n_b, d_b = (float(counts @ column) for column in columns)
        a = (columns[0] - columns[1] * n_a / d_a) / d_a
        b = (columns[2] - columns[3] * n_b / d_b) / d_b
        return n_a / d_a - n_b / d_b, sqrt(float(counts @ (a - b) ** 2))

    observed, error = of(np.ones(paired.units))
    found = [of(row) for counts in resample_units(paired.units, draws) for row in counts]
    return observed, error, np.array([(value - observed) / spread for value, spread in found])


@pytest.mark.usefixtures("drawn")
@pytest.mark.parametrize("measure", [brute.f, brute.recall])
def test_a_studentized_interval_is_what_the_definition_says(measure: Callable[..., tuple[Any, Any]]) -> None:
    """Efron and Tibshirani 1993, section 12.5; symmetric as in Hall 1988, for unequal and for equal denominators."""
    draws = Draws(1000, 3, 4)
    paired = Sums.of_ratios(*measure(brute.muc_counts(np.random.default_rng(1), 2, 30))).pair(0, 1)
    observed, error, t = by_definition(paired, draws)
    student = sqrt(30 / 29) * stats.t.isf(0.025, 29)
    # Where denominators are equal, half of the least step that the difference can make.
    step = 0.5 / paired.denominators[0].sum() if measure is brute.recall else 0.0
    half = max(np.sort(np.abs(t))[ceil(0.95 * 1001) - 1], student) * error + step
    assert interval(paired, plan(), draws) == pytest.approx((observed - half, observed + half), rel=1e-5)
    one = sqrt(30 / 29) * stats.t.isf(0.05, 29)
    above, below = (max(np.sort(side)[ceil(0.95 * 1001) - 1], one) * error + step for side in (t, -t))
    low, none = interval(paired, plan(bounds="lower"), draws)
    assert (low, none != none) == (pytest.approx(observed - above, rel=1e-5), True)
    none, high = interval(paired, plan(bounds="upper"), draws)
    assert (high, none != none) == (pytest.approx(observed + below, rel=1e-5), True)


@pytest.mark.usefixtures("drawn")
def test_together_the_largest_deviation_of_all_pairs_counts() -> None:
    many, pairs, draws = example(4, 40), [(0, 1), (0, 2), (3, 1), (2, 3)], Draws(1000)
    of_pairs = [by_definition(many.pair(a, b), draws) for a, b in pairs]
    largest = np.abs(np.stack([t for _, _, t in of_pairs])).max(axis=0)
    quantile = np.sort(largest)[ceil(0.95 * 1001) - 1]
    found = Bootstrap(draws).differences(many, pairs, plan(family="together"))
    for place, (observed, error, _) in enumerate(of_pairs):
        expected = (observed - quantile * error, observed + quantile * error)
        assert (found.low[place], found.high[place]) == pytest.approx(expected, rel=1e-4)
    divided = Bootstrap(Draws(20_000)).differences(many, pairs, plan(family="divided"))
    alone = Bootstrap(Draws(20_000)).differences(many, pairs, plan(level=0.05 / 4))
    np.testing.assert_array_equal(divided.low, alone.low)


@pytest.mark.parametrize("kind", ["percentile", "bca"])
def test_together_the_others_are_wider_too(kind: str) -> None:
    many, pairs = example(5, 50), [(0, 1), (0, 2), (3, 1), (2, 4)]
    each, together, divided = (Bootstrap().differences(many, pairs, plan(kind, family=family))
                               for family in ("each", "together", "divided"))  # fmt: skip
    assert (together.low < each.low).all()
    assert (together.high > each.high).all()
    assert (divided.high - divided.low > 0.97 * (together.high - together.low)).all()


@pytest.mark.usefixtures("drawn")
def test_far_out_the_tail_of_student_goes_on() -> None:
    """Ten of 1,000 resamples must be beyond a limit; at a level of 1/1,000 a single one would be."""
    paired, draws = example().pair(0, 1), Draws(1000)
    observed, error, t = by_definition(paired, draws)
    student, near = Student(60, 59, True), BEYOND / 1001
    expected = np.sort(np.abs(t))[-BEYOND] * student.quantile(0.001) / student.quantile(near) * error
    low, high = interval(paired, plan(level=0.001), draws)
    assert high - observed == pytest.approx(max(expected, student.quantile(0.001) * error), rel=1e-5)
    assert low + high == pytest.approx(2 * observed)


# --- laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bounds", ["both", "lower", "upper"])
def test_a_pair_alone_has_the_interval_it_has_among_many_and_turned_around(kind: str, bounds: LimitSides) -> None:
    """To the last digit."""
    counts = brute.muc_counts(np.random.default_rng(3), 4, 50)
    draws, asked = Draws(700, 3, (1, 2)), plan(kind, bounds=bounds)
    pairs = [(0, 1), (2, 0), (3, 1)]
    for many, factor in ((Sums.of_ratios(*brute.recall(counts)), 0.5), (Sums.of_ratios(*brute.f(counts)), 2.0)):
        found = Bootstrap(draws).differences(many, pairs, asked, factor)
        for place, (a, b) in enumerate(pairs):
            limits = (float(found.low[place]), float(found.high[place]))
            np.testing.assert_array_equal(limits, interval(many.pair(a, b), asked, draws, factor))
            turned = interval(many.pair(b, a), asked.turned, draws, factor)
            np.testing.assert_array_equal(limits, (-turned[1], -turned[0]))


def test_a_factor_scales_and_a_negative_one_mirrors() -> None:
    paired = example().pair(0, 1)
    for kind in KINDS:
        low, high = interval(paired, plan(kind))
        assert low < high
        np.testing.assert_allclose(interval(paired, plan(kind), factor=-3.0), (-3 * high, -3 * low), rtol=1e-12)
        lower, _ = interval(paired, plan(kind, bounds="lower"), factor=-3.0)
        _, upper = interval(paired, plan(kind, bounds="upper"))
        assert lower == pytest.approx(-3 * upper)


@pytest.mark.parametrize("kind", KINDS)
def test_wider_for_a_higher_confidence(kind: str) -> None:
    paired = example().pair(0, 1)
    ends = [interval(paired, plan(kind, level)) for level in (0.5, 0.2, 0.05, 0.01, 0.001)]
    assert all(outer[0] < inner[0] and inner[1] < outer[1] for inner, outer in pairwise(ends))
    one_sided, _ = interval(paired, plan(kind, 0.05, "lower"))
    assert ends[2][0] < one_sided < ends[1][0]


@pytest.mark.usefixtures("drawn")
def test_results_depend_on_seed_and_stream_alone() -> None:
    paired = example().pair(0, 1)
    assert interval(paired, plan(), Draws(2000, 5, 1)) == interval(paired, plan(), Draws(2000, 5, 1))
    assert interval(paired, plan(), Draws(2000, 5, 1)) != interval(paired, plan(), Draws(2000, 5, 2))


# --- what has no interval ---------------------------------------------------------------------------------------------


def test_identical_systems_have_no_interval() -> None:
    """Resamples that are all alike do not say that the truth is 0."""
    paired = Sums.of_two([1, 2, 3], [4, 4, 4], [1, 2, 3], [4, 4, 4])
    for kind in ("percentile", "bca"):
        assert np.isnan(interval(paired, plan(kind))).all()
    limits = Bootstrap().differences(paired, [(0, 1)])
    assert (np.isnan(limits.low[0]), limits.errors[0], limits.undefined[0]) == (True, 0.0, 0)
    assert bootstrap_test(paired, Draws(200)).p == 1.0
    assert bootstrap_test(paired, Draws(200), sides="one-sided").p == 1.0


def test_resamples_without_a_value_are_left_out_and_counted() -> None:
    """One unit in four has a denominator: 0.75⁴ = 0.32 of the resamples have none, and in all others the difference is
    one half. What is left says nothing of its variance, so that there is no interval."""
    paired = Sums.of_two([4, 0, 0, 0], [4, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0])
    for kind in ("percentile", "bca"):
        limits = Bootstrap().differences(paired, [(0, 1)], plan(kind))
        assert (np.isnan(limits.low[0]), np.isnan(limits.high[0]), limits.resamples) == (True, True, 2000)
        assert limits.undefined[0] / 2000 == pytest.approx(0.75**4, abs=0.03)
    studentized = Bootstrap().differences(paired, [(0, 1)])
    assert np.isnan([studentized.low[0], studentized.high[0]]).all()


def test_precision_of_few_answers_is_not_taken_for_0() -> None:
    """A system that answers two documents of twenty, both rightly, against one of 40%: an eighth of the resamples have
    no answer of it. Counted as 0 they would put the lower limit below −40 points."""
    source = np.random.default_rng(4)
    over, under = np.zeros((2, 20), dtype=int), np.zeros((2, 20), dtype=int)
    over[0, :2] = under[0, :2] = 3
    under[1] = 5
    over[1] = source.binomial(5, 0.4, 20)
    limits = Bootstrap().differences(Sums.of_ratios(over, under), [(0, 1)], plan("percentile"))
    assert limits.low[0] > 0.3
    assert limits.undefined[0] / 2000 == pytest.approx(0.9**20, abs=0.03)
    studentized = Bootstrap().differences(Sums.of_ratios(over, under), [(0, 1)])
    assert np.isnan(studentized.low[0])
    assert studentized.undefined[0] == limits.undefined[0]


def test_where_few_units_differ_student_has_the_interval() -> None:
    """Two items of a hundred differ: a resample has neither of them with the probability 0.98¹⁰⁰ = 0.13."""
    right = np.ones((2, 100), dtype=int)
    right[1, :2] = 0
    many = Sums.of_ratios(right, np.ones_like(right))
    limits = Bootstrap().differences(many, [(0, 1)])
    error = sqrt(0.02 * 0.98 / 99)
    half = stats.t.isf(0.025, 99) * error + 0.005
    assert (limits.low[0], limits.high[0]) == pytest.approx((0.02 - half, 0.02 + half), rel=1e-5)
    assert limits.by_formula[0]
    assert limits.without_error[0] / 2000 == pytest.approx(0.98**100, abs=0.03)


def test_a_single_unit_has_no_studentized_interval() -> None:
    assert np.isnan(interval(Sums.of_two([2], [3], [1], [3]), plan())).all()


def test_what_is_no_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="level of an interval"):
        plan(level=1.0)
    with pytest.raises(KeyError):
        find_interval("basic")
    assert len(Bootstrap().differences(example(3), []).low) == 0


# --- many units -------------------------------------------------------------------------------------------------------


def items(units: int, shares: Sequence[float]) -> Sums:
    right = np.random.default_rng(4).random((len(shares), units)) < np.array(shares)[:, None]
    return Sums.of_ratios(right, np.ones((len(shares), units), dtype=int))


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("units", [3_000, 100_000])
def test_of_many_units_near_to_normal_the_interval_is_that_of_t(kind: str, units: int) -> None:
    many = items(units, (0.60, 0.61))
    difference = many.numerators[0] - many.numerators[1]
    margin = stats.t.isf(0.025, units - 1) * difference.std(ddof=1) / sqrt(units) + 0.5 / units * (kind == KINDS[0])
    expected = (difference.mean() - margin, difference.mean() + margin)
    exactly = kind == "studentized" or units > 20_000
    assert interval(many.pair(0, 1), plan(kind)) == pytest.approx(expected, abs=(1e-5 if exactly else 0.15) * margin)


@pytest.mark.parametrize("kind", KINDS)
def test_many_units_of_few_that_differ_are_drawn_by_their_kinds(kind: str) -> None:
    """Of 50,000 items forty are right for one system alone: their number in a resample is Poisson."""
    right = np.ones((2, 50_000), dtype=int)
    right[1, :40] = 0
    many = Sums.of_ratios(right, np.ones_like(right))
    low, high = (50_000 * limit for limit in interval(many.pair(0, 1), plan(kind)))
    if kind == "percentile":
        assert (low, high) == pytest.approx(stats.poisson.ppf((0.025, 0.975), 40), abs=1.5)
    assert 22 < low < 30 < 50 < high < 62


@pytest.mark.long
def test_no_few_units_that_decide_a_sum_are_ever_taken_for_normal() -> None:
    """One document of 30,000 weighs as much as all others: in a third of the resamples it is not there at all."""
    source = np.random.default_rng(9)
    over = source.integers(0, 1000, (2, 30_000))
    over[0, 17] = over.sum()
    under = np.full_like(over, over.max())
    low, _ = interval(Sums.of_ratios(over, under).pair(0, 1), plan("percentile"))
    observed = (over[0].sum() - over[1].sum()) / under[0].sum()
    assert low < 0.75 * observed


@pytest.mark.long
def test_resamples_and_student_agree_where_either_may_be_taken(request: pytest.FixtureRequest) -> None:
    """F of 2,000 documents, drawn unit by unit and not drawn at all."""
    counts = brute.muc_counts(np.random.default_rng(8), 3, 2_000)
    many, pairs = Sums.of_ratios(*brute.f(counts)), [(0, 1), (0, 2), (1, 2)]
    by_formula = Bootstrap(Draws(4000)).differences(many, pairs)
    together = Bootstrap(Draws(4000)).differences(many, pairs, plan(family="together"))
    assert by_formula.resamples == 0
    request.getfixturevalue("drawn")
    drawn = Bootstrap(Draws(4000)).differences(many, pairs)
    drawn_together = Bootstrap(Draws(4000)).differences(many, pairs, plan(family="together"))
    assert drawn.resamples == 4000
    np.testing.assert_allclose(drawn.errors, by_formula.errors, rtol=1e-6)
    np.testing.assert_allclose((drawn.high - drawn.low), (by_formula.high - by_formula.low), rtol=0.03)
    np.testing.assert_allclose(drawn_together.high - drawn_together.low, together.high - together.low, rtol=0.03)


# --- the test ---------------------------------------------------------------------------------------------------------


def test_the_test_agrees_with_t_where_that_is_right() -> None:
    source = np.random.default_rng(5)
    values = source.normal(0.15, 1, 400)
    fixed = np.round(1e6 * values).astype(int)
    ones = np.ones(400, dtype=int)
    paired = Sums.of_two(fixed, ones, 0 * fixed, ones)
    assert bootstrap_test(paired, Draws(5000)).p == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=0.25)
    one = bootstrap_test(paired, Draws(5000), sides="one-sided")
    assert one.p == pytest.approx(stats.ttest_1samp(values, 0, alternative="greater").pvalue, rel=0.35)
    assert (one.method, one.shuffles) == ("approximate", 5000)


@pytest.mark.parametrize("units", [25_000, 60_000])
def test_the_test_of_many_units_agrees_with_t_too(units: int) -> None:
    """Drawn as normal, or by kind where few units differ."""
    right = np.ones((2, units), dtype=int)
    right[1, :45] = 0
    right[0, 45:75] = 0
    for paired in (Sums.of_ratios(right, np.ones_like(right)).pair(0, 1), items(units, (0.600, 0.607)).pair(0, 1)):
        t = stats.ttest_1samp(paired.numerators[0] - paired.numerators[1], 0).pvalue
        found = bootstrap_test(paired, Draws(9999))
        assert found.p == pytest.approx(t, rel=0.1, abs=0.01)
        assert bootstrap_test(paired.pair(1, 0), Draws(9999)) == found


def test_a_resample_without_a_value_counts_as_one_that_differs_as_much() -> None:
    paired = Sums.of_two([4, 0, 0, 0], [4, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0])
    assert bootstrap_test(paired, Draws(2000)).p == pytest.approx(0.75**4, abs=0.03)


def test_progress_is_heard_of_every_chunk() -> None:
    seen: list[float] = []
    bootstrap_test(example().pair(0, 1), Draws(CHUNK + 1), work=Work(progress=seen.append))
    assert seen == [CHUNK / (CHUNK + 1), 1.0]
