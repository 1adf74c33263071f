"""TESTS and ADJUSTMENTS, the tables of significance tests and of adjustments, in display order.

Each member holds everything that is known about it: its names, what it tests, its source, the measures it fits, and the
functions that run it. The tables feed checking, help, documentation and the running of tests; no other module may
compare the name of a test. Numpy is imported where a test runs, so that the tables can be read without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

if TYPE_CHECKING:
    from evalhouse.warehouse.significance.areas import TwoAreas
    from evalhouse.warehouse.significance.arrays import Floats, Integers
    from evalhouse.warehouse.significance.bootstrap.interval_kinds import Simultaneous
    from evalhouse.warehouse.significance.draws import Draws, Outcome, Sides, Work
    from evalhouse.warehouse.significance.multiple import Family
    from evalhouse.warehouse.significance.sums import Sums
    from evalhouse.warehouse.significance.two_systems import TwoSystems

Pairs = Sequence[tuple[int, int]]
"""The places of the two systems of each pair."""

TestKind = Literal["randomized", "matched", "independent", "ordered"]
"""Randomized tests take any function of sums; matched ones need equal denominators in every unit (Yeh 2000, section
3.2); independent ones assume that the two systems' results are independent (Yeh 2000, section 2); ordered ones take
measures of the order of documents.
"""


class Exchange(Struct, frozen=True):
    """How a test exchanges the tuples of systems, with shuffles that all pairs share.

    `of_pair` tests two systems, `of_all_pairs` returns nge of all pairs for several ratios, `of_replicates`
    redistributes the replicates of two systems, and `family` has the statistics that `maxt` compares. `statistics`
    gives the observed statistics of pairs, if they are not the differences themselves. `exact` says that every exchange
    can also be counted.
    """

    of_pair: Callable[[Sums, Draws, Sides, Work], Outcome]
    of_all_pairs: Callable[[Sequence[Sums], Draws, Sides, Work], Integers]
    of_replicates: Callable[[Sequence[float], Sequence[float], Draws | None, Sides], Outcome]
    family: Callable[[Sums, Pairs, Sides], Family]
    statistics: Callable[[Sums, Pairs], Floats] | None = None
    exact: bool = False


class Test(Struct, frozen=True):
    """A significance test, with its name in the language and its synonyms.

    `draws` says what the test draws at random, None if it draws nothing. A run can be continued after any multiple of
    `chunk` draws. If `of_exchangeability`, it tests whether systems are exchangeable, so it may call systems different
    whose measures are equal. The test refuses fewer than `units` exchange units, and results note that units are few
    below `enough`; `benchmarks/validity.py` measures both. It `takes_margin` if it still tests the difference after
    every unit of one system is raised by the same amount. Functions that run it: `of_pair` tests one pair of systems,
    and `of_areas` two areas under the ROC curve; `of_family` returns nge of all pairs of a family at once, already
    adjusted; `exchange` says how the systems' tuples are exchanged.
    """

    __test__ = False  # not a pytest class

    name: str
    kind: TestKind
    meaning: str
    source: str
    synonyms: tuple[str, ...] = ()
    draws: Literal["shuffles", "resamples"] | None = None
    chunk: int = 10_000
    units: int = 1
    enough: int = 1
    takes_margin: bool = False
    of_exchangeability: bool = False
    of_pair: Callable[[TwoSystems, Draws, Sides], Outcome] | None = None
    of_areas: Callable[[TwoAreas, Sides], Outcome] | None = None
    of_family: Callable[[Sums, Draws, Sides, Work], Integers] | None = None
    exchange: Exchange | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The name, then its synonyms."""
        return (self.name, *self.synonyms)

    @property
    def exchanges(self) -> bool:
        """Whether the test exchanges tuples pair by pair. Only such a test can share shuffles with maxt."""
        return self.exchange is not None

    @property
    def exact(self) -> bool:
        """Whether every exchange can be counted."""
        return self.exchange is not None and self.exchange.exact

    @property
    def shuffles_differences(self) -> bool:
        """Whether shuffles compare the differences themselves."""
        return self.exchange is not None and self.exchange.statistics is None

    @property
    def whole_family(self) -> bool:
        """Whether the test compares all systems at once, so that it needs no adjustment."""
        return self.of_family is not None

    def misfit(self, label: str, steady: bool, ordered: bool = False) -> str | None:
        """Why the test does not fit the statistic with this label; None if it may fit.

        `steady` says that the statistic's denominator is the same for both systems in every unit, `ordered` that it is
        computed from an order of documents. Some tests also need items that are entirely right or wrong; this is
        checked when the counts are read.
        """
        if ordered and not (self.exact or self.kind == "ordered"):
            return f"{self.name} needs counts or values of documents, and {label} depends on their order"
        if self.kind == "ordered" and not ordered:
            return f"{self.name} compares areas under the ROC curve, and {label} is not one"
        if self.kind == "matched" and not steady:
            return f"{self.name} needs the same denominator for both systems in every unit, and those of {label} differ"
        return None

    def conflict(self, adjustment: Adjustment, exact: bool) -> tuple[str, str] | None:
        """Why the adjustment cannot be combined with this test, and what to do; None if it can. `exact` says that an
        exact test was requested.
        """
        if not adjustment.adjusts:
            return None
        if self.whole_family:
            return f"test {self.name} already adjusts", "leave out adjust"
        if adjustment.by_shuffles and (exact or not self.exchanges):
            return (
                f"adjust {adjustment.name} works only with the shuffles of {EXCHANGING}",
                "write adjust holm instead",
            )
        return None


