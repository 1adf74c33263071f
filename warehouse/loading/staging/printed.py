"""Figures without documents as they are stored: the decimal digits of a number, and the size of the last digit."""

from __future__ import annotations

import math

FIGURES = (
    *("test_set", "system", "task", "measure", "value", "resolution", "documents", "standard_error"),
    *("ci_low", "ci_high", "ci_level"),
)
"""The columns of a sheet of such figures."""

MOST_DIGITS = 9
"""How many digits a figure may have on each side of the point. No published figure has more."""


def printed(value: float) -> tuple[str, str] | None:
    """A number as decimal text and the size of its last digit: 0.4486 and 0.0001. None if it is not finite, or has too
    many digits before the point.
    """
    if not math.isfinite(value) or abs(value) >= 10**MOST_DIGITS:
        return None
    whole, _, digits = f"{value:.{MOST_DIGITS}f}".partition(".")
    digits = digits.rstrip("0")
    return (f"{whole}.{digits}", f"0.{'1'.zfill(len(digits))}") if digits else (whole, "1")
