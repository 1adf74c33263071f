"""Documents drawn anew, counted by what they are alike in: confidence, kind and decision.

Documents are drawn independently, so how many of each cell are drawn is multinomial, and none is drawn one by one: a
million documents cost what their cells cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from warehouse.significance.curves.thresholds import Thresholds, contingency
from warehouse.significance.draws import CURVES, Draws
from warehouse.significance.paired import Floats, Integers, Places
from warehouse.significance.work import Work

CHUNK = 64
"""Resamples in a chunk. Part of what the seed means."""


@dataclass(frozen=True, slots=True, eq=False)
class RedrawnTables:
    """The contingency tables of some resamples at the places of a grid, of shape (6, resamples, places), and of the
    system's own decisions, of shape (6, resamples).
    """

    cells: Integers
    own: Integers


def drawn(thresholds: Thresholds, grid: Places, draws: Draws, work: Work) -> Iterator[RedrawnTables]:
    """The resamples, some at a time."""
    between = thresholds.between(grid)
    there = np.flatnonzero(between)
    documents = thresholds.documents
    shares: Floats = between.reshape(-1)[there] / documents
    for chunk, used in draws.chunks(CHUNK):
        counts = np.zeros((CHUNK, between.size), dtype=np.int64)
        counts[:, there] = draws.generator(chunk, CURVES).multinomial(documents, shares, size=CHUNK)
        by_kind = counts[:used].reshape(used, *between.shape)
        decided = np.pad(np.cumsum(by_kind.sum(axis=3), axis=1), ((0, 0), (1, 0), (0, 0)))
        everything = decided[:, -1, :]
        own = by_kind[..., 1].sum(axis=1)
        yield RedrawnTables(
            contingency(np.moveaxis(decided, 2, 0), everything.T[:, :, None]),
            contingency(own.T, everything.T),
        )
        work.progress(min((chunk + 1) * CHUNK, draws.shuffles) / draws.shuffles)
