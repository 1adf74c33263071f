"""The page about the schema agrees with the schema: its tables, columns, views and comments, and its picture.

`pytest --accept` adds new tables and columns; their descriptions have to be written by hand.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from warehouse.tasks.records import FACT_TABLES, POINTERS

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "schema.md"
PICTURES = ROOT / "docs" / "pictures"

_BLOCK = re.compile(r"<!-- (tables|views) -->\n.*?<!-- end -->", re.DOTALL)
_ROW = re.compile(r"^\| `(\w+)` \| [^|]* \| (.*) \|$", re.MULTILINE)


@pytest.fixture(scope="module")
def catalogue() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:")
    connection.execute((ROOT / "warehouse" / "store" / "schema.sql").read_text(encoding="utf-8"))
    return connection


def said(page: str) -> dict[tuple[str, str], str]:
    """What the page says that each column of each table is."""
    sections = re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", page, re.MULTILINE | re.DOTALL)
    return {(table, column): meaning for table, text in sections for column, meaning in _ROW.findall(text)}


def written(catalogue: duckdb.DuckDBPyConnection, page: str) -> str:
    """The page with the tables and views of the catalogue, and what it says of their columns."""
    meanings = said(page)
    columns: dict[str, list[tuple[str, str, bool]]] = {}
    listed = "select table_name, column_name, data_type, is_nullable from duckdb_columns() where not internal"
    for table, column, kind, nullable in catalogue.execute(f"{listed} order by table_oid, column_index").fetchall():
        columns.setdefault(table, []).append((column, kind, nullable))
    tables = "select table_name, comment from duckdb_tables() order by table_oid"
    sections = [
        f"### {table}\n\n{comment}\n\n| column | type | what it is |\n|---|---|---|\n"
        + "\n".join(
            f"| `{column}` | {_type(kind, nullable)} | {_pointer(column) or meanings.get((table, column), '')} |"
            for column, kind, nullable in columns[table]
        )
        for table, comment in catalogue.execute(tables).fetchall()
    ]
    views = "select view_name, comment from duckdb_views() where not internal order by view_name"
    rows = [
        f"| `{view}` | {comment} | {' '.join(f'`{column}`' for column, _, _ in columns[view])} |"
        for view, comment in catalogue.execute(views).fetchall()
    ]
    blocks = {
        "tables": "\n\n".join(sections),
        "views": "\n".join(["| view | what it is | columns |", "|---|---|---|", *rows]),
    }
    return _BLOCK.sub(lambda found: f"<!-- {found[1]} -->\n{blocks[found[1]]}\n<!-- end -->", page)


def _type(kind: str, nullable: bool) -> str:
    plain = kind.lower() if not kind.startswith("ENUM") else "label"
    return f"{plain} or null" if nullable else plain


def _pointer(column: str) -> str:
    target = column.removesuffix("_id")
    return f"points to [{target}](#{target})" if target != column else ""


def test_tables_and_views_are_those_of_the_schema(catalogue: duckdb.DuckDBPyConnection, accept: bool) -> None:
    page = PAGE.read_text(encoding="utf-8")
    if accept:
        PAGE.write_text(written(catalogue, page), encoding="utf-8")
    else:
        assert written(catalogue, page) == page


def test_of_each_column_there_is_what_it_is() -> None:
    meanings = said(PAGE.read_text(encoding="utf-8"))
    assert [f"{table}.{column}" for (table, column), meaning in meanings.items() if not meaning] == []


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
    pointers |= {(table, "import") for table in (*FACT_TABLES, "observed", "direction")} | {("observed", "test_set")}
    assert set(re.findall(r"<title>(\w+)\.\w+_id points to (\w+)\.id</title>", drawn)) == pointers
