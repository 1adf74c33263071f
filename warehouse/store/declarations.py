"""What loads declared about the documents of test sets, and which declaration counts if they differ.

A setting goes before a reader's declaration, and a later load before an earlier one. A declaration about one kind of
rows and one about all kinds have equal rank.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.store.database import Database
from warehouse.store.sql import Sql
from warehouse.tasks.observed import Observed


@dataclass(frozen=True, slots=True, order=True)
class Declaration:
    """The latest of all equal declarations about a test set, made by a setting (`by_setting`) or by a reader. An empty
    `task` means all kinds of rows. Declarations sort so that the one that counts most is the last.
    """

    by_setting: bool
    import_id: int
    test_set: int
    task: str
    noun: str
    cluster: str

    @property
    def observed(self) -> Observed:
        return Observed(self.noun, self.cluster)

    def is_about(self, task: str, test_set: int) -> bool:
        return self.test_set == test_set and self.task in ("", task)


def declarations(database: Database) -> tuple[Declaration, ...]:
    """All declarations by loads; the one that counts most is the last."""
    rows = database.rows(
        Sql(
            "select by_setting, max(import_id), test_set_id, coalesce(task, ''), coalesce(noun, ''), "
            "coalesce(cluster, '') from observed group by by_setting, test_set_id, task, noun, cluster"
        )
    )
    return tuple(sorted(Declaration(*row) for row in rows))


def observed_in(declared: Iterable[Declaration], task: str, test_set: int) -> Observed:
    """What holds for the rows of a task on a test set, given declarations in their order."""
    observed = Observed()
    for declaration in declared:
        if declaration.is_about(task, test_set):
            observed = declaration.observed.or_else(observed)
    return observed
