"""Writes a DataFrame or an Arrow table to a Parquet file. What the table means is not known here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.faults import DataError, Fault
from warehouse.store.library import duckdb


def write_frame(frame: Any, path: Path) -> None:
    """Writes a table in memory, or a Parquet file of another program, to a new Parquet file. NaN becomes null, and
    equal tables give equal bytes. Raises DataError if the table has a column that Parquet cannot hold.
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
        # The rows go through a table: rows that are copied while they are read are written in the chunks in which they
        # are read.
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
