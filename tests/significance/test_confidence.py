"""The incomplete beta function, the confidence and the verdict."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from evalhouse.warehouse.significance import distributions
from evalhouse.warehouse.significance.draws import approximate
from evalhouse.warehouse.significance.shuffles.sequential import confidence, shuffles_to_decide, verdict


def test_noreen_table() -> None:
    """The confidence that Chinchor (1992) reads from the table of Noreen (1989) for 989 of 9,999 at 0.1."""
    assert round(confidence(989, 9999, 0.1), 4) == 0.6354


@pytest.mark.parametrize("shuffles", [1, 2, 10, 99, 9999, 10**5, 10**6, 10**7])
@pytest.mark.parametrize("level", [1e-6, 0.001, 0.01, 0.05, 0.1, 0.5, 0.9])
def test_confidence_is_the_beta_distribution(shuffles: int, level: float) -> None:
    center = shuffles * level
    spread = (center * (1 - level)) ** 0.5
    near = [int(center + steps * spread) for steps in (-9, -4, -1, 0, 1, 2, 5)]
    for nge in {0, 1, shuffles // 2, shuffles - 1, shuffles, *(min(max(0, it), shuffles) for it in near)}:
        expected = special.betainc(nge + 1, shuffles - nge + 1, level)
        assert confidence(nge, shuffles, level) == pytest.approx(expected, rel=0, abs=1e-10)


def test_tails_are_accurate_where_they_are_small() -> None:
    for t in (0.0, 0.3, 1.0, 2.0, 10.0, 40.0):
        for degrees in (1, 2, 3.5, 10, 99, 10**6):
            assert distributions.t_tail(t, degrees) == pytest.approx(stats.t.sf(t, degrees), rel=1e-10, abs=1e-290)
            assert distributions.t_tail(-t, degrees) == pytest.approx(stats.t.sf(-t, degrees), rel=1e-12)
    assert distributions.normal_tail(8.0) == pytest.approx(stats.norm.sf(8.0), rel=1e-13)
    assert distributions.chi_square_tail(30.0) == pytest.approx(stats.chi2.sf(30.0, 1), rel=1e-13)
    assert distributions.t_tail(np.inf, 5) == 0.0
    assert distributions.t_tail(-np.inf, 5) == 1.0


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="nge is 11"):
        confidence(11, 10, 0.05)
    with pytest.raises(ValueError, match="shuffles is 0"):
        confidence(0, 0, 0.05)
    with pytest.raises(ValueError, match="not between 0 and 1"):
        confidence(1, 10, 1.5)
    with pytest.raises(ValueError, match="positive"):
        distributions.incomplete(0.5, 0, 1)


def test_verdict() -> None:
    assert verdict(0.04, 0.995, 0.05, 0.99) == "significant"
    assert verdict(0.05, 0.99, 0.05, 0.99) == "significant"
    assert verdict(0.049, 0.6, 0.05, 0.99) == "undecided"
    assert verdict(0.051, 0.3, 0.05, 0.99) == "undecided"
    assert verdict(0.051, 0.011, 0.05, 0.99) == "undecided"
    assert verdict(0.051, 0.009, 0.05, 0.99) == "not significant"
    assert verdict(0.3, 0.0, 0.05, 0.99) == "not significant"


@pytest.mark.parametrize(("nge", "shuffles"), [(989, 9999), (480, 9999), (497, 9999), (0, 29), (3, 99)])
def test_the_shuffles_to_decide_decide(nge: int, shuffles: int) -> None:
    """With the same share of extreme shuffles, that many give the confidence, and nine tenths of them do not."""
    level = 0.1 if nge == 989 else 0.05
    needed = shuffles_to_decide(nge, shuffles, level, 0.99)
    assert needed is not None
    assert needed > shuffles
    p = approximate(nge, shuffles).p if nge else 0.0

    def reached(number: float) -> float:
        return float(special.betainc(p * number + 1, (1 - p) * number + 1, level))

    assert reached(needed) >= 0.989
    assert reached(0.85 * needed) < 0.99


@pytest.mark.parametrize(("nge", "shuffles", "level"), [(560, 9999, 0.05), (11, 199, 0.05), (1, 9, 0.05)])
def test_shuffles_decide_that_p_is_above_the_level(nge: int, shuffles: int, level: float) -> None:
    needed = shuffles_to_decide(nge, shuffles, level, 0.99)
    assert needed is not None
    assert needed > shuffles
    p = approximate(nge, shuffles).p
    assert float(special.betainc(p * needed + 1, (1 - p) * needed + 1, level)) <= 0.011


def test_no_number_of_shuffles_decides_where_p_is_the_level() -> None:
    assert shuffles_to_decide(499, 9999, 0.05, 0.99) is None
    with pytest.raises(ValueError, match="between 0 and 1"):
        shuffles_to_decide(1, 10, 0.5, 1.0)
