"""Changes a lake that others may be changing at the same time: as a whole or not at all, and none is lost.

A change is prepared on a working copy, while others may do the same. Then its files are written and it is added to
the table of changes.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TypeVar

from evalhouse.warehouse.faults import DiskFullError, WarehouseError
from evalhouse.warehouse.kinds.records import FACT_TABLES
from evalhouse.warehouse.lake.delta import Conflict, paths
from evalhouse.warehouse.lake.log import DEFINE, LOAD, LakeChange, LakeLog, LakeState, add, read_log
from evalhouse.warehouse.lake.place import LakePlace, writing
from evalhouse.warehouse.lake.states import (
    GROWING,
    NAMES,
    Working,
    before,
    change_of,
    here,
    rows_of,
    settle,
    working_copy,
)
from evalhouse.warehouse.process import stopping
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.store import fingerprints
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import WAIT, nobody
from evalhouse.warehouse.store.sql import Sql, join, name

# === moving a change behind another ===================================================================================
# Gives a finished load another base: a state of the lake to which others added something meanwhile. A name that the
# others added, too, gets the id that they gave it; other new names get ids after theirs, and new imports get numbers
# after theirs. This is done only if the outcome is the same as if one load had followed the other: if the others added
# no facts about the same systems of the same test sets and no labels, texts or attributes of the same documents, and if
# a test set that both added is in an evaluation for both or for neither. Otherwise the files have to be loaded again.

_NAMED = ("evaluation", "test_set", "system", "unit", "annotator", "item", "document")
"""The tables of names, each after those that it points to."""

_WITHIN = {"test_set": "evaluation", "document": "test_set"}
"""Tables whose names are unique only within a name of another table: two test sets may both have a document d1."""

_CARRIED = ("import", "observed", "column_role", "test_set_group", "direction", "share")
"""Imports, and what belongs to them."""

_ABOUT = ("test_set_id", "system_id"), ("document_id",), ("system_id",)
"""The columns that say what a fact is about. For each table, the first of these sets that it has."""


def rebase(working: Working, state: LakeState, meanwhile: Iterable[LakeChange]) -> int | None:
    """Moves a working copy to a later state. Returns how far the numbers of its imports have moved; None if the files
    have to be loaded again, and then the working copy is of no further use.
    """
    if any(change.kind not in (LOAD, DEFINE) for change in meanwhile) or _names_changed(working):
        return None
    database, base = working.database, working.base
    database.run(Sql("create schema if not exists theirs"))
    for table in (*_NAMED, *_CARRIED):
        database.run(f"create or replace table theirs.mine_{table} as " + _of_mine(working, table))
    last = max(working.ids("from " + before("import")) | {base.imports_given})
    working.take_over(state)
    shift = max(working.ids("from " + before("import")) | {state.imports_given}) - last
    for table in _NAMED:
        _place(working, table)
    if _would_be_one(working) or _both_about(working, base, state):
        return None
    _move(working, shift)
    return shift


def _names_changed(working: Working) -> bool:
    """Whether the load changed names that were there before, and did not only add some."""
    for table in NAMES:
        if table in GROWING:
            known = working.count("from " + here(table) + Sql(f" where id <= {working.last[table]}"))
            if known != sum(file.rows for file in working.base.of(table)):
                return True
        elif working.count("from " + before(table) + " except from " + here(table)):
            return True
    return False


def _of_mine(working: Working, table: str) -> Sql:
    """The names that the load added."""
    if table in GROWING:
        return "from " + here(table) + Sql(f" where id > {working.last[table]}")
    return "from " + here(table) + " except from " + before(table)


def _place(working: Working, table: str) -> None:
    """Adds the load's names to those of the new base, and lists in `theirs.moved_TABLE` which id became which."""
    within = _WITHIN.get(table)
    mine, outer = f"theirs.mine_{table}", f"{within}_id"
    if within:
        # The name of what they are in may have moved, too.
        working.database.run(
            Sql(f"update {mine} set {outer} = moved.now from theirs.moved_{within} as moved where moved.was = {outer}")
        )
    same = f"a.name = b.name and a.{outer} = b.{outer}" if within else "a.name = b.name"
    last = f"(select coalesce(max(id), 0) from main.{table})"
    working.database.run(
        Sql(
            f"create or replace table theirs.moved_{table} as select a.id as was, coalesce(b.id, {last} + row_number() "
            f"over (partition by b.id is null order by a.id))::integer as now, b.id is null as is_new "
            f"from {mine} as a left join main.{table} as b on {same}"
        )
    )
    columns = f"moved.now, mine.{outer}, mine.name" if within else "moved.now, mine.name"
    into = f"(id, {outer}, name)" if within else "(id, name)"
    working.database.run(
        Sql(
            f"insert into main.{table} {into} select {columns} from {mine} as mine "
            f"join theirs.moved_{table} as moved on moved.was = mine.id where moved.is_new order by moved.now"
        )
    )


