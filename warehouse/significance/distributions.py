"""Tails of distributions: beta, Student's t, normal, chi-square, and the binomial for fair coins.

The relative error is about 1e-13, also for parameters of 1e7 and more. The binomial tail is correctly rounded.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from functools import lru_cache
from math import comb, erfc, exp, factorial, inf, lgamma, log, log1p, pi, sqrt

# === the incomplete beta function =====================================================================================
# The regularised incomplete beta function, and the tails that follow from it. The factor before the continued fraction
# is written with deviances (Loader 2000, *Fast and accurate computation of binomial probabilities*), because
# differences of large logarithms lose digits.

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


# === the tail for fair coins ==========================================================================================
# For up to EXACT coins the outcomes are counted in integers. For more coins the probability at the bound comes from
# Stirling's series, and the probability beyond it from ratios of neighbouring terms in fixed point. Both are accurate
# to at least 30 digits, so only the last step rounds.

EXACT = 1000
"""Up to this many coins, outcomes are counted in integers."""

_DIGITS = Context(prec=45, Emin=MIN_EMIN, Emax=MAX_EMAX)

_FIXED_POINT = 1 << 112

_LN_2 = Decimal("0.69314718055994530941723212145817656807550013436025")
_LN_ROOT_2_PI = Decimal("0.91893853320467274178032973640561763986139747363778")

_STIRLING = tuple(
    _DIGITS.divide(over, under)
    for over, under in (
        (1, 12),
        (-1, 360),
        (1, 1260),
        (-1, 1680),
        (1, 1188),
        (-691, 360360),
        (1, 156),
        (-3617, 122400),
        (43867, 244188),
    )
)
"""The coefficients of z^-1, z^-3, … in ln z! (Abramowitz and Stegun 1964, 6.1.41), enough for 45 digits from EXACT / 2
on.
"""


def binomial_tail(successes: int, trials: int) -> float:
    """The probability of at least `successes` successes in `trials` trials with probability ½; 0 if it is below
    5e-324.
    """
    if successes <= 0:
        return 1.0
    if successes > trials:
        return 0.0
    lower_half = 2 * successes <= trials
    if lower_half:
        # Fewer than `successes` successes means more than trials − successes failures.
        successes = trials - successes + 1
    if trials <= EXACT:
        ways = _ways(successes, trials)
        return ((1 << trials) - ways if lower_half else ways) / (1 << trials)
    with localcontext(_DIGITS):
        tail = _tail(successes, trials)
        return float(1 - tail if lower_half else tail)


def _ways(successes: int, trials: int) -> int:
    """The number of outcomes with at least `successes` heads."""
    ways, term = 0, comb(trials, successes)
    for count in range(successes, trials + 1):
        ways += term
        term = term * (trials - count) // (count + 1)
    return ways


def _tail(successes: int, trials: int) -> Decimal:
    """The probability of at least `successes` successes; `successes` must be at least half of the trials."""
    beyond, term, count = 0, _FIXED_POINT, successes
    while term:
        beyond += term
        term = term * (trials - count) // (count + 1)
        count += 1
    logarithm = _log_factorial(trials) - _log_factorial(successes) - _log_factorial(trials - successes)
    return (logarithm - trials * _LN_2).exp() * beyond / _FIXED_POINT


def _log_factorial(z: int) -> Decimal:
    """ln z!"""
    if 2 * z < EXACT:
        return Decimal(factorial(z)).ln()
    rest, inverse_square = Decimal(0), 1 / Decimal(z * z)
    for coefficient in reversed(_STIRLING):
        rest = rest * inverse_square + coefficient
    return (z + Decimal("0.5")) * Decimal(z).ln() - z + _LN_ROOT_2_PI + rest / z
