"""The page about the schema says what each column is, and its picture is that of the schema. Its tables are made by
`make generate`, which adds new tables and columns; what these are has to be written by hand.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from evalhouse.warehouse.kinds.records import FACT_TABLES, POINTERS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "schema.md"
PICTURES = ROOT / "docs" / "pictures"

_ROW = re.compile(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def catalogue() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute((ROOT / "warehouse" / "store" / "schema.sql").read_text(encoding="utf-8"))
    return connection


def test_of_each_column_there_is_what_it_is() -> None:
    sections = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    columns = [(table, *row) for table, text in sections for row in _ROW.findall(text)]
    assert columns
    assert [f"{table}.{column}" for table, column, meaning in columns if not meaning] == []


def test_the_picture_is_drawn_from_the_schema(tmp_path: Path) -> None:
    script = tmp_path / "schema.py"
    text = (PICTURES / "schema.py").read_text(encoding="utf-8")
    script.write_text(text.replace("Path(__file__).resolve().parents[2]", f"Path({str(ROOT)!r})"), encoding="utf-8")
    subprocess.run([sys.executable, str(script)], check=True)
    assert script.with_suffix(".svg").read_text(encoding="utf-8") == (PICTURES / "schema.svg").read_text(
        encoding="utf-8"
    )


def test_the_picture_has_every_table_and_all_that_check_follows(catalogue: duckdb.DuckDBPyConnection) -> None:
    drawn = (PICTURES / "schema.svg").read_text(encoding="utf-8")
    tables = {table for (table,) in catalogue.execute("select table_name from duckdb_tables()").fetchall()}
    assert set(re.findall(r'font-weight="bold" font-size="13">(\w+)<', drawn)) == tables
    pointers = {(table, target) for table, targets in POINTERS.items() for target in targets}
    of_test_sets = ("observed", "column_role", "test_set_group")
    pointers |= {(table, "import") for table in (*FACT_TABLES, *of_test_sets, "direction", "share")}
    pointers |= {(table, "test_set") for table in of_test_sets}
    assert set(re.findall(r"<title>(\w+)\.\w+_id points to (\w+)\.id</title>", drawn)) == pointers
