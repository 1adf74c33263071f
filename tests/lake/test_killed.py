"""A process that loads into a lake may die at any moment, or find no room. The lake has all of its load or nothing of
it, readers see no half load, and the next load needs no help.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread

import pytest

from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import Folder
from evalhouse.warehouse.lake.states import TABLES, open_lake, unsettled_tables
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store import upgrading
from evalhouse.warehouse.store.sql import Sql
from tests.counting import Count
from tests.lakes import empty_lake
from tests.store.dying import Dying, built
from tests.store.failing import SOURCE, Failing, calls_to_fail

pytestmark = pytest.mark.crash

JOB = "load into a lake"
MANY = 500
"""Rows of a load: one file with scores, and files with names."""

Loads = dict[str, int]
"""The systems of which a lake has rows, and how many; each load is of one system."""


def written(file: Path, system: str) -> Path:
    rows = "".join(f"T,{system},{system}-{k},9,9,7,1\n" for k in range(MANY))
    file.write_text("test_set,system,document,possible,actual,correct,partial\n" + rows)
    return file


def loads(lake: Folder) -> Loads:
    with open_lake(lake) as database:
        # A document that no row is about would be half a load, too.
        rows = database.rows(
            Sql(
                "select s.name, count(f.document_id) from system s left join score f on f.system_id = s.id "
                "full join document d on d.id = f.document_id group by all"
            )
        )
    return {str(system): int(many) for system, many in rows}


def loaded(lake: Folder, file: Path) -> None:
    change_lake(lake, "load", lambda database: load(database, file, "scores"), [file])


def in_order(lake: Folder) -> None:
    """Fails unless a lake is sound, other programs see the same files, and no draft and no lock is left."""
    with open_lake(lake) as database:
        assert upgrading.check(database) == ()
    log = read_log(lake)
    # Settled Delta tables name the files that the log names.
    assert list(unsettled_tables(lake, log)) == []
    assert all((lake.path / file.path).is_file() for file in log.last.files)
    assert nothing_is_left(lake)


def nothing_is_left(lake: Folder) -> bool:
    """Whether a lake has no draft and no lock of a process that died."""
    return sorted(path.name for path in lake.path.iterdir()) == sorted([*TABLES, "change"])


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A lake with one load."""
    folder = tmp_path_factory.mktemp("original")
    lake = empty_lake(folder / "lake")
    loaded(lake, written(folder / "first.csv", "first"))
    return lake


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failing]:
    with Failing(built(SOURCE, tmp_path_factory.mktemp("shim"))) as failing:
        yield failing


def kills(original: Folder, folder: Path, times: int, count: Count, seed: int = 0) -> None:
    """Kills loads at random moments while somebody reads, one after the other into the same lake."""
    lake = Folder(Path(shutil.copytree(original.path, folder / "lake")))
    chance, wanted = random.Random(seed), {"first": MANY}
    over, seen = Event(), []

    def read() -> None:
        while not over.is_set():
            seen.append(set(loads(lake).values()))

    reader = Thread(target=read)
    reader.start()
    try:
        killed = 0
        with Dying() as dying:
            for number in range(5 * times):
                system = f"S{number}"
                written(folder / "next.csv", system)
                # Half of the time is preparation, which leaves nothing in the lake.
                death = dying.die(JOB, lake.path, after=chance.uniform(0.1, 1.2))
                assert death.killed or death.said == "done"
                killed += death.killed
                now = loads(lake)
                assert now in (wanted, wanted | {system: MANY})
                assert now != wanted or death.killed
                wanted = now
                if killed == times:
                    break
        assert killed == times
    finally:
        over.set()
        reader.join()
    assert seen
    assert all(many == {MANY} for many in seen)
    loaded(lake, written(folder / "next.csv", "last"))
    in_order(lake)
    count("loads into a lake that were killed", killed)
    count("readings of a lake while loads were killed", len(seen))


def faults(failing: Failing, original: Folder, folder: Path, fault: str, step: int, count: Count) -> None:
    """Has a fault at every so many calls that change the lake; each kind of fault at other calls."""
    lake = Folder(folder / "lake")
    written(folder / "next.csv", "next")
    after = written(folder / "after.csv", "after")
    before = loads(original)

    def restore() -> None:
        shutil.rmtree(lake.path, ignore_errors=True)
        shutil.copytree(original.path, lake.path)

    restore()
    done = failing.run(JOB, lake.path)
    assert done.said == "done"
    in_order(lake)
    times = with_it = 0
    for at in calls_to_fail(done.calls, step, fault):
        restore()
        outcome = failing.run(JOB, lake.path, at, fault)
        assert outcome.killed == (fault == "kill")
        now = loads(lake)
        if fault == "kill":
            assert now in (before, before | {"next": MANY}), at
        else:
            assert now == (before | {"next": MANY} if outcome.said == "done" else before), (at, outcome)
            assert outcome.said == "done" or is_clear(outcome.said, fault), (at, outcome)
        with_it += now != before
        loaded(lake, after)
        assert loads(lake) == now | {"after": MANY}
        in_order(lake)
        times += 1
    assert 0 < with_it < times
    count(f"calls of a load into a lake that met {fault}", times)


def is_clear(said: str, fault: str) -> bool:
    """Whether an error says what is wrong in a sentence."""
    return said == "the disk is full" if fault == "ENOSPC" else "TRACEBACK" not in said and "damaged" not in said


def test_loads_killed_at_random_moments(original: Folder, tmp_path: Path, count: Count) -> None:
    kills(original, tmp_path, 2, count)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1, 25))
def test_many_loads_killed_at_random_moments(original: Folder, tmp_path: Path, seed: int, count: Count) -> None:
    kills(original, tmp_path, 25, count, seed)


@pytest.mark.parametrize("fault", ["kill", "ENOSPC", "EIO"])
def test_a_load_is_all_there_or_not(
    failing: Failing, original: Folder, tmp_path: Path, fault: str, count: Count
) -> None:
    faults(failing, original, tmp_path, fault, 90, count)


@pytest.mark.soak
@pytest.mark.parametrize("fault", ["kill", "ENOSPC", "EIO"])
def test_at_every_call(failing: Failing, original: Folder, tmp_path: Path, fault: str, count: Count) -> None:
    faults(failing, original, tmp_path, fault, 1, count)
