"""The tables of a lake as Delta tables, through deltalake. What their rows mean is not known here."""

from __future__ import annotations

import errno
import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from warehouse.faults import WarehouseError
from warehouse.lake.data_files import DataFile
from warehouse.lake.place import LakePlace, cannot_be_written, damaged, needed, sentence, unreachable

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
        raise needed("deltalake") from None
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
        raise needed("deltalake") from None
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
        raise damaged(place.called, how, f"deltalake says: {sentence(error)}") from None
    except OSError as error:
        if os.strerror(errno.ENOSPC) in str(error):
            raise cannot_be_written(place.called, error) from None
        raise unreachable(place.called, error) from None
