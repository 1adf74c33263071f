"""Parquet files are read in place and never copied: the effects of their types, damage and changes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading import ingest
from evalhouse.warehouse.loading.checks import check_cells
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.empty import create

COUNTS = ("possible", "actual", "correct", "partial")


def table(rows: int = 6, **columns: object) -> pa.Table:
    return of_columns(columns, rows)


def of_columns(columns: Mapping[str, object], rows: int = 6) -> pa.Table:
    given: dict[str, object] = {
        "test_set": ["T"] * rows,
        "system": ["GE" if row % 2 else "SRI" for row in range(rows)],
        "document": [f"D{row // 2}" for row in range(rows)],
        **{count: pa.array([4 - place] * rows, type=pa.int16()) for place, count in enumerate(COUNTS[:2])},
        "correct": pa.array([row % 3 for row in range(rows)], type=pa.uint32()),
        "partial": pa.array([0] * rows, type=pa.int64()),
    }
    return pa.table({**given, **columns})


def written(folder: Path, made: pa.Table, **options: object) -> Path:
    file = folder / "in.parquet"
    pa.parquet.write_table(made, file, **options)
    return file


def refusals(database: Database, file: Path) -> list[str]:
    with pytest.raises(DataError) as caught:
        load(database, file, "scores")
    return [fault.message for fault in caught.value.faults]


@pytest.mark.parametrize("as_text", [False, True], ids=["numbers", "texts"])
def test_columns_of_any_type_are_stored_alike(database: Database, tmp_path: Path, as_text: bool) -> None:
    made = table()
    if as_text:
        made = made.cast(pa.schema([(column, pa.string()) for column in made.column_names]))
    loaded = load(database, written(tmp_path, made), "scores")
    assert (loaded.rows_read, loaded.rows_new) == (6, 6)
    rows = database.rows(Sql("select document, system, possible, actual, correct, partial from scores order by all"))
    assert rows[:3] == [("D0", "GE", 4, 3, 1, 0), ("D0", "SRI", 4, 3, 0, 0), ("D1", "GE", 4, 3, 0, 0)]
    assert not database.rows(
        Sql(
            "select 1 from duckdb_tables() where temporary union select 1 from duckdb_views() v "
            "where v.temporary and v.view_name like 'staged%'"
        )
    )


@pytest.mark.parametrize("odd", ["rowid", "file_row_number", "who?"])
def test_columns_that_are_no_fields_may_be_called_anything(database: Database, tmp_path: Path, odd: str) -> None:
    loaded = load(database, written(tmp_path, of_columns({odd: [7] * 6})), "scores")
    assert loaded.rows_new == 6
    assert loaded.notes == (f"left out (not fields): {odd}",)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"correct": [0, -1, 2, 0, 0, 0]}, "row 2: correct is '-1', not a whole number from 0 to 999999999"),
        ({"partial": [0, 0, None, 0, 0, 0]}, "row 3: partial is empty"),
        (
            {"possible": [4, 4, 4, 4, 2**40, 4]},
            "row 5: possible is '1099511627776', not a whole number from 0 to 999999999",
        ),
        ({"correct": [0, 0, 0, 0, 0, 9]}, "row 6: correct + partial is 9, more than possible, which is 4"),
        (
            {"document": ["D0", "D0", "D1\n", "D1", "D2", "D2"]},
            "row 3: document is 'D1\\n', which has a control character in it",
        ),
        ({"system": ["a" * 201, *"bcdef"]}, "row 1: system is 201 characters long, and a name has at most 200: 'aaaa"),
        ({"test_set": ["T\u2028", *"TTTTT"]}, "row 1: test_set is 'T\\u2028', which has a control character in it"),
        (
            {"document": ["D0"] * 6, "correct": [0, 0, 1, 0, 0, 0]},
            "row 3: T, SRI, D0 has correct 1, but on row 1 it has correct 0",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_row(
    database: Database, tmp_path: Path, columns: dict[str, list[object]], said: str
) -> None:
    found = refusals(database, written(tmp_path, of_columns(columns)))
    assert found[0].startswith(said), found
    assert database.rows(Sql("select (select count(*) from score) + (select count(*) from system)")) == [(0,)]


def test_a_damaged_page_is_found_before_anything_is_stored(database: Database, tmp_path: Path) -> None:
    file = written(
        tmp_path, table(6000, document=[f"D{row}" for row in range(6000)]), compression="zstd", use_dictionary=False
    )
    content = bytearray(file.read_bytes())
    middle = len(content) // 3
    content[middle : middle + 200] = bytes(200)
    file.write_bytes(content)
    assert refusals(database, file)[0].startswith("this is not a sound Parquet file: ")


def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, table())
    judge = check_cells

    def judged_and_touched(*given: object) -> tuple[str, ...]:
        notes = judge(*given)  # type: ignore[arg-type]
        os.utime(file, ns=(1, 1))
        return notes

    monkeypatch.setattr(ingest, "check_cells", judged_and_touched)
    with create(tmp_path / "w.duckdb") as database:
        assert refusals(database, file) == ["the file changed while it was being read"]
    with open_database(tmp_path / "w.duckdb") as database:
        assert database.rows(Sql("select count(*) from score")) == [(0,)]


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u2003", "\u3000"])
def test_blanks_around_names_are_dropped_whichever_they_are(database: Database, tmp_path: Path, blank: str) -> None:
    made = table(4, system=[f"{blank}GE", f"GE{blank}", f"G{blank}E", "GE"], document=["D0", "D1", "D2", "D3"])
    loaded = load(database, written(tmp_path, made), "scores")
    names = {name for (name,) in database.rows(Sql("select name from system"))}
    assert names == {"GE", f"G{blank}E"}
    assert "blanks around names were removed in 2 rows" in " ".join(loaded.notes)


@pytest.mark.parametrize("many", [6, 5])
def test_many_rows_are_sorted_with_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    monkeypatch.setattr(ingest, "MANY_ROWS", many)
    with create(tmp_path / "w.duckdb") as database:
        load(database, written(tmp_path, table()), "scores")
        [(held,)] = database.rows(Sql("select current_setting('memory_limit')"))
    assert held == ("953.6 MiB" if many < 6 else "286.1 MiB")
