"""What a file states about its own rows: the figures that the tool computed from them when it wrote the file.

A reader hands them over (`Staging.state`), and the load computes the same figures from what the reader made of the
file. Nothing is computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from statistics import fmean

from msgspec import Struct

Values = Sequence[float]

MEAN_OF_SAMPLES = "the mean of the samples"


class StatedFigure(Struct, frozen=True):
    """A figure that a file states: of some runs of a model on a test set, under the name that the measure has here.

    `called` is the file's own name of it, and `place` is where it is stated ("results_2026-01-16.json"). `value` is the
    number as it is written there. The figure is computed from the values that the file has for the systems: first over
    the runs of each document (`over_runs`), then over the documents (`over_documents`). `documents` names these if they
    are not all that have a value. If `values` are given, the figure is computed from them, and not from values of the
    file. `computed_as` says in words what is computed. `slack` is how far off that may be because it is computed from
    rounded numbers.
    """

    test_set: str
    systems: tuple[str, ...]
    measure: str
    called: str
    place: str
    value: float | str
    over_runs: Callable[[Values], float] = fmean
    over_documents: Callable[[Values], float] = fmean
    documents: frozenset[str] | None = None
    values: tuple[float, ...] | None = None
    computed_as: str = MEAN_OF_SAMPLES
    slack: float = 0.0

    @property
    def number(self) -> float:
        """The figure as a number."""
        return float(self.value)

    @property
    def decimals(self) -> int:
        """How many decimals are written."""
        exponent = Decimal(str(self.value)).as_tuple().exponent
        return max(0, -exponent) if isinstance(exponent, int) else 0
