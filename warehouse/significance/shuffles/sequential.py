"""Confidence limits of an exact p from the shuffles so far, and whether to go on shuffling.

This module must not shuffle.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor, log10
from statistics import NormalDist
from typing import Literal

import numpy as np

from evalhouse.warehouse.significance.arrays import Booleans, Floats, Integers
from evalhouse.warehouse.significance.distributions import incomplete
from evalhouse.warehouse.significance.draws import check_shuffles

# === confidence of a verdict ==========================================================================================
# The confidence that the exact p behind a shuffled p is at most a given level, and the verdict that follows.

Verdict = Literal["significant", "undecided", "not significant"]

_SEARCHED = 1_000_000


@lru_cache(maxsize=10_000)
def confidence(nge: int, shuffles: int, level: float) -> float:
    """The probability that the exact p is at most `level`, given that nge of `shuffles` shuffles were extreme.

    BetaCDF(level; nge + 1, shuffles − nge + 1): the posterior probability under a uniform prior. It agrees with the
    table of Noreen (1989) that Chinchor (1992) used: 0.6354 for 989 of 9,999 at 0.1. Raises ValueError unless 0 ≤ nge ≤
    shuffles and 0 ≤ level ≤ 1.
    """
    check_shuffles(shuffles)
    if not 0 <= nge <= shuffles:
        raise ValueError(f"nge is {nge} and must be between 0 and {shuffles}, the number of shuffles")
    return incomplete(level, nge + 1, shuffles - nge + 1)


def verdict(p: float, confidence: float, level: float, gamma: float) -> Verdict:
    """`significant` where p ≤ level, `not significant` where p > level, each with a confidence of at least gamma, and
    else `undecided`. `confidence` is that of p ≤ level.

    For an exact or analytic p the confidence is 1 or 0.
    """
    if p > level:
        return "not significant" if 1 - confidence >= gamma else "undecided"
    return "significant" if confidence >= gamma else "undecided"


@lru_cache(maxsize=10_000)
def shuffles_to_decide(nge: int, shuffles: int, level: float, gamma: float) -> int | None:
    """About how many shuffles would settle an undecided verdict, always more than there were; None if no number would.

    This is an estimate, to two digits. It takes (nge + 1) / (shuffles + 1), or 0 if no shuffle was extreme, as the
    exact p. It returns the number of shuffles that would bring `confidence` to gamma, or to 1 − gamma, if the share of
    extreme shuffles stayed the same. Beyond a million it uses the normal approximation z²·p·(1 − p) / (level − p)².
    """
    check_shuffles(shuffles)
    if not 0 < gamma < 1:
        raise ValueError(f"the confidence wanted is {gamma} and must be between 0 and 1")
    p = (nge + 1) / (shuffles + 1) if nge else 0.0
    if p == level:
        return None
    low, high = shuffles, shuffles + 1
    while high < _SEARCHED and not _is_settled(p, high, level, gamma):
        low, high = high, 2 * high
    if high >= _SEARCHED:
        z = NormalDist().inv_cdf(gamma)
        return _two_digits(max(float(high), z * z * p * (1 - p) / (level - p) ** 2))
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if _is_settled(p, middle, level, gamma) else (middle, high)
    return _two_digits(high)


def _is_settled(p: float, shuffles: int, level: float, gamma: float) -> bool:
    sure = incomplete(level, p * shuffles + 1, (1 - p) * shuffles + 1)
    return sure >= gamma or sure <= 1 - gamma


def _two_digits(number: float) -> int:
    unit: int = 10 ** max(0, floor(log10(number)) - 1)
    return ceil(number / unit) * unit


# === when to stop =====================================================================================================
# The probability that any of many p-values lies outside its limits at any look is bounded in advance. This also bounds
# the probability that any verdict differs from that of the exact test (Gandy 2009, *Sequential implementation of Monte
# Carlo tests with uniformly bounded resampling risk*; Gandy and Hahn 2014 for several hypotheses).

MOST_SHUFFLES = 10_000_000
"""The largest number of shuffles for a p, unless more are requested."""

_HALVINGS = 50
"""The number of bisection steps to find a limit; the error is less than a millionth of the smallest limit that occurs.
"""


def looks(first: int, most: int = MOST_SHUFFLES) -> tuple[int, ...]:
    """The total numbers of shuffles at which the limits are checked: `first`, then twice as many each time, and `most`
    at the end.

    All are multiples of `first`. The last is the greatest multiple up to `most`, but at least `first`.
    """
    totals = [first]
    last = max(first, most // first * first)
    while totals[-1] < last:
        totals.append(min(2 * totals[-1], last))
    return tuple(totals)


def limits(nge: Integers, shuffles: Integers, risk: float) -> tuple[Floats, Floats]:
    """The confidence limits of the exact p, given nge extreme ones among `shuffles` shuffles; all arrays have the shape
    of `nge`.

    An exact p lies outside with a probability of at most `risk`: these are the limits of Clopper and Pearson (1934),
    with an upper bound instead of the binomial tail, which makes them slightly wider.
    """
    of_others, high = _highest(np.stack((shuffles - nge, nge)), np.stack((shuffles, shuffles)), risk / 2)
    return np.where(nge == 0, 0.0, 1 - of_others), high


def _highest(nge: Integers, shuffles: Integers, risk: float) -> Floats:
    """The highest p for which nge or fewer extreme shuffles have a probability of at least `risk`, or slightly more
    than that p.
    """
    share = nge / shuffles
    inside, outside = share, np.ones(nge.shape)
    for _ in range(_HALVINGS):
        middle = (inside + outside) / 2
        rare = _tail(nge, shuffles, share, middle) < risk
        inside, outside = np.where(rare, inside, middle), np.where(rare, middle, outside)
    return np.asarray(np.where(nge == shuffles, 1.0, outside))


def _tail(nge: Integers, shuffles: Integers, share: Floats, p: Floats) -> Floats:
    """An upper bound of the probability of nge or fewer extreme shuffles, for nge / shuffles = share ≤ p.

    The smaller of Hoeffding's (1963, theorem 1), exp(−n·KL), and Bahadur's (1960, inequality 4), the binomial
    probability of nge, itself bounded after Stirling, times (n − nge + 1)·p / ((n + 1)·p − nge).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(share > 0, share * np.log(share / p), 0.0)
        distance += np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0.0)
        hoeffding = np.exp(-shuffles * distance)
        ratio = (shuffles - nge + 1) * p / ((shuffles + 1) * p - nge)
        bahadur = hoeffding / np.sqrt(2 * np.pi * shuffles * share * (1 - share)) * ratio
    return np.asarray(np.fmin(hoeffding, np.where(np.isfinite(bahadur) & (ratio > 0), bahadur, np.inf)))


def are_settled(low: Floats, high: Floats, level: float) -> Booleans:
    """Whether p is known to be on one side of the level, given its limits, or those of the adjusted p."""
    return np.asarray((high <= level) | (low > level))


def need_shuffles(low: Floats, high: Floats, known: Booleans) -> Booleans:
    """Which p-values need more shuffles: those with unsettled verdicts and, if verdicts depend on one another, those
    whose limits overlap with the limits of an unsettled one, since their order is not known.
    """
    if known.all():
        return np.zeros(known.shape, dtype=np.bool_)
    order = np.argsort(low[~known])
    starts, ends = low[~known][order], np.maximum.accumulate(high[~known][order])
    # The last unsettled interval that begins before this one ends. Of all unsettled intervals up to that one, take the
    # farthest end.
    last = np.searchsorted(starts, high, side="right") - 1
    return np.asarray(~known | ((last >= 0) & (ends[np.maximum(last, 0)] >= low)))
