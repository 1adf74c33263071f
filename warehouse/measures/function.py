"""Measures that are not a ratio of two linear forms: functions of summed counts, such as MCC and measures that users
define, and measures of the order in which confidence ranks documents.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite
from typing import TYPE_CHECKING

from msgspec import Struct

from warehouse.measures.disguise import as_total
from warehouse.measures.expression import Exact, Expression, columns, degree, divided, evaluate, exact, renamed
from warehouse.measures.formula import LinearForm

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def rounded(value: Exact | None) -> float | None:
    """The value as a float; None if it is undefined or out of range."""
    try:
        number = inf if value is None else float(value)
    except OverflowError:
        return None
    return number if isfinite(number) else None


class Function(Struct, frozen=True):
    """A measure that is an expression over the sums of its columns."""

    expression: Expression

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is computed from, each once, in the order in which `value` takes their sums."""
        return columns(self.expression)

    @property
    def forms(self) -> tuple[tuple[tuple[str, int], ...], ...]:
        """The forms whose sums `value` takes: each column by itself."""
        return tuple(((column, 1),) for column in self.columns)

    @property
    def total(self) -> LinearForm | None:
        """The linear form that equals this function, as for a utility; None if there is none."""
        return as_total(self.expression)

    @property
    def in_counts(self) -> bool:
        """Whether the value grows with the counts, so that it is a number and not a share."""
        return degree(self.expression) > 0

    def renamed(self, names: Mapping[str, str]) -> Function:
        """The same function over renamed columns."""
        return Function(renamed(self.expression, names))

    def over(self, scale: int) -> Function:
        """The same function for sums that were multiplied by `scale`."""
        return Function(divided(self.expression, scale))

    def exact(self, sums: Sequence[int]) -> Exact | None:
        """The value for sums of the columns; None where it is undefined."""
        return exact(self.expression, dict(zip(self.columns, sums, strict=True)))

    def value(self, sums: Sequence[int]) -> float | None:
        """The value for sums of the columns, rounded once; None where it is undefined."""
        return rounded(self.exact(sums))

    def values(self, sums: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """The values for arrays of sums by column, in floating point; NaN where undefined."""
        return evaluate(self.expression, sums)


class Ranking(Struct, frozen=True):
    """A measure of the order in which a system's confidences rank documents.

    `value` takes confidences and labels, both of shape (documents,), and returns a number, or None where it is
    undefined. `sides` takes labels and returns two masks of the same shape: the documents that should rank above, and
    those that should rank below.
    """

    value: Callable[[NDArray[np.float64], NDArray[np.str_]], float | None]
    sides: Callable[[NDArray[np.str_]], tuple[NDArray[np.bool_], NDArray[np.bool_]]]
