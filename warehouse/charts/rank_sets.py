"""Ranks: the possible ranks of each system, and the critical-difference diagram of mean ranks."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Axis, Bracket, Brackets, Mark, Panel, Point, Points, Spans

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
