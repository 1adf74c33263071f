"""Groups of test sets, as loads bring them: of a harness whose files name them, or by the setting `group`.

What a load says of groups is no fact: it is stored beside the facts with its import, and removed when that import is
forgotten. How the test sets of a group are taken together in a question is not known here.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec import Struct

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.kind import quantity
from evalhouse.warehouse.kinds.records import DOCUMENT, TEST_SET
from evalhouse.warehouse.loading.checks import FilePart
from evalhouse.warehouse.loading.planning import GROUP, some
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, join, value, values

Placed = dict[int, str]
"""The test sets with documents that a file has, by their numbers."""


class Membership(Struct, frozen=True):
    """That a test set is in a group, and whether all documents of the group are pooled: True for a group that a setting
    names, False where a harness takes the mean over its test sets, and None where only a printed figure tells.
    """

    group: str
    test_set: int
    pooled: bool | None


def placed_in(part: FilePart) -> Placed:
    """The test sets that one part of a file has documents of."""
    if not {DOCUMENT, TEST_SET} <= set(part.staging.form.key):
        return {}
    rows = part.staging.database.rows(
        Sql("select distinct test_set_id, name from placed join test_set on test_set.id = test_set_id")
    )
    return {int(number): str(name) for number, name in rows}


def memberships(staging: Staging, group: str, placed: Placed) -> list[Membership]:
    """Which of the test sets of a file are in which groups: by the file, and by the setting `group`, which pools."""
    by_file = [
        Membership(of, number, False if is_mean else None)
        for (test_set, of), is_mean in staging.groups.items()
        for number, name in placed.items()
        if name == test_set != of != group
    ]
    return [*by_file, *(Membership(group, number, True) for number in placed if group)]


def check(staging: Staging, said: Sequence[Membership], placed: Placed) -> list[str]:
    """A note on each group of a file that cannot be one, because a test set with documents has its name. Raises
    DataError if a setting names such a group, or has named one as a test set of the file is called.
    """
    database = staging.database
    for name in placed.values():
        if number := _set_by(database, name):
            wrong = f"{name} is a group of test sets, as --set {GROUP} of import {number} said"
            raise DataError((staging.fault(wrong),), hints=("--set test_set=NAME calls this test set otherwise",))
    having = "select distinct name from test_set where id in (select test_set_id from document)"
    documented = {str(name) for (name,) in database.rows(Sql(having))} if said else set()
    notes = []
    for group in dict.fromkeys(of.group for of in said if of.group in documented):
        wrong = f"{group} is a test set with documents, so no group can be called that"
        if any(of.pooled for of in said if of.group == group):
            raise DataError((staging.fault(wrong),), hints=(f"--set {GROUP}=NAME calls the group otherwise",))
        notes.append(wrong)
    return notes


def notes_on_groups(database: Database, groups: Collection[str]) -> list[str]:
    """What settings of a load made of groups: their test sets, those of earlier loads included."""
    notes = []
    for group in sorted(groups):
        rows = database.rows(
            "select distinct t.name from test_set_group g join test_set t on t.id = g.test_set_id where g.name = "
            + value(group)
            + " order by 1"
        )
        names = [str(name) for (name,) in rows]
        what = f"on {group} pools their documents" if len(names) > 1 else "questions about it need at least two"
        notes.append(f"{group} is a group of {quantity(len(names), 'test set')}: {some(names)}; {what}")
    return notes


def knows(database: Database, said: Iterable[Membership]) -> bool:
    """Whether all of this is stored."""
    stored = set(database.rows(Sql("select name, test_set_id, pooled from test_set_group")))
    return all((of.group, of.test_set, of.pooled) in stored for of in said)


def store(database: Database, said: Iterable[Membership], import_id: int) -> None:
    """Stores what an import says of groups, each once."""
    if rows := [values((of.group, of.test_set, of.pooled, import_id)) for of in dict.fromkeys(said)]:
        database.run("insert into test_set_group values " + join(", ", rows))


def forget(database: Database, import_id: int) -> None:
    """Removes what an import said of groups, and what was said of test sets that no longer exist."""
    gone = " or test_set_id not in (select id from test_set)"
    database.run("delete from test_set_group where import_id = " + value(import_id) + gone)


def _set_by(database: Database, group: str) -> int | None:
    """The first import whose setting named a group, which pools it; None if only files did."""
    rows = database.rows("select min(import_id) from test_set_group where pooled and name = " + value(group))
    return None if rows[0][0] is None else int(rows[0][0])
