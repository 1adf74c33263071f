"""A process that compacts a lake, forgets, defines or copies may die at any moment, or find no room. The lake and its
past answer as before or as afterwards, and the next process needs no help.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from evalhouse.warehouse.commands.program import main
from evalhouse.warehouse.lake.maintenance import check, compact
from evalhouse.warehouse.lake.place import Folder
from evalhouse.warehouse.session.session import Session
from tests.counting import Count
from tests.lake.test_killed import is_clear, nothing_is_left
from tests.lakes import empty_lake, loaded, scores
from tests.store.dying import Death, Dying, built
from tests.store.failing import SOURCE, Failing, calls_to_fail

pytestmark = pytest.mark.crash

COMPACT, AND_FORGET = "compact a lake", "compact a lake and forget its past"
FORGET, DEFINE = "forget in a lake", "define in a lake"
COPY, COPY_TO_A_FILE = "copy a lake", "copy a lake to a file"

Told = tuple[object, ...]
"""What a lake answers: about what it holds, about its measures, and, if that is still known, about its past."""


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Folder:
    """A lake with four loads."""
    folder = tmp_path_factory.mktemp("original")
    lake = empty_lake(folder / "lake")
    for system in "ABCD":
        loaded(lake, scores(folder, system))
    return lake


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Failing]:
    with Failing(built(SOURCE, tmp_path_factory.mktemp("shim"))) as failing:
        yield failing


def told(path: Path, *, past: bool) -> Told:
    with Session.open(path) as session:
        return tuple(
            session.run(question).table.rows
            for question in ("score F for all on T", "show measures", *(["score F for all on T as of 3"] * past))
        )


@cache
def before_and_after(job: str, original: Folder) -> tuple[Told, Told]:
    """What a lake answers before a job, and after one that nothing disturbs."""
    with TemporaryDirectory() as folder, Dying() as dying:
        lake = Path(shutil.copytree(original.path, Path(folder) / "lake"))
        assert dying.die(job, lake, after=None).said == "done"
        past = job != AND_FORGET
        return told(original.path, past=past), told(lake, past=past)


def whole(job: str, lake: Folder, before: Told, after: Told) -> bool:
    """Fails unless a lake answers as before a job or as after it, is sound, and can be compacted by the next process.
    Returns whether the job is done.
    """
    past = job != AND_FORGET
    now = told(lake.path, past=past)
    assert now in (before, after)
    assert check(lake)[0] == ()
    compact(lake)
    assert told(lake.path, past=past) == now
    assert check(lake) == ((), ())
    assert nothing_is_left(lake)
    return now == after


def killed(
    job: str, original: Folder, folder: Path, times: int, count: Count, seed: int = 0, longest: float = 0.6
) -> None:
    """Kills a job at random moments, each time in a new copy of a lake."""
    chance, deaths = random.Random(seed), 0
    before, after = before_and_after(job, original)
    with Dying() as dying:
        for _ in range(5 * times):
            shutil.rmtree(folder / "lake", ignore_errors=True)
            lake = Folder(Path(shutil.copytree(original.path, folder / "lake")))
            death = dying.die(job, lake.path, after=chance.uniform(0.02, longest))
            assert death.killed or death.said == "done"
            deaths += death.killed
            assert whole(job, lake, before, after) or death.killed
            if deaths == times:
                break
    assert deaths == times
    count(f"processes killed while they were to {job}", deaths)


def faults(job: str, failing: Failing, original: Folder, folder: Path, fault: str, step: int, count: Count) -> None:
    """Has a fault at every so many calls of a job that change a lake; each kind of fault at other calls."""
    before, after = before_and_after(job, original)

    def done(at: int = -1) -> tuple[Folder, Death]:
        shutil.rmtree(folder / "lake", ignore_errors=True)
        lake = Folder(Path(shutil.copytree(original.path, folder / "lake")))
        return lake, failing.run(job, lake.path, at, fault)

    calls, times = done()[1].calls, 0
    for at in calls_to_fail(calls, step, fault):
        lake, death = done(at)
        assert death.killed == (fault == "kill"), (at, death)
        assert death.killed or death.said == "done" or is_clear(death.said, fault), (at, death)
        assert whole(job, lake, before, after) or death.said != "done", (at, death)
        times += 1
    assert times
    count(f"calls that met {fault} of processes that were to {job}", times)


@pytest.mark.parametrize("job", [COMPACT, AND_FORGET, FORGET, DEFINE])
def test_killed_at_random_moments(job: str, original: Folder, tmp_path: Path, count: Count) -> None:
    killed(job, original, tmp_path, 1, count)


@pytest.mark.soak
@pytest.mark.parametrize("job", [COMPACT, AND_FORGET, FORGET, DEFINE])
@pytest.mark.parametrize("seed", range(1, 5))
def test_often_killed_at_random_moments(job: str, original: Folder, tmp_path: Path, seed: int, count: Count) -> None:
    killed(job, original, tmp_path, 25, count, seed)


@pytest.mark.parametrize("fault", ["kill", "ENOSPC", "EIO"])
@pytest.mark.parametrize("job", [COMPACT, AND_FORGET])
def test_compacted_or_not(
    job: str, failing: Failing, original: Folder, tmp_path: Path, fault: str, count: Count
) -> None:
    faults(job, failing, original, tmp_path, fault, 720, count)


@pytest.mark.soak
@pytest.mark.parametrize("fault", ["kill", "ENOSPC", "EIO"])
@pytest.mark.parametrize("job", [COMPACT, AND_FORGET, FORGET, DEFINE])
def test_at_every_call(job: str, failing: Failing, original: Folder, tmp_path: Path, fault: str, count: Count) -> None:
    faults(job, failing, original, tmp_path, fault, 3 if fault == "kill" else 11, count)


@pytest.mark.parametrize("job", [COPY, COPY_TO_A_FILE])
def test_a_copy_is_there_or_not(job: str, failing: Failing, original: Folder, tmp_path: Path, count: Count) -> None:
    copies(job, failing, original, tmp_path, 2, count)


@pytest.mark.soak
@pytest.mark.parametrize("job", [COPY, COPY_TO_A_FILE])
def test_a_copy_at_many_calls(job: str, failing: Failing, original: Folder, tmp_path: Path, count: Count) -> None:
    copies(job, failing, original, tmp_path, 60, count)


def copies(job: str, failing: Failing, original: Folder, tmp_path: Path, times: int, count: Count) -> None:
    """Kills a process that copies a lake about so many times, each time at a later call."""
    folder, wanted = tmp_path / "both", told(original.path, past=False)

    def killed_at(at: int) -> Death:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(original.path, folder / "lake")
        return failing.run(job, folder, at)

    calls = killed_at(-1).calls
    [made] = {path.name for path in folder.iterdir()} - {"lake"}
    assert calls > times
    step = calls // times
    for at in range(1 + calls % step, calls, step):
        assert killed_at(at).killed
        if not (folder / made).exists():
            # What is left of the dead process is in nobody's way.
            assert main(["copy", str(folder / "lake"), str(folder / made), "--quiet"]) == 0
        assert told(folder / made, past=False) == wanted
        assert {path.name for path in folder.iterdir()} == {"lake", made}
        with Session.open(folder / "lake") as session:
            assert session.run("score F for all on T").table.rows == wanted[0]
        count(f"processes killed while they were to {job}", 1)
