"""Values that say whether an answer is right, counted over replicates: the number of attempts and the number that
passed. These counts are not stored rows, so they are not in the table of tasks.
"""

from __future__ import annotations

from warehouse.measures.attempts import COLUMNS
from warehouse.tasks.task import Task
from warehouse.tasks.values import VALUES

REPLICATED = Task(
    name=VALUES.name,
    meaning="replicates of right-or-wrong samples, counted as attempts",
    rows=VALUES.rows,
    facts=VALUES.facts,
    source=VALUES.source,
    decided_by=VALUES.decided_by,
    dimensions=VALUES.dimensions,
    counts=COLUMNS,
)
