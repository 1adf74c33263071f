"""Opening, making, querying and replacing a warehouse file, and the errors for files that are not warehouses."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO

import pytest

from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.connecting import in_memory, open_database
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.files import extent_of
from evalhouse.warehouse.store.replacement import backup, create, in_place, loading_lock, making, replacing
from evalhouse.warehouse.store.schema import CATALOGUES, DATABASE, SCHEMA_VERSION, catalogue, digest
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests import empty
from tests.store.texts import SCORES, THREE

COUNT = Sql("select count(*) from score")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the warehouse w.duckdb, which holds three score rows, and a file of one more. Not to be changed."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "three.csv").write_text(SCORES + THREE)
    (folder / "one.csv").write_text(SCORES + "T,GE,D3,1,1,1,0\n")
    with create(folder / "w.duckdb") as database:
        load(database, folder / "three.csv", "scores")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of that folder, in which no load may leave anything behind."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    yield tmp_path
    left_over = {file.name for file in tmp_path.iterdir()} & {"w.duckdb.import", "w.duckdb.wal", "w.duckdb.import.wal"}
    assert left_over == set()


@pytest.fixture(params=["memory", "file"], scope="module")
def asked(request: pytest.FixtureRequest, made: Path) -> Iterator[Database]:
    """A warehouse in memory and one on disk, to be asked what someone typed."""
    with in_memory() if request.param == "memory" else open_database(made / "w.duckdb") as database:
        yield database


def count(path: Path) -> int:
    with open_database(path) as database:
        return int(database.rows(COUNT)[0][0])


def untrusted(database: Database) -> None:
    """Asks what someone typed."""
    database.untrusted("select sum(hash(i)) from range(1000) t(i)")


def in_a_transaction(database: Database) -> None:
    """Asks the same within a transaction."""
    with database.transaction(keep=False):
        database.rows(Sql("select sum(hash(i)) from range(1000) t(i)"))


def refusal(path: Path) -> WarehouseError:
    with pytest.raises(WarehouseError) as caught:
        open_database(path)
    assert str(path) in caught.value.message
    return caught.value


class TestOpening:
    def test_what_was_stored_is_there(self, folder: Path) -> None:
        assert count(folder / "w.duckdb") == 3

    def test_nothing_can_be_changed(self, folder: Path) -> None:
        with open_database(folder / "w.duckdb") as database, pytest.raises(WarehouseError, match="read-only"):
            database.run(Sql("delete from score"))

    def test_columns_are_arrays_masked_where_null(self, folder: Path) -> None:
        with open_database(folder / "w.duckdb") as database:
            columns = database.columns(Sql("select possible, incorrect from score where possible = ?", (10,)))
        assert columns["possible"].tolist() == [10, 10, 10]
        assert columns["incorrect"].tolist() == [None, None, None]

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "is empty"),
            (b"system,document\n", "is not a warehouse"),
            (b"12345678DUCK", "is cut off: it has 12 bytes of 12288"),
        ],
    )
    def test_what_is_no_warehouse_is_told_apart(self, tmp_path: Path, content: bytes, said: str) -> None:
        path = tmp_path / "w.duckdb"
        path.write_bytes(content)
        assert refusal(path).message == f"{path} {said}"

    def test_what_is_not_there_can_be_made(self, tmp_path: Path) -> None:
        said = refusal(tmp_path / "w.duckdb")
        assert said.message == f"there is no warehouse {tmp_path / 'w.duckdb'}"
        assert said.hints == (f"evalhouse init {tmp_path / 'w.duckdb'} makes one",)

    def test_a_folder_is_no_warehouse(self, tmp_path: Path) -> None:
        assert refusal(tmp_path).message == f"{tmp_path} is a folder, not a warehouse"

    def test_an_sqlite_database_is_no_warehouse(self, tmp_path: Path) -> None:
        path = tmp_path / "w.duckdb"
        with sqlite3.connect(path) as other:
            other.execute("create table t(i)")
        other.close()
        assert refusal(path).message == f"{path} is an SQLite database, not a warehouse"

    def test_another_duckdb_database_is_no_warehouse(self, tmp_path: Path) -> None:
        import duckdb

        path = tmp_path / "w.duckdb"
        duckdb.connect(str(path)).close()
        assert refusal(path).message == f"{path} is a DuckDB database, but not a warehouse"

    def test_a_newer_schema_is_told(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        with replacing(path) as database:
            database.run(Sql(f"update meta set value = '{SCHEMA_VERSION + 1}' where key = 'schema_version'"))
            database.run(Sql(f"update meta set value = '{SCHEMA_VERSION}' where key = 'schema_version'"))
        with create(folder / "newer.duckdb") as database:
            database.run(Sql(f"update meta set value = '{SCHEMA_VERSION + 1}' where key = 'schema_version'"))
        said = refusal(folder / "newer.duckdb")
        versions = f"version {SCHEMA_VERSION + 1}, and this evalhouse reads version {SCHEMA_VERSION}"
        assert said.message == f"{folder / 'newer.duckdb'} has schema {versions}"
        assert said.hints == ("a newer evalhouse reads it",)

    def test_a_file_of_a_newer_duckdb_is_told(self, folder: Path) -> None:
        import duckdb

        path = folder / "newer.duckdb"
        whole = bytearray((folder / "w.duckdb").read_bytes())
        whole[12:20] = (12345).to_bytes(8, "little")
        whole[52:60] = b"v99.0.0\0"
        path.write_bytes(whole)
        assert refusal(path).message == f"{path} was written by DuckDB 99.0.0, and this is DuckDB {duckdb.__version__}"

    def test_a_cut_off_file_is_told(self, folder: Path) -> None:
        path = folder / "cut.duckdb"
        whole = (folder / "w.duckdb").read_bytes()
        path.write_bytes(whole[:-1])
        said = refusal(path)
        assert said.message == f"{path} is cut off: it has {len(whole) - 1} bytes of {len(whole)}"
        assert said.hints == ("restore it from a backup",)

    def test_a_file_that_lacks_a_block_in_use_is_told(self, folder: Path) -> None:
        path = folder / "cut.duckdb"
        whole = (folder / "w.duckdb").read_bytes()
        path.write_bytes(whole[: -(1 << 18)])
        assert "is cut off" in refusal(path).message or "cannot be read" in refusal(path).message

    @pytest.mark.long
    def test_a_file_that_lacks_only_free_blocks_is_whole(self, folder: Path) -> None:
        """DuckDB leaves free blocks out at the end of a file, and its header still counts them."""
        path = folder / "w.duckdb"
        lengths = set()
        for number in range(12):
            with replacing(path) as database:
                text = f"define measure m{number} = recall"
                database.run(Sql("insert into definition values (?, ?, now()::timestamp)", (f"m{number}", text)))
            lengths.add(path.stat().st_size)
            with open_database(path) as database:
                assert len(database.rows(Sql("select * from definition"))) == number + 1
            # A disk that was full has room for a part of a block.
            if (extent := extent_of(path)).lacking:
                with path.open("ab") as file:
                    file.write(b"part of a block")
                with open_database(path) as database:
                    assert len(database.rows(Sql("select * from definition"))) == number + 1
                cut = folder / "cut.duckdb"
                cut.write_bytes(path.read_bytes()[: extent.size - 100])
                with pytest.raises(WarehouseError, match="is cut off: it has"):
                    open_database(cut)
        assert len(lengths) > 1

    def test_a_damaged_file_is_told(self, folder: Path) -> None:
        path = folder / "damaged.duckdb"
        whole = bytearray((folder / "w.duckdb").read_bytes())
        for place in (4096 + 20, 8192 + 20):
            whole[place] ^= 0xFF
        path.write_bytes(whole)
        said = refusal(path)
        assert said.message == f"{path} is damaged: a checksum is wrong in the block at byte 4,096"
        assert said.hints[0] == "restore it from a backup"

    @pytest.mark.long
    def test_what_is_left_in_a_log_is_read_copied_and_finished(self, folder: Path) -> None:
        """As by a program that was killed before it had written all to the file."""
        path, log = folder / "logged.duckdb", folder / "logged.duckdb.wal"
        shutil.copy(folder / "w.duckdb", path)
        code = """if True:
            import duckdb, os, sys
            connection = duckdb.connect(sys.argv[1])
            connection.execute("insert into meta values ('a', 'b')")
            os._exit(0)
        """
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)
        assert log.stat().st_size
        asked = Sql("select value from meta where key = 'a'")

        def stored(path: Path) -> list[tuple[str]]:
            with open_database(path) as database:
                return database.rows(asked)

        before = path.read_bytes(), log.read_bytes()
        assert stored(path) == [("b",)]
        backup(path, folder / "copy.duckdb")
        assert (path.read_bytes(), log.read_bytes()) == before
        assert stored(folder / "copy.duckdb") == [("b",)]
        assert not (folder / "copy.duckdb.wal").exists()
        with replacing(path, [folder / "one.csv"]) as database:
            load(database, folder / "one.csv", "scores")
        assert not log.exists()
        assert (stored(path), count(path)) == ([("b",)], 4)
        # A log that was cut off at once says nothing.
        log.write_bytes(b"x")
        assert stored(path) == [("b",)]
        with in_place(path):
            pass
        assert not log.exists()
        log.write_bytes(before[1])
        said = refusal(path)
        assert said.message == f"{path}.wal does not belong to {path}: it was written for an older state of it"
        assert said.hints == (f"if the warehouse was restored from a backup, remove {path}.wal",)
        log.unlink()

    @pytest.mark.long
    def test_a_file_that_another_program_writes_is_told(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
        command = [sys.executable, "-c", code, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            other.stdout.readline()
            said = refusal(path)
            assert said.message == f"{path} is being written by process {other.pid}"
            other.communicate("")
        assert count(path) == 3

    def test_names_with_quotes_can_be_opened(self, tmp_path: Path) -> None:
        path = tmp_path / 'it\'s [a] "warehouse" ünï?.duckdb'
        create(path).close()
        assert count(path) == 0


class TestMaking:
    def test_nothing_is_overwritten(self, folder: Path) -> None:
        with pytest.raises(WarehouseError, match="exists already"):
            create(folder / "w.duckdb")
        assert count(folder / "w.duckdb") == 3

    def test_a_folder_must_be_there(self, tmp_path: Path) -> None:
        with pytest.raises(WarehouseError, match="there is no folder"):
            create(tmp_path / "no" / "w.duckdb")

    def test_what_tests_begin_with_is_what_is_made(self, tmp_path: Path) -> None:
        create(tmp_path / "made.duckdb").close()
        empty.create(tmp_path / "copied.duckdb").close()
        for path in (tmp_path / "made.duckdb", tmp_path / "copied.duckdb"):
            with open_database(path) as database:
                assert check(database) == ()
                assert digest(catalogue(database.rows, DATABASE)) in CATALOGUES

    def test_every_table_and_view_says_what_it_is(self, folder: Path) -> None:
        with open_database(folder / "w.duckdb") as database:
            silent = database.rows(
                Sql(
                    "select table_name from duckdb_tables() where comment is null and not internal union all "
                    "select view_name from duckdb_views() where comment is null and not internal"
                )
            )
        assert silent == []

    def test_memory_and_file_have_the_same_tables(self, folder: Path) -> None:
        columns = Sql(
            "select table_name, column_name, data_type, is_nullable from information_schema.columns "
            "where table_schema = 'main' order by table_name, ordinal_position"
        )
        with in_memory() as one, open_database(folder / "w.duckdb") as other:
            assert one.rows(columns) == other.rows(columns)


class TestUntrusted:
    """What `sql` may do: read the warehouse, and nothing else."""

    def test_a_select_yields_columns_and_rows(self, asked: Database) -> None:
        assert asked.untrusted("select 1 as one, null as none") == (("one", "none"), [(1, None)])
        assert asked.untrusted("-- a remark\nwith t as (select 2 as two) from t;") == (("two",), [(2,)])
        assert asked.untrusted("explain analyze select 1")[0] == ("explain_key", "explain_value")
        assert asked.untrusted("/* a */ -- remark\nexplain (format json) select 1")[1] != []
        assert asked.untrusted("show tables")[1] != []

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("delete from score", "expected one SELECT or EXPLAIN, not DELETE"),
            ("explain delete from score", "expected one SELECT or EXPLAIN, not DELETE"),
            ("EXPLAIN ANALYZE copy score to 'x.csv'", "expected one SELECT or EXPLAIN, not COPY"),
            ("attach 'x.duckdb'", "expected one SELECT or EXPLAIN, not ATTACH"),
            ("set memory_limit='1GB'", "expected one SELECT or EXPLAIN, not SET"),
            ("install httpfs", "expected one SELECT or EXPLAIN, not LOAD"),
            ("checkpoint", "expected one SELECT or EXPLAIN, not CALL"),
            ("select 1; select 2", "expected one SELECT or EXPLAIN, but there are 2 statements"),
            ("", "expected one SELECT or EXPLAIN, but there are 0 statements"),
            ("select * from scorez", 'Table with name scorez does not exist; did you mean "score"?'),
            ("selec 1", 'syntax error at or near "selec"'),
        ],
    )
    def test_anything_else_is_refused(self, asked: Database, text: str, said: str) -> None:
        with pytest.raises(DataError) as caught:
            asked.untrusted(text)
        assert [fault.message for fault in caught.value.faults] == [said]

    @pytest.mark.parametrize(
        "text",
        [
            "with gone as (delete from evaluation returning *) select * from gone",
            "select * from read_csv('/etc/passwd')",
            "select * from 'three.csv'",
            "select content from read_text('/etc/hostname')",
            "select * from read_blob('/etc/hostname')",
            "select * from glob('/etc/*')",
            "select * from sniff_csv('/etc/passwd')",
            "select * from parquet_metadata('/etc/passwd')",
            "select * from read_csv('http://127.0.0.1:9/x.csv')",
            "select getenv('HOME')",
            "select * from enable_logging()",
        ],
    )
    def test_nothing_is_changed_and_no_file_is_read(self, asked: Database, text: str) -> None:
        with pytest.raises(DataError):
            asked.untrusted(text)
        assert asked.untrusted("select count(*) from evaluation")[1] == [(1,)]

    def test_variables_of_the_program_are_not_tables(self, asked: Database) -> None:
        secret = {"column": [1]}  # noqa: F841 - DuckDB would find it by its name
        with pytest.raises(DataError, match="secret does not exist"):
            asked.untrusted("select * from secret")

    def test_a_long_query_can_be_interrupted(self, asked: Database) -> None:
        said: list[str] = []

        def asking() -> None:
            try:
                asked.untrusted("select sum(hash(i)) from range(100000000000) t(i)")
            except WarehouseError as error:
                said.append(error.message)

        thread = threading.Thread(target=asking)
        thread.start()
        while thread.is_alive():
            asked.interrupt()
            thread.join(0.05)
        assert said == ["interrupted"]
        assert asked.untrusted("select 42")[1] == [(42,)]

    @pytest.mark.parametrize("ask", [untrusted, in_a_transaction])
    def test_wherever_an_interruption_falls_the_next_query_is_answered(
        self, asked: Database, ask: Callable[[Database], object]
    ) -> None:
        over = threading.Event()

        def interrupting() -> None:
            while not over.wait(1e-4):
                asked.interrupt()

        thread = threading.Thread(target=interrupting)
        thread.start()
        said: set[str] = set()
        try:
            for _ in range(100):
                try:
                    ask(asked)
                except WarehouseError as error:
                    said.add(error.message)
        finally:
            over.set()
            thread.join()
        assert said == {"interrupted"}
        ask(asked)


class TestReplacing:
    def test_what_is_loaded_is_there_afterwards(self, folder: Path) -> None:
        with replacing(folder / "w.duckdb", [folder / "one.csv"]) as database:
            load(database, folder / "one.csv", "scores")
        assert count(folder / "w.duckdb") == 4
        assert sorted(file.name for file in folder.iterdir()) == ["one.csv", "three.csv", "w.duckdb"]

    def test_readers_keep_what_they_opened_and_see_the_new_when_they_open_again(self, folder: Path) -> None:
        with open_database(folder / "w.duckdb") as before:
            with replacing(folder / "w.duckdb", [folder / "one.csv"]) as database:
                load(database, folder / "one.csv", "scores")
            assert before.rows(COUNT) == [(3,)]
            assert count(folder / "w.duckdb") == 4

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, WarehouseError])
    def test_an_exception_leaves_the_warehouse_as_it_was(self, folder: Path, error: type[BaseException]) -> None:
        before = (folder / "w.duckdb").read_bytes()
        with pytest.raises(error), replacing(folder / "w.duckdb", [folder / "one.csv"]) as database:  # noqa: PT012
            load(database, folder / "one.csv", "scores")
            raise error("no")
        assert (folder / "w.duckdb").read_bytes() == before
        assert not (folder / "w.duckdb.lock").exists()

    def test_a_refused_file_leaves_the_warehouse_as_it_was(self, folder: Path) -> None:
        before = (folder / "w.duckdb").read_bytes()
        (folder / "bad.csv").write_text(SCORES + "T,GE,D9,x,1,1,0\n")
        files = [folder / "one.csv", folder / "bad.csv"]
        with pytest.raises(DataError), replacing(folder / "w.duckdb", files) as database:  # noqa: PT012
            for file in files:
                load(database, file, "scores")
        assert (folder / "w.duckdb").read_bytes() == before

    def test_an_unsound_copy_does_not_take_the_place(self, folder: Path) -> None:
        before = (folder / "w.duckdb").read_bytes()
        said = "import 1 brought 3 rows and 2 are there"
        with pytest.raises(WarehouseError, match=said), replacing(folder / "w.duckdb") as database:
            database.run(Sql("delete from score where document_id = 1"))
        assert (folder / "w.duckdb").read_bytes() == before

    def test_a_stale_copy_is_removed(self, folder: Path) -> None:
        (folder / "w.duckdb.import").write_bytes(b"half a copy")
        (folder / "w.duckdb.import.wal").write_bytes(b"half a log")
        with replacing(folder / "w.duckdb", [folder / "one.csv"]) as database:
            load(database, folder / "one.csv", "scores")
        assert count(folder / "w.duckdb") == 4

    def test_the_file_keeps_its_mode_and_a_link_stays_a_link(self, folder: Path) -> None:
        (folder / "w.duckdb").chmod(0o640)
        (folder / "link.duckdb").symlink_to(folder / "w.duckdb")
        with replacing(folder / "link.duckdb", [folder / "one.csv"]) as database:
            load(database, folder / "one.csv", "scores")
        assert (folder / "link.duckdb").is_symlink()
        assert (folder / "w.duckdb").stat().st_mode & 0o777 == 0o640
        assert count(folder / "w.duckdb") == 4

    def test_a_link_and_other_names_of_the_file_are_told(self, folder: Path) -> None:
        path, link = folder / "w.duckdb", folder / "link.duckdb"
        link.symlink_to(path)
        os.link(path, folder / "snapshot.duckdb")
        told: list[str] = []
        with replacing(link, [folder / "one.csv"], tell=told.append) as database:
            load(database, folder / "one.csv", "scores")
        assert told == [
            f"{link} is a link to {path}",
            f"{path} had 2 names (hard links); the others keep what was there before",
        ]
        assert (count(path), count(folder / "snapshot.duckdb")) == (4, 3)

    def test_what_is_no_warehouse_is_not_replaced(self, tmp_path: Path) -> None:
        path = tmp_path / "w.duckdb"
        path.write_bytes(b"something else")
        with pytest.raises(WarehouseError, match="is not a warehouse"), replacing(path):
            pass
        assert path.read_bytes() == b"something else"

    def test_a_folder_that_cannot_be_written_is_told(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def opening(*_: object) -> int:
            raise PermissionError(errno.EACCES, "Permission denied")

        monkeypatch.setattr("evalhouse.warehouse.store.replacement.os.open", opening)
        said = "w.duckdb.lock cannot be made: Permission denied"
        with pytest.raises(WarehouseError, match=said), replacing(folder / "w.duckdb"):
            pass

    def test_a_full_disk_is_told_and_leaves_the_warehouse_as_it_was(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = (folder / "w.duckdb").read_bytes()

        def copying(source: IO[bytes], target: IO[bytes], size: int) -> None:
            target.write(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr("shutil.copyfileobj", copying)
        with pytest.raises(WarehouseError, match="the disk is full"), replacing(folder / "w.duckdb"):
            pass
        assert (folder / "w.duckdb").read_bytes() == before

    def test_writing_past_a_limit_leaves_the_warehouse_as_it_was(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        before = path.read_bytes()
        many = folder / "many.csv"
        many.write_text(SCORES + "".join(f"T,S{k % 7},D-{k * 7919 % 99991},{k % 999},9,0,0\n" for k in range(60_000)))
        code = """if True:
            import resource, signal, sys
            from pathlib import Path
            from evalhouse.warehouse.store.replacement import replacing
            from evalhouse.warehouse.faults import WarehouseError
            from evalhouse.warehouse.loading.ingest import load
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            path, many, limit = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            try:
                with replacing(path, [many]) as database:
                    load(database, many, "scores")
            except WarehouseError as error:
                print("refused:", error.message)
        """
        command = [sys.executable, "-c", code, str(path), str(many), str(len(before) + 100_000)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert printed.startswith("refused: ")
        assert path.read_bytes() == before

    def test_what_another_program_wrote_meanwhile_is_not_lost(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        said = "was changed by another program meanwhile; nothing was loaded"
        with pytest.raises(WarehouseError, match=said), replacing(path, [folder / "one.csv"]) as database:  # noqa: PT012
            load(database, folder / "one.csv", "scores")
            other = "import duckdb, sys; duckdb.connect(sys.argv[1]).execute('create table theirs(i integer)')"
            subprocess.run([sys.executable, "-c", other, str(path)], check=True)
        with open_database(path) as database:
            assert database.rows(Sql("select count(*) from theirs")) == [(0,)]
        assert count(path) == 3


class TestInPlace:
    def test_what_is_loaded_is_there_and_no_copy_was_made(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        with in_place(path, [folder / "one.csv"]) as database:
            load(database, folder / "one.csv", "scores")
            assert not (folder / "w.duckdb.import").exists()
        assert count(path) == 4
        assert not (folder / "w.duckdb.wal").exists()

    @pytest.mark.long
    def test_a_reader_is_told_to_wait_and_a_loader_waits_for_readers(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        reading = (
            "import sys, evalhouse\nwith evalhouse.open(sys.argv[1]):\n print('open', flush=True); sys.stdin.read()"
        )
        command = [sys.executable, "-c", reading, str(path)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout is not None
            reader.stdout.readline()
            said = f"{path} is open in process {reader.pid}"
            with pytest.raises(WarehouseError) as caught, in_place(path):
                pass
            assert caught.value.message == said
            reader.communicate("")
        with in_place(path):
            asking = "import sys, evalhouse as eh\ntry: eh.open(sys.argv[1])\nexcept eh.Error as e: print(e.message)"
            command = [sys.executable, "-c", asking, str(path)]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        assert printed == f"{path} is being written by process {os.getpid()}\n"


def test_a_new_warehouse_is_whole_or_not_there(tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    (tmp_path / "bad.csv").write_text(SCORES + "T,GE,D9,x,1,1,0\n")
    with pytest.raises(DataError), making(path) as database:
        load(database, tmp_path / "bad.csv", "scores")
    assert [file.name for file in tmp_path.iterdir()] == ["bad.csv"]


LOADER = """if True:
    import sys, time
    from pathlib import Path
    from evalhouse.warehouse.store.replacement import replacing
    from evalhouse.warehouse.faults import WarehouseError
    from evalhouse.warehouse.loading.ingest import load
    try:
        wait = float(sys.argv[3])
        tell = lambda said: print(said, flush=True)
        with replacing(Path(sys.argv[1]), [Path(sys.argv[2])], wait=wait, tell=tell) as database:
            load(database, Path(sys.argv[2]), "scores")
            print("loading", flush=True)
            sys.stdin.readline()
        print("loaded", flush=True)
    except WarehouseError as error:
        print(error.message)
