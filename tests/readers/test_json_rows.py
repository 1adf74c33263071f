"""Objects as rows: however they are written, their cells are those of the values that Python reads, a key twice is
refused, and records inside an object are found.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import VALUES
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers.recognition import recognize
from evalhouse.warehouse.loading.staging import json_rows
from evalhouse.warehouse.loading.staging.json_rows import Row, rows_of
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.store.texts import Complaints, Load


def rows(text: str | bytes, *, by_line: bool, **options: str) -> list[Row]:
    with TemporaryDirectory() as folder, in_memory() as database:
        file = Path(folder) / "in.json"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        staging = Staging(database, file, VALUES, {}, {}, options=dict(options))
        return [
            row
            for document in documents(staging)
            for some in rows_of(staging, document, by_line=by_line)
            for row in some
        ]


def cell(item: object) -> str | None:
    if item is None or isinstance(item, str):
        return item
    return json.dumps(item, ensure_ascii=False, separators=(",", ":"))


LEAVES = st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=6)
ITEMS = LEAVES | st.lists(LEAVES, max_size=3) | st.dictionaries(st.text(max_size=3), LEAVES, max_size=3)
OBJECTS = st.lists(st.dictionaries(st.text(max_size=4), ITEMS, min_size=1, max_size=5), min_size=1, max_size=5)


@example([{"": ["\x7f"]}], True, None, 10)
@given(OBJECTS, st.booleans(), st.sampled_from([None, (",", ":"), (" , ", " : ")]), st.sampled_from([10, 4_000_000]))
def test_cells_are_values(objects: list[dict[str, Any]], ascii_only: bool, separators: Any, at_once: int) -> None:
    texts = [json.dumps(one, ensure_ascii=ascii_only, separators=separators) for one in objects]
    wanted = [{key: cell(item) for key, item in one.items()} for one in objects]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(json_rows, "AT_ONCE", at_once)
        assert rows("\n".join(texts), by_line=True) == wanted
        assert rows("\n\n".join(texts) + "\n", by_line=True) == wanted
        assert rows(json.dumps(objects, indent=1), by_line=False) == wanted
        assert rows(f"[{','.join(texts)}]", by_line=False) == wanted
        patched.setattr(json_rows, "MOST_WHOLE", 1)
        assert rows(f"[{','.join(texts)}]", by_line=False) == wanted


@given(st.text(max_size=5), LEAVES, st.booleans())
def test_no_key_is_there_twice(key: str, item: Any, indented: bool) -> None:
    text = json.dumps([{key: item, "other": 1}], indent=1 if indented else None)
    twice = text.replace('"other"', json.dumps(key))
    with pytest.raises(DataError, match="twice in one object"):
        rows(twice, by_line=False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n[1]\n', ["in.jsonl:2: this line is not an object"]),
        ('{"a": 1}\n\n{"a": \n', ["in.jsonl:3: this line is not JSON: Expecting value"]),
        ('{"a": 1}\n{"a": 1, "a": 2}\n', ["in.jsonl:2: this line has 'a' twice in one object"]),
        ("[]\n{}\n", ["in.jsonl:1: this line is not an object"]),
    ],
)
def test_lines_that_are_wrong_are_named(complaints: Complaints, text: str, said: list[str]) -> None:
    assert complaints(text, "table", "in.jsonl") == said


def test_what_only_python_reads_is_read() -> None:
    """NaN, which Python writes, and half of a pair of surrogates."""
    assert rows('{"a": NaN, "b": "\\ud83d"}\n{"a": 1.50, "b": "x"}', by_line=True) == [
        {"a": "NaN", "b": "\\ud83d"},
        {"a": "1.50", "b": "x"},
    ]


def test_a_line_may_be_long() -> None:
    text = "x" * 20_000_000
    assert rows(json.dumps({"a": text, "b": 1}), by_line=True) == [{"a": text, "b": "1"}]


# === records inside an object =========================================================================================

RECORDS = [{"id": "q1", "correct": True}, {"id": "q2", "correct": False}]


def values(database: Database) -> list[tuple[object, ...]]:
    return database.rows(Sql("select test_set, system, document, value from document_values order by all"))


def test_the_list_of_records_is_found_with_what_is_said_of_all(
    database: Database, load_text: Load, tmp_path: Path
) -> None:
    said = {"model": "wren", "dataset": "river", "accuracy": 0.5, "results": RECORDS}
    (tmp_path / "run.json").write_text(json.dumps(said))
    assert recognize(tmp_path / "run.json", database).reader == "table"
    load(database, tmp_path / "run.json", "table")
    assert values(database) == [("river", "wren", "q1", 1.0), ("river", "wren", "q2", 0.0)]


def test_of_several_lists_one_is_named(complaints: Complaints, load_text: Load, database: Database) -> None:
    text = json.dumps({"runs": {"dev": RECORDS, "test": RECORDS[:1]}, "model": "wren"})
    [said] = complaints(text, "table", "in.json")
    assert said == (
        "in.json: there are several lists of records in it: --records runs.dev or --records runs.test says which"
    )
    [said] = complaints(text, "table", "in.json", options={"records": "runs.train"})
    assert said == "in.json: --records runs.train: there is no key 'train'; the keys are dev, test"
    load_text(text, "table", "in.json", options={"records": "runs.test"})
    assert [row[1:] for row in values(database)] == [("wren", "q1", 1.0)]


def test_a_column_may_be_inside_another(database: Database, load_text: Load) -> None:
    text = "".join(
        json.dumps({"provider": {"id": system}, "n": n, "grade": {"pass": n > 0}}) + "\n"
        for system in "ab"
        for n in (0, 1)
    )
    columns = {"system": "provider.id", "document": "n", "accuracy": "grade.pass"}
    load_text(text, "table", "in.jsonl", fields={"test_set": "T"}, columns=columns)
    assert [row[1:] for row in values(database)] == [
        *(("a", "0", 0.0), ("a", "1", 1.0), ("b", "0", 0.0), ("b", "1", 1.0))
    ]


def test_classes_are_read_from_objects(database: Database, load_text: Load) -> None:
    records = [{"id": n, "y_true": "cat", "y_pred": said, "text": "x" * 10} for n, said in enumerate(("cat", "dog"))]
    load_text(json.dumps({"results": records}), "sklearn", "in.json", fields={"test_set": "T", "system": "s"})
    assert database.rows(Sql("select count(distinct document_id) from score")) == [(2,)]
