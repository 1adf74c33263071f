"""Scripts from strangers that try to read or write files that they should not: each attempt is refused and has no
effect. Scripts may use only the warehouse that they run on and their own folder.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

import cli
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import lm_eval
from evalhouse.warehouse.store.replacement import making
from tests.counting import Count
from tests.store.texts import SCORES, THREE

SECRET = "SYSTEM-NOBODY-MAY-SEE"
DATE = "2026-01-16T15-23-47"

STATEMENTS = {
    # Files that are read.
    "a file outside": 'load "OUTSIDE/secret.csv" as scores',
    "a file outside, by its name from here": 'load "../outside/secret.csv" as scores',
    "a file outside, whatever it is": 'load "../outside/secret.csv" as auto',
    "a folder outside": 'load "../outside" as scores',
    "a pattern outside": 'load "../*/*.csv" as scores',
    "a pattern that leads everywhere": 'load "../**/secret.csv" as scores',
    "a link to a file": 'load "link.csv" as scores',
    "through a link to a folder": 'load "door/secret.csv" as scores',
    "through a link and a pattern": 'load "door/*.csv" as scores',
    "settings of the process": 'load "/proc/self/environ" as auto',
    "a device": 'load "/dev/zero" as auto',
    "a file by a variable": 'let $f = "../outside/secret.csv"; load $f as scores',
    "a file beside samples that is a link": f'load "samples_t_{DATE}.jsonl" as lm-eval',
    "a file beside samples, found out": f'load "samples_t_{DATE}.jsonl" as auto',
    "a folder with such samples": f'load "*_{DATE}.jsonl" as lm-eval',
    "a file with a URL": 'load "file://OUTSIDE/secret.csv" as scores',
    "the network by load": 'load "http://127.0.0.1:PORT/x.csv" as scores',
    # Files that are written.
    "export outside": 'export score F for all on T to "../outside/new.csv"',
    "export by a whole path": 'export score F for all on T to "OUTSIDE/new.json"',
    "export over a file": 'export score F for all on T to "OUTSIDE/secret.csv"',
    "export through a link": 'export score F for all on T to "door/new.csv"',
    "export to where a link leads": 'export score F for all on T to "nowhere.csv"',
    "export out and in again": 'export score F for all on T to "../study/../outside/new.csv"',
    "plot outside": 'plot score F for all on T to "../outside/new.svg"',
    "plot over a file": 'plot score F for all on T to "OUTSIDE/picture.html"',
    "plot through a link": 'plot score F for all on T to "door/new.png"',
    "export by a variable": 'let $f = "../outside/new.csv"; export score F for all on T to $f',
    "a name with a NUL to read": 'load "../outside/secret.csv\0" as scores',
    "a name with a NUL": 'export score F for all on T to "../outside/new.csv\0.csv"',
    # What SQL could do.
    "sql: read a CSV file": "sql \"select * from read_csv('OUTSIDE/secret.csv')\"",
    "sql: a file as a table": "sql \"select * from 'OUTSIDE/secret.csv'\"",
    "sql: a file as a name": 'sql "select * from ""OUTSIDE/secret.csv"""',
    "sql: a file of this folder": "sql \"select * from 'mine.csv'\"",
    "sql: read a text": "sql \"select content from read_text('OUTSIDE/secret.csv')\"",
    "sql: read bytes": "sql \"select content from read_blob('OUTSIDE/secret.csv')\"",
    "sql: read JSON": "sql \"select * from read_json('OUTSIDE/secret.csv')\"",
    "sql: read Parquet": "sql \"select * from read_parquet('OUTSIDE/x.parquet')\"",
    "sql: sniff": "sql \"select * from sniff_csv('OUTSIDE/secret.csv')\"",
    "sql: list files": "sql \"select * from glob('OUTSIDE/*')\"",
    "sql: a query in a text": "sql \"from query('select content from read_text(''OUTSIDE/secret.csv'')')\"",
    "sql: a table by its name in a text": "sql \"from query_table('OUTSIDE/secret.csv')\"",
    "sql: a query in JSON": (
        "sql \"from json_execute_serialized_sql(json_serialize_sql('from read_text(''OUTSIDE/secret.csv'')'))\""
    ),
    "sql: in explain": "sql \"explain analyze select * from read_csv('OUTSIDE/secret.csv')\"",
    "sql: in a part of a query": "sql \"with t as (from read_csv('OUTSIDE/secret.csv')) select count(*) from t\"",
    "sql: another database": "sql \"from read_duckdb('OUTSIDE/other.duckdb')\"",
    "sql: attach": "sql \"attach 'OUTSIDE/other.duckdb'\"",
    "sql: attach and make": "sql \"attach 'OUTSIDE/new.duckdb' as new\"",
    "sql: detach": 'sql "detach warehouse"',
    "sql: copy out": "sql \"copy score to 'OUTSIDE/new.csv'\"",
    "sql: copy out in explain": "sql \"explain analyze copy score to 'OUTSIDE/new.csv'\"",
    "sql: copy in": "sql \"copy score from 'OUTSIDE/secret.csv'\"",
    "sql: export all": "sql \"export database 'OUTSIDE/new'\"",
    "sql: import all": "sql \"import database 'OUTSIDE'\"",
    "sql: install": 'sql "install httpfs"',
    "sql: install from here": "sql \"install 'OUTSIDE/x.duckdb_extension'\"",
    "sql: load": "sql \"load 'OUTSIDE/x.duckdb_extension'\"",
    "sql: set": 'sql "set enable_external_access = true"',
    "sql: reset": 'sql "reset lock_configuration"',
    "sql: set in a transaction": 'sql "begin; set threads = 1; commit"',
    "sql: a pragma": 'sql "pragma enable_profiling"',
    "sql: a profile to a file": "sql \"select 1; set profiling_output = 'OUTSIDE/new.txt'\"",
    "sql: a log": "sql \"from enable_logging(storage_path = 'OUTSIDE/new')\"",
    "sql: settings of the process": "sql \"select getenv('HOME')\"",
    "sql: the network": "sql \"select * from read_csv('http://127.0.0.1:PORT/x.csv')\"",
    "sql: the network as a table": "sql \"select * from 'https://127.0.0.1:PORT/x.parquet'\"",
    "sql: a bucket": "sql \"select * from 's3://bucket/x.parquet'\"",
    "sql: secrets": 'sql "from duckdb_secrets()"',
    "sql: make a secret": "sql \"create secret s (type http, bearer_token 'x')\"",
    "sql: a row": 'sql "delete from score"',
    "sql: a row in a part of a query": 'sql "with gone as (delete from score returning *) select * from gone"',
    "sql: a row in explain": 'sql "explain analyze delete from score"',
    "sql: two statements": 'sql "select 1; drop table score"',
    "sql: a table": 'sql "create table mine(i int)"',
    "sql: a view": 'sql "create or replace view scores as select 1"',
    "sql: a macro": 'sql "create macro f() as 1"',
    "sql: the ledger": "sql \"update import set source = 'mine'\"",
    "sql: memory by its address": 'sql "from arrow_scan(1, 2, 3)"',
    "sql: memory by an address in a text": "sql \"from pandas_scan('abc'::pointer)\"",
    "sql: Python": 'sql "from python_map_function((from score))"',
    "sql: a shell": "sql \"copy (select 1) to program 'touch OUTSIDE/new'\"",
    "sql: a remark and more": "sql \"select 1 -- a remark\n; attach 'OUTSIDE/new.duckdb'\"",
    "sql: without end": 'sql "select * from range(100000000000)"',
    # A language that is none.
    "a command of the shell": "!touch OUTSIDE/new",
    "a command of the prompt": "\\e",
    "Python": "import os",
}


