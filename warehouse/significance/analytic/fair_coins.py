"""The binomial tail for fair coins, correctly rounded to floating point.

For up to EXACT coins the outcomes are counted in integers. For more coins the probability at the bound comes from
Stirling's series, and the probability beyond it from ratios of neighbouring terms in fixed point. Both are accurate to
at least 30 digits, so that only the last step rounds.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import comb, factorial

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
