"""Files that are not warehouses, or are damaged ones: each gets a sentence that says what to do, and none is
misread.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.catalog import store_definition
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.replacement import create, making, replacing
from evalhouse.warehouse.store.schema import SCHEMA_VERSION
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.counting import Count
from tests.store.texts import SCORES, THREE

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with rows of two kinds, a definition, and free blocks from loads before. Not to be changed."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "three.csv").write_text(SCORES + THREE)
    values = "".join(f"T,S{k % 7},D{k // 7},bleu,{k / 7}\n" for k in range(700))
    (folder / "values.csv").write_text("test_set,system,document,measure,value\n" + values)
    with making(folder / "w.duckdb") as database:
        load(database, folder / "three.csv", "scores")
    with replacing(folder / "w.duckdb", [folder / "values.csv"]) as database:
        load(database, folder / "values.csv", "values")
        store_definition(database, "twice", "define measure twice = 2 * recall")
    return folder / "w.duckdb"


# --- files that are something else ------------------------------------------------------------------------------------


def _sqlite(path: Path, whole: Path) -> None:
    path.unlink(missing_ok=True)
    with sqlite3.connect(path) as other:
        other.execute("create table t(i)")
    other.close()


def _newer_schema(path: Path, whole: Path) -> None:
    path.unlink(missing_ok=True)
    with create(path) as database:
        database.run(Sql(f"update meta set value = '{SCHEMA_VERSION + 1}' where key = 'schema_version'"))


def _checksum(content: bytes | bytearray) -> bytes:
    """That of DuckDB's blocks."""
    total = 5381
    for (word,) in struct.iter_unpack("<Q", content):
        total ^= word * 0xBF58476D1CE4E5B9 % 2**64
    return total.to_bytes(8, "little")


def _version(number: int, name: bytes) -> Callable[[Path, Path], None]:
    def make(path: Path, whole: Path) -> None:
        content = bytearray(whole.read_bytes())
        content[12:20] = number.to_bytes(8, "little")
        content[52:84] = name.ljust(32, b"\0")
        content[:8] = _checksum(content[8:4096])
        path.write_bytes(content)

    return make


def _text(path: Path, whole: Path) -> None:
    path.write_text("test_set,system,document\n" * 1000)


def _half(path: Path, whole: Path) -> None:
    path.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])


def _header(path: Path, whole: Path) -> None:
    path.write_bytes(whole.read_bytes()[:5000])


def _noise(path: Path, whole: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(100_000))


def _noise_behind_the_header(path: Path, whole: Path) -> None:
    content = whole.read_bytes()
    path.write_bytes(content[:12288] + random.Random(2).randbytes(len(content) - 12288))


def _folder(path: Path, whole: Path) -> None:
    path.mkdir()


def _nothing(path: Path, whole: Path) -> None:
    path.write_bytes(b"")


