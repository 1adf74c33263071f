"""What is stored and can be asked about: TASKS is the one table of the kinds of rows, those that say more first."""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.tasks.counts import COUNTS
from warehouse.tasks.extraction import EXTRACTION
from warehouse.tasks.filtering import FILTERING
from warehouse.tasks.published import PUBLISHED
from warehouse.tasks.rankings import RANKINGS
from warehouse.tasks.task import Task
from warehouse.tasks.values import VALUES

__all__ = ["COUNTED", "COUNTS", "FILTERING", "IMPORTED", "PUBLISHED", "RANKINGS", "TASKS", "VALUES", "Task"]

TASKS: Mapping[str, Task] = {task.name: task for task in (EXTRACTION, FILTERING, COUNTS, RANKINGS, VALUES, PUBLISHED)}

COUNTED: Mapping[str, Task] = {name: task for name, task in TASKS.items() if task.is_counted}
"""Those whose rows are counts, which measures can be defined over."""

IMPORTED: tuple[Task, ...] = tuple(task for task in TASKS.values() if task.imported is not None)
"""Those whose measures are names in the data."""
