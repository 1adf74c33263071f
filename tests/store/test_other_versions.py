"""Warehouse files that one version of DuckDB writes and another reads.

Where `make test-oldest` has made its environment, the newest and the lowest version read each other's files.
"""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

import cli
from evalhouse.warehouse.store import connecting, files
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.files import (
    COMMON_FORMAT,
    LIBRARY,
    RELEASE,
    extent_of,
    format_of,
    needed_release,
    written_by,
)
from evalhouse.warehouse.store.replacement import in_place, making, replacing
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.store.texts import SCORES, THREE

ROOT = Path(__file__).resolve().parent.parent.parent
OF_2 = ROOT / "tests" / "upgrading" / "version_2" / "warehouse.duckdb.gz"
"""A warehouse in the format of DuckDB 2.0."""

QUESTIONS = (
    "score F, recall, precision for all on T by document",
    "compare F for all on T",
    "show imports",
    'sql "select * from scores order by all"',
)


@pytest.fixture
def newer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A warehouse in the newest format of the installed DuckDB."""
    path = tmp_path / "newer.duckdb"
    with monkeypatch.context() as patch:
        patch.setitem(connecting._CONFIGURATION, "storage_compatibility_version", "latest")
        with making(path, block_size=2**14) as database:
            database.run(Sql("insert into definition values ('twice', 'define measure twice = 2 * recall', now())"))
    path.chmod(0o640)
    return path


def definitions(path: Path) -> list[tuple[object, ...]]:
    with open_database(path) as database:
        return database.rows(Sql("select * from definition"))


def test_a_new_file_has_the_common_format(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    with making(path):
        pass
    assert (format_of(path), needed_release(path), written_by(path)) == (COMMON_FORMAT, "1.4", LIBRARY)


def test_a_change_writes_a_newer_format_in_the_common_one(newer: Path) -> None:
    before = definitions(newer)
    with replacing(newer):
        pass
    assert format_of(newer) == COMMON_FORMAT
    assert definitions(newer) == before
    assert extent_of(newer).block == 2**14
    assert newer.stat().st_mode & 0o777 == 0o640


def test_a_change_in_place_keeps_the_format(newer: Path) -> None:
    format_before = format_of(newer)
    with in_place(newer):
        pass
    assert format_of(newer) == format_before


def test_the_format_says_which_version_is_needed(newer: Path) -> None:
    assert needed_release(newer) == f"{RELEASE[0]}.{RELEASE[1]}"


def test_a_file_that_only_a_newer_version_reads_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.duckdb"
    path.write_bytes(gzip.decompress(OF_2.read_bytes()))
    monkeypatch.setattr(files, "RELEASE", (1, 4))
    monkeypatch.setattr(files, "LIBRARY", "1.4.5")
    said = files.why_not_opened(duckdb.IOException("whatever DuckDB says"), path, False)
    assert said.message == f"{path} was written by DuckDB 2.0.0, and this is DuckDB 1.4.5"
    assert said.hints[0] == "install duckdb 2.0 or a newer one"


def test_a_file_of_a_newer_version_in_the_common_format_can_be_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.duckdb"
    with making(path):
        pass
    monkeypatch.setattr(files, "RELEASE", (1, 4))
    monkeypatch.setattr(files, "written_by", lambda path: "99.0.0")
    said = files.why_not_opened(duckdb.IOException("IO Error: Corrupt database file"), path, False)
    assert "is damaged" in said.message


# --- two versions -----------------------------------------------------------------------------------------------------


@pytest.fixture
def other() -> str:
    """The interpreter of the environment with other versions."""
    environments = {ROOT / ".venv": "installed-test", ROOT / ".venv-oldest": "installed"}
    for folder, mark in environments.items():
        if folder != Path(sys.prefix) and (folder / mark).exists():
            return str(folder / "bin" / "python")
    pytest.skip("`make test-oldest` makes the environment with the lowest versions")


def asked(python: str, *words: str) -> str:
    """What a command prints under another interpreter."""
    done = subprocess.run([python, str(ROOT / "cli.py"), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_two_versions_read_each_others_files_and_answer_alike(
    other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores, more = tmp_path / "scores.csv", tmp_path / "more.csv"
    scores.write_text(SCORES + THREE)
    more.write_text(SCORES + "T,BBN,D0,4,4,3,0\nT,BBN,D1,4,4,1,0\nT,BBN,D2,4,4,2,0\n")

    def here(*words: str) -> str:
        assert cli.main([*words]) == 0
        return capsys.readouterr().out

    def there(*words: str) -> str:
        return asked(other, *words)

    for name, first, second in (("ours", here, there), ("theirs", there, here)):
        path = str(tmp_path / f"{name}.duckdb")
        first("init", path)
        first("load", str(scores), "--as", "scores", "--db", path)
        second("load", str(more), "--as", "scores", "--db", path)
        question = ["query", "; ".join(QUESTIONS), "--format", "json", "--db", path]
        assert first(*question) == second(*question)
        with open_database(Path(path)) as database:
            assert check(database) == ()
