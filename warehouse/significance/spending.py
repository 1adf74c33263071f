"""SPENDINGS, the table of ways to share out a level over the looks of a plan, in display order.

A plan looks while documents come. By the time that a share of them is there, it may have spent a part of the level, and
all of it in the end (Lan and DeMets 1983). No other module may compare the name of one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import e, erfc, log1p, sqrt

from msgspec import Struct


class Spending(Struct, frozen=True):
    """How much of the level may be spent by the time that a share of the planned documents has come."""

    name: str
    meaning: str
    source: str
    spent: Callable[[float, float], float]
    """Of a level and a share between 0 and 1."""

    def of(self, level: float, share: float) -> float:
        """How much of a level may be spent; all of it once all documents have come."""
        return level if share >= 1 else self.spent(level, share)


def _obrien_fleming(level: float, share: float) -> float:
    from statistics import NormalDist

    return erfc(-NormalDist().inv_cdf(level / 2) / sqrt(2 * share)) if level < 1 else 1.0


def _pocock(level: float, share: float) -> float:
    return level * log1p((e - 1) * share)


SPENDINGS: tuple[Spending, ...] = (
    Spending(
        "obrien",
        "little of the level early, so that the last look is almost the test without looks",
        "O'Brien and Fleming 1979; Lan and DeMets 1983",
        _obrien_fleming,
    ),
    Spending(
        "pocock",
        "about as much at each look, so that large differences are found early",
        "Pocock 1977; Lan and DeMets 1983",
        _pocock,
    ),
)
"""The first is the default."""


def find_spending(name: str | None) -> Spending:
    """The one with this name, or the first without one."""
    return next((member for member in SPENDINGS if member.name == name), SPENDINGS[0])
