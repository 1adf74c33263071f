"""TESTS and ADJUSTMENTS, the tables of significance tests and of adjustments, in display order.

What each is called, what it asks and where it comes from; they feed checking, help and documentation. The tests
themselves are in the modules beside this one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["randomized", "matched", "independent"]
"""Randomized tests take any ratio of sums; matched ones need equal denominators in every unit (Yeh 2000, section 3.2);
independent ones assume that the two systems' answers have nothing to do with each other (Yeh 2000, section 2)."""


@dataclass(frozen=True, slots=True)
class Test:
    """A significance test by its name in the language."""

    __test__ = False  # not a pytest class

    name: str
    kind: Kind
    meaning: str
    source: str


TESTS: tuple[Test, ...] = (
    Test(
        "randomization",
        "randomized",
        "how often exchanging the systems' tuples by fair coins gives a difference at least as large as the observed",
        "Noreen 1989; Chinchor 1992",
    ),
    Test("sign", "matched", "in how many units one system is ahead of the other; exact", "Yeh 2000, section 3.2"),
    Test("wilcoxon", "matched", "the ranks of the differences, unit by unit", "Wilcoxon 1945"),
    Test("t", "matched", "the mean of the differences, unit by unit, taken as normal", "Student 1908"),
    Test("mcnemar", "matched", "items that only one of the systems has right; exact", "McNemar 1947"),
    Test(
        "bootstrap", "randomized", "how often resampled units, shifted to no difference, differ as much", "Efron 1979"
    ),
    Test(
        "tukey",
        "randomized",
        "randomized honestly significant difference: every pair against the range of all systems shuffled together",
        "Carterette 2012",
    ),
    Test("two-sample-t", "independent", "two means as if from different documents", "Student 1908"),
    Test("z", "independent", "the difference of two proportions as if from different documents", "Yeh 2000, section 2"),
    Test("chi-square", "independent", "right and wrong answers of both in a 2 × 2 table", "Yeh 2000, section 2"),
)


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A way to adjust the significance levels of a family of comparisons, by its name in the language."""

    name: str
    meaning: str
    source: str


ADJUSTMENTS: tuple[Adjustment, ...] = (
    Adjustment("none", "each level stands for itself; the caption counts the comparisons", ""),
    Adjustment("bonferroni", "each level times the number of comparisons", "Dunn 1961"),
    Adjustment("holm", "step-down Bonferroni; keeps the family-wise error under any dependence", "Holm 1979"),
    Adjustment("bh", "keeps the expected share of false discoveries", "Benjamini and Hochberg 1995"),
    Adjustment("maxt", "step-down on the largest statistic of the common shuffles", "Westfall and Young 1993"),
)