class Victim(Struct, frozen=True):
    """A folder with a script of someone else in it, its neighbour, and who listens on a port."""

    folder: Path
    port: socket.socket

    def state(self) -> dict[str, bytes]:
        """Everything that is there."""
        files = sorted(file for file in self.folder.parent.rglob("*") if not file.is_dir())
        return {str(file): file.read_bytes() if file.is_file() else b"" for file in files}

    def run(self, statement: str, *words: str) -> int:
        """The exit status of a script of one statement."""
        outside, port = self.folder.parent / "outside", self.port.getsockname()[1]
        script = self.folder / "x.study"
        script.write_text(statement.replace("OUTSIDE", str(outside)).replace("PORT", str(port)))
        try:
            return cli.main(["run", str(script), "--db", str(self.folder / "w.duckdb"), *words])
        finally:
            script.unlink()


@pytest.fixture(scope="module")
def victim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    folder = tmp_path_factory.mktemp("victim")
    study, outside = folder / "study", folder / "outside"
    study.mkdir()
    outside.mkdir()
    (outside / "secret.csv").write_text(SCORES + f"T,{SECRET},D1,4,4,3,0\n")
    (study / "mine.csv").write_text(SCORES + THREE)
    (study / f"samples_t_{DATE}.jsonl").write_text(lm_eval.EXAMPLE)
    (outside / "results.json").write_text(f'{{"model_name": "{SECRET}"}}')
    (study / f"results_{DATE}.json").symlink_to(outside / "results.json")
    (study / "link.csv").symlink_to(outside / "secret.csv")
    (study / "door").symlink_to(outside)
    (study / "nowhere.csv").symlink_to(outside / "new.csv")
    with making(study / "w.duckdb") as database:
        load(database, study / "mine.csv", "scores")
    with socket.create_server(("127.0.0.1", 0)) as port:
        port.setblocking(False)
        yield Victim(study, port)


