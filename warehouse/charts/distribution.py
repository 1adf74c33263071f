"""The distribution of shuffled differences, with the observed difference and the region that counts as extreme, in the
form of figure 1 of Chinchor (1992).
"""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Axis, Bin, Bins, Mark, Panel, Rule, Unit
from warehouse.charts.axes import limits

MOST_BINS = 60

AROUND_NOTHING = 0.01
"""The extent of the axis if every difference is 0."""


def distribution(
    title: str, difference: str, unit: Unit, edges: Sequence[float], counts: Sequence[int], observed: float, both: bool
) -> Panel:
    """A panel of counts between edges; there is one more edge than counts. `both` means that either direction is
    extreme.

    One edge is at the observed difference and, if `both`, another at its mirror image, so that each bin is either
    extreme as a whole or not at all.
    """
    if len(edges) != len(counts) + 1:
        raise ValueError(f"{len(counts)} bins need {len(counts) + 1} edges, not {len(edges)}")
    bins = []
    for low, high, count in zip(edges, edges[1:], counts, strict=False):
        middle = (low + high) / 2
        counted = abs(middle) >= abs(observed) if both else middle >= observed
        bins.append(Bin(low, high, int(count), counted))
    filled = [bar for bar in bins if bar.count]
    # A single bin would fill the whole picture and would not look like a bar.
    drawn = [edge for bar in (bins if len(filled) == 1 else filled) for edge in (bar.low, bar.high)]
    low, high = limits([*drawn, observed, 0.0])
    marks: list[Mark] = [Bins(tuple(bins)), Rule(observed, "observed")]
    if both and observed:
        marks.append(Rule(-observed, "", "dashed"))
    top = limits([0, *counts])[1] if counts else 1.0
    return Panel(title, Axis(difference, unit, low, high), Axis("shuffles", "count", 0.0, top), tuple(marks))


def edges_for(least: float, most: float, observed: float, both: bool) -> list[float]:
    """The edges of about MOST_BINS bins of equal width from the smallest to the largest difference. One edge is at the
    observed difference and, if `both`, another at its mirror image.
    """
    reach = max(abs(least), abs(most), abs(observed))
    if reach == 0:
        width = 2 * AROUND_NOTHING / (MOST_BINS + 1)
        return [(place - (MOST_BINS + 1) / 2) * width for place in range(MOST_BINS + 2)]
    width = 2 * reach / MOST_BINS
    if both and observed:
        # As many whole bins as fit between the observed difference and its mirror image.
        between = max(1, round(2 * abs(observed) / width))
        width = 2 * abs(observed) / between
        start = -abs(observed)
    else:
        start = observed
    # One more bin on both sides, because a difference at the outermost edge would otherwise have no bin.
    first = int((start + reach) / width + 1e-6) + 1
    last = int((reach - start) / width + 1e-6) + 1
    return [start + place * width for place in range(-first, last + 1)]
