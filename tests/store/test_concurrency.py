"""Many processes use one warehouse: those that load take turns, and none is refused; those that read never block others
and never see half of a load.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.replacement import create
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.counting import Count
from tests.store.texts import SCORES

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS = 10
"""In each file that is loaded."""

LOADING = """
import sys
from pathlib import Path
from evalhouse.warehouse.store.replacement import replacing
from evalhouse.warehouse.loading.ingest import load
path, *files = map(Path, sys.argv[1:])
for file in files:
    # Longer than by default: how long a load takes says how busy the machine is.
    with replacing(path, [file], wait=120, tell=print) as database:
        load(database, file, "scores")
    print("loaded", file.name)
"""

READING = """
import sys
from pathlib import Path
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.sql import Sql
path = Path(sys.argv[1])
print("ready", flush=True)
seen, end = [], 0
while end < int(sys.argv[2]):
    with open_database(path) as database:
        end = database.rows(Sql("select count(*) from score"))[0][0]
        again = database.rows(Sql("select sum(correct) from score"))[0][0] or 0
        assert again == end, "two answers of one opening differ"
    seen.append(end)
assert seen == sorted(seen), "rows were lost"
assert all(count % 10 == 0 for count in seen), "half of a load was seen"
print(len(seen))
"""


def _started(code: str, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT)


def crowd(folder: Path, loaders: int, files: int, readers: int, count: Count) -> None:
    """Has processes load so many files each, while others read until all are there."""
    path = folder / "w.duckdb"
    create(path).close()
    named = [[folder / f"{loader}-{file}.csv" for file in range(files)] for loader in range(loaders)]
    for loader, its in enumerate(named):
        for number, file in enumerate(its):
            file.write_text(SCORES + "".join(f"T,S{loader},D{number}-{k},1,1,1,0\n" for k in range(ROWS)))
    total = loaders * files * ROWS
    reading = [_started(READING, path, total) for _ in range(readers)]
    for process in reading:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    loading = [_started(LOADING, path, *its) for its in named]
    pids = {process.pid for process in loading}
    waits = 0
    for process in loading:
        said, wrong = process.communicate()
        assert (process.returncode, wrong) == (0, "")
        lines = said.splitlines()
        assert sum(line.startswith("loaded ") for line in lines) == files
        for line in lines:
            if not line.startswith("loaded "):
                held = re.fullmatch(
                    r"waiting for process (\d+) since \d{4}-\S+, which is loading into .*w\.duckdb", line
                )
                assert held, line
                assert int(held[1]) in pids - {process.pid}
                waits += 1
    answers = 0
    for process in reading:
        said, wrong = process.communicate()
        assert (process.returncode, wrong) == (0, "")
        answers += int(said)
    with open_database(path) as database:
        assert database.rows(Sql("select count(*), count(distinct import_id) from score")) == [(total, total // ROWS)]
        assert check(database) == ()
    assert {file.name for file in folder.iterdir()} == {"w.duckdb", *(file.name for its in named for file in its)}
    count("loads by processes that took turns", loaders * files)
    count("loads that waited and said for whom, none refused", waits)
    count("answers read meanwhile, none with half of a load", answers)


@pytest.mark.crash
def test_loaders_take_turns_and_readers_go_on(tmp_path: Path, count: Count) -> None:
    crowd(tmp_path, loaders=2, files=4, readers=1, count=count)


@pytest.mark.soak
def test_many_of_both(tmp_path: Path, count: Count) -> None:
    crowd(tmp_path, loaders=20, files=50, readers=1, count=count)
