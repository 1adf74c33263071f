"""What must hold for every reader of another tool's files: its example loads into a sound warehouse, only once, and can
be undone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.kinds.records import FACT_TABLES, RUNS, SYSTEMS, VALUES
from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.loading.readers import PLUGINS, READERS, Evidence, Reader, Start, plugins
from evalhouse.warehouse.loading.readers.recognition import Recognized, recognize
from evalhouse.warehouse.loading.staging.lines import documents
from evalhouse.warehouse.loading.staging.sheets import Sheets
from evalhouse.warehouse.loading.staging.staged import Staged, Staging
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.empty import create
from tests.store.texts import Complaints, Load

OTHERS = [reader for reader in READERS.values() if not reader.columns and reader.name != "brat"]
"""All but the one whose example is a member of an archive."""
SETTINGS = {
    "muc-report": {},
    "trec": {"test_set": "T"},
    "table": {"test_set": "T"},
    "trec-eval": {"test_set": "T"},
    "inspect": {},
    "sacrebleu": {"test_set": "T"},
    "comet": {"test_set": "T"},
}
OPTIONS = {"sacrebleu": {"measure": "BLEU"}}

PAGE = Path(__file__).resolve().parents[2] / "docs" / "readers.md"

each_reader = pytest.mark.parametrize("reader", OTHERS, ids=lambda reader: reader.name)


def words(reader: Reader) -> dict[str, object]:
    """What must be said beside the example of a reader."""
    fields = SETTINGS.get(reader.name, {"test_set": "T", "system": "S"})
    return {"fields": fields, "options": OPTIONS.get(reader.name, {})}


@each_reader
def test_its_example_loads_once_and_can_be_undone(database: Database, load_text: Load, reader: Reader) -> None:
    loaded = load_text(reader.example, reader.name, "example", **words(reader))
    assert loaded.import_id == 1
    assert loaded.rows_new == loaded.rows_read == sum(part.rows_new for part in loaded.parts) > 0
    assert check(database) == ()
    assert load_text(reader.example, reader.name, "example", **words(reader)).rows_new == 0
    assert forget(database, 1).rows == loaded.rows_new
    for table in (*FACT_TABLES, "document", "system", "test_set"):
        assert database.rows(Sql(f'select count(*) from "{table}"')) == [(0,)], table
    assert database.rows(Sql("select table_name from duckdb_tables() where temporary")) == []


@each_reader
def test_its_example_stores_facts_of_its_forms_only(load_text: Load, reader: Reader) -> None:
    parts = load_text(reader.example, reader.name, "example", dry_run=True, **words(reader)).parts
    assert {part.form for part in parts} <= {*reader.forms, RUNS, SYSTEMS}
    for part in parts:
        assert {field.name for field in part.form.fields if field.required} <= set(part.columns)
        assert all(len(row) == len(part.columns) for row in part.first)


@each_reader
def test_what_a_file_is_does_not_follow_from_a_reference_beside_it(
    untouched: Database, tmp_path: Path, reader: Reader
) -> None:
    """Any text may stand beside a file that is called ref, but what other readers recognize is no translation."""
    path = tmp_path / "own.txt"
    path.write_text(reader.example, encoding="utf-8")
    alone = recognize(path, untouched)
    (tmp_path / "ref.txt").write_text("the cat sat\n", encoding="utf-8")
    assert recognize(path, untouched).reader == alone.reader


def test_the_page_says_what_a_document_is_to_each_reader() -> None:
    sections = PAGE.read_text(encoding="utf-8").split("\n## ")
    for reader in OTHERS:
        [section] = [section for section in sections if section.startswith(f"{reader.name}\n")]
        assert reader.noun in section, reader.name


@each_reader
def test_what_is_nothing_is_refused_in_a_sentence(
    untouched: Database, complaints: Complaints, tmp_path: Path, reader: Reader
) -> None:
    assert complaints("", reader.name, "in", **words(reader)) == ["in: the file is empty"]
    for nothing in (tmp_path / "none", tmp_path):
        with pytest.raises(DataError, match=r"there is no such file|this is a folder, not a file"):
            load(untouched, nothing, reader, **words(reader))  # type: ignore[arg-type]
    for content in (b"\x00\xff\xfe" * 50, b"\n" * 9, b"%PDF-1.4 and then\nsome more\n", b'{"a": [}\n'):
        for fault in complaints(content, reader.name, "in", **words(reader)):
            assert fault.startswith("in:")
            assert not fault.endswith(".")


@each_reader
def test_a_field_that_is_none_cannot_be_set(complaints: Complaints, reader: Reader) -> None:
    said = words(reader)
    said["fields"] = {**SETTINGS.get(reader.name, {"test_set": "T", "system": "S"}), "sistem": "x"}
    assert complaints(reader.example, reader.name, "in", **said)[0].startswith("in: there is no field 'sistem' to set")


@each_reader
def test_a_name_that_is_set_is_judged_like_any_other(complaints: Complaints, reader: Reader) -> None:
    said = words(reader)
    said["fields"] = {"test_set": "T", "system": "S", "evaluation": "a\x07b"}
    [fault] = complaints(reader.example, reader.name, "in", **said)[:1]
    assert fault == "in: the value set for evaluation is 'a\\x07b', which has a control character in it"


def lines(staging: Staging, columns: tuple[str, ...] = ("document", "measure", "value")) -> tuple[Staged, ...]:
    with Sheets(staging, VALUES) as sheets:
        values = sheets.open(VALUES, *columns)
        for document in documents(staging):
            for number, line in document.lines():
                values.add(number, *line.split("|"), member=document.member)
        return sheets.staged()


def bars(start: Start) -> str | None:
    return "its bars" if "|BLEU|" in start.text else None


BARS = Reader("bars", "document|measure|value, one a line", (VALUES,), "D1|BLEU|31.4\n", lines, recognizes=bars)
ON = {"test_set": "T", "system": "S"}


def test_a_reader_of_ones_own_is_checked_by_line(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_text("D1|BLEU|31.4\nD2|BLEU|high\nD\x073|BLEU|1\n")
    with pytest.raises(DataError) as caught:
        load(database, file, BARS, fields=ON)
    assert [(fault.line, fault.message) for fault in caught.value.faults] == [
        (2, "value is 'high', not a number from -1e15 to 1e15"),
        (3, "document is 'D\\x073', which has a control character in it"),
    ]


def test_quotes_separators_and_line_ends_in_cells_stay(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "in"
    names = ['a,b"c', "''", "NULL", "  x  ", "É", "\\N", "#"]
    file.write_text("".join(f"{name}|m|1\n" for name in names), encoding="utf-8")
    notes = load(database, file, BARS, fields=ON).notes
    found = {name for (name,) in database.rows(Sql("select name from document"))}
    assert found == {*names[:3], "x", "É", *names[5:]}
    assert notes == ("blanks around names were removed in 1 row",)


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Reader]]:
    """The readers that another package offers, and one that takes the name of a reader of this one."""
    from importlib import metadata

    def entry_points(*, group: str) -> list[metadata.EntryPoint]:
        names = (*(reader.name for reader in readers), "scores")
        return [metadata.EntryPoint(name, name, group) for name in names] if group == PLUGINS else []

    readers = [BARS]
    monkeypatch.setattr(metadata, "entry_points", entry_points)
    load_entry = lambda entry: next(reader for reader in readers if reader.name == entry.name)  # noqa: E731
    monkeypatch.setattr(metadata.EntryPoint, "load", load_entry)
    plugins.cache_clear()
    yield readers
    plugins.cache_clear()


def test_packages_offer_readers_by_entry_points(offered: list[Reader]) -> None:
    assert plugins() == {"bars": BARS}


def test_a_reader_of_another_package_is_found_by_what_is_in_a_file(
    offered: list[Reader], database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "in.txt"
    file.write_text(BARS.example)
    assert recognize(file, database) == Recognized("bars", "its bars")
    # What goes by the same as a reader of this package is a question, and what goes by more is asked before it.
    file.write_text("0.5\n" * 20 + BARS.example)
    with pytest.raises(DataError, match=r"it could be sacrebleu \(one number per line\) or bars \(its bars\)"):
        recognize(file, database)
    offered[0] = replace(BARS, evidence=Evidence.MARK)
    plugins.cache_clear()
    assert recognize(file, database).reader == "bars"


def test_a_statement_loads_with_the_reader_of_another_package(offered: list[Reader], tmp_path: Path) -> None:
    full = "document|measure|value|test_set|system, one a line"
    columns = ("document", "measure", "value", "test_set", "system")
    offered[0] = replace(BARS, reads=full, stage=partial(lines, columns=columns))
    (tmp_path / "in.txt").write_text("D1|BLEU|31.4|T|S\n")
    create(tmp_path / "w.duckdb").close()
    with Session.open(tmp_path / "w.duckdb") as session:
        assert session.run(f'load "{tmp_path}/in.txt" as auto').rows[0]["reader"] == "bars"
        assert session.run("score BLEU for S on T").rows[0]["BLEU"] == 31.4


def test_a_reader_that_fails_to_recognize_is_a_sentence_about_the_file(
    offered: list[Reader], database: Database, tmp_path: Path
) -> None:
    def failing(start: Start) -> str | None:
        raise KeyError("bars")

    offered[0] = replace(BARS, recognizes=failing)
    (tmp_path / "in").write_text("nothing of the kind\n")
    with pytest.raises(DataError) as caught:
        recognize(tmp_path / "in", database)
    assert str(caught.value.faults[0]) == f"{tmp_path}/in: the reader bars failed: KeyError: 'bars'"


def test_a_reader_that_fails_is_a_sentence_about_the_file(database: Database, tmp_path: Path) -> None:
    def failing(staging: Staging) -> tuple[Staged, ...]:
        raise ZeroDivisionError("division by zero")

    file = tmp_path / "in.bars"
    file.write_text("x|m|1\n")
    with pytest.raises(DataError) as caught:
        load(database, file, replace(BARS, stage=failing), fields=ON)
    assert str(caught.value.faults[0]) == f"{file}: the reader bars failed: ZeroDivisionError: division by zero"
    assert database.rows(Sql("select * from import")) == []


def test_lines_and_archives_are_bounded(complaints: Complaints, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalhouse.warehouse.loading.staging.lines.LONGEST_LINE", 10)
    assert complaints("word O O\n" + "x" * 11, "conll", "in", fields=ON) == ["in:2: this line is longer than 10 bytes"]
