"""Resamples of documents, counted by cells of equal confidence, kind and decision.

Documents are drawn independently, so the numbers drawn from the cells are multinomial. No document is drawn one by one:
the cost depends on the number of cells and not on the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from warehouse.significance.curves.thresholds import Thresholds, contingency
from warehouse.significance.draws import CURVES, Draws
from warehouse.significance.paired import Floats, Integers, Places
from warehouse.significance.work import Work

CHUNK = 64
"""The number of resamples in a chunk. Changing it changes the results for a seed."""


class RedrawnTables(Struct, frozen=True, eq=False):
    """The contingency tables of some resamples at the places of a grid, of shape (6, resamples, places), and of the
    system's own decisions, of shape (6, resamples).
    """

    cells: Integers
    own: Integers


def drawn(thresholds: Thresholds, grid: Places, draws: Draws, work: Work) -> Iterator[RedrawnTables]:
    """The resamples, in chunks."""
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
