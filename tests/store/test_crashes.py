"""A process that changes a warehouse may die at any moment, through a kill, a power failure or a full disk. The
warehouse still opens, with all of the change or none of it.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec import Struct

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.store.connecting import open_database
from evalhouse.warehouse.store.replacement import backup, create, in_place, replacing
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.store.upgrading import check
from tests.counting import Count
from tests.store.dying import FULL, JOBS, LYING, SOURCE, Dying, after_power_loss, built, on_disk
from tests.store.texts import SCORES, THREE

MANY = 5_000
BEFORE = {job: (0, 0) if job == "init" else (3, 0) for job in JOBS}
AFTER = {"load": (3 + MANY, 0), "load in place": (3 + MANY, 0), "forget": (0, 0), "define": (3, 1), "init": (MANY, 0)}
"""Score rows and definitions in the warehouse, by what is done to it."""

pytestmark = pytest.mark.crash

SAFE = ["load", "forget", "define", "init"]


class Place(Struct, frozen=True):
    """The folder that processes die in, which `restore` brings back to what it was."""

    folder: Path
    original: Path

    def restore(self) -> Path:
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.original, self.folder)
        on_disk(self.folder, self.shadow)
        return self.folder

    @property
    def shadow(self) -> Path:
        return self.folder.with_name("shadow")

    @property
    def lost(self) -> Path:
        return self.folder.with_name("lost")

    def found(self, job: str, folder: Path) -> tuple[int, int]:
        """What is in the warehouse now. Raises WarehouseError if it cannot be opened."""
        path = folder / ("new.duckdb" if job == "init" else "w.duckdb")
        if job == "init" and not path.exists():
            return BEFORE[job]
        logged = path.with_name(path.name + ".wal").exists()
        if job != "init" and not logged and path.read_bytes() == (self.original / path.name).read_bytes():
            return BEFORE[job]
        with open_database(path) as database:
            [(rows, definitions)] = database.rows(
                Sql("select count(*), (select count(*) from definition) from score where possible >= correct")
            )
        return int(rows), int(definitions)

    def all_or_nothing(self, job: str, folder: Path) -> None:
        """Fails unless a warehouse holds all of a change or nothing, and can be loaded into."""
        assert self.found(job, folder) in (BEFORE[job], AFTER[job])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    original = tmp_path_factory.mktemp("original")
    (original / "three.csv").write_text(SCORES + THREE)
    (original / "many.csv").write_text(SCORES + "".join(f"U,S{k % 50},D{k // 50},9,9,7,1\n" for k in range(MANY)))
    with create(original / "w.duckdb") as database:
        load(database, original / "three.csv", "scores")
    return Place(tmp_path_factory.mktemp("dying") / "folder", original)


@pytest.fixture(scope="module")
def killing() -> Iterator[Dying]:
    with Dying() as dying:
        yield dying


@pytest.fixture(scope="module")
def losing_power(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dying]:
    with Dying(built(SOURCE, tmp_path_factory.mktemp("shim"))) as dying:
        yield dying


def kills(killing: Dying, place: Place, job: str, times: int, count: Count) -> None:
    """Kills a job again and again, without bringing the folder back between: a later one clears up what is left."""
    chance = random.Random(f"kill {job}")
    folder = place.restore()
    survived = 0
    for _ in range(5 * times):
        death = killing.die(job, folder, after=chance.uniform(0, 0.3))
        assert death.killed or death.said == "done"
        place.all_or_nothing(job, folder)
        survived += death.killed
        if place.found(job, folder) == AFTER[job]:
            folder = place.restore()
        if survived == times:
            break
    assert survived == times
    assert killing.die(job, folder).said == "done"
    assert place.found(job, folder) == AFTER[job]
    assert not list(folder.glob("*.import*"))
    count("processes killed while they changed a warehouse", survived)


def cuts(losing_power: Dying, place: Place, job: str, step: int, mixtures: int, count: Count) -> None:
    """Cuts a job off in every so many calls that change the folder, a write after some of its pages."""
    chance = random.Random(f"cut {job}")
    done = losing_power.die(job, place.restore(), shadow=place.shadow)
    assert done.said == "done"
    assert done.calls > 10
    torn = found = 0
    for at in range(chance.randrange(1, step + 1), done.calls + 1, step):
        folder = place.restore()
        death = losing_power.die(job, folder, at=at, pages=chance.randrange(66), shadow=place.shadow)
        assert death.killed
        place.all_or_nothing(job, folder)
        torn += 1
        for _ in range(mixtures):
            after_power_loss(folder, place.shadow, place.lost, chance)
            place.all_or_nothing(job, place.lost)
            found += 1
    # Once it is said to be done, it is on disk.
    assert losing_power.die(job, place.restore(), shadow=place.shadow).said == "done"
    for _ in range(mixtures):
        after_power_loss(place.folder, place.shadow, place.lost, chance)
        assert place.found(job, place.lost) == AFTER[job]
    count("writes torn at a page of 4 KiB", torn)
    count("disks found after a loss of power", found)


def fills(losing_power: Dying, place: Place, job: str, step: int, count: Count) -> None:
    """Has the disk fill up at every so many calls."""
    done = losing_power.die(job, place.restore(), shadow=place.shadow)
    full = 0
    for at in range(1 + step // 2, done.calls + 1, step):
        folder = place.restore()
        death = losing_power.die(job, folder, at=at, fault=FULL, shadow=place.shadow)
        if death.said == "done":
            assert place.found(job, folder) == AFTER[job]
            continue
        assert "the disk is full" in death.said
        assert place.found(job, folder) == BEFORE[job]
        assert {file.name for file in folder.iterdir()} <= {file.name for file in place.original.iterdir()}
        full += 1
    assert full
    count("disks filled up", full)


def in_place_on_a_full_disk(losing_power: Dying, place: Place, step: int, count: Count) -> None:
    """Has the disk fill up while a warehouse itself is loaded into: what is said is so, and what comes next works."""
    job = "load in place"
    done = losing_power.die(job, place.restore(), shadow=place.shadow)
    full, outcomes = 0, set()
    for at in range(1, done.calls + 1, step):
        folder = place.restore()
        path = folder / "w.duckdb"
        death = losing_power.die(job, folder, at=at, fault=FULL, shadow=place.shadow)
        said = death.said.removeprefix("the disk is full; ")
        expected = BEFORE[job] if said == f"{path} is as it was before" else AFTER[job]
        assert said in (f"{path} is as it was before", f"{path} holds import 2, and nothing else is new", "done")
        assert place.found(job, folder) == expected, said
        backup(path, folder / "copy.duckdb")
        with replacing(path, [folder / "three.csv"]) as database:
            assert load(database, folder / "three.csv", "scores").rows_new == 0
        with open_database(path) as database:
            assert check(database) == ()
        assert place.found(job, folder) == expected
        assert not (folder / "w.duckdb.wal").exists()
        full += 1
        outcomes.add(expected)
    assert outcomes == {BEFORE[job], AFTER[job]}
    count("disks filled up by a load in place", full)


class TestKilled:
    def test_loads_killed_at_random_moments(self, killing: Dying, place: Place, count: Count) -> None:
        kills(killing, place, "load", 20, count)

    @pytest.mark.soak
    @pytest.mark.parametrize("job", SAFE)
    def test_many_killed_at_random_moments(self, killing: Dying, place: Place, job: str, count: Count) -> None:
        kills(killing, place, job, 150, count)


class TestWithoutPower:
    def test_a_load_is_all_there_or_not(self, losing_power: Dying, place: Place, count: Count) -> None:
        cuts(losing_power, place, "load", 10, 1, count)

    @pytest.mark.parametrize("job", ["forget", "define", "init"])
    def test_other_changes_are_all_there_or_not(
        self, losing_power: Dying, place: Place, job: str, count: Count
    ) -> None:
        cuts(losing_power, place, job, 18, 1, count)

    @pytest.mark.soak
    @pytest.mark.parametrize("job", SAFE)
    def test_every_call_of_every_change(self, losing_power: Dying, place: Place, job: str, count: Count) -> None:
        cuts(losing_power, place, job, 1, 8, count)

    def test_a_disk_that_lies_about_what_it_stored_does_harm(self, losing_power: Dying, place: Place) -> None:
        """So what is found above would be found if the copy were not on disk before it takes the place."""
        chance = random.Random(1)
        done = losing_power.die("load", place.restore(), shadow=place.shadow)
        harmed = 0
        folder = place.restore()
        assert losing_power.die("load", folder, at=done.calls, fault=LYING, shadow=place.shadow).killed
        for _ in range(12):
            after_power_loss(folder, place.shadow, place.lost, chance)
            try:
                place.all_or_nothing("load", place.lost)
            except (WarehouseError, AssertionError):
                harmed += 1
        assert harmed

    def test_a_load_in_place_that_was_killed_is_finished_or_undone_by_the_next(
        self, losing_power: Dying, place: Place
    ) -> None:
        done = losing_power.die("load in place", place.restore(), shadow=place.shadow)
        assert done.said == "done"
        logs = 0
        for at in range(2, done.calls, 12):
            folder = place.restore()
            assert losing_power.die("load in place", folder, at=at, pages=66, shadow=place.shadow).killed
            logs += (folder / "w.duckdb.wal").exists()
            there = place.found("load in place", folder)
            assert there in (BEFORE["load in place"], AFTER["load in place"])
            with in_place(folder / "w.duckdb"):
                pass
            assert place.found("load in place", folder) == there
        assert logs


class TestFullDisk:
    @pytest.mark.parametrize("job", ["load", "init"])
    def test_what_was_there_stays_as_it_was(self, losing_power: Dying, place: Place, job: str, count: Count) -> None:
        fills(losing_power, place, job, 20, count)

    def test_of_a_load_in_place_the_truth_is_said(self, losing_power: Dying, place: Place, count: Count) -> None:
        in_place_on_a_full_disk(losing_power, place, 8, count)

    @pytest.mark.soak
    def test_of_a_load_in_place_the_truth_is_said_at_every_call(
        self, losing_power: Dying, place: Place, count: Count
    ) -> None:
        in_place_on_a_full_disk(losing_power, place, 1, count)

    @pytest.mark.soak
    @pytest.mark.parametrize("job", SAFE)
    def test_at_every_call(self, losing_power: Dying, place: Place, job: str, count: Count) -> None:
        fills(losing_power, place, job, 1, count)
