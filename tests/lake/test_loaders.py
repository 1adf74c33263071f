"""Processes that load into one lake at the same moment: nothing is lost, nothing is stored twice, and a contradiction
is refused whoever was first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from evalhouse.warehouse.faults import DataError
from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import LakePlace, place_of
from evalhouse.warehouse.lake.states import open_lake, unsettled_tables
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.loading.readers import Reader
from evalhouse.warehouse.store import upgrading
from evalhouse.warehouse.store.sql import Sql
from tests.lakes import HEADER
from tests.readers.test_model_runs import READER as RUNS

MANY = [
    pytest.param(3, marks=pytest.mark.long),
    pytest.param(8, marks=pytest.mark.crash),
    pytest.param(20, marks=pytest.mark.soak),
]
"""How many processes there are. Each prepares its load again for every one that was before it, so twice as many take
four times as long.
"""

KNOWN: dict[str, str | Reader] = {RUNS.name: RUNS}
"""The readers of these tests, by the names under which processes know them."""


def file_of(folder: Path, called: str, system: str, correct: int) -> Path:
    file = folder / f"{called}.csv"
    file.write_text(HEADER + "".join(f"T,{system},d{k},9,9,{correct},0\n" for k in range(20)))
    return file


def loading(lake: str, file: str, reader: str, together: Barrier, said: Any) -> None:
    """What each process does; it says how many rows were new, or why the file was refused."""
    together.wait()
    try:
        done, _ = change_lake(
            place_of(lake),
            "load",
            lambda database: load(database, Path(file), KNOWN.get(reader, reader)),
            [Path(file)],
            wait=60,
        )
        said.put((file, done.rows_new))
    except DataError as error:
        said.put((file, str(error)))


def at_once(lake: LakePlace, files: Iterable[Path], reader: str = "scores") -> dict[str, list[object]]:
    """Loads each file in a process of its own; returns what each of them said, by file."""
    files = list(files)
    context = get_context("forkserver")
    context.set_forkserver_preload(
        ["evalhouse.warehouse.lake.changes", "evalhouse.warehouse.loading.ingest", "deltalake"]
    )
    together, said = context.Barrier(len(files)), context.SimpleQueue()
    processes = [
        context.Process(target=loading, args=(lake.called, str(file), reader, together, said)) for file in files
    ]
    for process in processes:
        process.start()
    answers: dict[str, list[object]] = {}
    for _ in processes:
        file, answer = said.get()
        answers.setdefault(Path(file).stem, []).append(answer)
    for process in processes:
        process.join()
        assert process.exitcode == 0
    return answers


def rows(lake: LakePlace, query: str) -> list[tuple[Any, ...]]:
    """The rows of a query on a lake, which must be sound."""
    with open_lake(lake) as database:
        assert upgrading.check(database) == ()
        assert list(unsettled_tables(lake, read_log(lake))) == []
        return database.rows(Sql(query))


@pytest.mark.parametrize("many", MANY)
def test_nothing_is_lost(lake: LakePlace, tmp_path: Path, many: int) -> None:
    answers = at_once(lake, (file_of(tmp_path, f"S{number}", f"S{number}", 5) for number in range(many)))
    assert answers == {f"S{number}": [20] for number in range(many)}
    assert rows(lake, "select count(distinct system_id), count(*), count(distinct import_id) from score") == [
        (many, 20 * many, many)
    ]
    assert rows(lake, "select count(*), max(id) from document") == [(20, 20)]
    assert len(read_log(lake).changes) == many + 1


@pytest.mark.parametrize("many", MANY)
def test_a_file_is_stored_once(lake: LakePlace, tmp_path: Path, many: int) -> None:
    file = file_of(tmp_path, "same", "S", 5)
    assert Counter(at_once(lake, [file] * many)["same"]) == {20: 1, 0: many - 1}
    assert rows(lake, "select (select count(*) from score), (select count(*) from import)") == [(20, 1)]


@pytest.mark.parametrize("many", MANY)
def test_of_those_that_contradict_each_other_one_wins(lake: LakePlace, tmp_path: Path, many: int) -> None:
    # Each file has another number of correct fills, so no two of them go together.
    answers = at_once(lake, (file_of(tmp_path, f"c{number}", "S", number % 10) for number in range(min(many, 10))))
    said = [answer for of_file in answers.values() for answer in of_file]
    assert said.count(20) == 1
    [(won,)] = rows(lake, "select distinct correct from score")
    refused = [str(answer) for answer in said if answer != 20]
    assert all(f"but is stored with correct {won} (import 1)" in sentence for sentence in refused)


@pytest.mark.parametrize("many", MANY)
def test_runs_of_a_model_are_numbered_as_in_a_file(lake: LakePlace, tmp_path: Path, many: int) -> None:
    """In the order of their imports, whoever was first; each keeps its own values."""
    files = [tmp_path / f"run{number}.csv" for number in range(many)]
    for number, file in enumerate(files):
        file.write_text(f"gpt,qa,run{number},,{number}\n")
    at_once(lake, files, RUNS.name)
    query = (
        "select r.import_id, s.name, r.run, v.value from run r join system s on s.id = r.system_id "
        "join value v on v.system_id = s.id and v.import_id = r.import_id order by 1"
    )
    stored = rows(lake, query)
    names = [(number, f"gpt#{number}" if number > 1 else "gpt") for number in range(1, many + 1)]
    assert [(number, name) for number, name, _, _ in stored] == names
    assert sorted((run, value) for _, _, run, value in stored) == sorted((f"run{k}", k) for k in range(many))
    assert len(rows(lake, "from system")) == many
