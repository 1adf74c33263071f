"""What loads took the columns of tables for, test set by test set, so that later loads take them for the same.

A table names the documents of a test set by one column, always the same. A column that once differed between systems,
or held what they said, is no attribute of documents later either. What columns mean is decided by those who read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from evalhouse.warehouse.kinds.kind import PLAIN_NOUN
from evalhouse.warehouse.kinds.records import ColumnUse
from evalhouse.warehouse.store.sql import Sql, join, values

if TYPE_CHECKING:
    from evalhouse.warehouse.store.database import Database


class ColumnRole(Struct, frozen=True):
    """The role of a column on a test set."""

    test_set: int
    heading: str
    role: ColumnUse


class KnownColumns(Struct, frozen=True):
    """What is known of the columns of tables on the stored test sets of one name: the imports by the heading of the
    column that names the documents, the latest first; the headings that are no attributes; and those of clusters that
    were set.
    """

    test_sets: tuple[int, ...] = ()
    documents: dict[str, int] = {}
    not_of_documents: frozenset[str] = frozenset()
    clusters: frozenset[str] = frozenset()

    @classmethod
    def of_all(cls, known: Iterable[KnownColumns]) -> KnownColumns:
        """What is known on several test sets."""
        together = cls()
        for one in known:
            together = cls(
                together.test_sets + one.test_sets,
                {**one.documents, **together.documents},
                together.not_of_documents | one.not_of_documents,
                together.clusters | one.clusters,
            )
        return together


def known_columns(database: Database, evaluation: str, test_set: str) -> KnownColumns:
    """What is known of the columns on a test set; nothing if it is not stored. Without an evaluation, it may be a test
    set of any.
    """
    found = database.rows(
        Sql(
            "select t.id from test_set t join evaluation e on e.id = t.evaluation_id where t.name = $1 "
            "and (e.name = '' or e.name = $2 or $2 = '')",
            (test_set, evaluation),
        )
    )
    numbers = tuple(int(number) for (number,) in found)
    if not numbers:
        return KnownColumns()
    of_test_sets = " from column_role where test_set_id in " + values(numbers)
    rows = database.rows("select role, heading, import_id" + of_test_sets + " order by import_id desc")
    documents: dict[str, int] = {}
    for role, heading, number in rows:
        if role == "document":
            documents.setdefault(heading, number)
    declared = "select distinct cluster from observed where by_setting and cluster <> '' and test_set_id in "
    clusters = database.rows(declared + values(numbers))
    return KnownColumns(
        numbers,
        documents,
        frozenset(heading for role, heading, _ in rows if role == "not of documents"),
        frozenset(str(cluster) for (cluster,) in clusters) - {PLAIN_NOUN},
    )


def not_of_systems(database: Database) -> frozenset[str]:
    """The headings of columns that are no attributes of systems, because a system once had several values."""
    rows = database.rows(Sql("select distinct heading from column_role where role = 'not of systems'"))
    return frozenset(heading for (heading,) in rows)


def knows_roles(database: Database, roles: Iterable[ColumnRole]) -> bool:
    """Whether all of these roles are stored."""
    stored = set(database.rows(Sql("select distinct test_set_id, heading, role from column_role")))
    return all((role.test_set, role.heading, role.role) in stored for role in roles)


def store_roles(database: Database, roles: Iterable[ColumnRole], import_id: int) -> None:
    """Stores the roles that an import found, each one once."""
    if rows := [values((role.test_set, role.heading, role.role, import_id)) for role in dict.fromkeys(roles)]:
        database.run("insert into column_role values " + join(", ", rows))


def forget_roles(database: Database, import_id: int) -> None:
    """Removes the roles that an import found, and those on test sets that no longer exist."""
    gone = Sql("delete from column_role where import_id = ? or test_set_id not in (select id from test_set)")
    database.run(Sql(gone.text, (import_id,)))
