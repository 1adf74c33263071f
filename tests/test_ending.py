"""Programs that are told to end do so at once, in order: with the status that says so, and nothing left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.store.texts import SCORES, THREE
from warehouse.loading.ingest import load
from warehouse.store.database import open_database
from warehouse.store.replacement import making
from warehouse.store.soundness import check

pytestmark = pytest.mark.crash

Count = Callable[[str, int], None]
ROOT = Path(__file__).resolve().parent.parent
LONG = "select sum(hash(a) % 7) from range(100000000000) t(a)"
COMMANDS = {
    "query": ["query", f'sql "{LONG}"'],
    "run": ["run", "long.eval"],
    "load": ["load", "many.csv", "--as", "scores"],
    "load --in-place": ["load", "many.csv", "--as", "scores", "--in-place"],
}
STATUS = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ending")
    (folder / "three.csv").write_text(SCORES + THREE)
    (folder / "many.csv").write_text(SCORES + "".join(f"U,S{k % 50},D{k // 50},9,9,7,1\n" for k in range(300_000)))
    (folder / "long.eval").write_text(f'sql "{LONG}"')
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


@pytest.mark.soak
@pytest.mark.parametrize("number", STATUS, ids=lambda number: number.name)
def test_whenever_a_load_is_told_to_end(folder: Path, number: signal.Signals, count: Count) -> None:
    chance = random.Random(number)
    count(
        "commands told to end that ended in order",
        sum(ended(folder, "load", number, chance.random()) for _ in range(15)),
    )
