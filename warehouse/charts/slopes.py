"""Each system's value on two test sets as a line from one to the other."""

from __future__ import annotations

from collections.abc import Sequence

from warehouse.charts import Axis, Mark, Panel, Path, Unit
from warehouse.charts.axes import limits_of


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
