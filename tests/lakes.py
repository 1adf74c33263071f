"""Lakes for tests: how they are made and loaded, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from pathlib import Path

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.making import make_lake
from evalhouse.warehouse.lake.place import Folder, LakePlace
from evalhouse.warehouse.lake.states import open_lake, unsettled_tables
from evalhouse.warehouse.loading.ingest import Loaded, load
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store import upgrading
from evalhouse.warehouse.store.connecting import in_memory, open_to_export
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import nobody

HEADER = "test_set,system,document,possible,actual,correct,partial\n"


@contextmanager
def nothing(folder: Path) -> Iterator[Database]:
    """A warehouse with nothing in it."""
    with in_memory() as database:
        yield database


def empty_lake(path: Path) -> Folder:
    """A new lake with nothing in it: a copy of one that the process made once, because making it takes longer than most
    tests. The tests of making lakes call `make_lake` itself, and `test_making.py` checks that the copy equals that.
    """
    for file, contents in files_of_empty_lake().items():
        (path / file).parent.mkdir(parents=True, exist_ok=True)
        (path / file).write_bytes(contents)
    return Folder(path)


@cache
def files_of_empty_lake() -> dict[Path, bytes]:
    """What the files of an empty lake contain, by their paths in it."""
    with temporary() as folder:
        lake = folder / "lake"
        make_lake(lake, "init", nothing)
        return {file.relative_to(lake): file.read_bytes() for file in lake.rglob("*") if file.is_file()}


def everything_in(warehouse: Path) -> Callable[[Path], AbstractContextManager[Database]]:
    """What opens a warehouse so that a lake can be made of it."""
    return lambda folder: open_to_export(warehouse, folder)


def lake_of(database: Database, path: Path, *, force: bool = False) -> LakePlace:
    """A new lake with everything that an open warehouse has. The warehouse can write into the folder of the lake."""
    return make_lake(path, "copy", lambda folder: nullcontext(database), force=force)


def scores(folder: Path, system: str, correct: int = 5, documents: int = 3, test_set: str = "T") -> Path:
    """A file with the scores of a system, equal on all documents."""
    file = folder / f"{system}-{correct}-{documents}-{test_set}.csv"
    rows = (f"{test_set},{system},d{number},10,10,{correct},0\n" for number in range(documents))
    file.write_text(HEADER + "".join(rows))
    return file


def loaded(lake: LakePlace, file: Path, meanwhile: Callable[[], object] = lambda: None) -> tuple[Loaded, int]:
    """Loads a file; others do something after it was prepared and before it is stored."""
    others = [meanwhile]

    def work(database: Database) -> Loaded:
        done = load(database, file, "scores")
        if others:
            others.pop()()
        return done

    return change_lake(lake, "load", work, [file])


def answer(lake: LakePlace, statement: str) -> list[tuple[object, ...]]:
    """The rows of a statement's result."""
    with Session.open(lake.called) as session:
        return [tuple(row) for row in session.run(statement).table.rows]


def sound(lake: LakePlace) -> bool:
    """Whether a lake has what its fingerprints say, and its Delta tables what its changes say."""
    with open_lake(lake) as database:
        return upgrading.check(database) == () and not list(unsettled_tables(lake, read_log(lake)))


def turn_is_taken(lake: LakePlace) -> bool:
    """Whether a writer has its turn now."""
    try:
        with lake.alone(0, nobody):
            return False
    except WarehouseError:
        return True
