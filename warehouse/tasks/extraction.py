"""Extraction: score tuples, how much of a document's key a system got right (Chinchor 1992)."""

from __future__ import annotations

from warehouse.measures import extraction
from warehouse.tasks.task import Task

EXTRACTION = Task(
    name="extraction",
    meaning="score tuples: possible, actual, correct, partial",
    rows="score tuples",
    facts="score",
    source="score",
    decided_by=("score",),
    dimensions=("document", "unit", "label", "system"),
    counts=extraction.COLUMNS,
    apart="unit_id",
    in_units=True,
)
