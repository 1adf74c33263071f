"""Approximate randomization of any function of summed counts, for measures that are not a ratio of linear forms.

The coins are those of `randomization_test`, so such a measure meets the same shuffles as the others.
"""

from __future__ import annotations

import numpy as np

from warehouse.significance.draws import Draws
from warehouse.significance.outcome import Outcome, Sides, approximate
from warehouse.significance.shuffles import lookup
from warehouse.significance.valuation import ExtremeFunction, PairedCounts
from warehouse.significance.work import ALONE, Work


def functional_test(paired: PairedCounts, draws: Draws, sides: Sides = "two-sided", work: Work = ALONE) -> Outcome:
    """Approximate randomization of two systems by a function of sums (Noreen 1989, section 2.7).

    A pseudo system whose value is undefined counts with 0. Identical systems give p = 1.
    """
    extreme = ExtremeFunction.of(paired, sides)
    if not (paired.counts_a != paired.counts_b).any():
        return approximate(draws.shuffles, draws.shuffles)
    start = paired.counts_a.sum(axis=1)[:, None]
    nge = done = 0
    for lost in lookup.sums_over_exchanged(list(paired.counts_a - paired.counts_b), draws, work.threads):
        sums = (start - np.stack(lost)).astype(np.float64)
        nge += int(np.count_nonzero(extreme.contains(sums)))
        done += sums.shape[1]
        work.progress(done / draws.shuffles)
    return approximate(nge, draws.shuffles)
