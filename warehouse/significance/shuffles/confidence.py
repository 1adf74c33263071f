"""The confidence that the exact p behind a shuffled p is at most a given level, and the verdict that follows."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor, log10
from statistics import NormalDist
from typing import Literal

from warehouse.significance.analytic.beta import incomplete
from warehouse.significance.outcome import check_shuffles

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
    while high < _SEARCHED and not _settled(p, high, level, gamma):
        low, high = high, 2 * high
    if high >= _SEARCHED:
        z = NormalDist().inv_cdf(gamma)
        return _two_digits(max(float(high), z * z * p * (1 - p) / (level - p) ** 2))
    while high - low > max(1, high // 200):
        middle = (low + high) // 2
        low, high = (low, middle) if _settled(p, middle, level, gamma) else (middle, high)
    return _two_digits(high)


def _settled(p: float, shuffles: int, level: float, gamma: float) -> bool:
    sure = incomplete(level, p * shuffles + 1, (1 - p) * shuffles + 1)
    return sure >= gamma or sure <= 1 - gamma


def _two_digits(number: float) -> int:
    unit: int = 10 ** max(0, floor(log10(number)) - 1)
    return ceil(number / unit) * unit
