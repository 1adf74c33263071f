"""Charts of values, ranks and differences as dots with their intervals, and of two test sets side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from evalhouse.warehouse.charts import Axis, Bracket, Brackets, Mark, Panel, Path, Point, Points, Rule, Spans, Unit
from evalhouse.warehouse.charts.axes import limits, limits_of
from evalhouse.warehouse.significance.shuffles.sequential import Verdict

# === slices ===========================================================================================================
# One below the other: the difference in each slice with its interval, and its estimate shrunk towards the overall
# difference.


class SliceDots(Struct, frozen=True):
    """A slice: its difference, half of its interval, and its estimate, which is None if there is none."""

    name: str
    difference: float
    half: float | None
    estimate: float | None


def forest(title: str, measure: str, unit: Unit, slices: Sequence[SliceDots], whole: float) -> Panel:
    """A panel of slices, with a line at no difference and a line at the overall difference."""
    ends = [one.difference + sign * (one.half or 0.0) for one in slices for sign in (-1, 1)]
    left, right = limits([*ends, 0.0, whole])
    spans = tuple(
        (one.difference - one.half, one.difference + one.half, float(row))
        for row, one in enumerate(slices)
        if one.half is not None
    )
    raw = tuple(Point(one.difference, float(row), one.name) for row, one in enumerate(slices))
    drawn = tuple(
        Point(one.estimate, float(row), one.name) for row, one in enumerate(slices) if one.estimate is not None
    )
    marks: list[Mark] = [Rule(0.0, "", "dashed"), Rule(whole, "", "dotted"), Spans(spans)]
    marks += [Points(raw, hollow=True), Points(drawn)]
    return Panel(
        title,
        Axis(measure, unit, left, right),
        Axis("slice", "name", names=tuple(s.name for s in slices)),
        tuple(marks),
    )


# === ranks ============================================================================================================
# The possible ranks of each system, and the critical-difference diagram of mean ranks.

RankSet = tuple[str, float, int, int]
"""A system, its rank, and its lowest and highest possible rank."""


def rank_sets(title: str, ranked: Sequence[RankSet]) -> Panel:
    """A panel of systems ordered by rank, each with a line across its possible ranks."""
    spans = tuple((float(low), float(high), float(place)) for place, (_, _, low, high) in enumerate(ranked))
    dots = tuple(Point(rank, float(place), name) for place, (name, rank, _, _) in enumerate(ranked))
    names = tuple(name for name, *_ in ranked)
    ranks = Axis("rank", "count", 0.5, len(ranked) + 0.5)
    return Panel(title, ranks, Axis("system", "name", names=names), (Spans(spans), Points(dots)))


def critical_difference(
    title: str, ranked: Sequence[tuple[str, float]], cliques: Sequence[Sequence[int]], difference: float | None
) -> Panel:
    """A panel of mean ranks, the best first. Brackets join systems that do not differ significantly in pairs. If a
    critical difference decides, it is drawn above them, beginning at the best mean rank.
    """
    dots = tuple(Point(rank, float(place), name) for place, (name, rank) in enumerate(ranked))
    marks: list[Mark] = []
    ends = [rank for _, rank in ranked]
    if difference is not None:
        marks.append(Spans(((ranked[0][1], ranked[0][1] + difference, 0.0),)))
        ends.append(ranked[0][1] + difference)
    marks.append(Points(dots))
    joined = [members for members in cliques if len(members) > 1]
    groups = tuple(Bracket(chr(ord("a") + at % 26), tuple(members)) for at, members in enumerate(joined))
    if groups:
        marks.append(Brackets(groups))
    names = tuple(name for name, _ in ranked)
    high = max(len(ranked), *ends) + 0.2
    return Panel(title, Axis("mean rank", "number", 0.8, high), Axis("system", "name", names=names), tuple(marks))


# === rankings of systems ==============================================================================================
# From the best to the worst as dots, with their intervals and the groups of systems that do not differ significantly,
# in the form of figures 7 to 11 of Chinchor (1992).

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


# === differences between systems ======================================================================================
# Beside the line of no difference.

Difference = tuple[str, float, float | None, float | None, Verdict]
"""The name of a pair, its difference, its limits, and the verdict."""


def differences(
    title: str, measure: str, unit: Unit, pairs: Sequence[Difference], margin: float | None = None
) -> Panel:
    """A panel of differences. A dot is hollow if its difference is not significant. The line of an interval that is
    open on one side extends to the edge. A `margin` is drawn on both sides of no difference.
    """
    margins = [] if margin is None else [-margin, margin]
    known = [end for _, value, low, high, _ in pairs for end in (value, low, high) if end is not None]
    left, right = limits([*known, *margins, 0.0])
    spans = tuple(
        (left if low is None else low, right if high is None else high, float(place))
        for place, (_, _, low, high, _) in enumerate(pairs)
        if low is not None or high is not None
    )
    dots = [Point(value, float(place), name, verdict) for place, (name, value, _, _, verdict) in enumerate(pairs)]
    marks: list[Mark] = [
        Rule(0.0, "", "dashed"),
        *(Rule(limit, "", "dotted") for limit in margins),
        *([Spans(spans)] if spans else []),
        Points(tuple(dot for dot in dots if dot.verdict == "significant")),
        Points(tuple(dot for dot in dots if dot.verdict != "significant"), hollow=True),
    ]
    names = tuple(name for name, *_ in pairs)
    return Panel(title, Axis(measure, unit, left, right), Axis("pair", "name", names=names), tuple(marks))


# === slopes between test sets =========================================================================================
# Each system's value on two test sets as a line from one to the other.


def slopes(
    title: str, measure: str, unit: Unit, test_sets: tuple[str, str], systems: Sequence[tuple[str, float, float]]
) -> Panel:
    """A panel of (name, value on the first, value on the second). Lines that fall are dashed."""
    values = [value for _, first, second in systems for value in (first, second)]
    marks: list[Mark] = [
        Path(((0.0, first), (1.0, second)), name, "dashed" if second < first else "solid", start=name, end=name)
        for name, first, second in systems
    ]
    return Panel(title, Axis("", "name", names=test_sets), Axis(measure, unit, *limits_of(unit, values)), tuple(marks))


# === differences carried over =========================================================================================
# The differences of pairs on one test set, plotted against the differences of the same pairs on another.


class CarriedOver(Struct, frozen=True):
    """A pair: its name, its difference on each test set, and its verdict on the first."""

    name: str
    first: float
    second: float
    verdict: Verdict


def replication_panel(
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