def _randomization(paired: Sums, draws: Draws, sides: Sides, work: Work) -> Outcome:
    from evalhouse.warehouse.significance.shuffles import randomization

    if paired.is_function:
        return randomization.functional_test(paired, draws, sides, work)
    return randomization.randomization_test(paired, draws, sides, work)


def _randomization_of_all(measures: Sequence[Sums], draws: Draws, sides: Sides, work: Work) -> Integers:
    from evalhouse.warehouse.significance.shuffles import all_pairs

    return all_pairs.all_pairs_test(measures, draws, sides, work)


def _randomization_of_replicates(
    values_a: Sequence[float], values_b: Sequence[float], draws: Draws | None, sides: Sides
) -> Outcome:
    from evalhouse.warehouse.significance import replicates

    return replicates.replicate_test(values_a, values_b, draws, sides)


def _spread_family(many: Sums, pairs: Pairs, sides: Sides) -> Family:
    from evalhouse.warehouse.significance import multiple

    return multiple.SpreadFamily(many, pairs, sides)


def _studentized(paired: Sums, draws: Draws, sides: Sides, work: Work) -> Outcome:
    from evalhouse.warehouse.significance.shuffles import studentized

    return studentized.studentized_test(paired, draws, sides, work)


def _studentized_of_all(measures: Sequence[Sums], draws: Draws, sides: Sides, work: Work) -> Integers:
    from evalhouse.warehouse.significance.shuffles import studentized

    return studentized.all_pairs_studentized(measures, draws, sides, work)


def _studentized_of_replicates(
    values_a: Sequence[float], values_b: Sequence[float], draws: Draws | None, sides: Sides
) -> Outcome:
    from evalhouse.warehouse.significance import replicates

    return replicates.replicate_test(values_a, values_b, draws, sides, studentized=True)


def _studentized_family(many: Sums, pairs: Pairs, sides: Sides) -> Family:
    from evalhouse.warehouse.significance.shuffles import studentized

    return studentized.studentized_family(many, pairs, sides)


def _students(many: Sums, pairs: Pairs) -> Floats:
    from evalhouse.warehouse.significance.shuffles import studentized

    return studentized.student(many, pairs)


