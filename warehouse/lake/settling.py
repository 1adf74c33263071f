"""Gives the Delta tables of a lake what the table of changes says, for programs that read them elsewhere.

evalhouse itself reads only the table of changes, which names the files of all others. If a process dies after it added
a change, the next one that changes the lake settles both.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from warehouse.faults import WarehouseError
from warehouse.lake import delta
from warehouse.lake.data_files import DataFile
from warehouse.lake.log import LakeChange, LakeLog
from warehouse.lake.place import LakePlace
from warehouse.lake.states import TABLES

TRIES = 100
"""How often a table is tried while others change it."""


def settle(place: LakePlace, log: LakeLog) -> None:
    """Gives the Delta tables the changes that they lack. Raises WarehouseError.

    Each table has a last change that concerns it. The table whose last change is earliest is settled first. So if a
    table is up to date, all tables with an earlier last change are, too, whenever a process died.
    """
    lacking: list[tuple[str, int]] = []
    wrong: list[WarehouseError] = []
    newest = log.changes[-1].number
    for number, tables in _last_concerned(log):
        behind = [table for table in tables if _is_behind(place, table, number, wrong)]
        lacking += ((table, number) for table in behind)
        if not behind and not wrong and number != newest:
            break
    state = log.last
    for table, number in reversed(lacking):
        _settle(place, table, state.of(table), number)
    if wrong:
        raise wrong[0]


def _is_behind(place: LakePlace, table: str, change: int, wrong: list[WarehouseError]) -> bool:
    """Whether a Delta table lacks a change. A table that cannot be opened is wrong, and does not stop the others."""
    try:
        return delta.last_change_of(place, table, delta.open_table(place, table)) < change
    except WarehouseError as error:
        wrong.append(error)
        return False


def _last_concerned(log: LakeLog) -> Iterator[tuple[int, list[str]]]:
    """The numbers of changes from the last one back, each with the tables that no later change concerns."""
    left = set(TABLES)
    for change in reversed(log.changes):
        tables = left if change.whole else left & _concerned(change)
        if tables:
            yield change.number, sorted(tables)
        left = left - tables
        if not left:
            break


def _settle(place: LakePlace, table: str, files: Iterable[DataFile], change: int) -> None:
    """Gives a Delta table the files that it has since a change."""
    for _ in range(TRIES):
        opened = delta.open_table(place, table)
        if delta.last_change_of(place, table, opened) >= change:
            return  # another process was doing the same
        had = {*delta.names_in(place, opened)}
        has = {file.name: file for file in files}
        added = [file for name, file in has.items() if name not in had]
        with suppress(delta.Conflict):
            delta.add_version(place, opened, added, sorted(had - has.keys()), change=change)
            return
    raise WarehouseError(f"{place.called}: others changed the table {table} {TRIES} times meanwhile")


def last_change(log: LakeLog, table: str) -> int:
    """The number of the last change that concerns a table; 0 if none does."""
    return next((number for number, tables in _last_concerned(log) if table in tables), 0)


def unsettled(place: LakePlace, log: LakeLog, tables: Iterable[str] = TABLES) -> Iterable[str]:
    """The tables that lack a change, or have one that is not in the log."""
    for table in tables:
        opened = delta.open_table(place, table)
        wanted = {file.name for file in log.last.of(table)}
        if {*delta.names_in(place, opened)} != wanted:
            yield table


def _concerned(change: LakeChange) -> set[str]:
    """The tables whose files a change added or removed."""
    return {file.table for file in change.added} | {path.partition("/")[0] for path in change.removed}
