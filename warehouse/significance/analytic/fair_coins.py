"""How likely so many heads are among fair coins, right to the last digit of floating point.

Up to EXACT coins the ways are counted in whole numbers. For more, the likelihood of the bound itself comes from
Stirling's series, and what is beyond it from ratios of neighbours in fixed point; both are right to 30 digits and more,
so that only the last step rounds.
"""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from math import comb, factorial

EXACT = 1000
"""Up to so many coins, ways are counted in whole numbers."""

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
    """The probability of at least so many successes in so many trials of even chance; 0 where that is below 5e-324."""
    if successes <= 0:
        return 1.0
    if successes > trials:
        return 0.0
    lower_half = 2 * successes <= trials
    if lower_half:
        # Fewer than so many successes are more than the rest of the failures.
        successes = trials - successes + 1
    if trials <= EXACT:
        ways = _ways(successes, trials)
        return ((1 << trials) - ways if lower_half else ways) / (1 << trials)
    with localcontext(_DIGITS):
        tail = _tail(successes, trials)
        return float(1 - tail if lower_half else tail)


def _ways(successes: int, trials: int) -> int:
    """In how many ways at least so many coins are heads."""
    ways, term = 0, comb(trials, successes)
    for count in range(successes, trials + 1):
        ways += term
        term = term * (trials - count) // (count + 1)
    return ways


def _tail(successes: int, trials: int) -> Decimal:
    """The probability of at least so many successes, which are at least half of the trials."""
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
