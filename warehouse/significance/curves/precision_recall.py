"""The area under precision against recall.

Between two thresholds, relevant and nonrelevant documents are added in a constant proportion. So precision is not a
straight line there, and linear interpolation would overestimate the area (Davis and Goadrich 2006).
"""

from __future__ import annotations

import numpy as np

from warehouse.significance.paired import Floats, Integers


def area(relevant: Integers | Floats, nonrelevant: Integers | Floats) -> Floats:
    """The area from the numbers of relevant and of nonrelevant documents that are decided yes at each place. Places are
    on the last axis and go from no document to all documents. The result is NaN if no document is relevant.

    Let A relevant documents among B be decided yes at one place, and let t more relevant documents, with g documents
    for each, follow up to the next place. Then precision is (A + u) / (B + g·u), whose integral over u from 0 to t is
    t/g + (A − B/g)/g · log(1 + g·t/B).
    """
    relevant, nonrelevant = np.asarray(relevant, np.float64), np.asarray(nonrelevant, np.float64)
    found, more = relevant[..., :-1], np.diff(relevant)
    decided = found + nonrelevant[..., :-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        grade = 1 + np.diff(nonrelevant) / more
        bend = np.where(decided > 0, (found - decided / grade) / grade * np.log1p(grade * more / decided), 0.0)
        total = np.where(more > 0, more / grade + bend, 0.0).sum(axis=-1)
        return np.asarray(total / relevant[..., -1])