def _renumber_facts(working: Working, table: str, columns: Iterable[str]) -> Sql:
    """The facts that the load added to a table, or some of their columns, with the ids that names have now."""
    cells, joins = [], []
    for column in columns:
        named = column.removesuffix("_id")
        if named in _NAMED and column.endswith("_id") and _have_moved(working, named):
            cells.append(f"coalesce(moved_{named}.now, mine.{column}) as {column}")
            joins.append(f" left join theirs.moved_{named} as moved_{named} on moved_{named}.was = mine.{column}")
        else:
            cells.append(f"mine.{name(column).text}")
    return Sql(f"select {', '.join(cells)} from main.{name(table).text} as mine{''.join(joins)}")


def _have_moved(working: Working, table: str) -> bool:
    """Whether some names of a table have other ids now."""
    return bool(working.database.rows(Sql(f"select 1 from theirs.moved_{table} where was <> now limit 1")))


def _would_be_one(working: Working) -> bool:
    """Whether the load and others added test sets of the same name, one with an evaluation and one without. If one
    load had followed the other, it would have found that this is the same test set.
    """
    pairs = (
        "select 1 from theirs.moved_test_set moved join main.test_set as mine on mine.id = moved.now and moved.is_new "
        "join before.test_set as other on other.name = mine.name "
        "where (other.evaluation_id = 0) <> (mine.evaluation_id = 0) limit 1"
    )
    return bool(working.database.rows(Sql(pairs)))


def _both_about(working: Working, base: LakeState, state: LakeState) -> bool:
    """Whether the load and the others, since the base, added facts about the same systems or documents."""
    known = {file.path for file in base.files}
    database = working.database
    has_roles = working.count(Sql("from theirs.mine_column_role")) > 0
    for table in FACT_TABLES:
        theirs = tuple(file for file in state.of(table) if file.path not in known)
        if not theirs or not working.count("from " + here(table)):
            continue
        there = {column for column, _ in working.columns[table]}
        about = next(columns for columns in _ABOUT if there.issuperset(columns))
        new = LakeState(state.number, state.at, theirs, {})
        their_rows = rows_of(new, table, working.folder, working.columns)
        checked: list[tuple[str, ...]] = [about]
        if "model" in there:
            checked.append(("model",))
        if has_roles and "test_set_id" in there:
            # What the columns of a table are taken for depends on what is stored of the test set.
            checked.append(("test_set_id",))
        if "count" in there:
            checked.append(("test_set_id",))
        for columns in checked:
            listed = join(", ", map(name, columns))
            both = (
                _renumber_facts(working, table, columns) + " intersect select " + listed + " from (" + their_rows + ")"
            )
            if database.rows("select 1 from (" + both + ") limit 1"):
                return True
    declared = (
        "select 1 from theirs.mine_direction semi join before.direction using (measure) "
        # What others stored meanwhile of a share that the load declares is not looked at, so it is loaded again.
        "union all select 1 from theirs.mine_share "
        "union all select 1 from main.value as mine semi join before.share using (measure) "
        "where mine.value not between 0 and 1 "
        # What is a test set for one load must not be a group for another.
        "union all select 1 from theirs.mine_test_set_group semi join before.test_set using (name) "
        "union all select 1 from theirs.mine_test_set semi join before.test_set_group using (name) limit 1"
    )
    return bool(database.rows(Sql(declared)))


