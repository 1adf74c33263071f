"""Copies of a warehouse, as a file and as a lake, lose nothing; a backup of a lake has its past, too."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from evalhouse.warehouse.commands.program import main
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import Folder
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import open_warehouse
from evalhouse.warehouse.store.replacement import create
from evalhouse.warehouse.store.sql import Sql
from tests.lakes import loaded, scores, sound

pytestmark = pytest.mark.long

TEXTS = '{"test_set": "T", "system": "A", "document": "d1", "input": "2 + 2?", "output": "4", "correct": 1}\n'


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A warehouse with sample data, texts, a definition and declared directions."""
    path = str(tmp_path / "muc.duckdb")
    assert main(["init", path, "--sample"]) == 0
    (tmp_path / "loss.csv").write_text("test_set,system,document,measure,value\nT,A,d1,surprise,0.25\n")
    (tmp_path / "texts.jsonl").write_text(TEXTS)
    load = ["load", "--db", path, "--quiet"]
    assert main([*load, str(tmp_path / "loss.csv"), "--lower-is-better", "surprise"]) == 0
    assert main([*load, str(tmp_path / "texts.jsonl"), "--texts"]) == 0
    with Session.open(path) as session:
        list(session.results("define measure half = correct / possible"))
    return path


def contents(path: str | Path) -> list[tuple[object, ...]]:
    """The fingerprints of a warehouse: those that it keeps."""
    with open_warehouse(Path(path)) as database:
        return database.rows(Sql("from fingerprint order by all"))


