"""The changes of a lake: what each of them added and removed, and the state that follows from all of them.

`change` is a Delta table with one row per change. A change happens at the moment in which its row is there, with
everything it brought, or not at all: Delta lets only one writer add the next version, and every other one gets
`Conflict`. What is loaded is not known here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake import delta
from evalhouse.warehouse.lake.delta import DataFile, columns_of, write_file
from evalhouse.warehouse.lake.place import CHECK, DATA_FILE, LOG, LakePlace, damage_error
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.schema import SCHEMA_VERSION
from evalhouse.warehouse.store.sql import Sql, join, parquet, values
from evalhouse.warehouse.version import __version__

COMPACT = "compact"

LOAD, DEFINE = "load", "define"
"""The kinds of changes that do not disturb a load that is prepared at the same time."""

RESTORE = f"a lake cannot be read without its table {LOG}; a backup of the lake has it"
"""The hint if the table of changes is damaged: `check` cannot say more."""

TRIES = 3
"""How often the table of changes is opened again if its files are replaced meanwhile."""

StoredFingerprints = Mapping[str, tuple[int, str]]
"""Rows and digest of each part of each table, by `table/part`, as `evalhouse.warehouse.store.fingerprints` keeps
them.
"""


class LakeChange(Struct, frozen=True):
    """One change: what did it (`init`, `load`, `forget`, `define`, `copy` or `compact`), the imports that it brought,
    the files that it added and removed, and the fingerprints that are different since. If `whole` is set, its files and
    fingerprints are all that the lake has from then on.
    """

    number: int
    at: datetime
    kind: str
    imports: tuple[int, ...] = ()
    added: tuple[DataFile, ...] = ()
    removed: tuple[str, ...] = ()
    fingerprints: Mapping[str, tuple[int, str] | None] = field(default_factory=dict)
    whole: bool = False
    schema_version: int = SCHEMA_VERSION
    version: str = __version__


class LakeState(Struct, frozen=True):
    """What a lake holds after a change: the number and the time of the change, its files, their fingerprints, and the
    largest number that an import ever had."""

    number: int
    at: datetime
    files: tuple[DataFile, ...]
    fingerprints: StoredFingerprints
    schema_version: int = SCHEMA_VERSION
    imports_given: int = 0

    def of(self, table: str) -> tuple[DataFile, ...]:
        """The files of one table."""
        return tuple(file for file in self.files if file.table == table)


class LakeLog(Struct, frozen=True):
    """All changes of a lake that are still known, from the earliest to the last, and the Delta table that they were
    read from.
    """

    changes: tuple[LakeChange, ...]
    table: Any

    @property
    def last(self) -> LakeState:
        """The present state."""
        return self.after(self.changes[-1].number)

    def after(self, number: int) -> LakeState:
        """The state after a change."""
        until = [change for change in self.changes if change.number <= number]
        files: dict[str, DataFile] = {}
        fingerprints: dict[str, tuple[int, str]] = {}
        for change in until:
            if change.whole:
                files, fingerprints = {}, {}
            for path in change.removed:
                files.pop(path, None)
            files |= {file.path: file for file in change.added}
            for part, fingerprint in change.fingerprints.items():
                if fingerprint is None:
                    fingerprints.pop(part, None)
                else:
                    fingerprints[part] = fingerprint
        last = until[-1]
        given = max((number for change in until for number in change.imports), default=0)
        return LakeState(last.number, last.at, tuple(files.values()), fingerprints, last.schema_version, given)

    def has(self, state: LakeState) -> bool:
        """Whether a state is known. If not, it was forgotten, or another lake has taken the place of this one."""
        return any((change.number, change.at) == (state.number, state.at) for change in self.changes)

    def since(self, number: int) -> tuple[LakeChange, ...]:
        """The changes after one of them."""
        return tuple(change for change in self.changes if change.number > number)


def read_log(place: LakePlace) -> LakeLog:
    """The changes of a lake. Raises WarehouseError if there is no lake, if it is damaged, or if a newer evalhouse made
    it.
    """
    if not place.is_lake():
        raise no_lake(place)
    try:
        return _read_log(place)
    except WarehouseError as error:
        raise WarehouseError(error.message, tuple(RESTORE if hint == CHECK else hint for hint in error.hints)) from None


def _read_log(place: LakePlace) -> LakeLog:
    table, rows = _read(place)
    if rows and rows[-1][3] != SCHEMA_VERSION:  # and then the other columns may mean something else
        raise WarehouseError(
            f"{place.called} has schema version {rows[-1][3]}, and this evalhouse reads version {SCHEMA_VERSION}",
            (f"evalhouse {rows[-1][4]} reads it",),
        )
    strange = damage_error(place.called, f"the table {LOG} has a row that evalhouse did not write")
    try:
        changes = tuple(_change(*row) for row in rows)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise strange from None
    if not changes:
        raise damage_error(place.called, f"the table {LOG} has no rows")
    numbers = [change.number for change in changes]
    last = delta.last_change_of(place, LOG, table)
    if numbers != [*range(numbers[0], numbers[0] + len(numbers))] or last != numbers[-1]:
        raise strange
    return LakeLog(changes, table)


def _read(place: LakePlace) -> tuple[Any, list[tuple[Any, ...]]]:
    """The table of changes, and its rows."""
    for again in range(TRIES, -1, -1):
        table = delta.open_table(place, LOG)
        names = [f"{LOG}/{name}" for name in delta.names_in(place, table)]
        try:
            folder = place.fetch_files(names)
            if not names:
                return table, []
            with bare() as database:
                rows = database.rows(Sql(_READ) + parquet(folder / name for name in names) + " order by number")
            return table, rows
        except WarehouseError as error:
            # `compact` may have put one file in the place of these.
            if not again:
                unread = error.message.removeprefix("the warehouse: ")
                raise damage_error(place.called, unread) if unread != error.message else error from None
    raise AssertionError


_READ = "select number, epoch_us(changed_at), kind, schema_version, version, about from "


def add(place: LakePlace, log: LakeLog | None, change: LakeChange) -> LakeLog:
    """Adds a change after those of a log, or the first one, and returns the longer log. Raises Conflict if somebody
    else was first.
    """
    before = log.changes if log else ()
    return LakeLog((*before, change), _write_changes(place, log and log.table, (change,)))


def rewrite(place: LakePlace, log: LakeLog, changes: Sequence[LakeChange]) -> LakeLog:
    """Puts one file with these changes in place of all files of the log, and returns the new log. Raises Conflict if
    somebody else was first.
    """
    names = delta.names_in(place, log.table)
    return LakeLog(tuple(changes), _write_changes(place, log.table, changes, names))


def write_all(place: LakePlace, changes: Sequence[LakeChange]) -> LakeLog:
    """The log of a new lake, with all changes of another one. Raises Conflict."""
    return LakeLog(tuple(changes), _write_changes(place, None, changes))


def _write_changes(place: LakePlace, table: Any, changes: Sequence[LakeChange], instead: Sequence[str] = ()) -> Any:
    """Adds a file with changes to the table of changes, and removes others. Makes the table if there is none."""
    rows = Sql(_ROWS) + join(", ", (values(_row(change)) for change in changes)) + Sql(_NAMED)
    with bare() as database, place.drafts() as drafts:
        file = write_file(database, LOG, rows, drafts)
        columns = columns_of(database, parquet([drafts / file.path]))
        place.put(drafts, [file.path])
        try:
            if table is None:
                delta.create(place, LOG, columns, [file], change=changes[-1].number)
            else:
                delta.add_version(place, table, [file], instead, change=changes[-1].number)
        except BaseException:
            # The version may be there in spite of the error. Then the file must stay.
            with suppress(WarehouseError):
                if not place.is_lake() or file.name not in delta.names_in(place, delta.open_table(place, LOG)):
                    place.remove([file.path])
            raise
    return table or delta.open_table(place, LOG)


def _row(change: LakeChange) -> tuple[str | int, ...]:
    about = {
        "imports": change.imports,
        "added": [asdict(file) for file in change.added],
        "removed": change.removed,
        "fingerprints": change.fingerprints,
        "whole": change.whole,
    }
    microseconds = round(change.at.timestamp() * 10**6)
    return change.number, microseconds, change.kind, change.schema_version, change.version, json.dumps(about)


_ROWS = (
    "select number::bigint as number, make_timestamptz(changed_at::bigint) as changed_at, kind::varchar as kind, "
    "schema_version::integer as schema_version, version::varchar as version, about::varchar as about from (values "
)
_NAMED = ") as change(number, changed_at, kind, schema_version, version, about)"


def now() -> datetime:
    """The time of a change that happens now, to the microsecond."""
    return datetime.now(UTC)


def no_lake(place: LakePlace) -> WarehouseError:
    """The error for a place without a lake."""
    return WarehouseError(f"there is no lake {place.called}", (f"evalhouse init {place.called} --lake makes one",))


def bare() -> Database:
    """A database without tables, to read and write Parquet files."""
    return in_memory(tables=False)


def _change(number: int, at: int, kind: str, schema_version: int, version: str, about: str) -> LakeChange:
    said = json.loads(about)
    return LakeChange(
        int(number),
        datetime.fromtimestamp(at / 10**6, UTC),
        str(kind),
        tuple(int(number) for number in said["imports"]),
        tuple(_file(file) for file in said["added"]),
        tuple(_path(path) for path in said["removed"]),
        {str(part): None if of is None else (int(of[0]), str(of[1])) for part, of in said["fingerprints"].items()},
        bool(said["whole"]),
        int(schema_version),
        str(version),
    )


def _file(said: Mapping[str, Any]) -> DataFile:
    reach = {str(column): (int(least), int(most)) for column, (least, most) in said["reach"].items()}
    imports = tuple(int(number) for number in said["imports"])
    return DataFile(_path(said["path"]), int(said["bytes"]), int(said["rows"]), str(said["sha256"]), imports, reach)


def _path(said: str) -> str:
    # The table of changes may come from a stranger. No path leads out of the lake.
    if not DATA_FILE.fullmatch(said):
        raise ValueError(said)
    return said