"""


def loader(path: Path, file: Path, wait: float = 0.5) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LOADER, str(path), str(file), str(wait)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class TestTwoLoaders:
    @pytest.mark.long
    def test_the_second_is_told_who_is_loading_and_the_first_finishes(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        with loader(path, folder / "one.csv") as first:
            assert first.stdout is not None
            assert first.stdout.readline() == "loading\n"
            since = json.loads((folder / "w.duckdb.lock").read_text())["since"]
            with loader(path, folder / "one.csv") as second:
                said, _ = second.communicate("")
            assert said.endswith(f"process {first.pid} since {since} is loading into {path}\n")
            assert count(path) == 3
            assert first.communicate("\n")[0] == "loaded\n"
        assert count(path) == 4
        assert not (folder / "w.duckdb.lock").exists()

    @pytest.mark.long
    def test_the_second_waits_says_for_whom_and_loads_then(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        (folder / "two.csv").write_text(SCORES + "T,GE,D4,1,1,1,0\n")
        with loader(path, folder / "one.csv") as first:
            assert first.stdout is not None
            assert first.stdout.readline() == "loading\n"
            since = json.loads((folder / "w.duckdb.lock").read_text())["since"]
            with loader(path, folder / "two.csv", 60) as second:
                assert second.stdout is not None
                said = second.stdout.readline()
                assert said == f"waiting for process {first.pid} since {since}, which is loading into {path}\n"
                assert first.communicate("\n")[0] == "loaded\n"
                assert second.communicate("\n")[0] == "loading\nloaded\n"
        assert count(path) == 5

    def test_all_names_of_a_warehouse_have_one_lock(self, folder: Path) -> None:
        path, link = folder / "w.duckdb", folder / "link.duckdb"
        link.symlink_to("w.duckdb")
        for held, other in ((path, link), (link, path)):
            with (
                loading_lock(path),
                pytest.raises(WarehouseError, match="is loading into"),
                in_place(link, wait=0),
            ):
                pass
            with (
                replacing(held),
                pytest.raises(WarehouseError, match=r"process \d+ since .* is loading into"),
                in_place(other, wait=0),
            ):
                pass
        assert sorted(file.name for file in folder.iterdir()) == ["link.duckdb", "one.csv", "three.csv", "w.duckdb"]

    @pytest.mark.long
    def test_the_lock_of_a_dead_process_is_taken_over(self, folder: Path) -> None:
        path = folder / "w.duckdb"
        with loader(path, folder / "one.csv") as first:
            assert first.stdout is not None
            assert first.stdout.readline() == "loading\n"
            first.kill()
        assert (folder / "w.duckdb.lock").exists()
        assert (folder / "w.duckdb.import").exists()
        assert count(path) == 3
        with replacing(path, [folder / "one.csv"]) as database:
            load(database, folder / "one.csv", "scores")
        assert count(path) == 4


@pytest.mark.long
def test_a_killed_load_leaves_all_or_nothing(folder: Path) -> None:
    """SIGKILL at moments spread over the load, from the copy to the replacement."""
    path, many = folder / "w.duckdb", folder / "many.csv"
    many.write_text(SCORES + "".join(f"U,S{k % 50},D{k // 50},9,9,7,1\n" for k in range(20_000)))
    whole = folder / "whole.duckdb"
    shutil.copy(path, whole)
    outcomes = set()
    for wait in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4):
        shutil.copy(whole, path)
        with loader(path, many) as killed:
            assert killed.stdin is not None
            killed.stdin.write("\n")
            killed.stdin.flush()
            lock = folder / "w.duckdb.lock"
            while killed.poll() is None and not lock.exists():
                pass
            if killed.poll() is None:
                threading.Event().wait(wait)
            killed.kill()
        outcomes.add(count(path))
    assert outcomes <= {3, 20_003}
    with replacing(path):
        pass
    os.remove(whole)


class TestBackup:
    def test_it_is_a_whole_copy_and_overwrites_nothing(self, folder: Path) -> None:
        backup(folder / "w.duckdb", folder / "copy.duckdb")
        assert count(folder / "copy.duckdb") == 3
        with pytest.raises(WarehouseError, match="exists already"):
            backup(folder / "w.duckdb", folder / "copy.duckdb")
        with pytest.raises(WarehouseError, match="there is no warehouse"):
            backup(folder / "nothing.duckdb", folder / "other.duckdb")
        with pytest.raises(WarehouseError, match="there is no folder"):
            backup(folder / "w.duckdb", folder / "none" / "other.duckdb")
        assert not (folder / "other.duckdb").exists()

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o444])
    def test_it_has_the_mode_and_the_owner_of_the_warehouse(self, folder: Path, mode: int) -> None:
        (folder / "w.duckdb").chmod(mode)
        if os.geteuid() == 0:
            os.chown(folder / "w.duckdb", 12345, 54321)
        backup(folder / "w.duckdb", folder / "copy.duckdb")
        whole, copy = ((folder / name).stat() for name in ("w.duckdb", "copy.duckdb"))
        assert copy.st_mode & 0o7777 == mode
        assert (copy.st_uid, copy.st_gid) == (whole.st_uid, whole.st_gid)

    @pytest.mark.long
    @pytest.mark.parametrize("ending", [".import", ".import.wal", ".lock"])
    def test_a_planted_link_is_not_written_through(self, folder: Path, ending: str) -> None:
        """Nor where an init is to make a file, or a load a copy."""
        precious = folder / "precious"
        precious.write_text("mine")
        for name in ("copy.duckdb", "w.duckdb", "new.duckdb"):
            (folder / (name + ending)).symlink_to(precious)
        doing: list[Callable[[], AbstractContextManager[object] | None]] = [
            lambda: backup(folder / "w.duckdb", folder / "copy.duckdb"),
            lambda: replacing(folder / "w.duckdb"),
            lambda: making(folder / "new.duckdb"),
        ]
        for change in doing:
            with contextlib.suppress(WarehouseError), change() or contextlib.nullcontext():
                pass
            assert precious.read_text() == "mine"
        made = {"copy.duckdb", "new.duckdb"} & {file.name for file in folder.iterdir()}
        assert made == (set() if ending == ".lock" else {"copy.duckdb", "new.duckdb"})
        for link in folder.glob("*.lock"):
            link.unlink()

    def test_a_link_in_its_place_is_told(self, folder: Path) -> None:
        (folder / "copy.duckdb").symlink_to("elsewhere.duckdb")
        for change in (lambda path: backup(folder / "w.duckdb", path), create):
            with pytest.raises(WarehouseError) as caught:
                change(folder / "copy.duckdb")
            assert caught.value.message == f"{folder / 'copy.duckdb'} exists already: it is a link to elsewhere.duckdb"
        assert not (folder / "elsewhere.duckdb").exists()

    @pytest.mark.long
    def test_of_many_that_make_one_file_at_once_one_does(self, folder: Path) -> None:
        code = """if True:
            import sys
            from pathlib import Path
            from evalhouse.warehouse.faults import WarehouseError
            from evalhouse.warehouse.store.replacement import backup, create
            path, to = map(Path, sys.argv[1:3])
            sys.stdin.readline()
            try:
                backup(path, to) if sys.argv[3] == "backup" else create(to).close()
                print("made")
            except WarehouseError as error:
                print(error.message)
        """
        to = folder / "new.duckdb"
        made = [
            subprocess.Popen(
                [sys.executable, "-c", code, str(folder / "w.duckdb"), str(to), what],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for what in ("init", "backup", "init", "backup")
        ]
        for process in made:
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        said = sorted(process.communicate()[0] for process in made)
        assert said == ["made\n"] + [f"{to} exists already\n"] * 3 or said == [f"{to} exists already\n"] * 3 + [
            "made\n"
        ]
        assert count(to) in (0, 3)
        assert sorted(file.name for file in folder.iterdir()) == ["new.duckdb", "one.csv", "three.csv", "w.duckdb"]
