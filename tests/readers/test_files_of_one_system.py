"""Files of one system each, which do not say which: their names do."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.loading.ingest import CarriedOut, carry_out
from evalhouse.warehouse.loading.planning import AUTO, LoadRequest, plan
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql

RIGHT = "id,correct\nq1,1\nq2,1\n"
HALF = "id,correct\nq1,1\nq2,0\n"


def load(database: Database, *named: Path, reader: str = AUTO, **fields: str) -> CarriedOut:
    request = LoadRequest([str(path) for path in named], reader, fields)
    with TemporaryDirectory() as scratch:
        return carry_out(database, request, plan(request, database, Path(scratch)))


def refused(database: Database, *named: Path, **fields: str) -> str:
    with pytest.raises(DataError) as said:
        load(database, *named, **fields)
    return " ".join(fault.message for fault in said.value.faults)


def scores(database: Database) -> list[tuple[object, ...]]:
    query = (
        "select test_set, system, avg(value) from document_values where measure = 'accuracy' group by all order by all"
    )
    return database.rows(Sql(query))


def folder_of(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".csv").write_text(text)
    return root


def test_the_system_is_the_name_of_its_file(database: Database, tmp_path: Path) -> None:
    done = load(database, folder_of(tmp_path, quiz__wren=RIGHT, quiz__lark=HALF))
    assert scores(database) == [("quiz", "lark", 0.5), ("quiz", "wren", 1.0)]
    [said] = done.notes
    assert said.startswith("nothing in these files names the system, so the name of each file does: lark, wren; ")


def test_each_folder_is_a_test_set(database: Database, tmp_path: Path) -> None:
    load(database, folder_of(tmp_path, lake__wren=RIGHT, lake__lark=HALF, sea__wren=HALF, sea__lark=RIGHT))
    assert scores(database) == [
        ("lake", "lark", 0.5),
        ("lake", "wren", 1.0),
        ("sea", "lark", 1.0),
        ("sea", "wren", 0.5),
    ]


def test_folders_are_the_systems_of_files_that_have_one_name(database: Database, tmp_path: Path) -> None:
    done = load(database, folder_of(tmp_path, wren__quiz=RIGHT, lark__quiz=HALF))
    assert scores(database) == [("quiz", "lark", 0.5), ("quiz", "wren", 1.0)]
    assert "so the folder of each file does: lark, wren" in done.notes[0]


def test_a_single_file_is_refused_with_the_line_to_type(database: Database, tmp_path: Path) -> None:
    file = folder_of(tmp_path, wren=RIGHT) / "wren.csv"
    assert "nothing names the system" in (said := refused(database, file))
    assert said.endswith("--set system=wren")
    load(database, file, system="wren", test_set="quiz")
    assert scores(database) == [("quiz", "wren", 1.0)]


@pytest.mark.parametrize("template", ["{stem}", "model-{stem}"])
def test_a_name_from_the_file_is_no_test_set(database: Database, tmp_path: Path, template: str) -> None:
    load(database, folder_of(tmp_path, quiz__wren=RIGHT, quiz__lark=HALF), system=template)
    assert {test_set for test_set, _, _ in scores(database)} == {"quiz"}


def test_two_files_of_one_name_in_a_folder_are_refused(database: Database, tmp_path: Path) -> None:
    folder_of(tmp_path, quiz__wren=RIGHT)
    (tmp_path / "quiz" / "wren.tsv").write_text(HALF.replace(",", "\t"))
    assert "would both be 'wren'" in refused(database, tmp_path)


def test_tables_beside_other_results_are_not_guessed_at(database: Database, tmp_path: Path) -> None:
    """In a folder of logs, tables of numbers may be anything."""
    scored = "test_set,system,document,possible,actual,correct,partial\nT,GE,D1,2,2,1,0\n"
    folder_of(tmp_path, scores=scored, a="id,length\nq1,3\nq2,4\n", b="id,length\nq1,5\nq2,6\n")
    assert "there is no column for system" in refused(database, tmp_path)


def test_answers_of_a_system_are_its_own(database: Database, tmp_path: Path) -> None:
    rows = "id,topic,pred,correct\nq1,birds,{},1\nq2,towns,blue,{}\n"
    load(database, folder_of(tmp_path, quiz__wren=rows.format("red", 1), quiz__lark=rows.format("grey", 0)))
    assert scores(database) == [("quiz", "lark", 0.5), ("quiz", "wren", 1.0)]
    assert database.rows(Sql("select distinct attribute from document_attributes")) == [("topic",)]


NAMES = st.lists(st.text("abc.- é", min_size=1, max_size=6).map(str.strip), min_size=2, max_size=4, unique=True)


@given(NAMES.filter(lambda names: all(name.strip(". ") == name != "" for name in names)))
def test_every_file_is_a_system(names: list[str]) -> None:
    with TemporaryDirectory() as folder, in_memory() as database:
        for name in names:
            (Path(folder) / f"{name}.csv").write_text(HALF)
        load(database, Path(folder), test_set="T")
        assert [system for _, system, _ in scores(database)] == sorted(names)


def test_a_reader_that_is_named_takes_names_of_files_too(database: Database, tmp_path: Path) -> None:
    load(database, folder_of(tmp_path, quiz__wren=RIGHT, quiz__lark=HALF), reader="table")
    assert scores(database) == [("quiz", "lark", 0.5), ("quiz", "wren", 1.0)]
    with pytest.raises(DataError, match="nothing names the system: --map system=COLUMN"):
        load(database, tmp_path / "quiz" / "wren.csv", reader="table")


def test_a_column_of_documents_may_be_named(database: Database, tmp_path: Path) -> None:
    folder_of(tmp_path, quiz__wren=RIGHT.replace("id", "ticket"), quiz__lark=HALF.replace("id", "ticket"))
    request = LoadRequest([str(tmp_path)], AUTO, columns={"document": "ticket"})
    carry_out(database, request, plan(request, database, tmp_path))
    assert scores(database) == [("quiz", "lark", 0.5), ("quiz", "wren", 1.0)]