def test_a_file_becomes_a_lake_and_a_file_again(file: str, tmp_path: Path) -> None:
    lake, other, back = (str(tmp_path / name) for name in ("muc.lake", "other", "back.duckdb"))
    assert main(["copy", file, lake]) == 0
    assert main(["copy", lake, other]) == 0
    assert main(["copy", other, back]) == 0
    assert {"definition", "direction", "system_text", "document_text"} <= {str(row[0]) for row in contents(file)}
    assert contents(file) == contents(lake) == contents(other) == contents(back)
    for copy in (lake, other, back):
        assert main(["check", "--db", copy]) == 0
    statement = "show imports; show measures; score half for all on TST3; show texts"
    asked = [list(session.results(statement)) for session in map(Session.open, (file, lake, other, back))]
    assert asked[0] == asked[1] == asked[2] == asked[3]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["copy", "{file}", "{file}"], "exists already"),
        (["copy", "{file}", "{lake}"], "exists already"),
        (["copy", "{file}", "{folder}/full", "--force"], "is not a lake, and --force overwrites nothing else"),
        (["copy", "{file}", "{folder}/none/lake"], "there is no folder"),
        (["copy", "{folder}/none.duckdb", "{folder}/new.lake"], "there is no"),
        (["copy", "{folder}/full", "{folder}/new.lake"], "full is a folder"),
        (["copy", "{file}", "s3://bucket/evals", "--file"], "s3://bucket/evals is a lake"),
        (["copy", "{file}", "{folder}/new", "--db", "{file}"], "names both warehouses itself"),
        (["compact", "--db", "{file}"], "muc.duckdb is not a lake"),
        (["compact", "--db", "{lake}", "--forget-past", "yesterday"], '"yesterday" is not a date'),
        (["init", "{lake}", "--lake"], "exists already"),
        (["backup", "s3://bucket/monday", "--db", "{lake}"], "on this machine, not at s3://bucket/monday"),
        (["backup", "s3://bucket/monday", "--db", "{file}"], "on this machine, not at s3://bucket/monday"),
        (["load", "{lake}", "--db", "{file}"], "is a lake, which is not loaded but asked"),
    ],
)
def test_what_cannot_be_done_is_said(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, lake, folder = str(tmp_path / "muc.duckdb"), str(tmp_path / "muc.lake"), str(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter.txt").write_text("dear")
    main(["init", file])
    main(["init", lake, "--lake"])
    before = sorted(path.name for path in tmp_path.iterdir())
    try:
        status = main([word.format(file=file, lake=lake, folder=folder) for word in words])
    except SystemExit as stopped:
        status = int(str(stopped.code))
    assert status
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    "words",
    [
        ["init", "{folder}/new.lake", "--lake"],
        ["load", "{csv}", "--db", "{lake}"],
        ["query", "score F for all", "--db", "{lake}"],
        ["query", "score F for all as of 1", "--db", "{lake}"],
        ["query", "forget import 1", "--db", "{lake}"],
        ["query", "define measure twice = 2 * recall", "--db", "{lake}"],
        ["serve", "--db", "{lake}"],
        ["publish", "{folder}/site", "--db", "{lake}"],
        ["info", "--db", "{lake}"],
        ["check", "--db", "{lake}"],
        ["upgrade", "--db", "{lake}"],
        ["compact", "--db", "{lake}"],
        ["backup", "{folder}/new", "--db", "{lake}"],
        ["copy", "{file}", "{folder}/new.lake"],
        ["copy", "{lake}", "{folder}/new.duckdb"],
    ],
    ids=" ".join,
)
def test_what_a_lake_needs_is_said_where_it_is_missing(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file, lake, csv = tmp_path / "w.duckdb", tmp_path / "w.lake", scores(tmp_path, "A")
    create(file).close()
    (lake / "change" / "_delta_log").mkdir(parents=True)
    before = sorted(tmp_path.rglob("*"))
    for module in ("deltalake", "deltalake.exceptions", "deltalake.schema", "deltalake.transaction"):
        monkeypatch.setitem(sys.modules, module, None)
    assert main([word.format(folder=tmp_path, file=file, lake=lake, csv=csv) for word in words]) == 3
    said = "error: a lake needs deltalake, which is not installed\n  pip install 'evalhouse[lake]'\n"
    assert capsys.readouterr().err.endswith(said)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_lake_is_not_copied(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = tmp_path / "muc.lake"
    assert main(["copy", file, str(lake)]) == 0
    victim = next((lake / "score").glob("*.parquet"))
    raw = bytearray(victim.read_bytes())
    raw[len(raw) // 2] ^= 1
    victim.write_bytes(raw)
    capsys.readouterr()
    assert main(["copy", str(lake), str(tmp_path / "back.duckdb")]) != 0
    assert main(["backup", str(tmp_path / "backup"), "--db", str(lake)]) != 0
    assert f"score/{victim.name} is not what was written" in capsys.readouterr().err
    assert not (tmp_path / "back.duckdb").exists()
    assert not (tmp_path / "backup").exists()


@pytest.mark.parametrize("words", [["backup", "{new}", "--db", "{lake}"], ["copy", "{lake}", "{new}"]], ids=" ".join)
def test_a_full_disk_is_said(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(path: Path) -> AbstractContextManager[Path]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    lake, new = tmp_path / "lake", tmp_path / "new"
    assert main(["init", str(lake), "--lake", "--quiet"]) == 0
    monkeypatch.setattr("evalhouse.warehouse.process.publishing.folder_at", full)
    assert main([word.format(lake=lake, new=new) for word in words]) == 3
    assert capsys.readouterr().err.startswith("error: the disk is full\n")


def test_a_backup_has_the_past(tmp_path: Path) -> None:
    lake = tmp_path / "lake"
    assert main(["init", str(lake), "--lake"]) == 0
    for system in "AB":
        loaded(Folder(lake), scores(tmp_path, system))
    assert main(["backup", str(tmp_path / "backup"), "--db", str(lake)]) == 0
    assert read_log(Folder(tmp_path / "backup")).changes == read_log(Folder(lake)).changes
    assert sound(Folder(tmp_path / "backup"))
    with Session.open(tmp_path / "backup") as session:
        assert [row[2] for row in session.run("score F for all on T as of 1").table.rows] == ["A"]
