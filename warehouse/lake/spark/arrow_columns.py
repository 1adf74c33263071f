"""The columns that Spark returns, as DuckDB would have returned them. They come as Arrow columns."""

from __future__ import annotations

from decimal import Decimal
from typing import Any


def spark_type(kind: str) -> str:
    """The Spark name of a DuckDB type."""
    return "STRING" if kind.startswith(("VARCHAR", "ENUM")) else kind


def as_python(column: Any) -> list[Any]:
    """A column as Python values. Decimals without fractional digits become integers."""
    return [
        int(cell) if isinstance(cell, Decimal) and not cell.as_tuple().exponent else cell for cell in column.to_pylist()
    ]


def as_array(column: Any) -> Any:
    """A column as an array of the type that DuckDB returns, masked if there are nulls."""
    import numpy as np
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return np.ma.masked_array(np.zeros(len(column), dtype=np.int32), mask=True)
    if pa.types.is_string(kind) or pa.types.is_decimal(kind):
        dtype: Any = object if pa.types.is_string(kind) else np.float64
    else:
        dtype = kind.to_pandas_dtype()
    fill: Any = "" if dtype is object else 0
    null = np.array([not cell.is_valid for cell in column]) if column.null_count else None
    filled = (
        np.array([fill if cell is None else cell for cell in column.to_pylist()], dtype=dtype)
        if (null is not None or dtype is object or pa.types.is_decimal(kind))
        else column.to_numpy()
    )
    return filled if null is None else np.ma.masked_array(filled, mask=null)
