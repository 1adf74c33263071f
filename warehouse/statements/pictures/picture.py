"""What is drawn of an answer, and what the pictures of all questions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast, get_args

from msgspec import Struct

from evalhouse.warehouse.charts import Panel, Unit
from evalhouse.warehouse.comparing.intervals import OwnIntervals, percent
from evalhouse.warehouse.kinds.kind import plural
from evalhouse.warehouse.plans import plan as p
from evalhouse.warehouse.plans.labels import headed
from evalhouse.warehouse.results import Cell, Result


class Drawn(Struct, frozen=True):
    """What is drawn of the answer to a question on some entries. Without a `title` it is called by its measures and
    test sets.
    """

    entries: Sequence[p.Entry]
    panels: tuple[Panel, ...]
    alternative: str
    legend: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    title: str = ""


def without_how(result: Result) -> str:
    """The part of a caption that says what is shown, without how it was computed."""
    return result.caption.partition(f": {result.how}")[0] if result.how else result.caption


def labels(entries: Sequence[p.Entry]) -> list[str]:
    """The measures of some entries, each once."""
    return list(dict.fromkeys(statistic.label for entry in entries for statistic in entry.statistics))


def number(cell: Cell) -> float | None:
    """A cell of numbers; None where it is empty."""
    return float(cell) if isinstance(cell, int | float) and not isinstance(cell, bool) else None


def unit_in(result: Result, *columns: str) -> Unit:
    """The unit in which a result shows the first of these columns that it has: a picture of it shows the same."""
    kinds = {column.name: column.kind for column in (*result.summary_table.columns, *result.table.columns)}
    kind = next(kinds[name] for name in columns if name in kinds)
    if kind not in get_args(Unit):
        raise ValueError(f"a column of the kind {kind} has no numbers")
    return cast("Unit", kind)


def intervals_of(label: str, known: OwnIntervals) -> dict[str, tuple[float, float]]:
    """The intervals of one measure, by system."""
    return {
        system: (interval.low, interval.high)
        for (measure, system), interval in known.intervals.items()
        if measure == label and interval.low is not None and interval.high is not None
    }


def lines_of(how: p.Testing, entries: Sequence[p.Entry], spreads: Sequence[OwnIntervals]) -> str:
    """What the interval lines mean: their level, their kind, and what was resampled."""
    resampled = f"{how.interval.name} bootstrap"
    kinds = dict.fromkeys(kind for spread in spreads for kind in spread.kinds(resampled))
    seed = f", seed {how.seed}" if resampled in kinds else ""
    units = " or ".join(dict.fromkeys(plural(entry.units.exchange_noun) for entry in entries))
    return f"{percent(how.level)} {' and '.join(kinds)} intervals over {units}{seed}"


def panel_title(entries: Sequence[p.Entry], labels: Sequence[str], entry: p.Entry, label: str) -> str:
    """What a panel shows, where there are several."""
    parts = ([label] if len(labels) > 1 else []) + ([headed(entry, entries)] if len(entries) > 1 else [])
    return " on ".join(parts)


def expected_systems(entry: p.Entry) -> list[str]:
    """The systems whose values are expected and not measured."""
    return [baseline.name for baseline in entry.baselines]


def hollow(entries: Sequence[p.Entry]) -> tuple[str, ...]:
    """What hollow dots mean, where there are some."""
    return (
        ("hollow dots are the expected values of guessing",)
        if any(expected_systems(entry) for entry in entries)
        else ()
    )
