"""The cost of an exact test, which is known in advance. It decides whether the test is run by default, only on request,
or not at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct

AFFORDABLE_OPERATIONS = 2e8
"""About a second of work: up to this many operations an exact test is run by default."""

AFFORDABLE_BYTES = 300_000_000
"""The largest memory, in bytes, of an exact test that is run by default."""

POSSIBLE_OPERATIONS = 1e10
"""About a minute of work: with more operations an exact test is refused."""

POSSIBLE_BYTES = 2_000_000_000
"""With more memory than this, in bytes, an exact test is refused."""

Way = Literal["identical", "binomial", "table", "halves", "listing", "transform", "combinations"]


class Cost(Struct, frozen=True):
    """The method of an exact test for a pair, and its cost. Both follow from the data alone.

    `way` is one of: identical (the systems do not differ, or not in their measure), binomial (all differences have one
    size), table (dynamic programme), halves or listing (enumeration), and transform (characteristic function). For a
    function of sums it is identical or combinations. An operation takes 2.5 to 8 nanoseconds.
    """

    way: Way
    operations: float
    bytes: int
    units: int
    distinct: int

    @property
    def affordable(self) -> bool:
        """Whether the test is cheap enough to be run by default."""
        return self.operations <= AFFORDABLE_OPERATIONS and self.bytes <= AFFORDABLE_BYTES

    @property
    def possible(self) -> bool:
        """Whether the test can be done at all."""
        return self.operations <= POSSIBLE_OPERATIONS and self.bytes <= POSSIBLE_BYTES

    def check(self) -> None:
        """Raises ValueError if the test is not possible."""
        if not self.possible:
            raise ValueError(
                f"the exact test would take about {self.operations:.0e} steps and {self.bytes / 1e9:.1f} GB"
            )


def affordable_together(costs: Iterable[Cost]) -> bool:
    """Whether several exact tests are together cheap enough to be run by default."""
    operations = 0.0
    for cost in costs:
        operations += cost.operations
        if operations > AFFORDABLE_OPERATIONS or not cost.affordable:
            return False
    return True
