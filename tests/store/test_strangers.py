"""Warehouses that a stranger built to execute code: every command refuses each of them by name before querying it, and
every feature of DuckDB that a stranger could use is covered.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

import cli
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store import connecting
from evalhouse.warehouse.store.connecting import look_into, open_database, open_to_export
from evalhouse.warehouse.store.files import RELEASE
from evalhouse.warehouse.store.replacement import in_place, making, replacing
from evalhouse.warehouse.store.schema import CATALOGUES, LISTS, SINCE, catalogue_entries, check_schema, digest
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import upgrade
from tests.counting import Count
from tests.store.texts import SCORES, THREE

ROOT = Path(__file__).resolve().parent.parent.parent
SECRET = "SYSTEM-NOBODY-MAY-SEE"

AS_META = "alter table meta rename to meta2; create view meta as select 'schema_version' as key,"
AS_SYSTEM = "alter table system rename to system2; create view system as select 1::integer as id, content as name from"

CRAFTED = {
    # What is done, and what is said of it.
    "meta reads a file": (f"{AS_META} content as value from read_text('SECRET')", "has a view meta"),
    "meta reads bytes": (f"{AS_META} '2' as value from read_blob('SECRET')", "has a view meta"),
    "meta lists files": (f"{AS_META} file as value from glob('FOLDER/*')", "has a view meta"),
    "meta logs into a folder": (
        f"{AS_META} '2' as value from enable_logging(storage_path = 'FOLDER/log')",
        "has a view meta",
    ),
    "meta profiles into a file": (
        f"{AS_META} '2' as value from enable_profiling(save_location = 'SECRET')",
        "has a view meta",
    ),
    "meta is a link": ("alter table meta rename to meta2; create view meta as from meta2", "has a view meta"),
    "meta has other columns": ("alter table meta alter value type integer using 2", "has a table meta that is not"),
    "meta is in other letters": ("alter table meta rename to m; alter table m rename to META", "has a table META"),
    "meta without rows": ("delete from meta", "has schema version unknown"),
    "a version that is no number": ("update meta set value = '²' where key = 'schema_version'", "schema version ²"),
    "a version of many digits": (
        "update meta set value = repeat('9', 5000) where key = 'schema_version'",
        "has schema version 9999",
    ),
    "a version that writes on a screen": (
        "update meta set value = chr(27) || '[2J' where key = 'schema_version'",
        "has schema version \\u001b[2J",
    ),
    "system reads a file": (f"{AS_SYSTEM} read_text('SECRET')", "has a view system"),
    "system reads a table": (f"{AS_SYSTEM} read_csv('SECRET', header = false) t(content)", "has a view system"),
    "scores reads a file": (
        "drop view scores; create view scores as select content from read_text('SECRET')",
        "has a view scores that is not",
    ),
    "cells counts otherwise": (
        "create or replace view cells as select *, 1 as a, 0 as b, 0 as c, 0 as d, 0 as x, 0 as y from decision",
        "has a view cells that is not",
    ),
    "a view more": ("create view helpful as select content from read_text('SECRET')", "holds the view helpful"),
    "a macro for sum": ("create macro sum(x) as 0", "holds the macro sum"),
    "a macro for count": ("create macro count(x) as 0", "holds the macro count"),
    "a macro for trim": ("create macro trim(x) as (select content from read_text('SECRET'))", "holds the macro trim"),
    "a macro for coalesce's neighbour": ("create macro nullif(a, b) as 'x'", "holds the macro nullif"),
    "a macro that lists tables": (
        "create macro duckdb_tables() as table select content from read_text('SECRET')",
        "holds the macro duckdb_tables",
    ),
    "a macro that says which database": ("create macro current_database() as 'x'", "holds the macro current_database"),
    "a macro for text in every case": ("create macro concat(a, b) as 'x'", "holds the macro concat"),
    "a table macro": ("create macro rows_of(t) as table from read_text(t)", "holds the macro rows_of"),
    "a type": ("create type mood as enum ('a')", "holds the type mood"),
    "a type like one of DuckDB's": ('create schema s; create type s."INTEGER" as varchar', "holds the schema s"),
    "an index": ("create index quick on score(document_id)", "holds the index quick"),
    "an index that computes": ("create index quick on system((upper(name)))", "holds the index quick"),
    "a sequence": ("create sequence counter", "holds the sequence counter"),
    "a trigger": (
        "create table kept(s integer); create trigger told after insert on score for each statement "
        "insert into kept select 1",
        "holds the trigger told",
    ),
    "a schema": ("create schema other", "holds the schema other"),
    "a schema like the database": ("create schema warehouse", "holds the schema warehouse"),
    "a macro in a schema": ("create schema s; create macro s.f() as 1", "holds the macro s.f"),
    "a default": ("alter table system alter name set default 'x'", "has a table system that is not"),
    "a default that counts": (
        "create sequence counter; alter table unit alter id set default nextval('counter')",
        "holds the sequence counter",
    ),
    "a default taken away": ("alter table import alter simulated drop default", "has a table import that is not"),
    "a column retyped": ("alter table system alter id type varchar", "is not the one of a warehouse: id VARCHAR"),
    "a column of nulls": ("alter table score alter actual drop not null", "has a table score that is not"),
    "a column more": ("alter table document add column note varchar", "has a table document that is not"),
    "a column less": ("alter table test_set drop evaluation_id", "has a table test_set that is not"),
    "a column renamed": ("alter table value rename measure to measurement", "has a table value that is not"),
    "a computed column": (
        "drop table definition; create table definition (name varchar not null, text varchar as (upper(name)), "
        "defined_at timestamp not null)",
        "has a table definition that is not",
    ),
    "a condition": (
        "drop table annotator; create table annotator (id integer not null, name varchar not null check (error(name)))",
        "has a table annotator that is not",
    ),
    "an order of texts": (
        "drop table unit; create table unit (id integer not null, name varchar collate nocase not null)",
        "has a table unit that is not",
    ),
    "a table that is a view": ("drop table published; create view published as select 1", "has a view published"),
    "a view that is a table": ("drop view labels; create table labels as select 1 as x", "has a table labels"),
    "a table less": ("drop table fingerprint", "is damaged: it has no table fingerprint"),
    "a view less": ("drop view scores", "is damaged: it has no view scores"),
    "a table more that computes": ("create table t (i integer default 1 + 1)", "holds the table t"),
    "a name that writes on a screen": ('create view "a\x1b[2Jb" as select 1', "holds the view a\\u001b[2Jb"),
}

NEW = {"create trigger": SINCE["trigger"], "enable_profiling": (1, 5)}
"""What a stranger can use only from some release of DuckDB on."""

COMMANDS = {
    "query": ["query", "show test sets"],
    "sql": ["query", 'sql "select count(*) from score"'],
    "forget": ["query", "forget import 1"],
    "define": ["query", "define measure twice = 2 * recall"],
    "load by a statement": ["query", 'load "three.csv" as scores'],
    "load": ["load", "three.csv", "--as", "scores"],
    "load in place": ["load", "three.csv", "--as", "scores", "--in-place"],
    "try a load": ["load", "three.csv", "--as", "scores", "--dry-run"],
    "info": ["info"],
    "check": ["check"],
    "backup": ["backup", "copy.duckdb"],
    "upgrade": ["upgrade"],
    "verify": ["verify", "score F for all on T | task extraction | data 3236cab8ad6d | numbers 84c9b3880113"],
    "run": ["run", "study.study"],
    "export a file": ["export-scores", "out.csv"],
    "export a folder": ["export-scores", "FOLDER"],
    "copy to a lake": ["copy", "WAREHOUSE", "lake"],
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with three rows, in the newest format, which can hold most kinds of things. Not to be changed."""
    folder = tmp_path_factory.mktemp("sound")
    (folder / "three.csv").write_text(SCORES + THREE)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(connecting._CONFIGURATION, "storage_compatibility_version", "latest")
        with making(folder / "w.duckdb") as database:
            load(database, folder / "three.csv", "scores")
    return folder / "w.duckdb"


