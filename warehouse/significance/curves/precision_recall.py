"""The area under precision against recall.

Between two thresholds documents join in the proportion in which they do between the two, so precision is no straight
line there, and a straight one would promise too much (Davis and Goadrich 2006).
"""

from __future__ import annotations

import numpy as np

from warehouse.significance.paired import Floats, Integers


def area(relevant: Integers | Floats, nonrelevant: Integers | Floats) -> Floats:
    """The area for the relevant and the nonrelevant documents that each place decides yes on, along the last axis from
    none to all; NaN where no document is relevant.

    With A relevant and B documents decided at one place, and t more relevant ones of g documents each up to the next,
    precision is (A + u) / (B + g·u), whose integral over u from 0 to t is t/g + (A − B/g)/g · log(1 + g·t/B).
    """
    relevant, nonrelevant = np.asarray(relevant, np.float64), np.asarray(nonrelevant, np.float64)
    found, more = relevant[..., :-1], np.diff(relevant)
    decided = found + nonrelevant[..., :-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        grade = 1 + np.diff(nonrelevant) / more
        bend = np.where(decided > 0, (found - decided / grade) / grade * np.log1p(grade * more / decided), 0.0)
        total = np.where(more > 0, more / grade + bend, 0.0).sum(axis=-1)
        return np.asarray(total / relevant[..., -1])
