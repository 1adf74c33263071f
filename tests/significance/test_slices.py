"""Slices of a difference: p-values by brute force over all exchanges, heterogeneity over all permutations, and the laws
of shrunken estimates.
"""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evalhouse.warehouse.significance import slices
from evalhouse.warehouse.significance.arrays import Floats, Integers, Places
from evalhouse.warehouse.significance.draws import Draws, Work
from evalhouse.warehouse.significance.exact.counting import exact_test
from evalhouse.warehouse.significance.shuffles.studentized import studentized_test
from evalhouse.warehouse.significance.slices import (
    Partition,
    fewest,
    heterogeneity,
    influences,
    shrunken,
    slice_tests,
    units_of,
    variances,
)
from evalhouse.warehouse.significance.sums import Sums, Valuation

NOTHING = Draws(1)


def partition(*places: int) -> Partition:
    return Partition(np.array(places, dtype=np.intp), max(places) + 1)


def units(count: int) -> Places:
    return np.arange(count, dtype=np.intp)


def all_statistics(two: Sums, unit: Places, partitions: list[Partition]) -> Floats:
    """The statistic of each slice for every assignment of signs to units: that of `docs`, written out."""
    rows = []
    masks = [of.place == place for of in partitions for place in range(of.slices)]
    for signs in product((False, True), repeat=int(unit.max()) + 1):
        turned = np.array(signs)[unit]
        columns = np.array(two.columns, dtype=np.float64)
        first = np.where(turned, columns[:, 1], columns[:, 0])
        second = np.where(turned, columns[:, 0], columns[:, 1])
        row = []
        for mask in masks:
            totals = columns[:, :, mask].sum(axis=(1, 2))
            spread = 0.0
            for one in range(int(unit.max()) + 1):
                part = (columns[:, 0] - columns[:, 1])[:, mask & (unit == one)].sum(axis=1)
                alone = two.value((totals + part)[:, None] / 2) - two.value((totals - part)[:, None] / 2)
                spread += float(alone[0]) ** 2
            a, b = (two.value(side[:, mask].sum(axis=1)[:, None])[0] for side in (first, second))
            row.append(abs(a - b) / (spread**0.5 or 1.0))
        rows.append(row)
    return np.array(rows)


def all_students(two: Sums, unit: Places, partitions: list[Partition]) -> Floats:
    """As `all_statistics`, the difference over its standard error after each exchange; where there is no such thing,
    what was observed.
    """
    rows = []
    masks = [of.place == place for of in partitions for place in range(of.slices)]
    for signs in product((False, True), repeat=int(unit.max()) + 1):
        turned = np.array(signs)[unit]
        sides = [np.where(turned, columns[1 - a], columns[a]) for columns in two.columns for a in (0, 1)]
        row = []
        for mask in masks:
            there = np.unique(unit[mask])
            n_a, n_b, d_a, d_b = (np.array([side[mask & (unit == one)].sum() for one in there]) for side in sides)
            if not (d_a.sum() and d_b.sum()):
                row.append(np.nan)
                continue
            ratio = (n_a + n_b).sum() / (d_a + d_b).sum()
            z = (n_a - ratio * d_a) / d_a.sum() - (n_b - ratio * d_b) / d_b.sum()
            row.append(abs(z.sum()) / (z**2).sum() ** 0.5 if (z**2).sum() > 1e-12 else np.nan)
        rows.append(row)
    statistics = np.array(rows)
    return np.where(np.isnan(statistics), np.nan_to_num(statistics[0]), statistics)


def brute(statistics: Floats) -> tuple[Floats, Floats]:
    """The level of each slice, and that adjusted by the step-down maximum, from the statistics of all assignments, of
    which the first is what was observed."""
    observed = statistics[0]
    p = np.array([(statistics[:, one] >= observed[one] - 1e-9).mean() for one in range(len(observed))])
    adjusted = np.empty_like(p)
    order = sorted(range(len(observed)), key=lambda one: -observed[one])
    so_far = 0.0
    for at, one in enumerate(order):
        largest = statistics[:, order[at:]].max(axis=1)
        so_far = max(so_far, float((largest >= observed[one] - 1e-9).mean()))
        adjusted[one] = so_far
    return p, adjusted


def mcc() -> Valuation:
    def values(sums: Floats) -> Floats:
        x, y = sums
        return np.where(x + y > 0, np.sqrt(x / np.maximum(x + y, 1)) * x, np.nan)

    def exactly(sums: tuple[int, ...]) -> None:
        return None

    return Valuation(values, exactly)


