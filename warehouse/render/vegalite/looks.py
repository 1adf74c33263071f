"""Colours, sizes and words of pictures as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.charts import Axis, written
from warehouse.render.style import clean, width

Spec = dict[str, Any]
"""A part of a description in Vega-Lite."""

# Colours that are told apart by everyone (Okabe & Ito 2008), and that differ in lightness in print.
BLUE, ORANGE, VERMILION, INK, GREY, FAINT = "#0072B2", "#E69F00", "#D55E00", "#222222", "#767676", "#BBBBBB"
LINES = (BLUE, VERMILION, "#009E73", "#CC79A7", INK, ORANGE)
DASHES = {"solid": [1, 0], "dashed": [6, 4], "dotted": [2, 3]}

FONT = "Liberation Sans, Arial, Helvetica, sans-serif"
SIZE = 11
"""Points of the letters; a letter is taken to be LETTER times as wide."""
LETTER = 0.64
LINE = 1.15
"""Height of a line of letters in their size."""

ROW = 20
WIDE, HIGH = 460.0, 400.0
SQUARE = 30
BESIDE = 60
"""How far names may reach beyond the right end of the axes."""

MOST_NAME = 40
"""Longer names are shortened in the middle; the tooltip has them whole."""


def short(name: str) -> str:
    """A name as it is shown."""
    name = clean(name)
    half = MOST_NAME // 2
    return name if len(name) <= MOST_NAME else f"{name[:half]}…{name[-half:]}"


def distinct(names: Sequence[str]) -> list[str]:
    """Names as they are shown, each once: two that look the same are numbered."""
    distinct_names: dict[str, None] = {}
    for name in names:
        shown, times = short(name), 1
        while shown in distinct_names:
            times += 1
            shown = f"{short(name)} ({times})"
        distinct_names[shown] = None
    return list(distinct_names)


def extent(text: str) -> float:
    """About how many points a text is wide."""
    return width(text) * SIZE * LETTER


def in_words(value: float, axis: Axis) -> str:
    """A number of an axis in words."""
    return clean(axis.names[round(value)]) if axis.nominal else written(value, axis.unit)