BAD = {
    "no bytes": (_nothing, "is empty"),
    "a text": (_text, "is not a warehouse"),
    "noise": (_noise, "is not a warehouse"),
    "half a warehouse": (_half, "is cut off"),
    "a part of a header": (_header, "is cut off"),
    "an SQLite database": (_sqlite, "is an SQLite database, not a warehouse"),
    "a folder": (_folder, "is a folder"),
    "a newer schema": (_newer_schema, f"has schema version {SCHEMA_VERSION + 1}"),
    "a newer DuckDB": (_version(12345, b"v99.0.0"), "was written by DuckDB 99.0.0"),
    "an older DuckDB": (_version(51, b"v0.8.1"), "was written by DuckDB 0.8.1"),
    "noise behind the header": (_noise_behind_the_header, "is damaged"),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize("command", ["query", "load", "check", "backup"])
def test_a_bad_file_is_told_and_left_alone(
    kind: str,
    command: str,
    whole: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    path = tmp_path / "w.duckdb"
    make, said = BAD[kind]
    make(path, whole)
    before = path.read_bytes() if path.is_file() else None
    (tmp_path / "s.csv").write_text(SCORES + THREE)
    words = {
        "query": ["query", "show systems"],
        "load": ["load", "s.csv", "--as", "scores"],
        "check": ["check"],
        "backup": ["backup", "copy.duckdb"],
    }
    assert cli.main([*words[command], "--db", str(path)]) == 3
    printed, complaint = capsys.readouterr()
    assert printed == ""
    first, *hints = complaint.splitlines()
    assert first.startswith(f"error: {path} {said}")
    assert all(hint.startswith("  ") for hint in hints)
    assert hints or kind == "a folder", "what to do"
    assert (path.read_bytes() if path.is_file() else None) == before
    assert {file.name for file in tmp_path.iterdir()} <= {"w.duckdb", "s.csv", "home"}
    # Extensions that DuckDB downloads go to the home folder.
    assert not (tmp_path / "home").exists()


# --- files that were damaged ------------------------------------------------------------------------------------------

CONTENT = Sql(
    "select (select list(scores order by scores) from scores)::varchar, "
    "(select list(document_values order by document_values) from document_values)::varchar, "
    "(select list(text) from definition)::varchar"
)


def _content(path: Path) -> str:
    with open_database(path) as database:
        return str(database.rows(CONTENT))


def _checked(path: Path) -> tuple[str, ...]:
    try:
        with open_database(path) as database:
            return check(database)
    except WarehouseError as error:
        if str(path) not in error.message or not error.hints:
            pytest.fail(f"not said well: {error.message}")
        return (error.message,)


def flips(whole: Path, folder: Path, times: int, count: Count) -> None:
    """Turns single bits over, in the headers and elsewhere. What is not found by `check` has changed nothing."""
    chance = random.Random("flips")
    content, expected = whole.read_bytes(), _content(whole)
    path = folder / "flipped.duckdb"
    found = harmless = 0
    for number in range(times):
        bits = 8 * (3 * 4096 if number % 3 == 0 else len(content))
        bit = chance.randrange(bits)
        flipped = bytearray(content)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        problems = _checked(path)
        assert problems or _content(path) == expected
        found += bool(problems)
        harmless += not problems
    count("bits flipped, and found by check", found)
    count("bits flipped where nothing is stored, and nothing changed", harmless)
    assert found > times / 2


@pytest.mark.crash
def test_flipped_bits_are_found(whole: Path, tmp_path: Path, count: Count) -> None:
    flips(whole, tmp_path, 30, count)


@pytest.mark.soak
def test_many_flipped_bits_are_found(whole: Path, tmp_path: Path, count: Count) -> None:
    flips(whole, tmp_path, 150, count)


@pytest.mark.long
def test_a_file_cut_off_anywhere_is_told(whole: Path, tmp_path: Path, count: Count) -> None:
    chance = random.Random("cut")
    content, expected = whole.read_bytes(), _content(whole)
    path = tmp_path / "cut.duckdb"
    for _ in range(15):
        path.write_bytes(content[: chance.randrange(1, len(content))])
        assert _checked(path) or _content(path) == expected
    count("files cut off", 15)


@pytest.mark.long
def test_damage_that_a_query_meets_is_told_with_status_3(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.duckdb"
    content = whole.read_bytes()
    said = []
    for place in range(12288 + 100_000, len(content), 1 << 18):
        flipped = bytearray(content)
        flipped[place] ^= 1
        path.write_bytes(flipped)
        status = cli.main(
            ["query", 'sql "select sum(value), count(distinct document) from document_values"', "--db", str(path)]
        )
        printed, complaint = capsys.readouterr()
        assert status in (0, 3), complaint
        if status == 3:
            assert printed == ""
            assert complaint.startswith(f"error: {path} is damaged: a checksum is wrong in the block at byte ")
            assert "  restore it from a backup\n" in complaint
            said.append(complaint)
    assert said


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_backup_is_made_while_others_read_and_while_one_loads(whole: Path, tmp_path: Path) -> None:
    path, to = tmp_path / "w.duckdb", tmp_path / "copy.duckdb"
    shutil.copy(whole, path)
    (tmp_path / "one.csv").write_text(SCORES + "T,GE,D9,1,1,1,0\n")
    reading = (
        "import sys, evalhouse\n"
        "with evalhouse.open(sys.argv[1]) as w:\n"
        "    for _ in sys.stdin:\n"
        "        print(w.run('sql \"select count(*) from score\"').rows[0]['count_star()'], flush=True)\n"
    )
    command = [sys.executable, "-c", reading, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None

        def ask() -> int:
            assert reader.stdin is not None
            assert reader.stdout is not None
            reader.stdin.write("?\n")
            reader.stdin.flush()
            return int(reader.stdout.readline())

        assert ask() == 3
        with replacing(path, [tmp_path / "one.csv"]) as database:
            load(database, tmp_path / "one.csv", "scores")
            assert cli.main(["backup", str(to), "--db", str(path)]) == 0
            assert ask() == 3
        # The load is done, and a session that is open sees it.
        assert ask() == 4
        reader.communicate("")
    assert to.read_bytes() == whole.read_bytes()
    with open_database(path) as database:
        assert database.rows(Sql("select count(*) from score")) == [(4,)]


@pytest.mark.long
def test_a_warehouse_that_is_unsound_is_not_copied(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "w.duckdb"
    shutil.copy(whole, path)
    _tamper(path, "update value set value = 1")
    assert cli.main(["backup", str(tmp_path / "copy.duckdb"), "--db", str(path)]) == 3
    said = "is unsound, so it was not copied: value: the rows of import 2 are not those that were stored"
    assert said in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["w.duckdb"]
    assert cli.main(["check", "--db", str(path)]) == 1
    assert "value: the rows of import 2 are not those that were stored\n" in capsys.readouterr().out


def _tamper(path: Path, statement: str) -> None:
    code = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute(sys.argv[2])"
    subprocess.run([sys.executable, "-c", code, str(path), statement], check=True)