def systems(kind: str, count: int) -> Sums:
    source = np.random.default_rng(11)
    if kind == "mean":
        return Sums.of_ratios(source.integers(0, 2, (2, count)), np.ones((2, count), dtype=np.int64))
    if kind == "ratio":
        return Sums.of_ratios(
            source.integers(0, 5, (2, count)), source.integers(0, 7, (2, count)) + (np.arange(count) % 3 == 0)
        )
    return Sums.of_counts(source.integers(0, 6, (2, 2, count)), mcc())


PARTITIONS = [
    partition(0, 0, 0, 1, 1, 1, 1, 2, 2),
    partition(0, 1, 0, 1, 0, 1, 0, 1, 0),
    partition(0, 1, 2, 3, 4, 5, 5, 5, 5),
    partition(0, 0, 0, 0, 0, 0, 0, 0, 0),
]
CLUSTERS = np.array([0, 0, 1, 1, 2, 3, 3, 4, 5], dtype=np.intp)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["mean", "ratio", "function"])
@pytest.mark.parametrize("unit", [units(9), CLUSTERS], ids=["documents", "clusters"])
def test_levels_are_those_of_all_exchanges(kind: str, unit: Places) -> None:
    two = systems(kind, 9)
    p, adjusted = brute(all_statistics(two, unit, PARTITIONS))
    found = slice_tests(two, unit, PARTITIONS, np.ones(len(p), dtype=np.bool_), NOTHING, exact=True)
    assert found.shuffles is None
    assert found.p == pytest.approx(p)
    assert found.adjusted == pytest.approx(adjusted)


@pytest.mark.long
@pytest.mark.parametrize("unit", [units(9), CLUSTERS], ids=["documents", "clusters"])
@pytest.mark.parametrize("times", [1, 1_000_000])
def test_studentized_levels_are_those_of_all_exchanges(unit: Places, times: int) -> None:
    two = systems("ratio", 9)
    many = Sums.of_ratios(times * two.numerators, times * two.denominators)
    tested = np.array([len(np.unique(unit[of.place == place])) > 1 for of in PARTITIONS for place in range(of.slices)])
    found = slice_tests(many, unit, PARTITIONS, tested, NOTHING, exact=True, studentized=True)
    p_tested, adjusted_tested = brute(all_students(two, unit, PARTITIONS)[:, tested])
    assert found.p[tested] == pytest.approx(p_tested)
    assert found.adjusted[tested] == pytest.approx(adjusted_tested)
    assert np.isnan(found.p[~tested]).all()


def test_a_slice_that_is_the_whole_is_tested_as_the_whole() -> None:
    two = systems("ratio", 40)
    found = slice_tests(two, units(40), [partition(*[0] * 40)], np.array([True]), Draws(20_000), studentized=True)
    # Four standard errors of the difference of two estimates.
    assert found.p[0] == pytest.approx(studentized_test(two, Draws(20_000)).p, abs=0.02)


def test_equal_denominators_make_both_tests_the_same() -> None:
    two = systems("mean", 9)
    tested = np.ones(12, dtype=np.bool_)
    plain, student = (
        slice_tests(two, units(9), PARTITIONS, tested, Draws(99), studentized=studentized)
        for studentized in (False, True)
    )
    assert (plain.p.tolist(), plain.adjusted.tolist()) == (student.p.tolist(), student.adjusted.tolist())


@pytest.mark.parametrize("few", [0, 1, 2, 9])
@pytest.mark.parametrize("measure", ["recall", "F"])
def test_a_system_that_has_few_units_counts_as_far_off_as_these_can_tell(measure: str, few: int) -> None:
    """The first has all three items of a few units out of forty and nothing of the others, the second one item of every
    other unit. As good as the second, the first would have no more units with the binomial chance of that, though t is
    larger. It has too many units to be limited from nine on.
    """
    all_of_few = np.array([3] * few + [0] * (40 - few))
    over, under = np.stack((all_of_few, np.tile([0, 1], 20))), np.full((2, 40), 3)
    share = 20 / 120
    if measure == "F":
        over, under = 2 * over, under + np.stack((all_of_few, np.full(40, 3)))
        # A unit with nothing counts 3 in the denominator, one with all 6.
        share = share * 3 / (share * 3 + (1 - share) * 6)
    two = Sums.of_ratios(over, under)
    one, every = Partition(np.zeros(40, dtype=np.intp), 1), np.ones(1, dtype=np.bool_)
    told = slices._Exchange.of(two, units(40), [one], every).observed[0]
    rest = over - over.sum() / under.sum() * under
    z = rest[0] / under[0].sum() - rest[1] / under[1].sum()
    t = abs(z.sum()) / np.sqrt((z**2).sum())
    limit = max(0.0, stats.norm.isf(stats.binom.cdf(few, 40, share)))
    assert told == pytest.approx(min(t, limit) if few < 9 else t)
    assert limit < t


