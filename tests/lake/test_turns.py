"""Writers in a folder take turns: nobody is refused while the one whose turn it is lives, and others go first while a
large load is written.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake import changes
from evalhouse.warehouse.lake.log import LakeChange
from evalhouse.warehouse.lake.making import make_lake
from evalhouse.warehouse.lake.place import LakePlace
from evalhouse.warehouse.lake.states import Working, change_of
from evalhouse.warehouse.loading.ingest import Loaded, load
from evalhouse.warehouse.store import replacement
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import loading_lock, nobody
from tests.lakes import answer, loaded, nothing, scores, sound, turn_is_taken

WAITING = 5.0
"""How many seconds of the clock of these tests a writer waits for one that shows no life."""


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[Callable[[], object]]:
    """A clock on which each look at the lock takes a second. What is in the list happens at each look."""
    seconds, happens = count(), list[Callable[[], object]]()
    told = SimpleNamespace(monotonic=lambda: float(next(seconds)), sleep=lambda _: [each() for each in happens])
    monkeypatch.setattr(replacement, "time", told)
    return happens


def test_a_writer_waits_while_the_other_is_alive(tmp_path: Path, clock: list[Callable[[], object]]) -> None:
    looks = count(1)
    with ExitStack() as other:
        other.enter_context(loading_lock(tmp_path / "w"))
        file = tmp_path / "w.lock"

        def beats() -> None:
            look = next(looks)
            if look < 100:
                os.utime(file, ns=(look, look))
            else:
                other.close()

        clock.append(beats)
        with loading_lock(tmp_path / "w", WAITING):
            assert next(looks) > 100


def test_a_writer_does_not_wait_for_one_that_shows_no_life(tmp_path: Path, clock: list[Callable[[], object]]) -> None:
    with (
        loading_lock(tmp_path / "w"),
        pytest.raises(WarehouseError, match="is loading into"),
        loading_lock(tmp_path / "w", WAITING),
    ):
        pass


def test_whoever_has_a_turn_shows_it(lake: LakePlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replacement, "BEAT", 0.001)
    with lake.alone(0, nobody):
        file = Path(lake.called) / "change.lock"
        os.utime(file, (0, 0))
        while not file.stat().st_mtime:
            pass
    assert not file.exists()


@pytest.mark.long
def test_nobody_waits_while_a_large_load_is_written(
    lake: LakePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The load is overtaken twice, and then keeps its turn."""
    monkeypatch.setattr(changes, "LARGE", 3)
    large, others, taken = scores(tmp_path, "A", documents=5), ["B", "C", "D"], list[bool]()

    def overtaken(working: Working, kind: str) -> LakeChange:
        change = change_of(working, kind)
        if working.new_facts() > 3:
            taken.append(turn_is_taken(lake))
            if taken[-1]:
                return change
            loaded(lake, scores(tmp_path, others.pop(0)))
        return change

    monkeypatch.setattr(changes, "change_of", overtaken)
    done, moved = loaded(lake, large)
    assert (done.rows_new, moved, others, taken) == (5, 2, ["D"], [False, False, True])
    assert {row[2] for row in answer(lake, "score F for all on T")} == {"A", "B", "C"}
    assert sorted(path.name for path in Path(lake.called).glob(".*")) == []
    assert sound(lake)


@pytest.mark.long
def test_a_load_that_has_to_be_prepared_again_leaves_its_turn(lake: LakePlace, tmp_path: Path) -> None:
    """Others changed what it is about, three times. The first two times they need not wait for it."""
    nine, taken, times = scores(tmp_path, "A", documents=9), list[bool](), count(1)

    def work(database: Database) -> Loaded:
        done = load(database, nine, "scores")
        taken.append(turn_is_taken(lake))
        if taken[-1]:
            return done
        loaded(lake, scores(tmp_path, "A", documents=next(times)))
        return done

    done, _ = changes.change_lake(lake, "load", work, [nine])
    assert (done.rows_new, taken) == (7, [False, False, True])
    assert sound(lake)


def test_writers_wait_while_a_lake_is_overwritten(lake: LakePlace, tmp_path: Path) -> None:
    loaded(lake, scores(tmp_path, "A"))
    taken: list[bool] = []

    @contextmanager
    def opened(folder: Path) -> Iterator[Database]:
        taken.append(turn_is_taken(lake))
        with nothing(folder) as database:
            yield database

    make_lake(lake.called, "copy", opened, force=True)
    assert taken == [True]
    assert not turn_is_taken(lake)
    assert not (Path(lake.called) / "change.lock").exists()


@pytest.mark.long
def test_a_load_that_meets_an_overwritten_lake_goes_into_the_new_one(lake: LakePlace, tmp_path: Path) -> None:
    loaded(lake, scores(tmp_path, "A"))
    done, _ = loaded(lake, scores(tmp_path, "B"), lambda: make_lake(lake.called, "copy", nothing, force=True))
    assert done.rows_new == 3
    assert [row[2] for row in answer(lake, "score F for all on T")] == ["B"]
    assert sound(lake)


def test_the_lock_of_another_process_stays(tmp_path: Path) -> None:
    """A lake that is overwritten takes its lock along, and somebody may have locked the new lake."""
    with loading_lock(tmp_path / "w"):
        (tmp_path / "w.lock").rename(tmp_path / "along")
        (tmp_path / "w.lock").touch()
    assert (tmp_path / "w.lock").exists()
