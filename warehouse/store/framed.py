"""A DataFrame or an Arrow table as a Parquet file. What it means is not known here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from warehouse.faults import DataError, Fault
from warehouse.store.library import duckdb


def write_frame(frame: Any, path: Path) -> None:
    """Writes a table in memory to a new file, NaN as nothing. Raises DataError where it has a column of a kind that
    Parquet has no place for.
    """
    connection = duckdb.connect(config={"pandas_analyze_sample": "0"})
    try:
        connection.register("frame", frame)
        described = connection.execute("select column_name, column_type from (describe frame)").fetchall()
        columns = ", ".join(_column(name, kind) for name, kind in described)
        to = str(path).replace("'", "''")
        connection.execute(f"copy (select {columns} from frame) to '{to}' (format parquet)")
    except duckdb.Error as error:
        why = str(error).partition("\n")[0]
        raise DataError((Fault(path.stem, None, f"the table cannot be read: {why}"),)) from None
    finally:
        connection.close()


def _column(name: str, kind: str) -> str:
    quoted = '"' + name.replace('"', '""') + '"'
    return f"if(isnan({quoted}), null, {quoted}) as {quoted}" if kind in ("FLOAT", "DOUBLE") else quoted