def _move(working: Working, shift: int) -> None:
    """Gives the rows that the load added the ids that names and imports have in the new base."""
    database = working.database
    for table in FACT_TABLES:
        if working.count("from " + here(table)):
            columns = [column for column, _ in working.columns[table]]
            moved = _renumber_facts(working, table, columns)
            rows = "select * replace (import_id + " + Sql(str(shift)) + "::integer as import_id) from (" + moved + ")"
            # To delete and insert them would take several times as long.
            database.run("create or replace table " + here(table) + " as " + rows)
    database.run(
        Sql(f"insert into main.import select * replace ((id + {shift})::integer as id) from theirs.mine_import")
    )
    database.run(
        Sql(
            "insert into main.observed select coalesce(moved.now, mine.test_set_id), task, noun, cluster, by_setting, "
            f"(import_id + {shift})::integer, main from theirs.mine_observed as mine "
            "left join theirs.moved_test_set as moved on moved.was = mine.test_set_id"
        )
    )
    database.run(
        Sql(
            "insert into main.column_role select coalesce(moved.now, mine.test_set_id), heading, role, "
            f"(import_id + {shift})::integer from theirs.mine_column_role as mine "
            "left join theirs.moved_test_set as moved on moved.was = mine.test_set_id"
        )
    )
    database.run(
        Sql(
            "insert into main.test_set_group select name, coalesce(moved.now, mine.test_set_id), pooled, "
            f"(import_id + {shift})::integer from theirs.mine_test_set_group as mine "
            "left join theirs.moved_test_set as moved on moved.was = mine.test_set_id"
        )
    )
    database.run(
        Sql(
            "insert into main.direction select measure, lower_is_better, "
            f"(import_id + {shift})::integer from theirs.mine_direction"
        )
    )
    database.run(Sql(f"insert into main.share select measure, (import_id + {shift})::integer from theirs.mine_share"))
    numbers = working.ids("from " + here("import")) - working.ids("from " + before("import"))
    names_from = {table: working.last[table] + 1 for table in fingerprints.LARGE_NAMES}
    fingerprints.keep(database, tuple(sorted(numbers)), names_from)


# === making a change ==================================================================================================
# If another writer was first, the change is moved behind that one's; if both are about the same systems or documents,
# it is prepared again. Within a folder, writers take turns, but only for the last step, which is short: the files of a
# large change are written before its turn. A writer that others overtook twice keeps its turn until the end.

_Outcome = TypeVar("_Outcome")

TRIES = 100
"""How often a change is tried where writers cannot take turns."""

OVERTAKEN = 2
"""A writer that others overtook this many times keeps its turn, so that its next try succeeds."""

LARGE = 100_000
"""A change with more new rows than this is written before its turn, because others would have to wait for it."""


