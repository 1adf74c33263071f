"""The data files of a lake: Parquet, written once and never changed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from msgspec import Struct, field

from warehouse.store.database import Database
from warehouse.store.sql import Sql, join, parquet

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