@pytest.mark.parametrize("kind", ["mean", "ratio", "function"])
def test_shuffles_come_near_all_exchanges(kind: str) -> None:
    two = systems(kind, 9)
    p, adjusted = brute(all_statistics(two, CLUSTERS, PARTITIONS))
    found = slice_tests(two, CLUSTERS, PARTITIONS, np.ones(len(p), dtype=np.bool_), Draws(9_999))
    assert found.shuffles == 9_999
    # Four standard errors at most.
    assert found.p == pytest.approx(p, abs=0.02)
    assert found.adjusted == pytest.approx(adjusted, abs=0.02)


@pytest.mark.long
def test_slices_that_are_not_tested_are_no_part_of_the_family() -> None:
    two = systems("ratio", 9)
    tested = np.array([True, True, False, True, True, *[False] * 6, True])
    found = slice_tests(two, units(9), PARTITIONS, tested, NOTHING, exact=True)
    assert np.isnan(found.p[~tested]).all()
    statistics = all_statistics(two, units(9), PARTITIONS)
    p, adjusted = brute(statistics[:, tested])
    assert found.p[tested] == pytest.approx(p)
    assert found.adjusted[tested] == pytest.approx(adjusted)


def test_a_slice_that_is_the_whole_has_the_level_of_the_whole() -> None:
    two = systems("ratio", 9)
    assert two.is_ratio
    found = slice_tests(two, units(9), PARTITIONS, np.ones(12, dtype=np.bool_), NOTHING, exact=True)
    assert found.p[-1] == pytest.approx(exact_test(two.pair(0, 1)).p)


def test_one_slice_has_nothing_to_adjust_for() -> None:
    found = slice_tests(systems("mean", 9), units(9), PARTITIONS[3:], np.ones(1, dtype=np.bool_), Draws(199))
    assert found.p[0] == found.adjusted[0]


def test_systems_that_never_differ_have_the_level_one() -> None:
    one = np.array([1, 0, 1, 1, 0, 1, 1, 0, 1])
    two = Sums.of_ratios(np.stack((one, one)), np.ones((2, 9), dtype=np.int64))
    found = slice_tests(two, units(9), PARTITIONS, np.ones(12, dtype=np.bool_), Draws(99))
    assert set(found.p.tolist()) == set(found.adjusted.tolist()) == {1.0}


@given(st.integers(0, 10**6))
def test_an_adjusted_level_is_never_below_the_own_one(seed: int) -> None:
    two = systems("ratio", 9)
    found = slice_tests(two, CLUSTERS, PARTITIONS, np.ones(12, dtype=np.bool_), Draws(99, seed))
    assert (found.adjusted >= found.p).all()
    assert (found.p >= 0.01).all()


def test_neither_threads_nor_other_slices_nor_the_order_of_systems_change_a_level() -> None:
    two, many = systems("ratio", 9), np.ones(12, dtype=np.bool_)
    assert two.is_ratio
    found = slice_tests(two, units(9), PARTITIONS, many, Draws(999))
    threaded = slice_tests(two, units(9), PARTITIONS, many, Draws(999), work=Work(3))
    alone = slice_tests(two, units(9), PARTITIONS[1:2], many[:2], Draws(999))
    turned = slice_tests(
        Sums.of_ratios(two.numerators[::-1], two.denominators[::-1]), units(9), PARTITIONS, many, Draws(999)
    )
    assert found.p.tolist() == threaded.p.tolist() == turned.p.tolist()
    assert found.adjusted.tolist() == threaded.adjusted.tolist() == turned.adjusted.tolist()
    assert found.p[3:5].tolist() == alone.p.tolist()