def change_lake(
    place: LakePlace,
    kind: str,
    work: Callable[[Database], _Outcome],
    files: Iterable[Path] = (),
    *,
    keep: bool = True,
    wait: float = WAIT,
    tell: Callable[[str], None] = nobody,
) -> tuple[_Outcome, int]:
    """Does some work on a lake as on a warehouse. `work` gets a database and may be called again, on a later state;
    `files` are the files that it reads. If `keep` is false, nothing is stored.

    Returns what the last call of `work` returned, and how far the numbers of its imports have moved since then. Raises
    WarehouseError if the lake cannot be changed, and what `work` raises.
    """
    files = list(files)
    with temporary() as scratch, _Turn(place, wait, tell) as turn:
        log = read_log(place)
        for _ in range(TRIES):
            try:
                with working_copy(place, log.last, scratch, files, keep=keep) as working:
                    done = work(working.database)
                    if not keep:
                        return done, 0
                    moved = _publish_change(place, working, kind, turn, tell)
                if moved is not None:
                    return done, moved
            except WarehouseError:
                # Its files may have been removed meanwhile, if the state was forgotten or the lake overwritten.
                if read_log(place).has(log.last):
                    raise
            log = read_log(place)
    raise WarehouseError(f"{place.called}: others changed it {TRIES} times meanwhile, and nothing was stored")


class _Turn:
    """The turn of a writer to change a lake. It is overtaken if others change the lake in their turns."""

    def __init__(self, place: LakePlace, wait: float, tell: Callable[[str], None]) -> None:
        self._alone = partial(place.alone, wait, tell)
        self._held = ExitStack()
        self._taken = False
        self._overtaken = 0

    @property
    def is_kept(self) -> bool:
        """Whether the writer was overtaken too often to let others go first again."""
        return self._overtaken >= OVERTAKEN

    def take(self) -> None:
        """Waits for the turn, unless the writer has it. Raises WarehouseError."""
        if not self._taken:
            self._held.enter_context(self._alone())
            self._taken = True

    def overtaken(self) -> None:
        """Gives the turn to others while the change is moved or prepared again, unless that happened too often."""
        self._overtaken += 1
        if not self.is_kept:
            self._held.close()
            self._taken = False

    def __enter__(self) -> _Turn:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._held.close()


def _publish_change(
    place: LakePlace, working: Working, kind: str, turn: _Turn, tell: Callable[[str], None]
) -> int | None:
    """Publishes a change. Returns how far its imports have moved; None if it has to be prepared again."""
    moved = 0
    beside = working.new_facts() > LARGE
    while True:
        if turn.is_kept or not beside:
            turn.take()
        log = read_log(place)
        if log.last != working.base:
            place.fetch_files(paths(log.last.files))
            movable = kind == LOAD and log.has(working.base)
            further = rebase(working, log.last, log.since(working.base.number)) if movable else None
            if further is None:
                turn.overtaken()
                return None
            moved += further
        with writing(place.called):
            change = change_of(working, kind)
            try:
                turn.take()
                if not beside or read_log(place).last == working.base:
                    _publish(place, log, working, change, tell)
                    return moved
                turn.overtaken()
            except Conflict:
                time.sleep(random.uniform(0, 0.2))  # so that those who meet do not meet again
            for path in paths(change.added):
                (working.drafts / path).unlink(missing_ok=True)


def _publish(place: LakePlace, log: LakeLog, working: Working, change: LakeChange, tell: Callable[[str], None]) -> None:
    """Brings the files of a change to their places and adds it. Raises Conflict, and then its files are not there."""
    if not (change.added or change.removed or change.fingerprints):
        return
    new = paths(change.added)
    place.put(working.drafts, new)
    try:
        with stopping.PATIENCE:
            longer = add(place, log, change)
    except BaseException as error:
        there = _is_there(place, new)
        if there is False:
            place.remove(new)
        if not there or not isinstance(error, WarehouseError):
            raise
        # The change is there, although what came after it failed.
        longer = read_log(place)
    # It has happened. What the Delta tables lack now, the next change gives them, or `check` says why it cannot.
    try:
        settle(place, longer)
    except (WarehouseError, DiskFullError, Conflict, OSError) as error:
        tell(f"{place.called} is changed, but its Delta tables lack the change for other programs: {error}")


def _is_there(place: LakePlace, files: Iterable[str]) -> bool | None:
    """Whether the lake has these files; None if that cannot be found out."""
    try:
        known = {*paths(read_log(place).last.files)}
    except WarehouseError:
        return None
    return not known.isdisjoint(files)
