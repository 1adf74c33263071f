"""Charts of curves: projections, thresholds, power, and distributions of differences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import ldexp

from msgspec import Struct

from evalhouse.warehouse.charts import (
    Axis,
    Bands,
    Bin,
    Bins,
    Dash,
    Mark,
    Panel,
    Path,
    Point,
    Points,
    Ribbon,
    Rule,
    Spans,
    Unit,
)
from evalhouse.warehouse.charts.axes import limits, limits_of

# === a measure against generality =====================================================================================
# Its value at other generalities if fallout stays as assumed, the uncertainty of that, the measured point, and the best
# system in each range.

DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")

CurvePoints = tuple[tuple[float, float], ...]


class Projected(Struct, frozen=True):
    """A system: the curve and the measured point as (generality, value); the points asked for as (generality, value,
    name of the generality, empty if it was given as a number); the band of the curve as (generality, low, high); and
    the uncertainty of a point's generality as (low, high, value).
    """

    name: str
    curve: CurvePoints
    wanted: tuple[tuple[float, float, str], ...]
    measured: tuple[float, float] | None
    band: tuple[tuple[float, float, float], ...] = ()
    spans: tuple[tuple[float, float, float], ...] = ()


class BestWhere(Struct, frozen=True):
    """The generalities at which a system has the best value, and those at which it may have it."""

    name: str
    leads: Sequence[bool]
    may: Sequence[bool]


def projection(
    title: str, measure: str, unit: Unit, systems: Sequence[Projected], crossings: Sequence[tuple[float, str]] = ()
) -> Panel:
    """A panel of curves over generality. The axis is logarithmic if it spans more than a factor of five. A vertical
    line marks each of the `crossings`, which are generalities with a label.
    """
    everywhere = [
        at
        for system in systems
        for at in (
            *system.curve,
            *((x, y) for x, y, _ in system.wanted),
            *([system.measured] if system.measured else []),
        )
    ]
    heights = [y for _, y in everywhere] + [end for system in systems for _, *ends in system.band for end in ends]
    x = _generality([at for at, _ in everywhere])
    # Axes of shares end at 0 and 1. Measures that may be negative, such as MCC, have axes that go below 0.
    y = Axis(measure, unit, *limits(heights, (0.0, 1.0) if all(0 <= at <= 1 for at in heights) else None))
    marks: list[Mark] = [Bands(tuple(Ribbon(system.band, system.name) for system in systems))]
    # The label of a line is at its end and thus below the edge, each lower than the one before.
    marks += [
        Path(((at, y.low), (at, y.value(0.95 - 0.06 * place))), name, "dotted", faint=True, label=name)
        for place, (at, name) in enumerate(crossings)
    ]
    marks += [
        Path(system.curve, system.name, DASHES[place % len(DASHES)], end=system.name)
        for place, system in enumerate(systems)
    ]
    across = [(max(left, x.low), min(right, x.high), at) for system in systems for left, right, at in system.spans]
    marks += [Spans(tuple(across))] if across else []
    wanted = tuple(
        Point(x, y, f"{system.name}, {by}" if by else system.name) for system in systems for x, y, by in system.wanted
    )
    estimated = any(by for system in systems for *_, by in system.wanted)
    marks.append(Points(wanted, labelled=estimated, hollow=True))
    measured = [Point(*system.measured, system.name) for system in systems if system.measured]
    return Panel(title, x, y, (*marks, Points(tuple(measured))))


def _generality(generalities: Sequence[float]) -> Axis:
    low, high = min(generalities), max(generalities)
    log = low > 0 and high > 5 * low
    return Axis("generality", "number", *((low, high) if log else limits(generalities, (0.0, 1.0))), log=log)


def best(above: Panel, generalities: Sequence[float], systems: Sequence[BestWhere]) -> Panel:
    """A strip below the curves: one row per system, thick where its value is the best and thin where it may be."""

    def stretches(chosen: Sequence[bool], row: int) -> Iterator[tuple[float, float, float]]:
        for inside, places in groupby(range(len(generalities)), lambda place: chosen[place]):
            first, *_, last = (*places,) * 2
            if inside:
                # A range begins and ends halfway to the next point outside it.
                low, high = (max(min(at, len(generalities) - 1), 0) for at in (first - 1, last + 1))
                yield (
                    (generalities[first] + generalities[low]) / 2,
                    (generalities[last] + generalities[high]) / 2,
                    float(row),
                )

    thin = tuple(span for row, system in enumerate(systems) for span in stretches(system.may, row))
    thick = tuple(span for row, system in enumerate(systems) for span in stretches(system.leads, row))
    names = Axis("best", "name", names=tuple(system.name for system in systems))
    return Panel("", above.x, names, (Spans(thin), Spans(thick, thick=True)), above.wide, beneath=True)


# === curves over confidence thresholds ================================================================================
# Curves with their bands, and the systems' own decisions as points.

THRESHOLD_DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")

MOST_BANDS = 4
"""With more systems than this, the bands would hide one another."""


class ThresholdCurve(Struct, frozen=True):
    """A system: its curve as (x, y), its band as (x, low, high), and its own decisions and its best threshold as (x,
    y). A system without confidences has only decisions.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...]
    own: tuple[float, float] | None
    best: tuple[float, float] | None = None


