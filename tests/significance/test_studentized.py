"""The studentized exchange: compared with its definition in fractions on the same random draws and over all exchanges,
with Student's t, and by its laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from math import inf, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from evalhouse.warehouse.comparing.sums import average_of
from evalhouse.warehouse.significance import multiple
from evalhouse.warehouse.significance.draws import Draws, Sides, Work
from evalhouse.warehouse.significance.shuffles import coins
from evalhouse.warehouse.significance.shuffles.all_pairs import all_pairs_test
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from evalhouse.warehouse.significance.shuffles.studentized import (
    all_pairs_studentized,
    studentized_family,
    studentized_test,
)
from evalhouse.warehouse.significance.standardized import Evidence, function_pair
from evalhouse.warehouse.significance.sums import Sums, Valuation
from tests.significance import brute
from tests.significance.test_functional import MATTHEWS, correlated, decisions
from tests.significance.test_randomization import BOTH_SIDES, coins_of

Unit = tuple[int, int, int, int]
"""N and D of the first system, and of the second."""


def squared_t(units: list[Unit]) -> Fraction | None:
    """t² with the sign of t, from the influence of each unit; None where there is none."""
    n_a, d_a, n_b, d_b = (sum(unit[place] for unit in units) for place in range(4))
    if not d_a or not d_b:
        return None
    ratio = Fraction(n_a + n_b, d_a + d_b)
    z = [(n1 - ratio * d1) / d_a - (n2 - ratio * d2) / d_b for n1, d1, n2, d2 in units]
    difference, variance = sum(z, Fraction(0)), sum((part * part for part in z), Fraction(0))
    assert difference == Fraction(n_a, d_a) - Fraction(n_b, d_b)
    return difference * abs(difference) / variance if variance else None


def most_of_usual(units: list[Unit]) -> float:
    """What t² counts as at most where the denominators differ and a system has the same value on all its k units, or 0
    on all but a fourth and eight: the square of the normal quantile of the probability that so few of its units are
    beside that value on the other system's side, though it is as good, and no unit is further from that value.
    """
    most = inf
    apart = Fraction(sum(abs(unit[1] - unit[3]) for unit in units), sum(unit[1] + unit[3] for unit in units))
    for own, other in ((0, 2), (2, 0)):
        values = [Fraction(unit[own], unit[own + 1]) for unit in units if unit[own + 1]]
        alike = len(set(values)) == 1 and not any(unit[own] for unit in units if not unit[own + 1])
        value = values[0] if alike else Fraction(0)
        beside = [unit[own] - value * unit[own + 1] for unit in units]
        unlike = sum(map(bool, beside))
        if unlike > min(8, len(values) // 4) or apart <= (0.05 if unlike else 0):
            continue
        beyond = [unit[other] - value * unit[other + 1] for unit in units]
        under = sum(unit[own + 1] for unit in units)
        far, near = Fraction(sum(beyond), sum(unit[other + 1] for unit in units)), Fraction(sum(beside), under)
        if not any(beside + beyond) or (near * far > 0 and abs(near) >= abs(far)):
            continue
        share = abs(far) * Fraction(under, len(values)) / max(map(abs, beside + beyond))
        if value == 0 and all(0 <= unit[k] <= unit[k + 1] for unit in units for k in (0, 2)):
            empty = [unit[own + 1] for unit in units if unit[own + 1] and not unit[own]]
            full = [unit[other + 1] for unit in units if unit[other + 1]]
            without, answered = Fraction(sum(empty), len(empty)), Fraction(sum(full), len(full))
            share = far * without / (far * without + (1 - far) * max(without, answered))
        there = sum(one * (1 if far > 0 else -1) > 0 for one in beside)
        if chance := stats.binom.cdf(there, len(values), float(min(share, Fraction(1)))):
            most = min(most, max(0.0, stats.norm.isf(chance)) ** 2)
    return most


def units_of(paired: Sums) -> list[Unit]:
    columns = (paired.numerators[0], paired.denominators[0], paired.numerators[1], paired.denominators[1])
    return list(zip(*(column.tolist() for column in columns), strict=True))


def extreme(
    units: list[Unit],
    exchanges: Iterator[tuple[bool, ...]],
    sides: Sides,
    squared: Callable[[list[Unit]], Fraction | None] = squared_t,
    tie: Fraction = Fraction(0),
) -> int:
    """How many of the exchanges have a t² at least as large as what was observed, or smaller by no more than a share of
    `tie`, or than a millionth of that where t² is nearly 0; all that have none.
    """
    observed = squared(units) or Fraction(0)
    if squared is squared_t and abs(observed) > (most := most_of_usual(units)):
        observed = Fraction(most) * (1 if observed > 0 else -1)
    if sides == "two-sided":
        observed = abs(observed)
    observed -= max(abs(observed), Fraction(1, 10**6)) * tie
    count = 0
    for exchange in exchanges:
        exchanged = [(*unit[2:], *unit[:2]) if changed else unit for unit, changed in zip(units, exchange, strict=True)]
        square = squared(exchanged)
        if square is None:
            count += 1
        elif sides == "two-sided":
            count += abs(square) >= observed
        else:
            count += square >= observed
    return count


@pytest.mark.long
@pytest.mark.parametrize("kind", [brute.ANY_COUNTS, brute.EQUAL_DENOMINATORS])
@pytest.mark.parametrize("scale", [1, 3, 10**9, 10**15])
def test_every_shuffle_is_counted_as_defined(scale: int, kind: str) -> None:
    """On the documented coins nge equals the count in fractions, for a pair alone and among all pairs, ties and all."""
    source = np.random.default_rng(scale % 97)
    for trial in range(12):
        units = int(source.integers(1, 20))
        many = Sums.of_ratios(
            *brute.random_counts(source, units, 3, scale, no_denominator=(0.2, 0.7)[trial % 2], kind=kind)
        )
        draws = Draws(40, 7, (1, trial))
        drawn = coins_of(units, draws)
        for sides in BOTH_SIDES:
            nge = all_pairs_studentized([many], draws, sides)[0]
            for a, b in [(0, 1), (1, 0), (0, 2), (2, 1)]:
                expected = extreme(units_of(many.pair(a, b)), iter(drawn), sides)
                assert studentized_test(many.pair(a, b), draws, sides).nge == expected
                assert nge[a, b] == expected


@pytest.mark.long
@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_p_estimates_the_share_of_all_exchanges(sides: Sides) -> None:
    """Within four standard errors, for up to twelve units."""
    source = np.random.default_rng(12)
    for units in (1, 2, 3, 5, 8, 10, 12):
        paired = Sums.of_ratios(*brute.random_counts(source, units, 2)).pair(0, 1)
        level = extreme(units_of(paired), brute.all_exchanges(units), sides) / 2**units
        estimate = (studentized_test(paired, Draws(20_000, stream=units), sides).nge or 0) / 20_000
        assert abs(estimate - level) <= 4 * sqrt(level * (1 - level) / 20_000)


@given(
    st.integers(1_000_000, 100_000_000),
    st.fractions(0, 1, max_denominator=97),
    st.lists(st.tuples(*[st.integers(0, 5)] * 4), min_size=4, max_size=6),
)
@example(3_000_000, Fraction(1), [(1, 3, 2, 0), (4, 0, 1, 1), (2, 1, 0, 2), (5, 2, 1, 0)])
@example(1_000_000, Fraction(0), [(1, 0, 1, 0), (0, 0, 0, 1), (0, 0, 0, 0), (0, 0, 0, 1)])
@example(1_000_000, Fraction(0), [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 1), (0, 2, 0, 1)])
@example(2_276_089, Fraction(0), [(0, 0, 0, 0), (0, 0, 0, 1), (0, 0, 1, 0), (2, 0, 1, 0)])
def test_large_counts_of_which_all_but_a_few_are_alike(count: int, ratio: Fraction, apart: list[Unit]) -> None:
    """Sums of squares would cancel in all digits: of two systems by themselves, and beside a third of another ratio.
    Values of t² that are the same to twelve digits are ties, which count as extreme, and so are those below 10^-18,
    a difference of a billionth of its standard error: some differ by 10^-20 here.
    """
    units = []
    for wrong_a, fewer_a, wrong_b, fewer_b in apart:
        under_a, under_b = count - fewer_a, count - fewer_b
        units.append((int(ratio * under_a) - wrong_a, under_a, int(ratio * under_b) - wrong_b, under_b))
    columns = np.array(units, dtype=np.int64).T
    paired, draws = Sums.of_two(*columns), Draws(999, 5)
    if squared_t(units) is not None:
        drawn = coins_of(len(units), draws)
        least = extreme(units, iter(drawn), "two-sided")
        most = extreme(units, iter(drawn), "two-sided", tie=Fraction(1, 10**12))
        nge = studentized_test(paired, draws).nge
        assert least <= (nge or 0) <= most
        third = np.stack((columns[1] // 3, columns[1]))
        many = Sums.of_ratios(
            np.stack((columns[0], columns[2], third[0])), np.stack((columns[1], columns[3], third[1]))
        )
        assert least <= all_pairs_studentized([many], draws)[0, 0, 1] <= most


@given(st.integers(2, 30), st.integers(1, 6), st.data())
def test_a_system_that_never_varies_is_not_different_before_its_units_can_tell(
    alike: int, each: int, data: st.DataObject
) -> None:
    """The first is right in all that it answers, on `alike` of 40 documents, and the second in most. p is at least
    about the chance that a system as good as the second would be right everywhere, too."""
    right = data.draw(
        st.lists(st.integers(0, each), min_size=40, max_size=40).filter(lambda of: 0 < sum(of) < 40 * each)
    )
    units = [(each, each, of, each) if place < alike else (0, 0, of, each) for place, of in enumerate(right)]
    wrong = [each - of for of in right]
    unseen = (1 - sum(wrong) / (40 * max(wrong))) ** alike
    p = studentized_test(Sums.of_two(*np.array(units, dtype=np.int64).T), Draws(1999, 3), "one-sided").p
    assert p >= unseen - 4 * sqrt(unseen * (1 - unseen) / 2000) - 0.1


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_an_average_does_not_take_a_system_that_never_varies_for_one_that_never_would(alike: int, seed: int) -> None:
    """On one of three test sets the first is right in all that it answers, a few documents of 40. What is left without
    that test set and the chance to see nothing else bound t, and without such a test set nothing does."""
    source = np.random.default_rng(seed)
    under = source.integers(1, 6, (3, 2, 40))
    over = source.binomial(under, 0.7)
    over[0, 0], under[0, 0] = 0, 0
    over[0, 0, :alike] = under[0, 0, :alike] = 3
    parts = [Sums.of_ratios(*of) for of in zip(over, under, strict=True)]
    of_sums = over.sum(axis=2) / under.sum(axis=2)
    differences = of_sums[:, 0] - of_sums[:, 1]
    evidence = Evidence.of(average_of(parts))
    assert evidence.rest == pytest.approx(max(0.0, differences[1:].sum() / differences.sum()))
    wrong = under[0, 1] - over[0, 1]
    unseen = max(0.0, 1 - differences[0] * 3 / wrong.max()) ** alike
    assert evidence.quantile == pytest.approx(max(0.0, stats.norm.isf(unseen)) if unseen else np.inf)
    assert Evidence.of(average_of(parts[1:])) == Evidence()
    alone, without = (function_pair(average_of(of)).observed for of in (parts, parts[1:]))
    assert (alone >= 0) == (differences.sum() >= 0)
    assert (without >= 0) == (differences[1:].sum() >= 0)


def test_for_denominators_of_1_it_is_students_t_and_randomization() -> None:
    source = np.random.default_rng(5)
    for trial in range(20):
        units = int(source.integers(2, 30))
        values, ones = source.integers(-5, 9, (2, units)), np.ones(units, dtype=np.int64)
        if np.ptp(values[0] - values[1]) == 0:
            continue
        paired = Sums.of_two(values[0], ones, values[1], ones)
        for sides in BOTH_SIDES:
            found = studentized_test(paired, Draws(999, stream=trial), sides)
            assert found.statistic == pytest.approx(stats.ttest_rel(*values).statistic, rel=1e-9)
            assert found.nge == randomization_test(paired, Draws(999, stream=trial), sides).nge
        many = Sums.of_ratios(values, np.stack((ones, ones)))
        assert all_pairs_studentized([many], Draws(999))[0, 0, 1] == all_pairs_test([many], Draws(999))[0, 0, 1]


def test_t_is_the_difference_over_its_standard_error() -> None:
    """By the influence of each unit on the difference of two precisions, its mean taken off."""
    source = np.random.default_rng(6)
    under = source.integers(1, 9, (2, 40))
    over = source.binomial(under, 0.6)
    difference = over[0].sum() / under[0].sum() - over[1].sum() / under[1].sum()
    z = (over - over.sum() / under.sum() * under) / under.sum(axis=1, keepdims=True)
    error = (z[0] - z[1]).std(ddof=1) * sqrt(40)
    paired = Sums.of_two(over[0], under[0], over[1], under[1])
    assert studentized_test(paired, Draws(9)).statistic == pytest.approx(difference / error, rel=1e-12)


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_the_systems_change_about_and_the_answer_mirrors(sides: Sides) -> None:
    """To the digit, alone and among all pairs, whoever else is compared and in whatever order."""
    counts = brute.muc_counts(np.random.default_rng(7), 5, 40, possible_varies=True)
    measures = [
        Sums.of_ratios(*brute.precision(counts)),
        Sums.of_ratios(*brute.recall(counts)),
        Sums.of_ratios(*brute.f(counts)),
    ]
    draws = Draws(coins.CHUNK + 77, 11, 5)
    nge = all_pairs_studentized(measures, draws, sides)
    turned = all_pairs_studentized(
        [Sums.of_ratios(many.numerators[::-1], many.denominators[::-1]) for many in measures], draws, sides
    )
    np.testing.assert_array_equal(turned[:, ::-1, ::-1], nge)
    assert (nge[:, range(5), range(5)] == draws.shuffles).all()
    for index, many in enumerate(measures):
        for a, b in combinations(range(5), 2):
            here, there = (studentized_test(many.pair(*pair), draws, sides) for pair in ((a, b), (b, a)))
            assert (here.nge, there.nge) == (nge[index, a, b], nge[index, b, a])
            assert here.statistic == -(there.statistic or 0)
            if sides == "two-sided":
                assert here.nge == there.nge


def test_identical_systems_have_p_1_and_nothing_is_divided_by_0() -> None:
    same = Sums.of_two([3, 1, 0], [4, 1, 2], [3, 1, 0], [4, 1, 2])
    all_right = Sums.of_two([3, 0, 2], [3, 0, 2], [0, 1, 5], [0, 1, 5])
    for paired in (same, all_right):
        for sides in BOTH_SIDES:
            assert studentized_test(paired, Draws(999), sides).p == 1.0
            assert (all_pairs_studentized([paired], Draws(999), sides) == 999).all()
    apart = Sums.of_two([1, 0], [1, 0], [0, 0], [0, 1])  # half of the exchanges leave a system without denominator
    assert studentized_test(apart, Draws(999)).p == 1.0
    assert studentized_test(apart, Draws(9999), "one-sided").p == pytest.approx(3 / 4, abs=0.02)
    ahead = Sums.of_two([3, 3, 3, 3], [4, 4, 4, 4], [1, 1, 1, 1], [4, 4, 4, 4])
    found = studentized_test(ahead, Draws(9999))
    assert found.statistic == float("inf")
    assert found.p == pytest.approx(2 / 2**4, abs=0.02)


def test_progress_is_heard_and_longer_runs_begin_with_shorter_ones() -> None:
    counts = brute.muc_counts(np.random.default_rng(8), 4, 30)
    many = [Sums.of_ratios(*brute.precision(counts)), Sums.of_ratios(*brute.recall(counts))]
    runs: list[Callable[[Draws, Work], int]] = [
        lambda draws, work: studentized_test(many[0].pair(0, 1), draws, work=work).nge or 0,
        lambda draws, work: int(all_pairs_studentized(many, draws, work=work)[0, 0, 1]),
    ]
    for run in runs:
        seen: list[float] = []
        shuffles = coins.CHUNK + 5
        longer = run(Draws(shuffles), Work(progress=seen.append))
        assert seen == sorted(seen)
        assert seen[-1] == 1.0
        assert run(Draws(coins.CHUNK), Work()) <= longer <= run(Draws(coins.CHUNK), Work()) + 5
        assert run(Draws(shuffles), Work(threads=3)) == longer


def test_a_run_can_be_gone_on_with() -> None:
    counts = brute.muc_counts(np.random.default_rng(8), 4, 30)
    many = [Sums.of_ratios(*brute.precision(counts)), Sums.of_ratios(*brute.recall(counts))]
    parts = Draws(coins.CHUNK), Draws(2 * coins.CHUNK, before=coins.CHUNK), Draws(50, before=3 * coins.CHUNK)
    whole_run = Draws(3 * coins.CHUNK + 50)
    for sides in BOTH_SIDES:
        added = sum(all_pairs_studentized(many, part, sides) for part in parts)
        np.testing.assert_array_equal(added, all_pairs_studentized(many, whole_run, sides))
        nge = [studentized_test(many[0].pair(0, 1), part, sides).nge or 0 for part in parts]
        assert sum(nge) == studentized_test(many[0].pair(0, 1), whole_run, sides).nge


# --- step-down maxima -------------------------------------------------------------------------------------------------


def adjusted(many: Sums, pairs: list[tuple[int, int]], draws: Draws, sides: Sides) -> NDArray[np.float64]:
    family = studentized_family(many, pairs, sides)
    reached = multiple.count_reached_by_largest(family, draws)
    return multiple.step_down(family, (reached + 1) / (draws.shuffles + 1))


@pytest.mark.parametrize("sides", BOTH_SIDES)
@pytest.mark.parametrize("kind", ["ratio", "equal denominators", "function"])
def test_step_down_maxima_lie_between_single_and_bonferroni_like_levels(kind: str, sides: Sides) -> None:
    source, pairs = np.random.default_rng(11), list(combinations(range(4), 2))
    counts = brute.muc_counts(source, 4, 40)
    many: Sums = Sums.of_ratios(*(brute.precision if kind == "ratio" else brute.recall)(counts))
    if kind == "function":
        many = Sums.of_counts(decisions(source, 4, 40), MATTHEWS)
    draws = Draws(2000)
    single = np.array([studentized_test(many.pair(a, b), draws, sides).p for a, b in pairs])
    levels = adjusted(many, pairs, draws, sides)
    assert (levels >= single).all()
    assert (levels <= np.minimum(1, single * len(pairs)) + 0.05).all()
    for place, pair in enumerate(pairs):
        assert adjusted(many, [pair], draws, sides)[0] == single[place]


def test_step_down_maxima_follow_their_definition() -> None:
    """Over t by the definition, on the documented coins."""
    counts = brute.muc_counts(np.random.default_rng(12), 3, 12)
    many, pairs, draws = Sums.of_ratios(*brute.precision(counts)), [(0, 1), (0, 2), (1, 2)], Draws(150)
    drawn = coins_of(12, draws)
    observed = np.array([abs(float(squared_t(units_of(many.pair(a, b))) or 0)) for a, b in pairs])
    null = np.zeros((len(pairs), len(drawn)))
    for row, (a, b) in enumerate(pairs):
        units = units_of(many.pair(a, b))
        for column, exchange in enumerate(drawn):
            exchanged = [(*u[2:], *u[:2]) if changed else u for u, changed in zip(units, exchange, strict=True)]
            square = squared_t(exchanged)
            null[row, column] = observed[row] if square is None else abs(float(square))
    levels, running = np.empty(len(pairs)), 0.0
    order = np.argsort(-observed)
    for place, row in enumerate(order):
        largest = null[order[place:]].max(axis=0)
        running = max(running, (np.count_nonzero(largest >= observed[row] * (1 - 1e-8)) + 1) / 151)
        levels[row] = running
    np.testing.assert_array_equal(adjusted(many, pairs, draws, "two-sided"), levels)


# --- functions of sums ------------------------------------------------------------------------------------------------


def squared_t_of_function(units: list[Unit]) -> Fraction | None:
    """The same for the share N / (N + D), whose gradient is (D, −N) / (N + D)², as a function of N and D."""
    sums = [[sum(unit[place] for unit in units) for place in places] for places in ((0, 1), (2, 3))]
    if not all(map(sum, sums)):
        return None
    middle = Fraction(sums[0][0] + sums[1][0], sum(map(sum, sums)))
    largest = [max(max(unit[column], unit[column + 2]) for unit in units) for column in (0, 1)]
    weights = [Fraction(1, count) if count else Fraction(0) for count in largest]
    influence = []
    for n, d in sums:
        gradient = Fraction(d, (n + d) ** 2), Fraction(-n, (n + d) ** 2)
        rest = Fraction(n, n + d) - middle - gradient[0] * n - gradient[1] * d
        rest /= weights[0] * n + weights[1] * d
        influence.append((gradient[0] + weights[0] * rest, gradient[1] + weights[1] * rest))
    (a_n, a_d), (b_n, b_d) = influence
    z = [a_n * n1 + a_d * d1 - b_n * n2 - b_d * d2 for n1, d1, n2, d2 in units]
    difference, variance = sum(z, Fraction(0)), sum((part * part for part in z), Fraction(0))
    return difference * abs(difference) / variance if variance else None


def share(sums: NDArray[np.float64]) -> NDArray[np.float64]:
    shares = np.full(sums.shape[1], np.nan)
    np.divide(sums[0], sums[0] + sums[1], out=shares, where=sums[0] + sums[1] > 0)
    return shares


SHARE = Valuation(share, lambda sums: Fraction(sums[0], sum(sums)) if sum(sums) else None)


@pytest.mark.parametrize("sides", BOTH_SIDES)
def test_every_shuffle_of_a_function_is_counted_as_defined(sides: Sides) -> None:
    source = np.random.default_rng(9)
    for trial in range(30):
        units = int(source.integers(1, 16))
        counts = source.integers(0, 4, (2, 2, units)) * (source.random((2, 1, units)) < 0.6)
        if not counts.sum(axis=(1, 2)).all():
            continue
        draws = Draws(60, 7, (2, trial))
        paired = Sums.of_two_counts(counts[0], counts[1], SHARE)
        of_units: list[Unit] = list(zip(*(column.tolist() for column in counts.reshape(4, units)), strict=True))
        expected = extreme(of_units, iter(coins_of(units, draws)), sides, squared_t_of_function)
        assert studentized_test(paired, draws, sides).nge == expected
        square = squared_t_of_function(of_units) or Fraction(0)
        if abs(square) < units:
            t = sqrt((units - 1) * abs(square) / (units - abs(square))) * (1 if square > 0 else -1)
            assert studentized_test(paired, draws).statistic == pytest.approx(t, rel=1e-6)


def test_t_of_mcc_is_its_difference_over_the_influence_of_each_document() -> None:
    """How MCC moves when a document counts a little more, for documents that have one decision each."""
    counts = decisions(np.random.default_rng(10), 2, 60)
    values, influence = [], []
    for of_system in counts.astype(np.float64):
        sums = of_system.sum(axis=1, keepdims=True)
        value = float(correlated(sums)[0])
        values.append(value)
        influence.append((correlated(sums + 1e-6 * of_system) - correlated(sums - 1e-6 * of_system)) / 2e-6)
    difference = values[0] - values[1]
    error = (influence[0] - influence[1]).std(ddof=1) * sqrt(60)
    paired = Sums.of_two_counts(counts[0], counts[1], MATTHEWS)
    found = studentized_test(paired, Draws(999))
    assert found.statistic == pytest.approx(difference / error, rel=1e-5)
    mirrored = studentized_test(Sums.of_two_counts(counts[1], counts[0], MATTHEWS), Draws(999))
    assert (mirrored.nge, mirrored.statistic) == (found.nge, -(found.statistic or 0))
