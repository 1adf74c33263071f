"""A measure of an order: of what was ranked by confidence, and not of sums of counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Ranking:
    """The value of the decisions of a system: from confidences and labels, both of shape (documents,), a number or None
    where it is undefined.
    """

    value: Callable[[NDArray[np.float64], NDArray[np.str_]], float | None]
