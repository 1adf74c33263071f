"""Areas under the ROC curve: DeLong's test by its definition and compared with R, and exchanges of confidences by brute
force.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from scipy import stats

from evalhouse.warehouse.significance import areas
from evalhouse.warehouse.significance.areas import LEAST, Ranked
from evalhouse.warehouse.significance.arrays import Booleans, Floats
from evalhouse.warehouse.significance.bootstrap.interval_kinds import IntervalPlan
from evalhouse.warehouse.significance.draws import Draws, Sides
from evalhouse.warehouse.significance.exact import counting
from evalhouse.warehouse.significance.shuffles.randomization import randomization_test
from tests.significance.test_exact_randomization import BOTH_SIDES

PROC = (
    (12, False, 0.5428571429, 0.4, 0.5285164226, 0.5971409517, 0.2985704759, -0.3869179842, 0.6726322699),
    (12, True, 0.5285714286, 0.3857142857, 0.4946697945, 0.6208332265, 0.3104166132, -0.4231666129, 0.7088808986),
    (30, False, 0.6334841629, 0.6131221719, 0.1538171288, 0.8777539277, 0.4388769639, -0.2390939566, 0.2798179385),
    (30, True, 0.6266968326, 0.6176470588, 0.06745472863, 0.9462197012, 0.4731098506, -0.2539003706, 0.2719999181),
    (80, False, 0.7301136364, 0.7184343434, 0.1555075052, 0.8764212376, 0.4382106188, -0.1355225638, 0.1588811497),
    (80, True, 0.7436868687, 0.7111742424, 0.4347563095, 0.663739321, 0.3318696605, -0.1140604657, 0.1790857182),
    (200, False, 0.7364149612, 0.6485028733, 1.850056607, 0.06430539132, 0.03215269566, -0.005222644019, 0.1810468198),
    (200, True, 0.7397923178, 0.6482004234, 1.94079333, 0.05228335037, 0.02614167518, -0.000904721037, 0.1840885097),
)
"""What roc.test of pROC 1.18.0 with R 4.2.2 says (method "delong", paired): documents, whether confidences are coarse
so that many tie, both areas, z, p two-sided, p one-sided, and the 95% interval of the difference."""


def documents(count: int, coarse: bool) -> tuple[Floats, Booleans]:
    """Confidences of two systems on different scales, and labels, by formulas that R evaluates too."""
    i = np.arange(count)
    relevant = (i * i * 7 + 3 * i) % 11 < 4
    first = (i * 37 + 5 * i * i) % 101 / 100 + 0.3 * relevant
    second = ((i * 53 + 11 * i * i) % 97 + 20 * relevant).astype(np.float64)
    if coarse:
        first, second = np.floor(first * 5), np.floor(second / 20)
    return np.stack((first, second)), relevant


def drawn(source: np.random.Generator, count: int, ties: bool, systems: int = 2) -> Ranked:
    """Documents of both kinds with confidences of some systems, each document an exchange unit."""
    relevant = source.random(count) < 0.5
    relevant[:2] = True, False
    confidences = source.normal(0, 1, (systems, count)) + relevant * source.random((systems, 1))
    return Ranked(np.round(2 * confidences) if ties else confidences, relevant, np.arange(count))


def by_definition(confidences: Floats, relevant: Booleans) -> tuple[list[float], float]:
    """The areas of two systems and the variance of their difference, document by document, from the components that
    DeLong, DeLong and Clarke-Pearson (1988) define."""
    fields, v10, v01 = [], [], []
    for own in confidences.tolist():
        above = [value for value, is_relevant in zip(own, relevant, strict=True) if is_relevant]
        below = [value for value, is_relevant in zip(own, relevant, strict=True) if not is_relevant]
        psi = [[1.0 if x > y else 0.5 if x == y else 0.0 for y in below] for x in above]
        v10.append([sum(row) / len(below) for row in psi])
        v01.append([sum(row[j] for row in psi) / len(above) for j in range(len(below))])
        fields.append(sum(v10[-1]) / len(above))

    def covariance(components: list[list[float]], r: int, s: int) -> float:
        pairs = zip(components[r], components[s], strict=True)
        return sum((x - fields[r]) * (y - fields[s]) for x, y in pairs) / (len(components[r]) - 1)

    variance = 0.0
    for r, s, sign in ((0, 0, 1), (1, 1, 1), (0, 1, -2)):
        variance += sign * (covariance(v10, r, s) / len(v10[0]) + covariance(v01, r, s) / len(v01[0]))
    return fields, variance


@pytest.mark.parametrize(
    ("count", "coarse", "area_a", "area_b", "z", "p", "p_greater", "low", "high"),
    PROC,
    ids=lambda value: str(value)[:5],
)
def test_delong_is_that_of_proc(
    count: int,
    coarse: bool,
    area_a: float,
    area_b: float,
    z: float,
    p: float,
    p_greater: float,
    low: float,
    high: float,
) -> None:
    confidences, relevant = documents(count, coarse)
    ranked = Ranked(confidences, relevant, np.arange(count))
    assert [float(ranked.area(system) or 0) for system in (0, 1)] == pytest.approx([area_a, area_b])
    two = ranked.of_two(0, 1)
    assert two.difference / sqrt(two.variance) == pytest.approx(z)
    half = areas.reach(0.95) * sqrt(two.variance)
    assert (two.difference - half, two.difference + half) == (pytest.approx(low), pytest.approx(high))
    if two.enough:
        limits = areas.area_intervals(ranked, [(0, 1), (1, 0)], IntervalPlan())
        assert (limits.low[0], limits.high[0]) == (pytest.approx(low), pytest.approx(high))
        assert (limits.low[1], limits.high[1]) == (-limits.high[0], -limits.low[0])
        found = areas.delong(two)
        assert (found.statistic, found.p) == (pytest.approx(z), pytest.approx(p))
        assert areas.delong(two, "one-sided").p == pytest.approx(p_greater)
        assert areas.delong(ranked.of_two(1, 0), "one-sided").p == pytest.approx(1 - p_greater)


def test_intervals_of_areas_have_the_level_and_the_sides_that_are_asked_for() -> None:
    ranked, pairs = drawn(np.random.default_rng(2), 80, False, systems=3), [(0, 1), (0, 2), (1, 2)]
    two = ranked.of_two(0, 1)
    whole = areas.area_intervals(ranked, pairs, IntervalPlan(0.1))
    assert whole.high[0] - two.difference == pytest.approx(stats.norm.isf(0.05) * sqrt(two.variance))
    lower = areas.area_intervals(ranked, pairs, IntervalPlan(0.05, bounds="lower"))
    assert lower.low.tolist() == pytest.approx(whole.low.tolist())
    assert np.isnan(lower.high).all()
    divided = areas.area_intervals(ranked, pairs, IntervalPlan(0.3, family="divided"))
    assert divided.low.tolist() == pytest.approx(whole.low.tolist())
    alike = Ranked(ranked.confidences[[0, 0]], ranked.relevant, ranked.cluster)
    assert np.isnan(areas.area_intervals(alike, [(0, 1)], IntervalPlan()).low).all()


@pytest.mark.parametrize("ties", [False, True])
def test_delong_is_its_definition(ties: bool) -> None:
    source = np.random.default_rng(1)
    for _ in range(30):
        ranked = drawn(source, int(source.integers(8, 60)), ties)
        if min(ranked.relevant.sum(), (~ranked.relevant).sum()) < 2:
            continue
        (first, second), variance = by_definition(ranked.confidences, ranked.relevant)
        two = ranked.of_two(0, 1)
        assert two.difference == pytest.approx(first - second)
        assert two.variance == pytest.approx(variance)
        if two.enough:
            expected = 2 * stats.norm.sf(abs(first - second) / sqrt(variance))
            assert areas.delong(two).p == pytest.approx(expected)


def area(values: list[float], relevant: list[bool]) -> Fraction:
    """The area by its definition."""
    labelled = list(zip(values, relevant, strict=True))
    pairs = [(x, y) for x, is_relevant in labelled if is_relevant for y, other in labelled if not other]
    return Fraction(sum(2 * (x > y) + (x == y) for x, y in pairs), 2 * len(pairs))


def by_exchanging(ranked: Ranked, sides: Sides) -> Fraction:
    """The exact level, each exchange of confidences ranked anew."""
    first, second = ranked.confidences.tolist()
    relevant, cluster = ranked.relevant.tolist(), ranked.cluster.tolist()
    differences = []
    for coins in product((False, True), repeat=ranked.units):
        swapped = [coins[unit] for unit in cluster]
        a = [y if swap else x for x, y, swap in zip(first, second, swapped, strict=True)]
        b = [x if swap else y for x, y, swap in zip(first, second, swapped, strict=True)]
        differences.append(area(a, relevant) - area(b, relevant))
    observed = differences[0]
    if sides == "two-sided":
        return Fraction(sum(abs(each) >= abs(observed) for each in differences), len(differences))
    return Fraction(sum(each >= observed for each in differences), len(differences))


@pytest.mark.parametrize("sides", BOTH_SIDES)
@pytest.mark.parametrize("clustered", [False, True])
def test_exchanges_of_confidences_are_linear_in_the_coins(clustered: bool, sides: Sides) -> None:
    """The weights give the level of ranking every exchange anew, also where documents change places together."""
    source = np.random.default_rng(2)
    for trial in range(12):
        ranked = drawn(source, 9, ties=trial % 2 == 0)
        if clustered:
            ranked = Ranked(ranked.confidences, ranked.relevant, np.array([0, 0, 1, 2, 2, 2, 3, 4, 5]))
        exchanges = ranked.exchanges(0, 1)
        observed = Fraction(int(exchanges.numerators[0].sum()), 4 * ranked.orders)
        assert observed == (ranked.area(0) or 0) - (ranked.area(1) or 0)
        assert counting.exact_test(exchanges, sides).p == float(by_exchanging(ranked, sides))


def test_shuffles_come_near_the_exact_level() -> None:
    source = np.random.default_rng(3)
    for ties in (False, True):
        exchanges = drawn(source, 60, ties).exchanges(0, 1)
        level = counting.exact_test(exchanges).p
        estimate = randomization_test(exchanges, Draws(20_000)).p
        assert abs(estimate - level) <= 4 * sqrt(level * (1 - level) / 20_000)


def test_exchanges_and_delong_agree_where_scales_are_the_same() -> None:
    """Of many documents both are tests of the same difference (Bandos, Rockette and Gur 2005)."""
    source = np.random.default_rng(4)
    for _ in range(10):
        ranked = drawn(source, 1000, ties=False)
        estimate = randomization_test(ranked.exchanges(0, 1), Draws(20_000)).p
        assert abs(estimate - areas.delong(ranked.of_two(0, 1)).p) < 0.03


def test_what_has_no_area_or_no_variance() -> None:
    confidences = np.array([[1.0, 2.0, 3.0, 4.0], [4.0, 3.0, 2.0, 1.0]])
    relevant = np.array([False, False, True, True])
    many = np.arange(2 * LEAST)
    turned = Ranked(np.stack((many, many[::-1])).astype(np.float64), many >= LEAST, many)
    assert [turned.area(system) for system in (0, 1)] == [1, 0]
    with pytest.raises(ValueError, match="no standard error"):
        areas.delong(turned.of_two(0, 1))
    assert areas.delong(turned.of_two(0, 0)).p == 1.0
    with pytest.raises(ValueError, match="needs 15 relevant and 15 nonrelevant documents, and there are 14 and 16"):
        areas.delong(Ranked(turned.confidences, many > LEAST, many).of_two(0, 1))
    assert Ranked(confidences, np.ones(4, dtype=bool), np.arange(4)).area(0) is None
    unsure = Ranked(np.where(confidences == 1, np.nan, confidences), relevant, np.arange(4))
    assert unsure.area(0) is None
    with pytest.raises(ValueError, match="shapes"):
        Ranked(confidences, relevant[:3], np.arange(4))


def test_scales_are_alike_or_not() -> None:
    source = np.random.default_rng(5)
    share, log = source.random(500), np.log(source.random(500))
    ranked = Ranked(np.stack((share, share**2, log, 100 * share)), source.random(500) < 0.5, np.arange(500))
    assert ranked.alike(0, 1)
    assert not ranked.alike(0, 2)
    assert not ranked.alike(0, 3)