def threshold_curves(
    title: str, across: tuple[str, Unit] | None, up: tuple[str, Unit], systems: Sequence[ThresholdCurve]
) -> Panel:
    """A panel of curves of one measure against another, or against the threshold if the other is None."""
    drawn = [system for system in systems if system.points]
    banded = drawn if len(drawn) <= MOST_BANDS else []
    owns = [system.own for system in systems if system.own is not None]
    xs = [x for system in drawn for x, _ in system.points] + [x for x, _ in owns]
    ys = [y for system in drawn for _, y in system.points] + [y for _, y in owns]
    ys += [end for system in banded for _, low, high in system.band for end in (low, high)]
    x = Axis("threshold", "number", *limits(xs)) if across is None else Axis(*across, *limits_of(across[1], xs))
    marks: list[Mark] = []
    if banded:
        marks.append(Bands(tuple(Ribbon(system.band, system.name) for system in banded)))
    # Curves begin and end at the same places, so their names are written beside the points on them.
    marks += [
        Path(system.points, system.name, THRESHOLD_DASHES[place % len(THRESHOLD_DASHES)])
        for place, system in enumerate(drawn)
    ]
    own = tuple(Point(*system.own, system.name) for system in systems if system.own is not None)
    best = tuple(Point(*system.best, f"{system.name}, best") for system in drawn if system.best is not None)
    marks += [Points(own, labelled=True), Points(best, labelled=True, hollow=True)]
    return Panel(title, x, Axis(*up, *limits_of(up[1], ys)), tuple(marks))


# === power against number of documents ================================================================================
# One curve per difference, and the number of documents that there are.

POWER_DASHES: tuple[Dash, ...] = ("solid", "dashed", "dotted")


class PowerCurve(Struct, frozen=True):
    """The probability that a difference is detected, as (documents, power)."""

    name: str
    points: tuple[tuple[float, float], ...]


def power_curves(title: str, noun: str, curves: Sequence[PowerCurve], there: int, wanted: float) -> Panel:
    """A panel of curves over the number of documents, on a logarithmic axis, with the desired power as a faint line."""
    numbers = [x for curve in curves for x, _ in curve.points] + [float(there)]
    # Leave some space on either side, so that no line is drawn on the edge.
    x = Axis(noun, "count", 0.8 * min(numbers), 1.25 * max(numbers), log=True)
    marks: list[Mark] = [
        Path(((x.low, wanted), (x.high, wanted)), "wanted", faint=True),
        Path(((there, 1.0), (there, 0.0)), f"there are {there:,}", "dotted", faint=True),
        *(
            Path(curve.points, curve.name, POWER_DASHES[place % len(POWER_DASHES)], end=curve.name)
            for place, curve in enumerate(curves)
        ),
        Points(tuple(Point(*at, curve.name) for curve in curves for at in curve.points), hollow=True),
    ]
    return Panel(title, x, Axis("power", "proportion", 0.0, 1.0), tuple(marks))


# === distributions of shuffled differences ============================================================================
# With the observed difference and the region that counts as extreme, in the form of figure 1 of Chinchor (1992).

MOST_BINS = 60

AROUND_NOTHING = 0.01
"""The extent of the axis if every difference is 0."""

FEW_DIGITS, RAISED = 2.0**-960, 200
"""Parts of differences below this may have few digits, or be 0; so they are reckoned times two to this power."""


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
    observed difference and, if `both`, another at its mirror image. Where these two are nearer than half a width, the
    bin between them is narrower than the others.
    """
    reach = max(abs(least), abs(most), abs(observed))
    if reach == 0:
        width = 2 * AROUND_NOTHING / (MOST_BINS + 1)
        return [(place - (MOST_BINS + 1) / 2) * width for place in range(MOST_BINS + 2)]
    if reach < FEW_DIGITS:
        least, most, observed = (ldexp(number, RAISED) for number in (least, most, observed))
        return sorted({ldexp(edge, -RAISED) for edge in edges_for(least, most, observed, both)})
    width = 2 * reach / MOST_BINS
    start = observed
    if both and observed:
        start = -abs(observed)
        between = round(2 * abs(observed) / width)
        if not between:
            beyond = [abs(observed) + place * width for place in range(_bins_within(reach + start, width) + 1)]
            return [*(-edge for edge in reversed(beyond)), *beyond]
        # As many whole bins as fit between the observed difference and its mirror image.
        width = 2 * abs(observed) / between
    first, last = _bins_within(start + reach, width), _bins_within(reach - start, width)
    return [start + place * width for place in range(-first, last + 1)]


def _bins_within(distance: float, width: float) -> int:
    """How many bins reach so far, and one more: a difference at the outermost edge would otherwise have no bin."""
    return int(distance / width + 1e-6) + 1
