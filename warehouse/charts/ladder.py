"""Systems from the best to the worst as dots, with their intervals and the groups of systems that do not differ
significantly, in the form of figures 7 to 11 of Chinchor (1992).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from warehouse.charts import Axis, Bracket, Brackets, Mark, Panel, Point, Points, Spans, Unit
from warehouse.charts.axes import limits_of

LowHigh = tuple[float, float]


def ranking(
    title: str,
    measure: str,
    unit: Unit,
    ranked: Sequence[tuple[str, float]],
    intervals: Mapping[str, LowHigh],
    computed: Sequence[str] = (),
    groups: Sequence[tuple[str, Sequence[str]]] = (),
) -> Panel:
    """A panel of (name, value) pairs in the order of the ranking. Names in `computed` are drawn as not measured. A
    group is a letter and the names that share it.
    """
    places = {name: place for place, (name, _) in enumerate(ranked)}
    spans = [(*intervals[name], float(place)) for name, place in places.items() if name in intervals]
    ends = [value for _, value in ranked] + [end for low, high, _ in spans for end in (low, high)]
    dots = [Point(value, float(places[name]), name) for name, value in ranked]
    marks: list[Mark] = [Spans(tuple(spans))] if spans else []
    marks.append(Points(tuple(dot for dot in dots if dot.name not in computed)))
    if computed:
        marks.append(Points(tuple(dot for dot in dots if dot.name in computed), hollow=True))
    if groups:
        marks.append(
            Brackets(tuple(Bracket(letter, tuple(places[name] for name in members)) for letter, members in groups))
        )
    return Panel(
        title, Axis(measure, unit, *limits_of(unit, ends)), Axis("system", "name", names=tuple(places)), tuple(marks)
    )
