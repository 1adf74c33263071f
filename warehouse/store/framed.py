"""A DataFrame or an Arrow table as a Parquet file. What it means is not known here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.faults import DataError, Fault
from warehouse.store.library import duckdb


def write_frame(frame: Any, path: Path) -> None:
    """Writes a table in memory, or a Parquet file that another program wrote, to a new Parquet file: NaN as nothing,
    the same bytes for the same table. Raises DataError where it has a column that Parquet has no place for.
    """
    connection = duckdb.connect(config={"pandas_analyze_sample": "0"})
    try:
        rows = "frame"
        if isinstance(frame, Path):
            rows = f"read_parquet({_literal(frame)})"
        else:
            connection.register("frame", frame)
        described = connection.execute(f"select column_name, column_type from (describe from {rows})").fetchall()
        columns = ", ".join(_column(name, kind) for name, kind in described)
        # By way of a table: what is copied as it is read is written in the parts in which it is read.
        connection.execute(f"create table rows as select {columns} from {rows}")
        connection.execute(f"copy rows to {_literal(path)} (format parquet)")
    except duckdb.Error as error:
        why = str(error).partition("\n")[0]
        raise DataError((Fault(path.stem, None, f"the table cannot be read: {why}"),)) from None
    finally:
        connection.close()


def _literal(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"


def _column(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    if kind in ("FLOAT", "DOUBLE"):
        return f"if(isnan({quoted}), null, {quoted}) as {quoted}"
    return f"{quoted}::varchar as {quoted}" if kind.startswith("ENUM") else quoted
