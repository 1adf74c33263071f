"""Everything that writes a file or a folder writes it completely or not at all, even if one of its system calls fails
or is its last; and the next process needs no manual cleanup.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.kinds.records import FORMS
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import Folder
from evalhouse.warehouse.loading.export import export_all, export_form
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.connecting import open_database, open_to_export
from evalhouse.warehouse.store.replacement import create
from evalhouse.warehouse.store.sql import Sql
from tests.counting import Count
from tests.lakes import lake_of
from tests.store.dying import built
from tests.store.failing import FAULTS, SOURCE, WRITINGS, Failing, calls_to_fail
from tests.store.test_soundness import make_older
from tests.store.texts import SCORES

pytestmark = pytest.mark.crash

Content = dict[str, bytes]

DONE_WITHOUT = {"cache": "where nothing can be kept, the sample data are made in memory"}
"""What succeeds also where it writes nothing."""

ONCE = ("backup", "records")
"""What never writes over what is there."""

CHANGED = {"load": (3_003, 0), "forget": (0, 0), "define": (3, 1), "init": (3_000, 0), "upgrade": (3, 0)}
"""Rows and definitions after a change of a warehouse."""

NEXT = {"forget": "load", "init": "load"}
"""What cannot be done twice, and what clears up then."""

OF = {"init": "new.duckdb", "upgrade": "old.duckdb"}
"""The warehouses that these change; others change `w.duckdb`."""


class Place(Struct, frozen=True):
    """A folder with the old state of everything that is written, and sources of the new one beside it."""

    folder: Path
    original: Path

    def restore(self) -> Path:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.original, self.folder)
        return self.folder

    def content(self, job: str) -> Content:
        """What stands under the names that a job writes."""
        found: Content = {}
        if job == "lake":
            # The same rows get files with other names each time.
            return {"lake": repr(read_log(Folder(self.folder / "lake")).last.fingerprints).encode()}
        for name in WRITINGS[job].written:
            path = self.folder / name
            for file in [path] if path.is_file() else sorted(path.rglob("*")):
                if file.is_file() and not _is_draft(file.relative_to(self.folder)):
                    found[file.relative_to(self.folder).as_posix()] = file.read_bytes()
        if job in ("backup", "cache"):
            # Each copy of the same rows has other bytes, and the cache is called by its bytes.
            return {name.split("-")[0]: str(_rows(self.folder / name)).encode() for name in found}
        return found

    def left(self) -> list[str]:
        """What is of no use to anyone."""
        names = (path.relative_to(self.folder) for path in self.folder.rglob("*"))
        return [str(name) for name in names if _is_draft(name) or name.suffix in (".import", ".lock", ".wal")]


def _is_draft(name: Path) -> bool:
    return any(part.startswith(".evalhouse") for part in name.parts)


def _rows(path: Path) -> tuple[int, int]:
    with open_database(path) as database:
        [(rows, definitions)] = database.rows(Sql("select count(*), (select count(*) from definition) from score"))
    return int(rows), int(definitions)


def _state(path: Path) -> tuple[int, int] | str:
    """The rows and definitions of a warehouse; or why it cannot be asked for them."""
    if not path.exists():
        return "not there"
    try:
        return _rows(path)
    except WarehouseError as error:
        if "has schema version 1" not in error.message:
            raise
        return "older"


def _made(path: Path, scores: str) -> None:
    """A warehouse of scores and values on three test sets."""
    csv, values = path.with_suffix(".csv"), path.with_name("values.csv")
    csv.write_text(SCORES + scores)
    rows = (f"V{k % 3},S,D{k},m,{len(scores) % 7 + k}\n" for k in range(9))
    values.write_text("test_set,system,document,measure,value\n" + "".join(rows))
    with create(path) as database:
        load(database, csv, "scores")
        load(database, values, "values")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    top = tmp_path_factory.mktemp("faults")
    original, sources = top / "original", top / "sources"
    for folder in (original, sources, original / "out"):
        folder.mkdir()
    _made(sources / "old.duckdb", "".join(f"T,A,D{k},9,9,7,1\n" for k in range(100)))
    _made(sources / "new.duckdb", "".join(f"T{k % 2},B,D{k},9,9,5,1\n" for k in range(200)))
    with open_to_export(sources / "old.duckdb", original) as database:
        export_form(database, next(form for form in FORMS if form.name == "scores"), original / "one.csv")
        export_all(database, original / "out")
        lake_of(database, original / "lake")
    for name in ("results.csv", "r.md", "r-1.svg", "r-2.svg"):
        (original / name).write_text(f"old {name}")
    (original / "study.study").write_text("score   F for all on T")
    (original / "three.csv").write_text(SCORES + "".join(f"T,GE,D{k},10,9,7,1\n" for k in range(3)))
    (original / "many.csv").write_text(SCORES + "".join(f"U,S{k % 50},D{k // 50},9,9,7,1\n" for k in range(3_000)))
    with create(original / "w.duckdb") as database:
        load(database, original / "three.csv", "scores")
    with create(original / "old.duckdb") as database:
        load(database, original / "three.csv", "scores")
        make_older(database, 1)
    return Place(top / "folder", original)


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failing]:
    with Failing(built(SOURCE, tmp_path_factory.mktemp("shim"))) as failing:
        yield failing


def faults(failing: Failing, place: Place, job: str, fault: str, step: int, count: Count) -> None:
    """Has a fault at every so many calls of what writes, each kind of fault at other calls; then does it again without
    one.
    """
    place.restore()
    before = place.content(job)
    calls = failing.run(job, place.folder).calls
    after = place.content(job)
    assert calls > 10
    assert before != after
    times = 0
    for at in calls_to_fail(calls, step, fault):
        place.restore()
        outcome = failing.run(job, place.folder, at, fault)
        assert not outcome.said.startswith("TRACEBACK"), (at, outcome)
        found = place.content(job)
        if outcome.killed:
            # Several files take their places one after the other, but the old and the new never stand together.
            assert found.items() <= before.items() or found.items() <= after.items(), at
            assert found in (before, after) or len(after) > 1, at
        elif outcome.said == "done":
            assert found == after or (job in DONE_WITHOUT and found == before), at
        else:
            assert found == before, (at, outcome)
        # Where all is as it was, it has been seen already that the next one succeeds.
        if (found != before or place.left()) and (job not in ONCE or found != after):
            assert failing.run(job, place.folder).said == "done", at
            assert place.content(job) == after, at
            assert place.left() == [], (at, outcome)
        times += 1
    count(f"calls of a writing command that met {fault}", times)


def changes(failing: Failing, place: Place, job: str, fault: str, step: int, count: Count) -> None:
    """The same of what changes a warehouse, which is the business of `test_crashes` where it is killed."""
    path = place.restore() / OF.get(job, "w.duckdb")
    before = _state(path)
    calls = failing.run(job, place.folder).calls
    assert _rows(path) == CHANGED[job]
    times = 0
    for at in calls_to_fail(calls, step, fault):
        place.restore()
        outcome = failing.run(job, place.folder, at, fault)
        assert not outcome.killed
        assert not outcome.said.startswith("TRACEBACK"), (at, outcome)
        found = _state(path)
        done = outcome.said == "done" or "was changed, but cannot be opened again" in outcome.said
        assert found == (CHANGED[job] if done else before), (at, outcome)
        if place.left():
            again = NEXT[job] if done and job in NEXT else job
            if again != job:
                for left in place.folder.glob(f"{path.name}*"):
                    left.replace(left.with_name(left.name.replace(path.name, "w.duckdb")))
            assert failing.run(again, place.folder).said == "done", at
            assert again != job or _rows(path) == CHANGED[job]
            assert place.left() == [], (at, outcome)
        times += 1
    count(f"calls of what changes a warehouse that met {fault}", times)


STEPS = {"lake": 799, "export of all kinds": 30, "backup": 49, "cache": 49}
"""Of jobs that write much, the calls between two faults."""


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("job", WRITINGS)
def test_what_is_written_is_whole_or_as_before(
    failing: Failing, place: Place, job: str, fault: str, count: Count
) -> None:
    faults(failing, place, job, fault, STEPS.get(job, 15), count)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "kill"])
def test_a_load_is_whole_or_as_before(failing: Failing, place: Place, fault: str, count: Count) -> None:
    changes(failing, place, "load", fault, 25, count)


@pytest.mark.soak
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("job", WRITINGS)
def test_at_every_call(failing: Failing, place: Place, job: str, fault: str, count: Count) -> None:
    faults(failing, place, job, fault, 1, count)


@pytest.mark.soak
@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "kill"])
@pytest.mark.parametrize("job", CHANGED)
def test_at_every_call_of_a_change(failing: Failing, place: Place, job: str, fault: str, count: Count) -> None:
    changes(failing, place, job, fault, 1, count)