@pytest.mark.long
def test_many_units_are_taken_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(3)
    two = Sums.of_ratios(source.integers(0, 4, (2, 3000)), source.integers(1, 5, (2, 3000)))
    parts = [Partition(source.integers(0, many, 3000).astype(np.intp), many) for many in (7, 40)]
    tested = np.ones(47, dtype=np.bool_)
    whole = slice_tests(two, units(3000), parts, tested, Draws(299))
    monkeypatch.setattr("evalhouse.warehouse.significance.slices.AT_ONCE", 64)
    assert slice_tests(two, units(3000), parts, tested, Draws(299)).p.tolist() == whole.p.tolist()


# --- heterogeneity ----------------------------------------------------------------------------------------------------


def all_permutations(moved: Floats, of: Partition, within: Integers | None) -> float:
    def between(values: Floats) -> float:
        slices = [values[of.place == place] for place in range(of.slices)]
        squares = [float(((one - one.mean()) ** 2).sum()) for one in slices]
        pooled = sum(squares) / (len(values) - len(slices))
        weights = [len(one) / ((own + 4 * pooled) / (len(one) + 3)) for one, own in zip(slices, squares, strict=True)]
        centre = sum(weight * one.mean() for weight, one in zip(weights, slices, strict=True)) / sum(weights)
        return float(sum(weight * (one.mean() - centre) ** 2 for weight, one in zip(weights, slices, strict=True)))

    observed = between(moved)
    reached = [
        between(moved[list(order)]) >= observed - 1e-9 * observed
        for order in permutations(range(len(moved)))
        if within is None or (within[list(order)] == within).all()
    ]
    return float(np.mean(reached))


@pytest.mark.long
@pytest.mark.parametrize("few", [True, False], ids=["of few kinds", "of many"])
@pytest.mark.parametrize("within", [None, np.array([0, 0, 0, 1, 1, 1, 2])], ids=["all", "in groups"])
def test_heterogeneity_is_that_of_all_permutations(few: bool, within: Integers | None) -> None:
    source = np.random.default_rng(8)
    moved = source.integers(-1, 2, 7).astype(np.float64) if few else source.normal(size=7)
    of = partition(0, 0, 1, 1, 2, 0, 2)
    expected = all_permutations(moved, of, within)
    found = heterogeneity(moved, [of], Draws(19_999), within)[0]
    assert found == pytest.approx(expected, abs=4 * (0.25 / 19_999) ** 0.5)


def test_units_of_few_kinds_are_dealt_out_as_others_are_permuted(monkeypatch: pytest.MonkeyPatch) -> None:
    source = np.random.default_rng(2)
    moved, of = source.integers(-1, 2, 60).astype(np.float64), Partition(source.integers(0, 5, 60).astype(np.intp), 5)
    dealt = heterogeneity(moved, [of], Draws(9_999))[0]
    monkeypatch.setattr("evalhouse.warehouse.significance.slices.FEW_KINDS", 0)
    assert dealt == pytest.approx(heterogeneity(moved, [of], Draws(9_999))[0] or 0.0, abs=0.02)


def test_nothing_that_varies_is_no_heterogeneity() -> None:
    assert heterogeneity(np.zeros(5), [partition(0, 0, 1, 1, 1)], Draws(9)) == [1.0]
    assert heterogeneity(np.ones(5), [partition(0, 0, 0, 0, 0)], Draws(9)) == [None]


# --- estimates --------------------------------------------------------------------------------------------------------


def test_influences_of_a_mean_are_what_differs_from_the_mean() -> None:
    two = systems("mean", 9)
    assert two.is_ratio
    differences = two.numerators[0] - two.numerators[1]
    assert influences(two) == pytest.approx((differences - differences.mean()) / 9)


def test_the_variance_of_a_large_slice_is_its_own() -> None:
    source = np.random.default_rng(5)
    values = np.concatenate((source.integers(0, 2, (2, 4000)), np.tile(source.integers(0, 2, 4000), (2, 1))), axis=1)
    two = Sums.of_ratios(values, np.ones((2, 8000), dtype=np.int64))
    found = variances(two, Partition(np.repeat([0, 1], 4000).astype(np.intp), 2), units(8000))
    difference = values[0, :4000] - values[1, :4000]
    assert found[0] == pytest.approx(difference.var(ddof=1) / 4000, rel=0.005)
    # The systems never differ on the second, and it borrows a little of what varies on the first.
    assert 0 < found[1] < 0.01 * found[0]


