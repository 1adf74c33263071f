"""The columns of `compare`. What they are called on screen follows from the answer, in `compare`."""

from __future__ import annotations

from warehouse.results import Column

COLUMNS = (
    Column("test_set", "name", on_screen=False),
    Column("task", "text", on_screen=False),
    Column("measure", "name"),
    Column("system_a", "name", "A"),
    Column("system_b", "name", "B"),
    Column("value_a", "proportion", "A", spare=2),
    Column("value_b", "proportion", "B", spare=3),
    Column("difference", "difference"),
    Column("difference_low", "difference", "bounds of\ndifference"),
    Column("difference_high", "difference", "to", upper=True),
    Column("test", "text", on_screen=False),
    Column("sides", "text", on_screen=False),
    Column("method", "text", on_screen=False),
    Column("shuffles", "count", on_screen=False),
    Column("nge", "count", on_screen=False),
    Column("p", "probability"),
    Column("p_low", "probability", "bounds\nof p"),
    Column("p_high", "probability", "to", upper=True),
    Column("p_adjusted", "probability", on_screen=False),
    Column("confidence", "number", "MC confidence", on_screen=False, spare=6),
    Column("level", "number", on_screen=False),
    Column("margin", "difference", on_screen=False),
    Column("p_not_worse", "probability", "p not worse"),
    Column("p_not_better", "probability", "p not better"),
    Column("verdict", "text"),
    Column("documents", "count", on_screen=False),
    Column("units", "count", on_screen=False),
    Column("differing", "count", on_screen=False),
    Column("correlation", "number", on_screen=False),
    Column("inflation", "number", on_screen=False),
    Column("ci_low", "difference", "CI", spare=1),
    Column("ci_high", "difference", "to", upper=True),
    Column("statistic", "number", on_screen=False),
    Column("seed", "whole", on_screen=False),
)


BOUNDS = ("difference_low", "difference_high", "p_low", "p_high")
"""The columns of `missing bounds` and of `optional=bounds`."""

MARGIN = ("margin", "p_not_worse", "p_not_better")
"""The columns of `margin`."""


def own_columns(bounds: bool, margin: bool) -> tuple[Column, ...]:
    """The columns; those of bounds and of a margin are there where they were wanted for."""
    unasked = {*(() if bounds else BOUNDS), *(() if margin else MARGIN)}
    return tuple(column for column in COLUMNS if column.name not in unasked)