def craft(sound: Path, folder: Path, statements: str) -> Path:
    """A warehouse as a stranger may have changed it, in a folder with a secret beside it."""
    for feature, since in NEW.items():
        if feature in statements and since > RELEASE:
            pytest.skip(f"this DuckDB has no {feature}")
    (folder / "mine").mkdir()
    secret = folder / "mine" / "secret.txt"
    secret.write_text(SECRET)
    (folder / "three.csv").write_text(SCORES + THREE)
    (folder / "study.study").write_text("score F for all on T")
    path = folder / "w.duckdb"
    shutil.copy(sound, path)
    with duckdb.connect(str(path)) as connection:
        code = statements.replace("SECRET", str(secret)).replace("FOLDER", str(folder / "mine"))
        for statement in code.split("; "):
            connection.execute(statement)
    return path


def state(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def words_of(command: str, path: Path) -> list[str]:
    """A command line that uses the warehouse at this path."""
    words = [{"FOLDER": "mine", "WAREHOUSE": str(path)}.get(word, word) for word in COMMANDS[command]]
    return words if "WAREHOUSE" in COMMANDS[command] else [*words, "--db", str(path)]


def refused(
    kind: str, command: str, path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    before = state(path.parent)
    assert cli.main(words_of(command, path)) == 3
    printed, complaint = capsys.readouterr()
    first, *hints = complaint.splitlines()
    said = CRAFTED[kind][1]
    upgrading = command == "upgrade" and "schema version" in said
    assert first.startswith(f"error: {path} ")
    assert said in first or upgrading
    assert hints or "schema version" in said
    assert SECRET not in printed + complaint
    assert "\x1b" not in complaint
    assert state(path.parent) == before


@pytest.mark.long
@pytest.mark.parametrize("kind", CRAFTED)
def test_what_a_stranger_put_into_a_warehouse_is_refused(
    kind: str,
    sound: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    count: Count,
) -> None:
    path = craft(sound, tmp_path, CRAFTED[kind][0])
    for command in ("query", "load"):
        refused(kind, command, path, capsys, monkeypatch)
    count("warehouses of strangers refused", 1)


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["meta reads a file", "system reads a file", "a macro for sum", "a trigger"])
def test_every_command_refuses_it(
    kind: str,
    command: str,
    sound: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    refused(kind, command, craft(sound, tmp_path, CRAFTED[kind][0]), capsys, monkeypatch)


@pytest.mark.long
def test_a_table_of_rows_that_another_program_keeps_there_is_let_be(sound: Path, tmp_path: Path) -> None:
    path = tmp_path / "w.duckdb"
    shutil.copy(sound, path)
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table theirs as select 'x' as name, 1 as number")
        connection.execute("create table fact as select 1 as i")
    (tmp_path / "more.csv").write_text(SCORES + "T,GE,D9,1,1,1,0\n")
    assert cli.main(["load", str(tmp_path / "more.csv"), "--as", "scores", "--db", str(path), "--quiet"]) == 0
    with open_database(path) as database:
        assert database.rows(Sql("select (select count(*) from score), (select number from theirs)")) == [(4, 1)]


# --- the catalogue ----------------------------------------------------------------------------------------------------


def test_the_digest_is_that_of_the_schema() -> None:
    """Where it is not, files are compared entry by entry, which takes longer: write down the one that is said here."""
    assert digest(catalogue_entries()) in CATALOGUES


def test_all_that_duckdb_lists_is_looked_through() -> None:
    """A new version of DuckDB may let files hold more kinds of things."""
    parts_of_others = {"duckdb_columns", "duckdb_constraints", "duckdb_databases"}
    with duckdb.connect() as connection:
        named = connection.execute(
            "select distinct function_name from duckdb_functions() where function_name like 'duckdb@_%' escape '@' "
            "and function_type = 'table'"
        ).fetchall()
        listing = set()
        for (name,) in named:
            try:
                columns = {column for column, *_ in connection.execute(f"describe from {name}()").fetchall()}
            except duckdb.Error:
                continue  # it takes arguments
            if "database_name" in columns:
                listing.add(name)
    looked_through = {
        listed.partition("system.main.")[2].partition("(")[0]
        for kind, listed in LISTS.items()
        if SINCE.get(kind, RELEASE) <= RELEASE
    }
    assert listing - parts_of_others == looked_through


def _replaced(path: Path) -> None:
    with replacing(path):
        pass


def _loaded_in_place(path: Path) -> None:
    with in_place(path):
        pass


OPENINGS: dict[str, Callable[[Path], object]] = {
    "to ask": open_database,
    "to export": lambda path: open_to_export(path, path.parent / "mine"),
    "to look": lambda path: look_into(path, check_schema),
    "to load": _replaced,
    "to load in place": _loaded_in_place,
    "to bring up to date": upgrade,
}


@pytest.mark.parametrize("opening", OPENINGS)
def test_files_are_closed_to_whoever_opens_a_warehouse_before_it_is_asked(
    opening: str, sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.duckdb"
    shutil.copy(sound, path)
    looked = []

    def looking(rows: Callable[[Sql], list[tuple[object, ...]]], of: str) -> None:
        for reading in ("from read_text('/etc/hostname')", "from glob('/etc/*')", "from read_csv('/etc/passwd')"):
            with pytest.raises(WarehouseError, match="file system operations are disabled"):
                rows(Sql(reading))
        looked.append(opening)
        raise WarehouseError("enough")

    monkeypatch.setattr("evalhouse.warehouse.store.schema.catalogue", looking)
    with pytest.raises(WarehouseError, match="enough"):
        OPENINGS[opening](path)
    assert looked


def test_a_file_is_looked_through_again_when_it_has_changed(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(sound, tmp_path))
    looked = []

    def looking(*asked: object) -> None:
        looked.append(asked)
        check_schema(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr("evalhouse.warehouse.store.connecting.check_schema", looking)
    for _ in range(3):
        open_database(path).close()
    assert len(looked) == 1
    before = path.stat()
    with duckdb.connect(str(path)) as connection:
        connection.execute("create macro harmless() as 1")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    for _ in range(2):
        with pytest.raises(WarehouseError, match="holds the macro harmless"):
            open_database(path)
    assert len(looked) == 3


def test_a_file_that_others_can_change_is_looked_through_each_time(
    sound: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = []

    def looking(*asked: object) -> None:
        looked.append(asked)
        check_schema(*asked)  # type: ignore[arg-type]

    monkeypatch.setattr("evalhouse.warehouse.store.connecting.check_schema", looking)
    path = Path(shutil.copy(sound, tmp_path))
    link = tmp_path / "link.duckdb"
    link.symlink_to(path)
    for _ in range(2):
        open_database(link).close()
    assert len(looked) == 2
    path.chmod(0o666)
    for _ in range(2):
        open_database(path).close()
    assert len(looked) == 4


# --- what is opened ---------------------------------------------------------------------------------------------------

PAYLOADS = (
    "select content as name, 1 as id, * from read_text('SECRET')",
    "select content::varchar as name, 1 as id, * from read_blob('SECRET')",
    "select *, 1 as id from read_csv('SECRET', header = false) t(name)",
    "select file as name, 1 as id, * from glob('FOLDER/*')",
    "select 1 as id, 'x' as name, * from sniff_csv('SECRET')",
    "select 1 as id, 'x' as name, json from read_json_objects('SECRET')",
    "select 1 as id, 'x' as name from enable_logging(storage_path = 'FOLDER/log')",
    *(["select 1 as id, 'x' as name from enable_profiling(save_location = 'SECRET')"] if RELEASE >= (1, 5) else []),
)
BUILT_IN = ("sum", "count", "trim", "nullif", "max", "min", "lower", "length", "list", "hash", "md5", "greatest")


def _holders() -> Iterator[str]:
    """Statements that put a payload into a warehouse, in every place that can hold one."""
    for entry in sorted(catalogue_entries()):
        if entry.kind in ("table", "view"):
            yield f'alter {entry.kind} "{entry.name}" rename to former; create view "{entry.name}" as PAYLOAD'
    for function in BUILT_IN:
        yield f"create macro {function}(x) as (select count(*) from (PAYLOAD))"
        yield f"create macro {function}(x) as table PAYLOAD"
    for function in ("duckdb_tables", "duckdb_views", "duckdb_functions", "current_database", "pragma_database_size"):
        yield f"create macro {function}() as table PAYLOAD"


def opened(words: list[str], folder: Path, path: Path) -> set[str]:
    """The files that a command opens or makes, but for those of Python and of the system."""
    log = folder / "log.strace"
    traced = ["strace", "-f", "-qq", "-e", "trace=%file", "-o", str(log), sys.executable, str(ROOT / "cli.py")]
    environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home")}
    command = [*traced, *words]
    done = subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 3, done.stderr
    assert SECRET not in done.stdout + done.stderr
    calls = re.findall(
        r'\b(?:open|openat|openat2|creat|rename|renameat2?|link|symlink|mkdir|truncate)\([^"]*"([^"]*)"',
        log.read_text(errors="replace"),
    )
    own = (os.path.realpath(place) for place in (sys.prefix, sys.base_prefix, str(ROOT), *sys.path) if place)
    system = (*own, "/usr/", "/lib", "/etc/", "/proc/", "/sys/", "/dev/", str(folder / "home"))
    named = {os.path.normpath(path.parent / call) for call in calls}
    return {name for name in named if not name.startswith(system) and not name.startswith(sys.prefix)}


@pytest.mark.soak
@pytest.mark.parametrize("part", range(5))
def test_nothing_is_opened_but_the_file_what_is_beside_it_and_the_spill_folder(
    sound: Path, tmp_path: Path, part: int, count: Count
) -> None:
    if shutil.which("strace") is None:
        pytest.skip("strace is not here")
    holders = list(_holders())
    for number in range(40 * part, 40 * part + 40):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "tmp").mkdir()
        code = holders[number % len(holders)].replace("PAYLOAD", PAYLOADS[number % len(PAYLOADS)])
        path = craft(sound, folder, code)
        command = list(COMMANDS)[number % len(COMMANDS)]
        words = words_of(command, path)
        spared = ("", ".wal", ".lock", ".import", ".import.wal")
        # A load looks at its own file first, and a backup keeps its place. The folder for temporary files is looked
        # through for what was left there.
        allowed = {str(path) + ending for ending in spared} | {
            str(folder / name) for name in ("", "study.study", "three.csv", "copy.duckdb.lock", "tmp")
        }
        others = {
            name for name in opened(words, folder, path) if name not in allowed and not _in_spill(name, folder / "tmp")
        }
        assert others == set(), (code, command)
        count("warehouses of strangers under strace", 1)


def _in_spill(name: str, temporary: Path) -> bool:
    """Or the file by which Python finds out that it can write there."""
    return re.match(re.escape(str(temporary)) + r"(/evalhouse-[^/]+(/.*)?|/\w{8})?$", name) is not None
