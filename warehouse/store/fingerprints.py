"""Fingerprints of what is stored: for each part of a table, a number that changes when any of its rows changes.

They are stored beside the rows, and `evalhouse check` compares the two. They find damage and mistakes, but no
forgery, because anyone can compute them again. What the rows mean is not known here.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.kinds.records import FACT_TABLES
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.files import duckdb
from evalhouse.warehouse.store.sql import Sql, join, literal, name, value, values

# === sums over rows ===================================================================================================
# A fingerprint is a sum over rows, mod 2^64, so it does not depend on the order of the rows. For tables that grow with
# every load, the sum is over x·y, where x and y are each a sum of the row's cells times fixed factors, mod 2^31 - 1.
# These are integers, so every version of the database gets the same result. For smaller tables it is a sum of hashes of
# the rows, computed in Python, because the database would need more time to plan a query.

_PRIME = 2**31 - 1
_FACTORS = (48_271, 69_621), (16_807, 39_373)
"""For x and for y: the factor of the first cell of a row, and the number that gives each next factor by multiplication.
"""

_LARGEST_FACTOR = 2**26
"""The largest factor for which the sum of 31 cells stays within 64 bits."""

_RANGE = 2**16
"""Large tables of names have one fingerprint for each range of this many ids, so that a load need not read all earlier
names.
"""

LARGE_NAMES = ("document", "item")
"""The tables of names that grow with what is loaded."""

_REPEATED = {"value": "measure", "counted": "count"}
"""Text columns in large tables that repeat a few texts. Rows are summed by text first."""

_PARTS = {**dict.fromkeys(FACT_TABLES, "import_id"), **dict.fromkeys(LARGE_NAMES, f"id // {_RANGE}")}
"""For each table that the database sums up, the SQL for the number of the part that a row belongs to. Each part has a
fingerprint.
"""

_SMALL = (
    "meta",
    "import",
    "evaluation",
    "test_set",
    "observed",
    "column_role",
    "test_set_group",
    "system",
    "unit",
    "annotator",
    "direction",
    "share",
    "definition",
)
"""Small tables, which have only part 0."""


EVERY_NAME: Mapping[str, int] = dict.fromkeys(LARGE_NAMES, 0)
"""Selects all names, for a change that may affect any of them."""


_Fingerprints = dict[tuple[str, int], tuple[int, str]]
"""By table and part, the number of rows and their digest. A part without rows has no entry."""


def keep(database: Database, imports: tuple[int, ...] = (), names_from: Mapping[str, int] = EVERY_NAME) -> None:
    """Updates the fingerprints of some imports, of the names in each large table from an id on, and of every small
    table. Call it at the end of every transaction that changes anything.
    """
    of_imports = " where import_id in " + values(imports)
    # A query with an `exists` for each table would take longer to plan than everything else here takes.
    with_rows = (f"(select '{table}' from " + name(table) + of_imports + " limit 1)" for table in FACT_TABLES)
    changed = {str(table): of_imports for (table,) in database.rows(join(" union all ", with_rows))}
    earlier = _earlier(database, names_from)
    parts = {table: number // _RANGE for table, number in names_from.items()}
    for table, part in parts.items():
        first = names_from[table] if (table, part) in earlier else part * _RANGE
        changed[table] = Sql(" where id >= ?", (first,))
    of_names = (Sql(" or part >= ? and table_name = ?", (part, table)) for table, part in parts.items())
    database.run(
        "delete from fingerprint where part in "
        + values(imports)
        + " and table_name in "
        + values(FACT_TABLES)
        + join("", of_names)
        + " or table_name in "
        + values(_SMALL)
    )
    now = _fingerprints(database, changed)
    for key, then in earlier.items():
        now[key] = _together(then, now.get(key, (0, "0")))
    _store(database, now)


def _together(then: tuple[int, str], new: tuple[int, str]) -> tuple[int, str]:
    """The fingerprint of the rows of two fingerprints."""
    return then[0] + new[0], f"{(int(then[1], 16) + int(new[1], 16)) % 2**64:016x}"


def _earlier(database: Database, names_from: Mapping[str, int]) -> _Fingerprints:
    """The stored fingerprints of the earlier names in the parts where new names begin: those of the new names are added
    to them, so that no earlier name is read again.
    """
    begins = {(table, number // _RANGE) for table, number in names_from.items() if number % _RANGE}
    of_tables = " from fingerprint where table_name in " + values(names_from)
    stored = database.rows("select table_name, part, rows, digest" + of_tables)
    return {(table, part): (rows, digest) for table, part, rows, digest in stored if (table, part) in begins}


def keep_all(database: Database) -> None:
    """Replaces all stored fingerprints by new ones for every table. Call it at the end of a transaction that changes
    tables.
    """
    database.run(Sql("delete from fingerprint"))
    _store(database, _all(database))


def next_numbers(database: Database) -> dict[str, int]:
    """For each large table of names, the id that the next name will get."""
    last = (Sql(f"(select coalesce(max(id), 0) + 1 from {table})") for table in LARGE_NAMES)
    [numbers] = database.rows("select " + join(", ", last))
    return dict(zip(LARGE_NAMES, numbers, strict=True))


def wrong(database: Database) -> tuple[str, ...]:
    """One sentence for each table whose rows differ from those that were stored."""
    stored = database.rows(Sql("select table_name, part, rows, digest from fingerprint"))
    then = {(str(table), int(part)): (int(rows), str(digest)) for table, part, rows, digest in stored}
    if not then and not database.rows(Sql("select 1 from import limit 1")):
        return ()  # nothing has ever been stored in it
    now = _all(database)
    differing = sorted(key for key in then.keys() | now.keys() if then.get(key) != now.get(key))
    sentences = []
    for table in dict.fromkeys(table for table, _ in differing):
        parts = ", ".join(str(part) for other, part in differing if other == table)
        imports = f" of import {parts}" if table in FACT_TABLES else ""
        sentences.append(f"{table}: the rows{imports} are not those that were stored")
    return tuple(sentences)


def _store(database: Database, fingerprints: _Fingerprints) -> None:
    rows = (values((*key, *stored)) for key, stored in fingerprints.items())
    database.run("insert into fingerprint values " + join(", ", rows))


def _all(database: Database) -> _Fingerprints:
    """The fingerprints of all tables. A warehouse of an older version may lack some tables."""
    # In a lake, large tables are views of files.
    listed = database.rows(Sql("select distinct table_name from duckdb_columns() where not internal"))
    there = {str(table) for (table,) in listed}
    large = {table: Sql("") for table in _PARTS if table in there}
    return _fingerprints(database, large, tuple(table for table in _SMALL if table in there))


def _fingerprints(database: Database, tables: Mapping[str, Sql], small: Iterable[str] = _SMALL) -> _Fingerprints:
    """The fingerprints of large tables, restricted to rows that meet a condition, and of small tables."""
    columns = {
        table: database.rows("select name, type from pragma_table_info(" + value(table) + ")") for table in tables
    }
    queries = (
        _by_text(table, _fingerprint(table, columns[table]) + where + " group by all")
        for table, where in tables.items()
    )
    added_up = database.rows(join(" union all ", queries)) if tables else ()
    sums = [(str(table), int(part), int(rows), int(digest)) for table, part, rows, digest in added_up]
    for table in small:
        rows = database.rows("from " + name(table))
        sums.append((table, 0, len(rows), sum(map(_hash, rows))))
    return {(table, part): (rows, f"{digest % 2**64:016x}") for table, part, rows, digest in sums if rows}


def _hash(row: tuple[object, ...]) -> int:
    cells = json.dumps(row, default=str)
    return int.from_bytes(hashlib.blake2b(cells.encode(), digest_size=8).digest())


def _fingerprint(table: str, columns: Iterable[tuple[str, str]]) -> Sql:
    """The query for the fingerprints of a table, to which a condition is appended. If the table repeats texts, there is
    one row per text.
    """
    text = _REPEATED.get(table)
    cells = [_whole(column, kind) for column, kind in columns if column not in ("import_id", text)]
    x, y = (_mix_digests(cells, *factors) for factors in _FACTORS)
    keys = f"'{table}' as table_name, {_PARTS[table]}::bigint as part" + (f", {name(text).text} as of" if text else "")
    return f"select {keys}, count(*) as rows, sum((({x}) * ({y}))::hugeint) as digest from " + name(table)


def _by_text(table: str, query: Sql) -> Sql:
    if table not in _REPEATED:
        return "(" + query + ")"
    digest = f"sum((digest % {_PRIME}) * {_whole('of', 'VARCHAR')})"
    return f"(select table_name, part, sum(rows), {digest} from (" + query + ") group by all)"


def _whole(column: str, kind: str) -> str:
    """A cell as a whole number below 2^31 - 1."""
    quoted = name(column).text
    if kind in ("INTEGER", "BOOLEAN"):
        whole = f"{quoted}::bigint"
    elif kind.startswith("ENUM"):
        whole = f"enum_code({quoted})::bigint"
    elif kind == "BIGINT":
        whole = f"{quoted} % {_PRIME}"
    elif kind == "DOUBLE":
        # The bits of the number, so that every digit counts.
        whole = f"{quoted}::bit::bigint % {_PRIME}"
    else:
        whole = f"(md5_number_lower({quoted}::varchar) % {_PRIME})::bigint"
    return f"coalesce({whole}, -1)"


def _mix_digests(cells: Iterable[str], first: int, ratio: int) -> str:
    terms = []
    for cell in cells:
        terms.append(f"{cell} * {first}")
        first = first * ratio % _LARGEST_FACTOR
    return f"({' + '.join(terms)}) % {_PRIME}"


# === tables in memory =================================================================================================
# Writes a DataFrame or an Arrow table to a Parquet file.


def write_frame(frame: Any, path: Path) -> None:
    """Writes a table in memory, or a Parquet file of another program, to a new Parquet file. NaN becomes null, and
    equal tables give equal bytes. Raises DataError if the table has a column that Parquet cannot hold.
    """
    connection = duckdb.connect(config={"pandas_analyze_sample": "0"})
    try:
        rows = "frame"
        if isinstance(frame, Path):
            rows = f"read_parquet({literal(frame)})"
        else:
            connection.register("frame", frame)
        described = connection.execute(f"select column_name, column_type from (describe from {rows})").fetchall()
        columns = ", ".join(_column(name, kind) for name, kind in described)
        # The rows go through a table: rows that are copied while they are read are written in the chunks in which they
        # are read.
        connection.execute(f"create table rows as select {columns} from {rows}")
        connection.execute(f"copy rows to {literal(path)} (format parquet)")
    except duckdb.Error as error:
        why = str(error).partition("\n")[0]
        raise DataError((Fault(path.stem, None, f"the table cannot be read: {why}"),)) from None
    finally:
        connection.close()


def _column(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    if kind in ("FLOAT", "DOUBLE"):
        return f"if(isnan({quoted}), null, {quoted}) as {quoted}"
    return f"{quoted}::varchar as {quoted}" if kind.startswith("ENUM") else quoted
