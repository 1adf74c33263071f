"""Pictures as data: what is drawn, without how. `chart` says what a picture is made of, the other modules build one
form of panel each from numbers.
"""

from warehouse.charts.chart import (
    Axis,
    Bin,
    Bins,
    Bracket,
    Brackets,
    Chart,
    Mark,
    Panel,
    Path,
    Point,
    Points,
    Rule,
    Spans,
    Square,
    Squares,
    Unit,
    Verdict,
)

__all__ = [
    "Axis",
    "Bin",
    "Bins",
    "Bracket",
    "Brackets",
    "Chart",
    "Mark",
    "Panel",
    "Path",
    "Point",
    "Points",
    "Rule",
    "Spans",
    "Square",
    "Squares",
    "Unit",
    "Verdict",
]
