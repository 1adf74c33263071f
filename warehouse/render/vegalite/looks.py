"""The colours, sizes and wording of pictures that are written as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.charts import Axis, written
from warehouse.render.style import clean, width

Spec = dict[str, Any]
"""A part of a description in Vega-Lite."""

# Colours that everyone can distinguish (Okabe & Ito 2008) and that differ in lightness when printed.
BLUE, ORANGE, VERMILION, INK, GREY, FAINT = "#0072B2", "#E69F00", "#D55E00", "#222222", "#767676", "#BBBBBB"
LINES = (BLUE, VERMILION, "#009E73", "#CC79A7", INK, ORANGE)
DASHES = {"solid": [1, 0], "dashed": [6, 4], "dotted": [2, 3]}

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SIZE = 11
"""The size of letters in points. A letter is assumed to be LETTER times as wide."""
LETTER = 0.64
LINE = 1.15
"""The height of a line of text, relative to the size of its letters."""

ROW = 20
WIDE, HIGH = 460.0, 400.0
SQUARE = 30
BESIDE = 60
"""How far names may reach beyond the right end of the axes."""

MOST_NAME = 40
"""Longer names are shortened in the middle. The tooltip shows them in full."""


def short(name: str) -> str:
    """A name as it is shown, shortened if it is too long."""
    name = clean(name)
    half = MOST_NAME // 2
    return name if len(name) <= MOST_NAME else f"{name[:half]}…{name[-half:]}"


def distinct(names: Sequence[str]) -> list[str]:
    """The names as they are shown, each unique: names that look the same are numbered."""
    distinct_names: dict[str, None] = {}
    for name in names:
        shown, times = short(name), 1
        while shown in distinct_names:
            times += 1
            shown = f"{short(name)} ({times})"
        distinct_names[shown] = None
    return list(distinct_names)


def extent(text: str) -> float:
    """The approximate width of a text in points."""
    return width(text) * SIZE * LETTER


def in_words(value: float, axis: Axis) -> str:
    """A number on an axis, written in words."""
    return clean(axis.names[round(value)]) if axis.nominal else written(value, axis.unit)
