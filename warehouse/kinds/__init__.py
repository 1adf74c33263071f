"""What is stored and can be queried. KINDS is the one table of the kinds of rows, the most detailed first."""

from __future__ import annotations

from collections.abc import Mapping

from evalhouse.warehouse.kinds.counted import COUNTS, EXTRACTION, FILTERING
from evalhouse.warehouse.kinds.kind import Kind
from evalhouse.warehouse.kinds.valued import NUMBERS, PUBLISHED, RANKINGS, VALUES

__all__ = [
    "COUNTED",
    "COUNTS",
    "EXTRACTION",
    "FILTERING",
    "IMPORTED",
    "KINDS",
    "NUMBERS",
    "PUBLISHED",
    "RANKINGS",
    "VALUES",
    "Kind",
]

KINDS: Mapping[str, Kind] = {
    task.name: task for task in (EXTRACTION, FILTERING, COUNTS, RANKINGS, NUMBERS, VALUES, PUBLISHED)
}

COUNTED: Mapping[str, Kind] = {name: task for name, task in KINDS.items() if task.adds_counts}
"""The tasks whose rows are counts; measures can be defined over them."""

IMPORTED: tuple[Kind, ...] = tuple(task for task in KINDS.values() if task.imported is not None)
"""The tasks whose measures are names in the data."""
