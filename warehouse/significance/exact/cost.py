"""What an exact test takes, which is known beforehand: whether it is done unasked, when asked for, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from grammar.value import value

AFFORDABLE_OPERATIONS = 2e8
"""About a second of work: up to here an exact test is done unasked."""

AFFORDABLE_BYTES = 300_000_000
"""And up to this much memory."""

POSSIBLE_OPERATIONS = 1e10
"""About a minute: beyond, an exact test is refused."""

POSSIBLE_BYTES = 2_000_000_000
"""And beyond this much memory."""

Way = Literal["identical", "binomial", "table", "halves", "listing", "transform", "combinations"]


@value
class Cost:
    """How a pair would be tested exactly, and what that takes; it follows from the data alone.

    `way` is identical (the systems do not differ, or not in their measure), binomial (all differences are of one size),
    table (dynamic programme), halves or listing (enumeration) or transform (characteristic function); that of a
    function of sums is identical or combinations. An operation takes 2.5 to 8 nanoseconds.
    """

    way: Way
    operations: float
    bytes: int
    units: int
    distinct: int

    @property
    def affordable(self) -> bool:
        """Whether the test is cheap enough to be done unasked."""
        return self.operations <= AFFORDABLE_OPERATIONS and self.bytes <= AFFORDABLE_BYTES

    @property
    def possible(self) -> bool:
        """Whether the test can be done at all."""
        return self.operations <= POSSIBLE_OPERATIONS and self.bytes <= POSSIBLE_BYTES

    def check(self) -> None:
        """Raises ValueError where the test is not possible."""
        if not self.possible:
            raise ValueError(
                f"the exact test would take about {self.operations:.0e} steps and {self.bytes / 1e9:.1f} GB"
            )


def affordable_together(costs: Iterable[Cost]) -> bool:
    """Whether several exact tests are cheap enough, all together, to be done unasked."""
    operations = 0.0
    for cost in costs:
        operations += cost.operations
        if operations > AFFORDABLE_OPERATIONS or not cost.affordable:
            return False
    return True
