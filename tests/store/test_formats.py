"""Rows are the same in every format that they can be written in."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import READERS
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import SCORES, THREE, Load

TEXT = SCORES + THREE
JSON = "".join(
    f'{{"test_set":"T","system":"GE","document":"D{k}","possible":10,"actual":9,"correct":7,"partial":1}}\n'
    for k in range(3)
)
WANTED = [("T", "GE", f"D{k}", 10, 9, 7, 1) for k in range(3)]


def stored(database: Database) -> list[tuple[object, ...]]:
    query = "select test_set, system, document, possible, actual, correct, partial from scores order by document"
    return database.rows(Sql(query))


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("in.csv", TEXT),
        ("IN.CSV", TEXT),
        ("in.csv", "\ufeff" + TEXT),
        ("in.csv", TEXT.replace("\n", "\r\n")),
        ("in.csv", TEXT.replace("\n", "\r")),
        ("in.csv", TEXT.strip()),
        ("in.csv", TEXT.replace("\n", "\n\n")),
        ("in.csv", '"' + TEXT.strip().replace(",", '","').replace("\n", '"\n"') + '"'),
        ("in.tsv", TEXT.replace(",", "\t")),
        ("in.txt", TEXT.replace(",", "\t")),
        ("in.txt", TEXT),
        ("in", TEXT),
        ("in.csv.gz", gzip.compress(TEXT.encode(), mtime=0)),
        ("in.tsv.gz", gzip.compress(TEXT.replace(",", "\t").encode(), mtime=0)),
        ("in.jsonl", JSON),
        ("in.ndjson", JSON.replace("\n", "\n\n")),
        ("in.ndjson", JSON.replace("10", '"10"')),
        ("in.jsonl.gz", gzip.compress(JSON.encode(), mtime=0)),
        ("in.json", "[" + ",".join(JSON.strip().split("\n")) + "]"),
        ("in.json", "[\n " + ",\n ".join(JSON.strip().split("\n")) + "\n]\n"),
        ("in.json", JSON),
        ("a[1]*?{b}.csv", TEXT),
        ("it's ünïcode.csv", TEXT),
        ("scores.2024.v1.csv", TEXT),
    ],
)
def test_a_format_yields_the_rows(database: Database, load_text: Load, file: str, content: str | bytes) -> None:
    assert load_text(content, file=file).rows_new == 3
    assert stored(database) == WANTED


@pytest.mark.parametrize(
    ("file", "options"),
    [
        ("out.csv.zst", "(format csv, header, compression zstd)"),
        ("out.tsv.zst", "(format csv, header, delim '\t', compression zstd)"),
        ("out.txt.zst", "(format csv, header, delim '\t', compression zstd)"),
        ("out.jsonl.zst", "(format json, compression zstd)"),
        ("out.parquet", "(format parquet)"),
        ("out.parquet", "(format parquet, compression zstd)"),
    ],
)
def test_what_duckdb_writes_is_read(
    database: Database, load_text: Load, tmp_path: Path, file: str, options: str
) -> None:
    load_text(TEXT)
    columns = "test_set, system, document, possible, actual, correct, partial"
    target = str(tmp_path / file)
    database.run(Sql(f"copy (select {columns} from scores order by document) to '{target}' {options}"))
    again = load(database, tmp_path / file, "scores", fields={"test_set": "again"})
    assert again.rows_new == 3
    assert [row[1:] for row in stored(database) if row[0] == "again"] == [row[1:] for row in WANTED]


def test_keys_of_objects_may_be_any_text(database: Database, load_text: Load) -> None:
    text = '{"system":"GE","a.b":1,"q\\"x":2,"$y":true,"a\\\\b":"4","/z":{"k":[1]},"é":null}\n'
    assert load_text(text, "systems", file="in.jsonl").rows_new == 5
    assert dict(database.rows(Sql("select attribute, value from system_attributes"))) == {
        "a.b": "1",
        'q"x': "2",
        "$y": "true",
        "a\\b": "4",
        "/z": '{"k":[1]}',
    }


def test_files_beside_one_with_a_star_in_its_name_are_not_read(load_text: Load) -> None:
    load_text(SCORES + "T,OTHER,D,1,1,1,0\n", file="ab.csv", dry_run=True)
    assert load_text(TEXT, file="a*.csv").rows_read == 3


def test_listing_the_readers_imports_nothing_heavy() -> None:
    code = (
        "import sys, evalhouse.warehouse.loading.readers; print({'duckdb', 'numpy', 'lark', 'rich'} & set(sys.modules))"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "set()"


def test_a_reader_says_what_it_reads() -> None:
    for name, reader in READERS.items():
        assert reader.name == name
        assert reader.reads.isprintable()
        header = reader.example.split("\n")[0].split(",")
        # A column a count is called by what it counts.
        by_rows = {"count", "number"} if name == "counts" else set()
        assert {field.name for field in reader.fields if field.required} - by_rows <= set(header), name