@pytest.mark.parametrize("attack", STATEMENTS)
def test_an_attack_is_refused(
    attack: str, victim: Victim, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, count: Count
) -> None:
    monkeypatch.chdir(victim.folder)
    before = victim.state()
    status = victim.run(STATEMENTS[attack], "--force")
    printed, said = capfd.readouterr()
    assert status == 1
    assert said.startswith("error: ")
    assert "Traceback" not in said
    assert "EVALHOUSE_TRACEBACK" not in said
    assert SECRET not in printed + said
    assert victim.state() == before
    with pytest.raises(BlockingIOError):
        victim.port.accept()
    count("attacks refused", 1)


@pytest.mark.long
def test_what_a_script_may_do_it_can(victim: Victim, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So the attacks are not refused because nothing works."""
    inside = 'load "mine.csv" as scores; export score F for all on T to "new.csv"; sql "select count(*) from score"'
    assert victim.run(inside) == 0
    assert (victim.folder / "new.csv").read_text().startswith("test_set,")
    (victim.folder / "new.csv").unlink()
    assert victim.run(f'export score F for all on T to "{tmp_path / "new.csv"}"', "--allow-files") == 0
    assert (tmp_path / "new.csv").is_file()
    assert victim.run(f'load "{victim.folder.parent / "outside" / "secret.csv"}" as scores', "--allow-files") == 0
    assert victim.run("show systems") == 0
    assert SECRET in capsys.readouterr().out
    assert victim.run("forget import 2") == 0


def test_a_script_on_standard_input_stays_in_the_present_folder(
    victim: Victim, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(victim.folder)
    for command in ("query", "run"):
        reading, writing = os.pipe()
        os.write(writing, b'load "../outside/secret.csv" as scores')
        os.close(writing)
        with open(reading) as piped:
            monkeypatch.setattr("sys.stdin", piped)
            assert cli.main([command, "-", "--db", "w.duckdb"]) == 1
        said = capsys.readouterr().err
        assert said.startswith("error: ../outside/secret.csv is outside the script's folder\n")
        assert "  --allow-files lets its statements read and write files anywhere\n" in said


@pytest.mark.long
def test_a_link_where_a_file_is_made_is_not_followed(victim: Victim, capsys: pytest.CaptureFixture[str]) -> None:
    """The lock of a load, and the names under which files are written before they are whole."""
    target = victim.folder.parent / "outside" / "secret.csv"
    before = target.read_bytes()
    for name in ("w.duckdb.lock", "w.duckdb.import", "new.csv.new", ".new.csv.new"):
        (victim.folder / name).symlink_to(target)
    assert victim.run('export score F for all on T to "new.csv"') == 0
    assert victim.run("forget import 1") == 3
    assert "w.duckdb.lock cannot be made" in capsys.readouterr().err
    (victim.folder / "w.duckdb.lock").unlink()
    assert victim.run("forget import 1") == 0
    assert target.read_bytes() == before
