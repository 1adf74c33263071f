"""Gives a load that is finished another base: a state of the lake to which others added something meanwhile.

A name that the others added, too, gets the id that they gave it. Other new names get ids after theirs, and new imports
get numbers after theirs. This is done only if the outcome is the same as if one load had followed the other. It is the
same if the others added no facts about the same systems of the same test sets and no labels, texts or attributes of the
same documents, and if a test set that both added is in an evaluation for both or for neither. Otherwise the files have
to be loaded again.
"""

from __future__ import annotations

from collections.abc import Iterable

from warehouse.lake.log import DEFINE, LOAD, LakeChange, LakeState
from warehouse.lake.states import rows_of
from warehouse.lake.working import GROWING, NAMES, Working, before, here
from warehouse.store import fingerprints
from warehouse.store.sql import Sql, join, name
from warehouse.tasks.records import FACT_TABLES

_NAMED = ("evaluation", "test_set", "system", "unit", "annotator", "item", "document")
"""The tables of names, each after those that it points to."""

_WITHIN = {"test_set": "evaluation", "document": "test_set"}
"""Tables whose names are unique only within a name of another table: two test sets may both have a document d1."""

_CARRIED = ("import", "observed", "direction")
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


def _moved(working: Working, table: str, columns: Iterable[str]) -> Sql:
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
        if "count" in there:
            checked.append(("test_set_id",))
        for columns in checked:
            listed = join(", ", map(name, columns))
            both = _moved(working, table, columns) + " intersect select " + listed + " from (" + their_rows + ")"
            if database.rows("select 1 from (" + both + ") limit 1"):
                return True
    directed = "select 1 from theirs.mine_direction semi join before.direction using (measure) limit 1"
    return bool(database.rows(Sql(directed)))


def _move(working: Working, shift: int) -> None:
    """Gives the rows that the load added the ids that names and imports have in the new base."""
    database = working.database
    for table in FACT_TABLES:
        if working.count("from " + here(table)):
            columns = [column for column, _ in working.columns[table]]
            moved = _moved(working, table, columns)
            rows = "select * replace (import_id + " + Sql(str(shift)) + "::integer as import_id) from (" + moved + ")"
            # To delete and insert them would take several times as long.
            database.run("create or replace table " + here(table) + " as " + rows)
    database.run(
        Sql(f"insert into main.import select * replace ((id + {shift})::integer as id) from theirs.mine_import")
    )
    database.run(
        Sql(
            "insert into main.observed select coalesce(moved.now, mine.test_set_id), task, noun, cluster, by_setting, "
            f"(import_id + {shift})::integer from theirs.mine_observed as mine "
            "left join theirs.moved_test_set as moved on moved.was = mine.test_set_id"
        )
    )
    database.run(
        Sql(
            "insert into main.direction select measure, lower_is_better, "
            f"(import_id + {shift})::integer from theirs.mine_direction"
        )
    )
    numbers = working.ids("from " + here("import")) - working.ids("from " + before("import"))
    names_from = {table: working.last[table] + 1 for table in fingerprints.LARGE_NAMES}
    fingerprints.keep(database, tuple(sorted(numbers)), names_from)
