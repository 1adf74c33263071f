"""Every system against every other: the p-value and the verdict, in the form of figures 3 to 6 of Chinchor (1992)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warehouse.charts import Axis, Panel, Square, Squares
from warehouse.significance.shuffles.confidence import Verdict


def matrix(title: str, ranked: Sequence[str], levels: Mapping[frozenset[str], tuple[float, Verdict]]) -> Panel:
    """A panel of the pairs of ranked systems, with the better system of each pair at the top."""
    squares = []
    for row, lower in enumerate(ranked):
        for column, upper in enumerate(ranked[:row]):
            level_and_verdict = levels.get(frozenset((lower, upper)))
            if level_and_verdict:
                squares.append(Square(row, column, *level_and_verdict))
    names = tuple(ranked)
    return Panel(title, Axis("", "name", names=names), Axis("system", "name", names=names), (Squares(tuple(squares)),))
