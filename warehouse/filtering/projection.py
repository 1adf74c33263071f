"""Precision and F at another generality, if recall and fallout stay as measured (Lewis and Tong 1992, Analysis).

The formula is exact where the generality is the share of documents for which yes is the right answer, (a + c + x) / n.
That share depends on the system where there are optional documents; generality (4'') stands for it and is above it
unless every optional document was decided yes. All values are proportions.
"""

from __future__ import annotations

from math import exp, isfinite, log

_LARGEST = 700.0
"""exp of more would leave the range of floating point; a fallout multiplied by so much is 1 anyway."""


def project_fallout(fallout: float, generality_from: float, generality_to: float, exponent: float = 0.0) -> float:
    """Fallout at another generality: fallout · (to / from)^exponent, at most 1.

    Exponent 0 is constant fallout. Salton (1972, as quoted by Lewis and Tong) found fallout to fall by 2 to 3 where
    generality fell by 7, an exponent between 0.36 and 0.56. Raises ValueError for values outside [0, 1], and for a
    generality of 0 to start from where the exponent is not 0.
    """
    _check(fallout=fallout, generality_from=generality_from, generality_to=generality_to)
    if not isfinite(exponent):
        raise ValueError(f"the exponent is {exponent} and must be a number")
    if exponent == 0 or fallout == 0:
        return fallout
    if generality_from == 0:
        raise ValueError("fallout cannot be scaled from a generality of 0")
    if generality_to == 0:
        return 0.0 if exponent > 0 else 1.0
    growth = exponent * (log(generality_to) - log(generality_from))
    return min(1.0, fallout * exp(min(growth, _LARGEST)))


def project_precision(
    recall: float, fallout: float, generality_from: float, generality_to: float, exponent: float = 0.0
) -> float | None:
    """Precision at another generality g: R·g / (R·g + fallout·(1 − g)), with the fallout of `project_fallout`.

    None where nothing would be decided yes. Raises ValueError as `project_fallout` does, and for a recall outside [0,
    1].
    """
    _check(recall=recall)
    false_alarms = project_fallout(fallout, generality_from, generality_to, exponent) * (1 - generality_to)
    hits = recall * generality_to
    return hits / (hits + false_alarms) if hits + false_alarms else None


def project_f(
    recall: float, fallout: float, generality_from: float, generality_to: float, exponent: float = 0.0, beta: float = 1
) -> float | None:
    """F(β) at another generality, from recall and the projected precision; None where either is undefined.

    Raises ValueError as `project_precision` does, and for a β below 0.
    """
    if not (isfinite(beta) and beta >= 0):
        raise ValueError(f"beta is {beta} and cannot be negative")
    precision = project_precision(recall, fallout, generality_from, generality_to, exponent)
    if precision is None:
        return None
    under = beta**2 * precision + recall
    return (beta**2 + 1) * precision * recall / under if under else None


def _check(**proportions: float) -> None:
    for name, proportion in proportions.items():
        if not 0 <= proportion <= 1:
            raise ValueError(f"{name} is {proportion} and must be between 0 and 1")
