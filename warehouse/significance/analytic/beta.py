"""The regularised incomplete beta function, and the tails of the distributions that follow from it.

The relative error is about 1e-13, also for parameters of 1e7 and more: the factor before the continued fraction is
written with deviances (Loader 2000, *Fast and accurate computation of binomial probabilities*) instead of differences
of large logarithms.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, exp, inf, lgamma, log, log1p, pi, sqrt

_EPSILON = 1e-16
_TINY = 1e-300
_STEPS = 10_000_000


def incomplete(x: float, a: float, b: float) -> float:
    """I_x(a, b), the probability that a Beta(a, b) variable is at most x; a, b > 0.

    By Lentz's continued fraction (Press et al., *Numerical Recipes*, section 6.4), in about √max(a, b) steps. Raises
    ValueError for parameters that are not positive, and for x outside [0, 1].
    """
    return _tails(x, 1.0 - x, a, b)[0]


def _tails(x: float, rest: float, a: float, b: float) -> tuple[float, float]:
    """I_x(a, b) and 1 − I_x(a, b), each accurate where it is small; `rest` is 1 − x, passed separately so that it keeps
    its digits.
    """
    if not (a > 0 and b > 0):
        raise ValueError(f"the parameters of a beta distribution are positive, not {a} and {b}")
    if not 0 <= x <= 1:
        raise ValueError(f"{x} is not between 0 and 1")
    if x == 0:
        return 0.0, 1.0
    if rest == 0:
        return 1.0, 0.0
    front = a * b / (a + b) * _binomial(a, b, x, rest)
    if x < (a + 1) / (a + b + 2):
        below = min(1.0, front * _fraction(x, a, b) / a)
        return below, 1.0 - below
    above = min(1.0, front * _fraction(rest, b, a) / b)
    return 1.0 - above, above


def t_tail(t: float, degrees: float) -> float:
    """The probability that a Student t variable with `degrees` degrees of freedom is at least t."""
    if t == inf:
        return 0.0
    if t == -inf:
        return 1.0
    square = t * t
    half = 0.5 * _tails(degrees / (degrees + square), square / (degrees + square), degrees / 2, 0.5)[0]
    return half if t >= 0 else 1.0 - half


@lru_cache(maxsize=1000)
def t_quantile(tail: float, degrees: float) -> float:
    """The t with upper tail probability `tail`, at most one half, for Student's t with `degrees` degrees of freedom.

    By bisection of `t_tail`. Raises ValueError for any other probability.
    """
    if not 0 < tail <= 0.5:
        raise ValueError(f"the tail of a distribution is {tail} and must be above 0 and at most 0.5")
    low, high = 0.0, 1.0
    while t_tail(high, degrees) > tail:
        low, high = high, 2 * high
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (middle, high) if t_tail(middle, degrees) > tail else (low, middle)
    return high


def normal_tail(z: float) -> float:
    """The probability that a standard normal variable is at least z."""
    return 0.5 * erfc(z / sqrt(2))


def chi_square_tail(square: float, degrees: int = 1) -> float:
    """The probability that a χ² variable with `degrees` degrees of freedom is at least `square` (Abramowitz and Stegun
    1964, 26.4.4 and 26.4.5).
    """
    half, odd = square / 2, degrees % 2
    total, term = (erfc(sqrt(half)), sqrt(half / pi) * 2 * exp(-half)) if odd else (0.0, exp(-half))
    # The terms are half^i / Γ(i + 1) · exp(−half): for i = 0, 1, … where degrees are even, else for 1/2, 3/2, …
    for step in range(2 + odd, degrees + 1, 2):
        total += term
        term *= square / step
    return min(1.0, total)


def _binomial(a: float, b: float, x: float, rest: float) -> float:
    """Γ(a+b+1) / (Γ(a+1)·Γ(b+1)) · x^a · rest^b: the binomial probability, continued to real numbers (Loader 2000)."""
    total = a + b
    exponent = _stirling(total) - _stirling(a) - _stirling(b) - _deviance(a, total * x) - _deviance(b, total * rest)
    return exp(exponent) * sqrt(total / (2 * pi * a * b))


def _stirling(z: float) -> float:
    """ln Γ(z+1) minus Stirling's approximation of it."""
    if z < 16:
        return lgamma(z + 1) - (z + 0.5) * log(z) + z - 0.5 * log(2 * pi)
    square = z * z
    return (1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square) / z


def _deviance(observed: float, expected: float) -> float:
    """observed · ln(observed / expected) + expected − observed, without cancellation where the two are close."""
    difference = observed - expected
    if abs(difference) < 0.1 * (observed + expected):
        ratio = difference / (observed + expected)
        total = difference * ratio
        term = 2 * observed * ratio
        square = ratio * ratio
        for odd in range(3, 1000, 2):
            term *= square
            before = total
            total += term / odd
            if total == before:
                break
        return total
    if expected == 0:
        return inf
    ratio = expected / observed
    return observed * ((ratio - 1) - (log1p(ratio - 1) if ratio > 0.5 else log(ratio)))


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction of I_x(a, b), for x below the mean."""
    c = 1.0
    d = 1.0 - (a + b) * x / (a + 1)
    d = 1.0 / (d if abs(d) > _TINY else _TINY)
    value = d
    for step in range(1, _STEPS):
        twice = a + 2 * step
        numerator = step * (b - step) * x / ((twice - 1) * twice)
        d = 1.0 + numerator * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + numerator / c
        c = c if abs(c) > _TINY else _TINY
        value *= d * c
        numerator = -(a + step) * (a + b + step) * x / (twice * (twice + 1))
        d = 1.0 + numerator * d
        d = 1.0 / (d if abs(d) > _TINY else _TINY)
        c = 1.0 + numerator / c
        c = c if abs(c) > _TINY else _TINY
        factor = d * c
        value *= factor
        if abs(factor - 1.0) < _EPSILON:
            break
    return value
