"""What loads declared about the documents of test sets, and which declaration counts if they differ.

A setting goes before a reader's declaration, and a later load before an earlier one. A declaration about one kind of
rows and one about all kinds have equal rank.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from warehouse.store.database import Database
from warehouse.store.sql import Sql
from warehouse.tasks.observed import Observed


class Declaration(Struct, frozen=True):
    """The latest of all equal declarations about a test set, made by a setting (`by_setting`) or by a reader. An empty
    `task` means all kinds of rows.
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
    rows = database.rows(Sql("select by_setting, import_id, test_set_id, task, noun, cluster from observed"))
    latest: dict[tuple[bool, int, str, str, str], int] = {}
    for by_setting, number, test_set, *words in rows:
        task, noun, cluster = (word or "" for word in words)
        said = (by_setting, test_set, task, noun, cluster)
        latest[said] = max(number, latest.get(said, 0))
    # A setting counts more than a reader's declaration, and a later load more than an earlier one.
    ordered = sorted((said[0], number, said) for said, number in latest.items())
    return tuple(Declaration(by_setting, number, *said[1:]) for by_setting, number, said in ordered)


def observed_in(declared: Iterable[Declaration], task: str, test_set: int) -> Observed:
    """What holds for the rows of a task on a test set, given declarations in their order."""
    observed = Observed()
    for declaration in declared:
        if declaration.is_about(task, test_set):
            observed = declaration.observed.or_else(observed)
    return observed
