"""Programs that receive a signal to end do so at once and properly: with the right exit status, without a traceback,
and without leaving anything behind.
"""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Thread

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.sample import fill
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.replacement import making
from evalhouse.warehouse.store.upgrading import check
from tests.counting import Count
from tests.store.texts import SCORES, THREE

pytestmark = pytest.mark.crash

ROOT = Path(__file__).resolve().parent.parent
LONG = "select sum(hash(a) % 7) from range(100000000000) t(a)"
COMMANDS = {
    "query": ["query", f'sql "{LONG}"'],
    "run": ["run", "long.study"],
    "load": ["load", "many.csv", "--as", "scores"],
    "load --in-place": ["load", "many.csv", "--as", "scores", "--in-place"],
}
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ending")
    (folder / "three.csv").write_text(SCORES + THREE)
    (folder / "many.csv").write_text(SCORES + "".join(f"U,S{k % 50},D{k // 50},9,9,7,1\n" for k in range(300_000)))
    (folder / "long.study").write_text(f'sql "{LONG}"')
    with making(folder / "w.duckdb") as database:
        load(database, folder / "three.csv", "scores")
    return folder


def ended(folder: Path, command: str, number: signal.Signals, after: float) -> bool:
    """Whether a command was still at work when it was told to end; in any case it must have left nothing."""
    spilled = folder / "spilled"
    spilled.mkdir(exist_ok=True)
    before = {file.name for file in folder.iterdir()}
    with subprocess.Popen(
        [sys.executable, str(ROOT / "cli.py"), *COMMANDS[command], "--db", "w.duckdb"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(spilled)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while not any(spilled.iterdir()) and process.poll() is None:
            time.sleep(0.005)
        time.sleep(after)
        process.send_signal(number)
        printed, said = process.communicate(timeout=60)
    assert "Traceback" not in said, said
    assert "EVALHOUSE_TRACEBACK" not in said, said
    assert {file.name for file in folder.iterdir()} == before
    assert list(spilled.iterdir()) == []
    with open_database(folder / "w.duckdb") as database:
        assert check(database) == ()
    if process.returncode == 0:
        return False
    assert process.returncode == STATUS[number], said
    assert printed == ""
    return True


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_command_ends_in_order(folder: Path, command: str, number: signal.Signals, count: Count) -> None:
    assert ended(folder, command, number, 0.3)
    count("commands told to end that ended in order", 1)


BETWEEN = f"""
import os, signal, sys
sys.path.insert(0, {str(ROOT)!r})
import cli
from evalhouse.warehouse.process import publishing
made = publishing.scratch
def interrupted():
    folder = made()
    os.kill(os.getpid(), signal.SIGTERM)
    return folder
publishing.scratch = interrupted
cli.command()
"""
"""The installed command, which is told to end when a folder was made, and before anybody could know of it."""


def test_a_folder_that_nobody_knows_of_yet_is_removed(folder: Path, tmp_path: Path) -> None:
    process = subprocess.run(
        [sys.executable, "-c", BETWEEN, *COMMANDS["query"], "--db", "w.duckdb"],
        cwd=folder,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (process.returncode, process.stdout, process.stderr) == (STATUS[signal.SIGTERM], "", "")
    assert list(tmp_path.iterdir()) == []


# --- every command, in every phase ------------------------------------------------------------------------------------

COLUMNS = ", ".join(f"{k} as c{k}" for k in range(3_000))
SOON, LATE = 1.0, 3.0
"""How soon a command has ended after it was told to, in seconds: nearly always, and always."""

WORDS = {
    "help": ["--help"],
    "query": ["query", "score F for all on TST3; compare F for all on TST3"],
    "sample data": ["query", "show systems", "--db", ""],
    "a long query": ["query", f'sql "{LONG}"'],
    "many rows": ["query", 'sql "select a, a::varchar from range(900000) t(a)"', "--format", "json"],
    "long values": ["query", 'sql "select range(100000) from range(60)"'],
    "many columns": [
        "query",
        'sql "select ' + ", ".join(f"{k} as c{k}" for k in range(3_000)) + '"',
        "--format",
        "table",
    ],
    "shuffles": ["query", "compare F for all on TST3 test bootstrap shuffles 10000000"],
    "a script": ["run", "study.study", "--report", "report.html", "--force"],
    "results in a file": ["run", "study.study", "--output", "results.xlsx", "--force"],
    "load": ["load", "many.csv", "--as", "scores"],
    "load --in-place": ["load", "many.csv", "--as", "scores", "--in-place"],
    "load of many columns": ["load", "wide.csv", "--as", "documents"],
    "a script of a pipe": ["run", "fifo"],
    "init": ["init", "new.duckdb", "--sample"],
    "info": ["info"],
    "check": ["check"],
    "backup": ["backup", "copy.duckdb"],
    "upgrade": ["upgrade"],
    "verify": ["verify", "past.json"],
    "export-scores": ["export-scores", "out.csv", "--kind", "published", "--force"],
    "export-scores of all": ["export-scores", "out", "--force"],
    "copy": ["copy", "w.duckdb", "lake", "--lake", "--force"],
    "fmt": ["fmt", "study.study"],
    "completion": ["completion", "bash"],
    "demo": ["demo"],
    "shell": [],
}
"""Every command, and what used not to listen."""

FIRST = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from evalhouse.warehouse.process import stopping as ending
ending.at_once()
import cli
print(flush=True)
sys.exit(cli.command())
"""
"""The installed command, which says when its first instruction has come."""


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something to do for every command."""
    folder = tmp_path_factory.mktemp("busy")
    with making(folder / "w.duckdb") as database:
        fill(database)
    (folder / "many.csv").write_text(SCORES + "".join(f"U,S{k % 50},D{k // 50},9,9,7,1\n" for k in range(100_000)))
    header = ",".join(f"c{k}" for k in range(10_000))
    (folder / "wide.csv").write_text(f"test_set,document,{header}\nTST3,D," + ",".join("x" for _ in range(10_000)))
    study = "score F for all on TST3;\nplot compare F for all on TST3;\n"
    (folder / "study.study").write_text(study + "".join(f"compare F for all on TST{k};\n" for k in (3, 4)))
    with Session.open(folder / "w.duckdb") as session:
        (folder / "past.json").write_text(session.run("compare F for all on TST3").to_json())
    (folder / "out").mkdir()
    os.mkfifo(folder / "fifo")
    (folder / "temporary").mkdir()
    return folder


def told(folder: Path, command: str, number: int, after: float) -> float | None:
    """How long a command takes to end that is told to some seconds after its first instruction; None where it had ended
    before. It ends by itself and in order, and however it ends, it says nothing of how it is made.
    """
    for made in ("new.duckdb", "copy.duckdb"):
        (folder / made).unlink(missing_ok=True)
    without = "--db" in WORDS[command] or command in ("help", "demo", "completion", "copy")
    database = [] if without else ["--db", "w.duckdb"]
    environment = {"TMPDIR": str(folder / "temporary"), "XDG_CACHE_HOME": str(folder / "cache")}
    command_line = [sys.executable, "-c", FIRST, *WORDS[command], *database]
    took = None
    with (
        (folder / "said").open("w") as said,
        subprocess.Popen(
            command_line,
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
        ) as process,
    ):
        assert process.stdout is not None
        process.stdout.readline()
        emptying = Thread(target=process.stdout.read, daemon=True)
        emptying.start()
        with suppress(subprocess.TimeoutExpired):
            process.wait(after)
        if process.poll() is None:
            began = time.monotonic()
            process.send_signal(number)
            try:
                process.wait(10 * LATE)
            except subprocess.TimeoutExpired:
                process.kill()
            took = time.monotonic() - began
        emptying.join()
    text = (folder / "said").read_text()
    assert not re.search("Traceback|EVALHOUSE_TRACEBACK|Exception ignored|KeyboardInterrupt|terminate", text), text
    # One that had done what it was asked for is done.
    killed = -number if number == signal.SIGKILL else 128 + number
    assert process.returncode in (0, killed), (command, process.returncode, text)
    return took


def signals(folder: Path, chance: random.Random, times: int, count: Count) -> None:
    """Tells commands to end at random moments from their first instruction on."""
    commands = list(WORDS)
    slow = late = sent = 0
    for turn in itertools.count():
        if sent == times:
            break
        took = told(folder, commands[turn % len(commands)], chance.choice(list(STATUS)), 2 * chance.random() ** 2)
        sent += took is not None
        slow += took is not None and took > SOON
        late += took is not None and took > LATE
    count(f"commands told to end, in every phase, that had ended {LATE:.0f} s later without a traceback", sent, late)
    count(f"the same {SOON:.0f} s later", sent, slow)
    assert late == 0
    assert slow <= max(1, times / 1000)


@pytest.mark.parametrize(
    "command", ["many rows", "long values", "many columns", "shuffles", "a script of a pipe", "load of many columns"]
)
def test_what_does_not_listen_is_ended(busy: Path, command: str, count: Count) -> None:
    """How soon is counted by the soak, which has the machine to itself."""
    told(busy, command, signal.SIGINT, 1.5)
    count("commands that would not listen to Ctrl-C, ended", 1)


@pytest.mark.parametrize("after", [0, 0.02, 0.05, 0.1, 0.2])
def test_nothing_is_said_of_imports_that_are_interrupted(busy: Path, after: float) -> None:
    assert told(busy, "query", signal.SIGINT, after) is not None


WRITING = [
    "sample data", "a script", "results in a file", "load", "init", "backup", "export-scores", "export-scores of all",
    "copy", "fmt",
]  # fmt: skip


def kills(folder: Path, chance: random.Random, command: str, times: int, count: Count) -> None:
    """Kills a command that writes at random moments. The next one needs nobody to clear up, and leaves nothing."""
    for _ in range(times):
        (folder / "study.study").write_text((folder / "study.study").read_text().replace(";", " ;"))
        told(folder, command, signal.SIGKILL, 1.2 * chance.random())
        assert told(folder, command, signal.SIGKILL, 60) is None
        left = [path.name for path in folder.rglob("*") if path.name.startswith((".evalhouse", "evalhouse-"))]
        assert left == []
        assert not list(folder.glob("*.import")) + list(folder.glob("*.lock"))
    count("commands that write, killed at random moments; the next needed no help", times)


@pytest.mark.parametrize("command", ["copy", "export-scores of all"])
def test_what_comes_after_a_kill_needs_no_help(busy: Path, command: str, count: Count) -> None:
    kills(busy, random.Random(command), command, 2, count)


@pytest.mark.soak
@pytest.mark.parametrize("command", WRITING)
def test_what_comes_after_many_kills_needs_no_help(busy: Path, command: str, count: Count) -> None:
    kills(busy, random.Random(command), command, 10, count)


@pytest.mark.soak
@pytest.mark.parametrize("part", range(10))
def test_signals_end_every_phase(busy: Path, part: int, count: Count) -> None:
    signals(busy, random.Random(18 + part), 100, count)


@pytest.mark.soak
@pytest.mark.parametrize("number", STATUS, ids=lambda number: number.name)
def test_whenever_a_load_is_told_to_end(folder: Path, number: signal.Signals, count: Count) -> None:
    chance = random.Random(number)
    count(
        "commands told to end that ended in order",
        sum(ended(folder, "load", number, chance.random()) for _ in range(15)),
    )
