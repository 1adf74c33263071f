"""Approximate randomization of any function of summed counts, for measures that are not a ratio of linear forms.

The coins are those of `randomization_test`, so such a measure meets the same shuffles as the others.
"""

from __future__ import annotations

import numpy as np

from warehouse.significance.draws import Draws
from warehouse.significance.outcome import Outcome, Sides, approximate
from warehouse.significance.parallel import in_order
from warehouse.significance.shuffles import coins
from warehouse.significance.valuation import ExtremeFunction, PairedCounts
from warehouse.significance.work import ALONE, Work


def functional_test(paired: PairedCounts, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Outcome:
    """Approximate randomization of two systems by a function of sums (Noreen 1989, section 2.7).

    A pseudo system whose value is undefined counts with 0. Identical systems give p = 1.
    """
    extreme = ExtremeFunction.of(paired, sides)
    if not (paired.counts_a != paired.counts_b).any():
        return approximate(draws.shuffles, draws.shuffles)
    # Of shape (units, columns): what the first system loses where a unit changes places.
    losses = (paired.counts_a - paired.counts_b).T.astype(np.float64)
    start = paired.counts_a.sum(axis=1).astype(np.float64)[:, None]
    units, columns = losses.shape

    def shuffled(numbered: tuple[int, int]) -> tuple[int, int]:
        chunk, used = numbered
        lost = np.zeros((columns, used))
        for row, block in coins.blocks(units, draws, chunk, used):
            for place, line in enumerate(block):
                eight = losses[8 * (row + place) : 8 * (row + place) + 8]
                bits = np.unpackbits(line[None, :], axis=0, count=len(eight), bitorder="little")
                lost += eight.T @ bits
        return int(np.count_nonzero(extreme.contains(start - lost))), used

    nge = done = 0
    for reached, used in in_order(shuffled, draws.chunks(coins.CHUNK), work.threads):
        nge += reached
        done += used
        work.progress(done / draws.shuffles)
    return approximate(nge, draws.shuffles)
