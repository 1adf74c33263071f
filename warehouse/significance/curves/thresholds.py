"""The documents of one system counted by confidence, and what is decided at each threshold.

A threshold decides yes on every document with as much confidence or more, so documents of one confidence move together.
Place 0 of a curve decides nothing; place k decides yes down to the k-th highest confidence.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from warehouse.significance.paired import Booleans, Floats, Integers, Places

if TYPE_CHECKING:
    from numpy.typing import NDArray

RELEVANT, NONRELEVANT, OPTIONAL = range(3)
"""The kinds of documents."""

CELLS = ("a", "b", "c", "d", "x", "y")
"""The cells of a contingency table, in the order of all arrays here (Lewis and Tong 1992, figure 1)."""

DECIDED_YES, DECIDED_NO = (0, 1, 4), (2, 3, 5)
"""The places of the cells of documents that were decided yes, and no."""

GRID = 400
"""For a system with more thresholds than this, resamples are computed at about this many places."""


class Thresholds(Struct, frozen=True, eq=False, dict=True):
    """The documents of a system by confidence.

    `at` has the distinct confidences from the highest to the lowest, of shape (thresholds,). `counts` has the number of
    documents with each, by kind and by the system's own decision (no, yes), of shape (thresholds, 3, 2).
    """

    at: Floats
    counts: Integers

    @classmethod
    def of(cls, confidence: Floats, kind: NDArray[np.int8], yes: Booleans) -> Thresholds:
        """Counts the documents of a system; all arrays have the shape (documents,). Raises ValueError if there are no
        documents, and if a confidence is NaN.
        """
        if not confidence.size or np.isnan(confidence).any():
            raise ValueError("thresholds need documents that each have a confidence")
        order = np.argsort(-confidence, kind="stable")
        ordered = confidence[order]
        begins = np.concatenate(([True], ordered[1:] != ordered[:-1]))
        place = np.cumsum(begins) - 1
        cell = (place * 3 + kind[order]) * 2 + yes[order]
        thresholds = int(place[-1]) + 1
        return cls(ordered[begins], np.bincount(cell, minlength=6 * thresholds).reshape(thresholds, 3, 2))

    @classmethod
    def of_decisions(cls, kind: NDArray[np.int8], yes: Booleans) -> Thresholds:
        """The thresholds of a system without confidences: its decisions serve as confidences."""
        return cls.of(yes.astype(np.float64), kind, yes)

    @property
    def documents(self) -> int:
        return int(self.counts.sum())

    @cached_property
    def of_kinds(self) -> Integers:
        """How many documents of each kind have each confidence, of shape (3, thresholds)."""
        return np.ascontiguousarray(self.counts.sum(axis=2).T)

    @cached_property
    def decided(self) -> Integers:
        """The number of documents of each kind that each place decides yes on, of shape (3, places)."""
        return np.pad(np.cumsum(self.of_kinds, axis=1), ((0, 0), (1, 0)))

    @cached_property
    def cells(self) -> Integers:
        """The contingency table at each place, of shape (6, places)."""
        return contingency(self.decided, self.of_kinds.sum(axis=1)[:, None])

    @cached_property
    def own(self) -> Integers:
        """The contingency table of the system's own decisions, of shape (6,)."""
        by_kind = self.counts.sum(axis=0)
        return contingency(by_kind[:, 1], by_kind.sum(axis=1))

    @cached_property
    def contradicting(self) -> int:
        """The smallest number of the system's decisions that would have to change to agree with a threshold."""
        said = self.counts.sum(axis=1)
        no_above = np.concatenate(([0], np.cumsum(said[:, 0])))
        yes_below = said[:, 1].sum() - np.concatenate(([0], np.cumsum(said[:, 1])))
        return int((no_above + yes_below).min())

    def grid(self, *with_places: int) -> Places:
        """The places at which resamples are computed: all places if they are few. Otherwise they are dense at both
        ends, where one document matters most, and evenly spaced in documents in between.
        """
        places = self.at.size + 1
        if places <= GRID:
            return np.arange(places)
        documents = self.documents
        near = np.geomspace(1, documents, GRID // 4)
        wanted = np.concatenate((near, documents - near, np.linspace(0, documents, GRID // 2)))
        found = np.searchsorted(self.decided.sum(axis=0), wanted)
        return np.unique(np.concatenate((np.minimum(found, places - 1), [0, places - 1], with_places))).astype(np.intp)

    def between(self, grid: Places) -> Integers:
        """The number of documents between the places of a grid, of shape (places of the grid − 1, 3, 2)."""
        return np.asarray(np.add.reduceat(self.counts, grid[:-1], axis=0))


def contingency(yes: Integers, all_of: Integers) -> Integers:
    """The six cells, the first axis of what is returned, for the documents of each kind that were decided yes."""
    no = all_of - yes
    return np.stack((yes[RELEVANT], yes[NONRELEVANT], no[RELEVANT], no[NONRELEVANT], yes[OPTIONAL], no[OPTIONAL]))