def _sign(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import matched

    return matched.sign(systems.differences(), sides)


def _wilcoxon(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import matched

    return matched.wilcoxon(systems.differences(), sides)


def _t(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import matched

    return matched.t(systems.differences(), sides)


def _mcnemar(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import matched

    return matched.mcnemar(*systems.right_alone(), sides)


def _bootstrap(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance.bootstrap.shifted import bootstrap_test

    return bootstrap_test(systems.paired, draws, sides)


def _tukey(many: Sums, draws: Draws, sides: Sides, work: Work) -> Integers:
    from evalhouse.warehouse.significance import multiple

    return multiple.tukey(many, draws, sides, work)


def _two_sample_t(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import independent

    return independent.two_sample_t(*systems.samples(), sides)


def _z(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import independent

    (hits_a, units_a), (hits_b, units_b) = systems.proportions()
    return independent.z(hits_a, units_a, hits_b, units_b, sides)


def _chi_square(systems: TwoSystems, draws: Draws, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import independent

    (hits_a, units_a), (hits_b, units_b) = systems.proportions()
    return independent.chi_square(hits_a, units_a - hits_a, hits_b, units_b - hits_b, sides)


def _delong(two: TwoAreas, sides: Sides) -> Outcome:
    from evalhouse.warehouse.significance import areas

    return areas.delong(two, sides)


TESTS: tuple[Test, ...] = (
    Test(
        "randomization",
        "randomized",
        "how often exchanging the systems' tuples at random gives a difference at least as large as the observed one",
        "Noreen 1989; Chinchor 1992",
        synonyms=("permutation",),
        draws="shuffles",
        takes_margin=True,
        of_exchangeability=True,
        exchange=Exchange(
            _randomization, _randomization_of_all, _randomization_of_replicates, _spread_family, exact=True
        ),
    ),
    Test(
        "studentized",
        "randomized",
        "the difference over its standard error, recomputed after every random exchange: whether the measures are "
        "equal, even where the systems answer different amounts",
        "Janssen 1997; Chung and Romano 2013",
        draws="shuffles",
        takes_margin=True,
        exchange=Exchange(
            _studentized, _studentized_of_all, _studentized_of_replicates, _studentized_family, statistics=_students
        ),
    ),
    Test(
        "sign",
        "matched",
        "in how many units each system is ahead of the other; exact",
        "Yeh 2000, section 3.2",
        of_pair=_sign,
    ),
    Test("wilcoxon", "matched", "ranks of the differences, unit by unit", "Wilcoxon 1945", of_pair=_wilcoxon),
    Test(
        "t",
        "matched",
        "the mean of the differences, unit by unit, assuming a normal distribution",
        "Student 1908",
        units=2,
        enough=10,
        takes_margin=True,
        of_pair=_t,
    ),
    Test(
        "mcnemar",
        "matched",
        "items that only one of the two systems gets right; exact",
        "McNemar 1947",
        of_pair=_mcnemar,
    ),
    Test(
        "bootstrap",
        "randomized",
        "how often resampled units, centred at no difference, give a difference at least as large",
        "Efron 1979",
        draws="resamples",
        chunk=10_240,
        units=30,
        enough=50,
        of_pair=_bootstrap,
    ),
    Test(
        "tukey",
        "randomized",
        "randomized honestly significant difference: each pair against the range of all systems shuffled together",
        "Carterette 2012",
        draws="shuffles",
        chunk=10_240,
        of_exchangeability=True,
        of_family=_tukey,
    ),
    Test(
        "two-sample-t",
        "independent",
        "two means, as if from different documents",
        "Student 1908",
        of_pair=_two_sample_t,
    ),
    Test(
        "z",
        "independent",
        "the difference of two proportions, as if from different documents",
        "Yeh 2000, section 2",
        of_pair=_z,
    ),
    Test(
        "chi-square",
        "independent",
        "right and wrong answers of both systems in a 2 × 2 table",
        "Yeh 2000, section 2",
        of_pair=_chi_square,
    ),
    Test(
        "delong",
        "ordered",
        "the difference of two areas under the ROC curve over its standard error",
        "DeLong, DeLong and Clarke-Pearson 1988",
        of_areas=_delong,
    ),
)
"""The first is the default and fits every measure."""

EXCHANGING: str = " and ".join(test.name for test in TESTS if test.exchanges)
"""The names of the tests that exchange tuples."""

OF_ORDERS = next(test for test in TESTS if test.kind == "ordered")
"""The default test if all measures are of the order of documents."""

OF_EQUALITY = next(test for test in TESTS if test.exchanges and not test.shuffles_differences)
"""The default of `rank`, and of `differ` for ratios: whether the measures are equal. Of many pairs, or of many slices,
some differ in how much the systems answer, and none of them may count as different for that alone.
"""

DRAWN = {"shuffles": ("shuffles", "permutations"), "resamples": ("resamples",)}
"""What a test draws, with the words for it in the language."""

DRAWING: tuple[str, ...] = tuple(
    test.name for drawn in ("shuffles", "resamples") for test in TESTS if test.draws == drawn
)
"""The names of the tests that draw: those that shuffle, then those that resample."""


class Adjustment(Struct, frozen=True):
    """A way to adjust the p-values of a family of comparisons, with its name in the language and its synonyms.

    `intervals` says how the intervals shown beside such p-values share the level. Functions that run it: `of_levels`
    takes only the p-values. If the adjustment needs the common shuffles of the family, `reached` counts the shuffles in
    which pairs reach their observed statistics, and `stepped` turns the p-values from these counts into adjusted ones.
    An adjustment with none of these functions does nothing. Adjusted p-values never decrease if a p-value increases. An
    adjustment is `family_wise` if it bounds the probability of any false finding in the family.
    """

    name: str
    meaning: str
    source: str
    adjusted: str = ""
    """The description of p-values that it adjusted."""
    synonyms: tuple[str, ...] = ()
    intervals: Simultaneous = "each"
    family_wise: bool = False
    of_levels: Callable[[Sequence[float]], Floats] | None = None
    reached: Callable[[Family, Draws, Work], Integers] | None = None
    stepped: Callable[[Family, Floats], Floats] | None = None

    @property
    def adjusts(self) -> bool:
        """Whether the adjustment changes p-values at all."""
        return self.of_levels is not None or self.by_shuffles

    @property
    def by_shuffles(self) -> bool:
        """Whether it needs the common shuffles of the whole family."""
        return self.reached is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The name, then its synonyms."""
        return (self.name, *self.synonyms)


def _bonferroni(levels: Sequence[float]) -> Floats:
    from evalhouse.warehouse.significance import multiple

    return multiple.bonferroni(levels)


def _holm(levels: Sequence[float]) -> Floats:
    from evalhouse.warehouse.significance import multiple

    return multiple.holm(levels)


def _benjamini_hochberg(levels: Sequence[float]) -> Floats:
    from evalhouse.warehouse.significance import multiple

    return multiple.benjamini_hochberg(levels)


def _count_reached_by_largest(family: Family, draws: Draws, work: Work) -> Integers:
    from evalhouse.warehouse.significance import multiple

    return multiple.count_reached_by_largest(family, draws, work)


def _step_down(family: Family, levels: Floats) -> Floats:
    from evalhouse.warehouse.significance import multiple

    return multiple.step_down(family, levels)


ADJUSTMENTS: tuple[Adjustment, ...] = (
    Adjustment("none", "p-values as they are; the caption gives the number of comparisons", ""),
    Adjustment(
        "bonferroni",
        "each p times the number of comparisons",
        "Dunn 1961",
        "Bonferroni-adjusted",
        intervals="divided",
        family_wise=True,
        of_levels=_bonferroni,
    ),
    Adjustment(
        "holm",
        "step-down Bonferroni; controls the family-wise error under any dependence",
        "Holm 1979",
        "Holm-adjusted",
        intervals="together",
        family_wise=True,
        of_levels=_holm,
    ),
    Adjustment(
        "bh",
        "controls the expected share of false discoveries",
        "Benjamini and Hochberg 1995",
        "Benjamini-Hochberg-adjusted",
        synonyms=("fdr",),
        of_levels=_benjamini_hochberg,
    ),
    Adjustment(
        "maxt",
        "step-down on the largest statistic of the common shuffles",
        "Westfall and Young 1993",
        "max-T-adjusted",
        synonyms=("westfall-young",),
        intervals="together",
        family_wise=True,
        reached=_count_reached_by_largest,
        stepped=_step_down,
    ),
)
"""The first is the default."""

_TEST_BY_NAME = {name: test for test in TESTS for name in test.names}
_ADJUSTMENT_BY_NAME = {name: adjustment for adjustment in ADJUSTMENTS for name in adjustment.names}


def find_test(name: str) -> Test:
    """The test with this name or synonym, in lower case. Raises KeyError if there is none."""
    return _TEST_BY_NAME[name]


def find_adjustment(name: str) -> Adjustment:
    """The adjustment with this name or synonym, in lower case. Raises KeyError if there is none."""
    return _ADJUSTMENT_BY_NAME[name]