def test_the_variance_of_clusters_is_that_of_their_sums() -> None:
    one = np.repeat([1, 0, 1, 0], 3)
    two = Sums.of_ratios(np.stack((one, 1 - one)), np.ones((2, 12), dtype=np.int64))
    clusters = np.repeat(np.arange(4), 3)
    whole = Partition(np.zeros(12, dtype=np.intp), 1)
    assert units_of(whole, clusters).tolist() == [4]
    # Four clusters with differences of ±1 each: the variance of their mean is 4/3 / 4.
    assert variances(two, whole, clusters)[0] == pytest.approx(4 / 3 / 4)


values = st.lists(st.floats(-1, 1), min_size=1, max_size=8)


@given(values, st.floats(-1, 1), st.floats(0.001, 1))
def test_shrunken_estimates_lie_between_the_slice_and_the_whole(raw: list[float], whole: float, error: float) -> None:
    differences = np.array(raw)
    found = shrunken(differences, np.linspace(error, 2 * error, len(raw)), whole)
    assert (np.abs(found - whole) <= np.abs(differences - whole) + 1e-12).all()
    assert ((found - whole) * (differences - whole) >= 0).all()


def test_shrunken_estimates_of_equal_errors_are_those_of_the_formula() -> None:
    differences, error = np.array([0.3, -0.1, 0.1, 0.2]), 0.01
    between = ((differences - 0.125) ** 2).sum() / 3 - error
    expected = 0.125 + (differences - 0.125) * between / (between + error)
    assert shrunken(differences, np.full(4, error), 0.125) == pytest.approx(expected)


def test_slices_that_scatter_as_chance_makes_them_have_the_whole_difference() -> None:
    assert shrunken(np.array([0.1, 0.2]), np.array([1.0, 1.0]), 0.15).tolist() == [0.15, 0.15]


def test_a_single_slice_keeps_the_whole_difference() -> None:
    assert shrunken(np.array([0.1]), np.array([0.02]), 0.1).tolist() == [0.1]


def test_where_nothing_varies_within_slices_nothing_is_shrunken() -> None:
    assert shrunken(np.array([1.0, 0.0]), np.zeros(2), 0.5).tolist() == [1.0, 0.0]


def test_a_slice_without_a_value_has_no_estimate() -> None:
    found = shrunken(np.array([0.3, np.nan, -0.1]), np.array([0.01, 0.01, 0.01]), 0.1)
    assert np.isnan(found).tolist() == [False, True, False]


def test_a_function_that_is_flat_where_the_sums_are_is_tested_where_exchanges_lead() -> None:
    """The value of the pooled sums is 0, whichever unit changes sides alone; that of the first system is 1."""
    counts = np.array([[[3] * 8, [1] * 8], [[0] * 8, [1] * 8]], dtype=np.int64)
    two = Sums.of_counts(counts, Valuation(lambda sums: np.clip(sums[0] / sums[1] - 1.75, 0.0, 1.0), lambda sums: None))
    found = slice_tests(two, units(8), [partition(*[0] * 8)], np.array([True]), NOTHING, exact=True)
    assert found.p[0] == found.adjusted[0] == 2 / 2**8


@pytest.mark.long
@pytest.mark.parametrize("contiguous", [False, True])
def test_many_units_are_turned_against_slices_in_any_order(contiguous: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a difference a level of .05 is reached in about 5 of 100 draws, also where slices follow one another."""
    monkeypatch.setattr(slices, "MANY", 256)
    source = np.random.default_rng(3)
    place = np.repeat([0, 1], 128) if contiguous else source.permutation(np.repeat([0, 1], 128))
    levels = [heterogeneity(source.normal(size=256), [Partition(place, 2)], Draws(99, seed))[0] for seed in range(300)]
    assert 0.02 < np.mean([level is not None and level <= 0.05 for level in levels]) < 0.085


def test_slices_of_one_unit_each_say_nothing_of_chance() -> None:
    two = Sums.of_ratios(np.array([[1, 2, 3], [0, 0, 1]]), np.ones((2, 3), dtype=np.int64))
    each = partition(0, 1, 2)
    assert np.isnan(variances(two, each, units(3))).all()
    assert np.isnan(shrunken(np.array([1.0, 2.0, 2.0]), variances(two, each, units(3)), 1.6)).all()
    assert heterogeneity(np.array([1.0, 2.0, 3.0]), [each, partition(0, 0, 1)], Draws(9))[0] is None


def test_fewest_units_that_can_reach_a_level() -> None:
    assert [fewest(level) for level in (0.05, 0.01, 0.5, 0.0625)] == [6, 8, 2, 5]
