"""What loads declared of the documents of test sets, and what holds where they said different things.

What a setting said goes before what a reader says, later loads go before earlier ones, and what was said of one kind of
rows and what was said of all of them count alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.store.database import Database
from warehouse.store.sql import Sql
from warehouse.tasks.observed import Observed


@dataclass(frozen=True, slots=True, order=True)
class Declaration:
    """What was last declared of a test set in the same words, `by_setting` or by a reader; of all kinds of rows where
    `task` is empty. In order, the one that counts most is the last.
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
    """All that loads declared, what counts most last."""
    rows = database.rows(
        Sql(
            "select by_setting, max(import_id), test_set_id, coalesce(task, ''), coalesce(noun, ''), "
            "coalesce(cluster, '') from observed group by by_setting, test_set_id, task, noun, cluster"
        )
    )
    return tuple(sorted(Declaration(*row) for row in rows))


def observed_in(declared: Iterable[Declaration], task: str, test_set: int) -> Observed:
    """What holds of the rows of a task on a test set, of declarations in their order."""
    observed = Observed()
    for declaration in declared:
        if declaration.is_about(task, test_set):
            observed = declaration.observed.or_else(observed)
    return observed
