"""The picture of `documents`: what each document adds to the difference, as bars in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.charts import Panel
from warehouse.charts.sorted_bars import NAMED, sorted_bars, together
from warehouse.query.engine import Workforce
from warehouse.query.path import Facts
from warehouse.results import Cell, Result
from warehouse.statements.pictures.drawn import Drawn, number, without_how
from warehouse.tasks.observed import plural

if TYPE_CHECKING:
    from warehouse.statements.documents import DocumentsPlan


def listed(plan: DocumentsPlan, result: Result, facts: Facts, workforce: Workforce) -> Drawn:
    families: dict[tuple[Cell, ...], list[tuple[str, float]]] = {}
    for row in result.rows:
        key = tuple(row[name] for name in ("measure", "system_a", "system_b", "test_set"))
        families.setdefault(key, []).append((str(row["document"]), number(row["contribution"]) or 0.0))
    nouns = {entry.test_set.name: entry.units.noun for entry in plan.entries}
    units = {entry.test_set.name: entry.task.difference for entry in plan.entries}
    panels: list[Panel] = []
    said: list[str] = []
    legend: dict[str, None] = {}
    for (measure, a, b, test_set), lengths in families.items():
        called, unit = plural(nouns[str(test_set)]), units[str(test_set)]
        title = f"{measure} of {a} − {b} on {test_set}" if len(families) > 1 else ""
        axis = f"part of the difference of {measure}" if len(families) > 1 else f"part of {a} − {b} in {measure}"
        noun = nouns[str(test_set)] if len(lengths) <= NAMED else called
        panels.append(sorted_bars(title, axis, noun, unit, lengths))
        for_a, for_b = (sum(sign * length > 0 for _, length in lengths) for sign in (1, -1))
        said.append(f"{measure} on {test_set}: {for_a:,} {called} raise {a} above {b}, {for_b:,} {b} above {a}")
        step = together(len(lengths))
        if len(lengths) > NAMED:
            legend[
                f"a bar for each of {len(lengths):,} {called}"
                if step == 1
                else f"a bar for every {step:,} of {len(lengths):,} {called}, with the mean as height"
            ] = None
    if len(families) == 1 and plan.limit is None and plan.only is None:
        legend |= dict.fromkeys(said)
    alternative = f"Sorted bars. {'; '.join(said)}."
    return Drawn(plan.entries, tuple(panels), alternative, tuple(legend), (), without_how(result))
