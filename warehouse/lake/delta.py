"""The tables of a lake as Delta tables, through deltalake, and their data files.

What the rows mean is not known here.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from platformdirs import user_cache_path

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake.place import (
    LakePlace,
    cannot_be_written,
    damage_error,
    missing_package,
    sentence,
    unreachable,
)
from evalhouse.warehouse.process import publishing
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql, join, parquet

# === data files =======================================================================================================
# Parquet, written once and never changed.

_OF_TEXTS = ("document_text", "system_text")
_REACHING = ("test_set_id", "system_id", "import_id")


class DataFile(Struct, frozen=True):
    """A Parquet file with rows of one table: its path inside the lake, its size in bytes, and the SHA-256 of its
    content. `imports` are those whose rows it has; it is empty for tables without imports. `reach` has the least and
    the greatest value of some columns, for programs that skip files.
    """

    path: str
    bytes: int
    rows: int
    sha256: str
    imports: tuple[int, ...] = ()
    reach: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def table(self) -> str:
        """The table that its rows belong to."""
        return self.path.partition("/")[0]

    @property
    def name(self) -> str:
        """Its name in the folder of its table."""
        return self.path.partition("/")[2]


def write_file(database: Database, table: str, select: Sql, drafts: Path) -> DataFile:
    """Writes the rows of a query to a new file of a table. Raises WarehouseError and OSError."""
    path = f"{table}/{os.urandom(16).hex()}.parquet"
    (drafts / table).mkdir(exist_ok=True)
    kinds = {kind for _, kind in columns_of(database, "(" + select + ")")}
    database.write_parquet(select, drafts / path, delta="DOUBLE" not in kinds and table not in _OF_TEXTS)
    size, digest = size_and_digest(drafts / path)
    written = parquet([drafts / path])
    columns = [column for column, _ in columns_of(database, written)]
    reaching = [column for column in _REACHING if column in columns]
    reach = join("", (Sql(f", min({column}), max({column})") for column in reaching))
    imports = "list(distinct import_id order by import_id)" if "import_id" in columns else "[]"
    [(rows, numbers, *ends)] = database.rows("select count(*), " + Sql(imports) + reach + " from " + written)
    reaches = dict(zip(reaching, zip(ends[::2], ends[1::2], strict=True), strict=True)) if rows else {}
    return DataFile(path, size, int(rows), digest, tuple(numbers or ()), reaches)


def size_and_digest(file: Path) -> tuple[int, str]:
    """The size of a file in bytes, and its SHA-256. Raises OSError."""
    with file.open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
        return opened.tell(), digest


def columns_of(database: Database, rows: Sql) -> list[tuple[str, str]]:
    """The names and the types of the columns of some rows."""
    described = database.rows("select column_name, column_type from (describe from " + rows + ")")
    return [(str(column), str(kind)) for column, kind in described]


def paths(files: Iterable[DataFile]) -> list[str]:
    """The paths of files."""
    return [file.path for file in files]


# === checking data files ==============================================================================================
# Compares the files of a lake in a folder with what was written, and remembers those that passed, so each file is read
# whole only once. A file that passed is remembered in the user's cache by its size, its inode and the time of its last
# change (ctime), which no program can reset. `evalhouse check` reads every file again.


def verify(folder: Path, called: str, files: Iterable[DataFile]) -> None:
    """Raises WarehouseError if a file is missing, or is not what was written."""
    memory = user_cache_path("evalhouse") / "verified" / f"{sha256(str(folder).encode()).hexdigest()[:16]}.json"
    known = _read_memory(memory)
    now: dict[str, list[int]] = {}
    for file in files:
        path = folder / file.path
        try:
            about = path.lstat()
            state = [about.st_size, about.st_ino, about.st_ctime_ns]
            if known.get(file.path) != state:
                refuse_other(path, called, file)
        except PermissionError:
            raise WarehouseError(f"{called} cannot be read: {file.path}: permission denied") from None
        except OSError as error:
            raise damage_error(
                called, f"{file.path} cannot be read: {(error.strerror or str(error)).lower()}"
            ) from None
        now[file.path] = state
    if not now.items() <= known.items():
        _remember(memory, {**{path: state for path, state in known.items() if (folder / path).exists()}, **now})


def refuse_other(path: Path, called: str, file: DataFile) -> None:
    """Raises WarehouseError if a file is not the one that was written. Raises OSError."""
    if not path.exists():
        raise damage_error(called, f"{file.path} is missing")
    if path.is_symlink():
        raise damage_error(called, f"{file.path} is a link")
    size, digest = size_and_digest(path)
    if size != file.bytes:
        raise damage_error(called, f"{file.path} has {size:,} bytes instead of {file.bytes:,}")
    if digest != file.sha256:
        raise damage_error(called, f"{file.path} is not what was written")


def _read_memory(memory: Path) -> dict[str, list[int]]:
    with suppress(OSError, ValueError):
        # A memory that others can write is not trusted.
        if publishing.ours_alone(memory):
            said = json.loads(memory.read_text(encoding="utf-8"))
            return {str(path): list(map(int, state)) for path, state in said.items()}
    return {}


def _remember(memory: Path, states: dict[str, list[int]]) -> None:
    with suppress(OSError):
        memory.parent.mkdir(parents=True, exist_ok=True)
        with publishing.files_in(memory.parent, [memory.name]) as draft:
            (draft / memory.name).write_text(json.dumps(states), encoding="utf-8")


# === Delta tables =====================================================================================================

APPLICATION = "evalhouse"
"""The name under which each Delta table keeps the number of the last change that it has."""

KEPT = {
    "delta.deletedFileRetentionDuration": "interval 36500 days",
    "delta.logRetentionDuration": "interval 36500 days",
}
"""The past stays readable until `compact` is told to forget it, whatever cleans Delta tables elsewhere."""

_TYPES = {
    "INTEGER": "integer",
    "BIGINT": "long",
    "VARCHAR": "string",
    "BOOLEAN": "boolean",
    "DOUBLE": "double",
    "TIMESTAMP WITH TIME ZONE": "timestamp",
}
"""The Delta types of columns, by their types in DuckDB; decimals have the same name."""


class Conflict(Exception):  # noqa: N818 - it is an event, not a fault
    """Another writer was first."""


def open_table(place: LakePlace, table: str) -> Any:
    """A table as deltalake knows it. Raises WarehouseError."""
    try:
        from deltalake import DeltaTable
    except ImportError:
        raise missing_package("deltalake") from None
    uri, options = place.delta(table)
    with _sentences(place, f"its Delta table {table} cannot be opened"):
        return DeltaTable(uri, storage_options=options)


def names_in(place: LakePlace, table: Any) -> list[str]:
    """The names of the files of a table that was opened."""
    with _sentences(place, "the files of a Delta table cannot be listed"):
        return [str(file).rpartition("/")[2] for file in table.file_uris()]


def create(
    place: LakePlace,
    table: str,
    columns: Iterable[tuple[str, str]],
    added: Sequence[DataFile] = (),
    *,
    change: int | None = None,
) -> None:
    """Creates a table with some files, all at once; `columns` are names and types of DuckDB. Without a change it has no
    files, and may be there already. Raises WarehouseError, and Conflict if another writer was first.
    """
    try:
        from deltalake import DeltaTable
        from deltalake.schema import Field, PrimitiveType, Schema
        from deltalake.transaction import create_table_with_add_actions
    except ImportError:
        raise missing_package("deltalake") from None
    uri, options = place.delta(table)
    schema = Schema([Field(column, PrimitiveType(_TYPES.get(kind, kind.lower()))) for column, kind in columns])
    with _sentences(place, f"its Delta table {table} cannot be made"):
        if change is None:
            DeltaTable.create(uri, schema, mode="ignore", configuration=KEPT, storage_options=options)
            return
        create_table_with_add_actions(
            uri,
            schema,
            [_adding(file) for file in added],
            configuration=KEPT,
            storage_options=options,
            commit_properties=_properties(change),
        )


def add_version(
    place: LakePlace, table: Any, added: Sequence[DataFile], removed: Sequence[str] = (), *, change: int
) -> None:
    """Adds a version to a table that was opened: files, and the names of files that it no longer has. Raises Conflict
    if there is a later version than the one that was opened.
    """
    from deltalake.transaction import RemoveAction

    now = round(time.time() * 1000)
    actions = [_adding(file) for file in added]
    actions += [RemoveAction(name, True, now) for name in removed]
    with _sentences(place, "a Delta table cannot be changed"):
        table.create_write_transaction(actions, "append", table.schema(), commit_properties=_properties(change))


def summarize(place: LakePlace, table: str) -> None:
    """Writes a summary of all versions of a table, so that it is opened faster. Raises WarehouseError."""
    opened = open_table(place, table)
    with _sentences(place, f"its Delta table {table} cannot be summarized"):
        opened.create_checkpoint()


def last_change_of(place: LakePlace, table: str, opened: Any) -> int:
    """The number of the last change that an opened table has; 0 if it has none. Raises WarehouseError."""
    # deltalake reads this from the table's log only now.
    with _sentences(place, f"the log of its Delta table {table} cannot be read"):
        return int(opened.transaction_version(APPLICATION) or 0)


def _adding(file: DataFile) -> Any:
    from deltalake.transaction import AddAction

    return AddAction(file.name, file.bytes, {}, 0, True, _statistics(file))


def _properties(change: int) -> Any:
    """What a version says of the change that it belongs to."""
    from deltalake import CommitProperties, Transaction

    return CommitProperties(
        custom_metadata={"evalhouse.change": str(change)},
        max_commit_retries=0,
        app_transactions=[Transaction(APPLICATION, change)],
    )


def _statistics(file: DataFile) -> str:
    least = {column: ends[0] for column, ends in file.reach.items()}
    most = {column: ends[1] for column, ends in file.reach.items()}
    return json.dumps({"numRecords": file.rows, "minValues": least, "maxValues": most, "nullCount": {}})


@contextmanager
def _sentences(place: LakePlace, how: str) -> Iterator[None]:
    """Turns errors of deltalake into a sentence that says how the lake is damaged; what deltalake says is a detail of
    it. Raises Conflict for a version that another writer added."""
    from deltalake.exceptions import CommitFailedError, DeltaError

    try:
        yield
    except CommitFailedError:
        raise Conflict from None
    except DeltaError as error:
        if "already exists at that location" in str(error):
            raise Conflict from None
        if os.strerror(errno.ENOSPC) in str(error):
            raise cannot_be_written(place.called, error) from None
        if os.strerror(errno.EIO) in str(error):
            disk = os.strerror(errno.EIO).lower()
            raise WarehouseError(f"{place.called} cannot be read or written: {disk}") from None
        raise damage_error(place.called, how, f"deltalake says: {sentence(error)}") from None
    except OSError as error:
        if os.strerror(errno.ENOSPC) in str(error):
            raise cannot_be_written(place.called, error) from None
        raise unreachable(place.called, error) from None
