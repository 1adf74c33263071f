"""Writes tables in memory as files that are then loaded like any other: pandas, polars, Arrow, DuckDB, lists of
dictionaries.

A table becomes a Parquet file. Rows that are dictionaries become JSON lines. The files are in a folder that is removed
after the load. The readers interpret the contents.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.kinds.kind import PLAIN_NOUN
from evalhouse.warehouse.loading.readers.numbers import document_in, truth_in
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.store.fingerprints import write_frame

T = TypeVar("T")


class Data(NamedTuple):
    """What is to be loaded: paths as they are, and tables, each with its name."""

    paths: tuple[str, ...]
    tables: tuple[tuple[str, Any], ...]

    def loaded(self, load: Callable[[list[str], Mapping[str, str]], T]) -> T:
        """The result of loading, given the files and the names of those that were made from tables."""
        if not self.tables:
            return load(list(self.paths), {})
        with temporary() as scratch:
            called: dict[str, str] = {}
            for name, table in self.tables:
                # The folder may name the test set.
                folder = scratch / _stem(name)
                folder.mkdir()
                called[str(_write_table(table, name, folder))] = name
            try:
                return load([*self.paths, *called], called)
            except DataError as error:
                raise DataError(
                    tuple(_by_row(fault, called) for fault in error.faults), error.total, error.hints
                ) from None


def files_of(data: Sequence[Any], name: str) -> Data:
    """The files to load. Raises TypeError for data that are neither paths nor tables."""
    if not data:
        raise TypeError("load needs a path or a table")
    paths = tuple(os.fspath(one) for one in data if isinstance(one, str | os.PathLike))
    tables = [one for one in data if not isinstance(one, str | os.PathLike)]
    names = [name] if len(tables) == 1 else [f"{name}-{place}" for place in range(1, len(tables) + 1)]
    for table in tables:
        if not _is_table(table):
            raise TypeError(
                f"{type(table).__name__} cannot be loaded: paths can, DataFrames of pandas and polars, Arrow tables, "
                "DuckDB relations, lists of dictionaries, and dictionaries of arrays"
            )
    return Data(paths, tuple(zip(names, tables, strict=True)))


def _package(table: Any) -> str:
    return type(table).__module__.partition(".")[0].lstrip("_")


def _is_table(table: Any) -> bool:
    if _package(table) in ("pandas", "polars", "pyarrow", "duckdb") or hasattr(table, "__arrow_c_stream__"):
        return not hasattr(table, "to_frame")  # a single column
    if isinstance(table, Mapping):
        return bool(table) and all(_is_column(cells) for cells in table.values())
    return (
        isinstance(table, Sequence) and not isinstance(table, bytes) and all(isinstance(row, Mapping) for row in table)
    )


def _is_column(cells: Any) -> bool:
    """Whether these are the cells of a column: a list, or an array of one dimension."""
    if isinstance(cells, str | bytes | Mapping):
        return False
    return isinstance(cells, Sequence) or hasattr(cells, "to_list") or getattr(cells, "ndim", None) == 1


TWO = ("a", "b")
"""What the systems of two arrays are called."""


def two_arrays(first: Any, second: Any) -> dict[str, list[Any]] | None:
    """Two arrays, or two mappings from documents, of the values of two systems on the same documents, as a table with a
    column for each system; None for anything else. Raises DataError if the documents are not the same.
    """
    first, second = _by_index(first, second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        documents, given = [*first], (first.values(), second.values())
    elif all(_is_column(one) and not isinstance(one, Mapping) for one in (first, second)):
        documents, given = [], (first, second)
    else:
        return None
    columns = [_without_numpy(one.tolist() if hasattr(one, "tolist") else one) for one in given]
    if not all(map(_are_numbers, columns)):
        return None
    if documents:
        lacking = [key for key in (*first, *second) if key not in first or key not in second]
        if lacking:
            raise _not_alike(f"both are of the same documents, but only one has {lacking[0]!r}")
        columns[1] = _without_numpy(second[key] for key in documents)
    elif len(columns[0]) != len(columns[1]):
        raise _not_alike(f"both are of the same documents, but there are {len(columns[0]):,} and {len(columns[1]):,}")
    return {PLAIN_NOUN: documents or [*range(1, len(columns[0]) + 1)], **dict(zip(TWO, columns, strict=True))}


def _by_index(first: Any, second: Any) -> tuple[Any, Any]:
    """Two Series of pandas whose indexes differ, as mappings from documents; anything else as it is. pandas itself
    takes cells of one label together, wherever they stand.
    """
    if not all(_package(one) == "pandas" and hasattr(one, "to_frame") for one in (first, second)):
        return first, second
    if first.index.equals(second.index):
        return first, second
    if not (first.index.is_unique and second.index.is_unique):
        raise _not_alike("their indexes differ, and name some documents more than once; to_numpy() goes by place")
    return first.to_dict(), second.to_dict()


def _are_numbers(cells: Sequence[Any]) -> bool:
    """Whether these are numbers, of which some may be missing."""
    kinds = {type(cell) for cell in cells if cell is not None}
    return bool(kinds) and all(issubclass(kind, Real) for kind in kinds)


def _without_numpy(cells: Iterable[Any]) -> list[Any]:
    # numpy's truths are no numbers of Python, and what they hold is.
    return [cell.item() if hasattr(cell, "item") else cell for cell in cells]


def _not_alike(said: str) -> DataError:
    return DataError((Fault("two arrays", None, said),))


def with_systems_as_columns(table: Any, measure: str, systems: Iterable[str]) -> Any | None:
    """A table with a column for each system, which names its documents; None for any other table.

    Such a table has no column for the measure, and one for each of the systems, of which some are named, or every
    column is an array. Its rows are the documents, in order, where nothing names them.
    """
    if not _is_table(table):
        return None
    columns = _columns_of(table)
    named = [system for system in systems if system in columns]
    arrays = isinstance(table, Mapping) and not any(isinstance(cell, str) for cells in table.values() for cell in cells)
    if measure.casefold() in map(str.casefold, columns) or (len(named) < 2 and not arrays):
        return None
    if not arrays and len(columns) > len(named):
        return table
    return _with_numbers(table)


def with_true_numbers(table: Any, truth: str | None = None) -> Any | None:
    """A table with a column of true numbers, the one that is said or that its name says, beside predictions. Its rows
    are the documents, in order, where nothing names them. None for any other table.
    """
    if not _is_table(table):
        return None
    columns = _columns_of(table)
    if (truth or truth_in(columns)) not in columns:
        return None
    names = columns if _package(table) != "pandas" else [*columns, *map(str, filter(None, table.index.names))]
    return table if document_in(names) else _with_numbers(table)


def _with_numbers(table: Any) -> Any:
    """A table with the numbers of its rows as the names of documents."""
    rows = range(1, len(table if not isinstance(table, Mapping) else table[next(iter(table))]) + 1)
    if isinstance(table, Mapping):
        return {PLAIN_NOUN: rows, **table}
    if isinstance(table, Sequence):
        return [{PLAIN_NOUN: row, **cells} for row, cells in zip(rows, table, strict=True)]
    match _package(table):
        case "pandas":
            return table if table.index.names != [None] else table.rename_axis(PLAIN_NOUN)
        case "polars":
            return table.with_row_index(PLAIN_NOUN, offset=1)
        case "pyarrow":
            return table.add_column(0, PLAIN_NOUN, [list(rows)])
        case _:
            return table


def _columns_of(table: Any) -> list[str]:
    if isinstance(table, Mapping):
        return [str(name) for name in table]
    if isinstance(table, Sequence):
        return [str(name) for name in (table[0] if table else ())]
    names = table.column_names if hasattr(table, "column_names") else table.columns
    return [str(name) for name in names]


def columns_of_numbers(table: Any) -> list[str]:
    """The columns of a dictionary of columns or of a DataFrame of pandas in which there are only numbers, apart from
    its index; none if there are others.
    """
    if not _is_table(table) or not (isinstance(table, Mapping) or _package(table) == "pandas"):
        return []
    columns = {str(name): cells for name, cells in table.items()}
    return [*columns] if all(_are_numbers(_without_numpy(cells)) for cells in columns.values()) else []


def _stem(name: str) -> str:
    return re.sub(r"[^\w.+@:-]", "_", name) or "frame"


def _write_table(table: Any, name: str, folder: Path) -> Path:
    """The file that a table becomes, with a name that can also name its test set."""
    stem = _stem(name)
    if isinstance(table, Mapping):
        return _as_lines(_rows_of(table, name), folder / f"{stem}.jsonl", name)
    if isinstance(table, Sequence):
        return _as_lines(table, folder / f"{stem}.jsonl", name)
    path, given = folder / f"{stem}.parquet", folder / "given.parquet"
    match _package(table):
        case "polars":
            frame = table.collect() if hasattr(table, "collect") else table
            _check_rows(len(frame), name)
            _check_names(frame.columns, name)
            frame.write_parquet(given)
            write_frame(given, path)
        case "duckdb":
            _check_rows(len(table), name)
            _check_names(table.columns, name)
            table.write_parquet(str(given))
            write_frame(given, path)
        case "pandas":
            _check_rows(len(table), name)
            frame = table.reset_index() if any(level is not None for level in table.index.names) else table
            frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
            _check_names(frame.columns, name)
            write_frame(frame, path)
        case _:
            import pyarrow

            arrow = table if isinstance(table, pyarrow.Table) else pyarrow.table(table)
            _check_rows(arrow.num_rows, name)
            _check_names(arrow.column_names, name)
            write_frame(arrow, path)
    given.unlink(missing_ok=True)
    return path


def _check_rows(rows: int, name: str) -> None:
    if not rows:
        raise DataError((Fault(name, None, "there are no rows in it"),))


def _check_names(columns: Iterable[str], name: str) -> None:
    listed = [str(column) for column in columns]
    twice = next((column for column in listed if listed.count(column) > 1), None)
    if twice is not None:
        raise DataError((Fault(name, None, f"the column '{twice}' appears more than once"),))


def _rows_of(table: Mapping[str, Sequence[Any]], name: str) -> list[dict[str, Any]]:
    if len({len(cells) for cells in table.values()}) != 1:
        raise DataError((Fault(name, None, "its columns are not equally long"),))
    return [dict(zip(table, cells, strict=True)) for cells in zip(*table.values(), strict=True)]


def digest_of(table: Mapping[str, Sequence[Any]]) -> str:
    """The digest of the file that a dictionary of columns becomes, whose cells are numbers, or texts without commas."""
    # A whole column at once: cell by cell it takes longer than a test.
    columns = [json.dumps(cells)[1:-1].split(", ") for cells in table.values()]
    line = "{" + ", ".join(f"{json.dumps(name)}: %s" for name in table) + "}\n"
    return sha256("".join(map(line.__mod__, zip(*columns, strict=True))).encode()).hexdigest()


def _as_lines(rows: Sequence[Mapping[str, Any]], path: Path, name: str) -> Path:
    _check_rows(len(rows), name)
    with path.open("w", encoding="utf-8") as lines:
        for place, row in enumerate(rows, start=1):
            try:
                line = json.dumps({str(key): _plain(cell) for key, cell in row.items()}, ensure_ascii=False)
                lines.write(line + "\n")
            except (TypeError, ValueError) as error:
                raise DataError((Fault(name, None, f"row {place}: {error}"),)) from None
    return path


def _plain(cell: Any) -> Any:
    """A cell as JSON represents it: numpy numbers as numbers, NaN as null."""
    if hasattr(cell, "item") and not isinstance(cell, str | int | float):
        cell = cell.item()
    if isinstance(cell, float) and math.isnan(cell):
        return None
    return cell


def _by_row(fault: Fault, called: Mapping[str, str]) -> Fault:
    """A fault of a table by its row, where the file that was made from it has lines."""
    if fault.source in called.values() and fault.line is not None:
        # If the message names another line, it is a row of the same table.
        message = re.sub(r"\bon line ([\d,]+)", r"in row \1", fault.message)
        return Fault(fault.source, None, f"row {fault.line}: {message}")
    return fault
