"""The differences of pairs on one test set, plotted against the differences of the same pairs on another."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warehouse.charts import Axis, Mark, Panel, Path, Point, Points, Unit
from warehouse.charts.axes import limits
from warehouse.significance.shuffles.confidence import Verdict


class CarriedOver(Struct, frozen=True):
    """A pair: its name, its difference on each test set, and its verdict on the first."""

    name: str
    first: float
    second: float
    verdict: Verdict


def carried_over(
    title: str, measure: str, unit: Unit, test_sets: tuple[str, str], pairs: Sequence[CarriedOver]
) -> Panel:
    """A panel of pairs, each oriented so that its difference on the first test set is not below 0. A point above 0
    keeps its sign on the second test set, and a point on the dashed line keeps its size. Hollow pairs are not
    significant on the first test set.
    """
    turned = [(pair, abs(pair.first), pair.second if pair.first >= 0 else -pair.second) for pair in pairs]
    x = Axis(f"{measure} on {test_sets[0]}", unit, *limits([0.0, *(first for _, first, _ in turned)]))
    y = Axis(f"{measure} on {test_sets[1]}", unit, *limits([0.0, *(second for _, _, second in turned)]))
    furthest = min(x.high, y.high)
    marks: list[Mark] = [
        Path(((max(x.low, 0.0), 0.0), (x.high, 0.0)), "no difference", "dotted", faint=True),
        Path(((0.0, 0.0), (furthest, furthest)), "the same difference", "dashed"),
    ]
    for hollow in (True, False):
        points = tuple(
            Point(first, second, pair.name)
            for pair, first, second in turned
            if (pair.verdict != "significant") == hollow
        )
        if points:
            marks.append(Points(points, hollow=hollow))
    return Panel(title, x, y, tuple(marks))
