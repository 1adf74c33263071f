"""A command uses at most two gigabytes, or refuses: results of `sql`, tens of thousands of systems, and files that
unpack to a lot.

A command runs as the installed one does, in a process whose peak memory is then read from the operating system.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import cast

import duckdb
import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.commands.program import main
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.process import memory
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store import database
from evalhouse.warehouse.store.replacement import making
from evalhouse.warehouse.store.sql import Sql
from tests.conftest import write_csv

ROOT = Path(__file__).resolve().parents[1]

MOST = 2_000_000
"""In kilobytes, as the system gives them."""


ALONE = (
    "import os, sys\n"
    "pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)\n"
    "_, status, used = os.wait4(pid, 0)\n"
    "print(used.ru_maxrss, file=open('used', 'w'))\n"
    "sys.exit(os.waitstatus_to_exitcode(status))\n"
)
"""Runs a command and says how much memory it had. A process begins with what its parent has, so the parent is small."""


def run(*words: str, folder: Path) -> tuple[int, int, str]:
    """The status of a command, the most memory it had, and what it said at last."""
    with (folder / "said").open("w+b") as said:
        command = [sys.executable, "-c", ALONE, sys.executable, str(ROOT / "cli.py"), *words]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, check=False)
        said.seek(max(0, said.tell() - 2_000))
        return done.returncode, int((folder / "used").read_text()), said.read().decode(errors="replace")


@pytest.mark.long
@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("select range(100000000)", "needs more memory"),
        ("select range(1000) from range(1000000)", "more than 250 MB; ask for fewer rows or columns"),
        ("select repeat('x', 10000) from range(1000000)", "more than 250 MB"),
        ("select repeat('x', 900000000)", "needs more memory"),
        ("select list(range) from range(100000000)", "needs more memory"),
        ("select range from range(1000001)", "more than 1,000,000 rows"),
    ],
)
def test_a_result_of_sql_is_bounded(typed: str, sentence: str, tmp_path: Path) -> None:
    status, used, said = run("query", f'sql "{typed}"', folder=tmp_path)
    assert status in (1, 3)
    assert sentence in said
    assert used < MOST


SORTED = (
    "from evalhouse.warehouse.process.memory import keep_no_addresses; keep_no_addresses()\n"
    "from evalhouse.warehouse.process.memory import allow_threads as allow; allow(2)\n"
    "from evalhouse.warehouse.store.connecting import in_memory\n"
    "from evalhouse.warehouse.store.sql import Sql\n"
    "database = in_memory()\n"
    "for k in range(6):\n"
    "    longer = f\"select range as i, repeat('x', {10 + 7 * k}) || i as s from range({800_000 + k * 137_000})\"\n"
    "    database.run(Sql(f'create or replace temp table t{k % 2} as {longer} order by hash(i)'))\n"
    "kept = dict(line.split()[:2] for line in open('/proc/self/status') if line.startswith('Vm'))\n"
    "print((int(kept['VmData:']) - int(kept['VmRSS:'])) / 1_000)\n"
)
"""Makes and drops tables, and prints how many more megabytes the system counts than there are in memory."""


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what it counts")
def test_memory_that_was_given_back_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise a long load would be refused although it needs half of what is allowed."""
    monkeypatch.delenv(memory.ALLOCATOR[0], raising=False)
    done = subprocess.run([sys.executable, "-c", SORTED], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 80


WATCHED = (
    "import os, sys\n"
    "class Watching:\n"
    "    def find_spec(self, name, path, target=None):\n"
    "        if name == '_duckdb':\n"
    f"            print(os.environ.get('{memory.ALLOCATOR[0]}'))\n"
    "sys.meta_path.insert(0, Watching())\n"
    "from evalhouse.warehouse.commands.program import command\n"
    "sys.exit(command())\n"
)
"""The command, which prints a variable of the environment before it imports DuckDB."""


@pytest.mark.parametrize("words", [("load", "absent.csv", "--db", "absent.duckdb"), ("query", "show tests")])
def test_a_command_tells_duckdb_beforehand(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    variable, value = memory.ALLOCATOR
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-c", WATCHED, *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[0] == value


def test_long_rows_are_fetched_a_few_at_a_time() -> None:
    """No thread runs while DuckDB makes Python's objects, and who presses Ctrl-C would wait for all of them."""
    fetched: list[int] = []

    class Cursor:
        def fetchmany(self, many: int) -> list[tuple[list[int]]]:
            fetched.append(many)
            return [([7] * (100_000 if len(fetched) < 9 else 1),)] * many if len(fetched) < 40 else []

    rows = database._fetch_rows(cast(duckdb.DuckDBPyConnection, Cursor()))
    assert max(fetched[:9]) * sys.getsizeof([0] * 100_000) <= database.PIECE_BYTES
    assert max(fetched) == database.PIECE
    assert len(rows) == sum(fetched[:-1])


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of ten thousand systems."""
    folder = tmp_path_factory.mktemp("crowd")
    rows = (("T", f"S{system}", f"D{k}", "m", (system * k) % 3 % 2) for system in range(10_000) for k in range(10))
    file = write_csv(folder / "rows.csv", "test_set system document measure value", rows)
    with making(folder / "w.duckdb") as database:
        load(database, file, "values")
    return folder


@pytest.mark.long
def test_ten_thousand_systems_against_one_fit(crowd: Path) -> None:
    status, used, said = run("query", "compare m for all against S1 on T", "--db", "w.duckdb", folder=crowd)
    assert status == 0, said
    assert used < MOST // 2


@pytest.mark.long
@pytest.mark.parametrize("statement", ["compare m for all on T", "group m for all on T"])
def test_all_pairs_of_ten_thousand_are_refused_at_once(crowd: Path, statement: str) -> None:
    status, used, said = run("query", statement, "--db", "w.duckdb", folder=crowd)
    assert status == 1
    assert re.search(r"49,995,000 pairs of 10,000 systems with 10 documents on T could take [\d,]{6} MB, and", said)
    assert "2,000 MB are allowed" in said
    assert re.search(r"EVALHOUSE_MEMORY=\d\dGB allows more", said)
    assert used < MOST // 4


ALL_PAIRS = "compare m for all on T"
UNCHECKED = (
    "import sys\n"
    "from evalhouse.warehouse.commands.program import command\n"
    "from evalhouse.warehouse.comparing import pairs\n"
    "pairs._refuse_what_cannot_fit = lambda entry, count: None\n"
    "sys.exit(command())\n"
)
"""The command, without the check that refuses before anything is read."""


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the system does not limit memory")
def test_what_the_check_lets_pass_is_refused_by_the_system(crowd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("EVALHOUSE_MEMORY", "500MB")
    command = [sys.executable, "-c", UNCHECKED, "query", ALL_PAIRS, "--db", "w.duckdb"]
    done = subprocess.run(command, cwd=crowd, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert "error: this needs more than 0.5 GB of memory\n  EVALHOUSE_MEMORY=8GB allows more" in done.stderr


def test_what_cannot_fit_is_refused_before_anything_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with Session.open() as session:
        monkeypatch.setattr(memory, "most", lambda: 100_000)
        monkeypatch.setattr(session.database, "columns", None)
        with pytest.raises(QueryError, match="136 pairs of 17 systems with 100 messages on TST3 could take") as refused:
            session.run("compare F for all on TST3")
    fewer, more = refused.value.hints
    assert fewer == "name fewer systems, or compare them against one"
    assert more == "EVALHOUSE_MEMORY=1GB allows more"


STATEMENTS = (
    "compare m for S1, S2 on T",
    ALL_PAIRS,
    "compare m for all on T test studentized shuffles 9999",
    "compare m for all on T interval percentile shuffles 999",
    "compare m for all on T adjust maxt shuffles 999",
    "compare m for all on T margin 0.01 shuffles 999",
    "compare m for all against S1 on T shuffles 100000",
    "compare m for S1, S2 on T exact",
    "group m for all on T shuffles 999",
    "rank m for all on T shuffles 999",
    "table m for all on T against S1 shuffles 999",
    "power m for S1, S2 on T",
)


@pytest.mark.long
@pytest.mark.parametrize("statement", STATEMENTS)
def test_forty_systems_on_two_thousand_documents_fit_into_the_least_that_can_be_set(
    statement: str, forty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALHOUSE_MEMORY", "500MB")
    status, used, said = run("query", statement, "--db", "w.duckdb", "--threads", "2", folder=forty)
    assert status == 0, said
    assert used < memory.LEAST // 1_000


@pytest.fixture(scope="module")
def forty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of forty systems that answered two thousand questions."""
    folder = tmp_path_factory.mktemp("forty")
    rows = (
        ("T", f"S{system}", f"D{document}", "m", (system * document + document // 7) % 101 / 100)
        for system in range(1, 41)
        for document in range(2_000)
    )
    file = write_csv(folder / "rows.csv", "test_set system document measure value", rows)
    with making(folder / "w.duckdb") as database:
        load(database, file, "values")
    return folder


def test_a_program_that_manages_its_own_memory_may_take_what_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_of_machine", lambda: 64 * 10**9)
    monkeypatch.setattr(memory, "_bounded", [])
    assert memory.most() == 64 * 10**9
    monkeypatch.setattr(memory, "_bounded", [True])
    assert memory.most() == memory.memory_allowed()


def test_the_size_that_is_allowed_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, size in (("8GB", 8 * 10**9), ("900m", 9 * 10**8), ("", memory.DEFAULT_MEMORY)):
        monkeypatch.setenv("EVALHOUSE_MEMORY", said)
        assert memory.memory_allowed() == size


@pytest.mark.parametrize(
    ("said", "usual", "more"),
    [
        ("", "286.1 MiB", "953.6 MiB"),
        (" ", "286.1 MiB", "953.6 MiB"),
        ("500MB", "238.4 MiB", "238.4 MiB"),
        ("800MB", "286.1 MiB", "381.4 MiB"),
        ("2GB", "286.1 MiB", "953.6 MiB"),
        ("4GB", "1.8 GiB", "1.8 GiB"),
    ],
)
def test_a_load_gets_more_where_more_is_allowed(
    said: str, usual: str, more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVALHOUSE_MEMORY", said)
    monkeypatch.setattr(memory, "_of_machine", lambda: 16 * 10**9)
    limit = Sql("select current_setting('memory_limit')")
    with making(tmp_path / "w.duckdb") as made:
        assert made.rows(limit) == [(usual,)]
        made.hold_more()
        assert made.rows(limit) == [(more,)]


@pytest.mark.parametrize(("said", "hint"), [("", "8GB"), ("500MB", "8GB"), ("8GB", "16GB"), ("1TB", "2000GB")])
def test_the_hint_is_to_allow_more_than_there_is(said: str, hint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALHOUSE_MEMORY", said)
    assert memory.more() == f"EVALHOUSE_MEMORY={hint} allows more"


@pytest.mark.parametrize("said", ["abc", "1", "1MB", "499MB", "-8GB"])
def test_what_is_not_a_size_is_an_error(
    said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("EVALHOUSE_MEMORY", said)
    with pytest.raises(SystemExit) as caught:
        main(["query", "--sample", "show tests"])
    assert caught.value.code == 2
    wrong = (
        f"error: $EVALHOUSE_MEMORY is '{said}', and must be a whole number of MB, GB or TB, at least 500MB, such as 8GB"
    )
    assert wrong in capsys.readouterr().err


@pytest.mark.long
def test_what_needs_more_is_refused_and_not_killed(crowd: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALHOUSE_MEMORY", "500MB")
    status, used, said = run("query", 'sql "select range(40000000)"', "--db", "w.duckdb", folder=crowd)
    assert status == 3
    assert "EVALHOUSE_MEMORY=8GB allows more" in said
    assert used < 800_000
