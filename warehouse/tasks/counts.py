"""Counts: named whole numbers for a system and a document, or for a unit of a document. Measures are functions of their
sums.
"""

from __future__ import annotations

from warehouse.tasks.task import Task

COUNTS = Task(
    name="counts",
    meaning="named whole numbers, such as attempts and passed",
    rows="counts",
    facts="counted",
    source="counted",
    decided_by=("counted",),
    dimensions=("document", "unit", "label", "system"),
    named_counts=True,
    apart="unit_id",
    in_units=True,
)
