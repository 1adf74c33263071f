"""Processes that change a warehouse and die while doing so: killed at some moment, interrupted in a write, or out of
disk space.

When run as a program, this is a process that has imported everything and forks a child for each line of JSON that it
reads, so that a crash costs as much as a load and not as much as starting an interpreter.
"""

from __future__ import annotations

import ctypes
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest
from msgspec import Struct

PAGE = 4096
TORN, FULL, LYING = 0, 1, 2
"""What a disk does when the moment has come: it loses power in a write, has no room from then on, or loses power and
has said of what it had not stored that it had.
"""
SOURCE = Path(__file__).with_name("torn_writes.c")
ROOT = Path(__file__).resolve().parent.parent.parent


class Death(Struct, frozen=True):
    """How a process ended: `said` is what it printed, `calls` how many calls changed the folder, where it lived to
    tell.
    """

    killed: bool
    said: str
    calls: int


class Dying:
    """The process that makes the children, with `torn_writes.c` in front of the C library where `shim` is given."""

    def __init__(self, shim: Path | None = None) -> None:
        settings = dict(os.environ)
        if shim is not None:
            settings |= {"LD_PRELOAD": str(shim), "EVALHOUSE_TORN_WRITES": str(shim)}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.dying"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=settings,
        )

    def die(
        self,
        job: str,
        folder: Path,
        *,
        after: float | None = None,
        at: int | None = None,
        pages: int = 0,
        fault: int = TORN,
        shadow: Path | None = None,
    ) -> Death:
        """Does a job in a folder in a process of its own, killed `after` so many seconds, or when its call number `at`
        to change the folder comes, which gets as far as its first `pages` pages.
        """
        asked = {
            "job": job,
            "folder": str(folder),
            "after": after,
            "at": at,
            "pages": pages,
            "fault": fault,
            "shadow": str(shadow),
        }
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return Death(**json.loads(self._process.stdout.readline()))

    def __enter__(self) -> Dying:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate("")


def built(source: Path, folder: Path) -> Path:
    """A library to put in front of the C library, built from its source. Skips the test where that cannot be done."""
    if not sys.platform.startswith("linux"):
        pytest.skip("what stands in front of the C library is made for Linux")
    compiler = next((found for name in ("cc", "gcc", "clang") if (found := shutil.which(name))), None)
    if compiler is None:
        pytest.skip("there is no C compiler")
    shim = folder / f"{source.stem}.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl"], check=True)
    return shim


def on_disk(folder: Path, shadow: Path) -> None:
    """Writes down that all that is in a folder is on disk for certain, as `torn_writes.c` does at every fsync."""
    shutil.rmtree(shadow, ignore_errors=True)
    shadow.mkdir()
    names = []
    for file in folder.iterdir():
        inode = file.stat().st_ino
        shutil.copyfile(file, shadow / str(inode))
        names.append(f"{inode} {file.name}\n")
    (shadow / "names").write_text("".join(names))


def after_power_loss(folder: Path, shadow: Path, to: Path, chance: random.Random) -> None:
    """A folder as it may be found when power is lost: of what was not synced, some pages of 4 KiB are there and others
    are not, in any mixture, and names are the old ones or the new.
    """
    now = {file.name: file.stat().st_ino for file in folder.iterdir()}
    lines = (shadow / "names").read_text().splitlines()
    before = {name: int(inode) for inode, name in (line.split(" ", 1) for line in lines)}
    contents = {inode: folder / name for name, inode in now.items()}
    contents |= {int(kept.stem): kept for kept in shadow.glob("*.kept")}
    shutil.rmtree(to, ignore_errors=True)
    to.mkdir()
    for name, inode in (before if chance.random() < 0.5 else now).items():
        synced = shadow / str(inode)
        safe = synced.read_bytes() if synced.exists() else b""
        written = contents[inode].read_bytes()
        size = chance.choice((len(safe), len(written)))
        pages = []
        for place in range(0, size, PAGE):
            page = (safe if chance.random() < 0.5 else written)[place : place + PAGE]
            pages.append(page.ljust(min(PAGE, size - place), b"\0"))
        (to / name).write_bytes(b"".join(pages))


# --- the process ------------------------------------------------------------------------------------------------------


def _load(folder: Path) -> None:
    from evalhouse.warehouse.loading.ingest import load
    from evalhouse.warehouse.store.replacement import replacing

    with replacing(folder / "w.duckdb", [folder / "many.csv"]) as database:
        load(database, folder / "many.csv", "scores")


def _load_in_place(folder: Path) -> None:
    from evalhouse.warehouse.loading.ingest import load
    from evalhouse.warehouse.store.replacement import in_place

    with in_place(folder / "w.duckdb", [folder / "many.csv"]) as database:
        load(database, folder / "many.csv", "scores")


def _forget(folder: Path) -> None:
    from evalhouse.warehouse.session.session import Session

    with Session.open(folder / "w.duckdb") as session:
        session.run("forget import 1")


def _define(folder: Path) -> None:
    from evalhouse.warehouse.session.session import Session

    with Session.open(folder / "w.duckdb") as session:
        list(session.results("define measure twice = 2 * recall"))


def _init(folder: Path) -> None:
    from evalhouse.warehouse.loading.ingest import load
    from evalhouse.warehouse.store.replacement import making

    with making(folder / "new.duckdb") as database:
        load(database, folder / "many.csv", "scores")


def _load_into_a_lake(folder: Path) -> None:
    from evalhouse.warehouse.lake.changes import change_lake
    from evalhouse.warehouse.lake.place import place_of
    from evalhouse.warehouse.loading.ingest import load

    file = folder.with_name("next.csv")
    change_lake(place_of(folder), "load", lambda database: load(database, file, "scores"), [file])


def _change_a_lake(folder: Path, statement: str) -> None:
    from evalhouse.warehouse.session.session import Session

    with Session.open(folder) as session:
        list(session.results(statement))


def _compact_a_lake(folder: Path, *, forget: bool = False) -> None:
    from datetime import UTC, datetime

    from evalhouse.warehouse.lake.maintenance import compact
    from evalhouse.warehouse.lake.place import place_of

    compact(place_of(folder), datetime.now(UTC) if forget else None)


def _copy_a_lake(folder: Path) -> None:
    from evalhouse.warehouse.commands.program import main

    assert main(["copy", str(folder / "lake"), str(folder / "copy.lake"), "--quiet"]) == 0


def _copy_a_lake_to_a_file(folder: Path) -> None:
    from evalhouse.warehouse.commands.program import main

    assert main(["copy", str(folder / "lake"), str(folder / "copy.duckdb"), "--quiet"]) == 0


def _upgrade(folder: Path) -> None:
    from evalhouse.warehouse.store.upgrading import upgrade

    upgrade(folder / "old.duckdb")


JOBS: dict[str, Callable[[Path], None]] = {
    "load": _load,
    "load in place": _load_in_place,
    "forget": _forget,
    "define": _define,
    "init": _init,
    "upgrade": _upgrade,
    "load into a lake": _load_into_a_lake,
    "forget in a lake": partial(_change_a_lake, statement="forget import 2"),
    "define in a lake": partial(_change_a_lake, statement="define measure twice = 2 * recall"),
    "compact a lake": _compact_a_lake,
    "compact a lake and forget its past": partial(_compact_a_lake, forget=True),
    "copy a lake": _copy_a_lake,
    "copy a lake to a file": _copy_a_lake_to_a_file,
}


def _child(asked: dict[str, object], out: int) -> None:
    from evalhouse.warehouse.faults import WarehouseError

    shim = os.environ.get("EVALHOUSE_TORN_WRITES")
    calls = 0
    if shim:
        library = ctypes.CDLL(shim)
        library.torn_calls.restype = ctypes.c_long
        at = asked["at"] if asked["at"] is not None else -1
        library.torn_arm(
            str(asked["folder"]).encode(),
            str(asked["shadow"]).encode(),
            ctypes.c_long(int(str(at))),
            ctypes.c_long(int(str(asked["pages"]))),
            int(str(asked["fault"])),
        )
    try:
        JOBS[str(asked["job"])](Path(str(asked["folder"])))
        said = "done"
    except WarehouseError as error:
        said = error.message
    if shim:
        calls = library.torn_calls()
    os.write(out, json.dumps({"killed": False, "said": said, "calls": calls}).encode())


def serve(work: Callable[[dict[str, Any], int], None]) -> None:
    """Makes a child for each line of JSON, which does the work and writes what came of it into a pipe; and prints that,
    or that it was killed.
    """
    import evalhouse.warehouse.lake.changes
    import evalhouse.warehouse.lake.maintenance
    import evalhouse.warehouse.loading.ingest
    import evalhouse.warehouse.session.session
    import evalhouse.warehouse.store.upgrading  # noqa: F401 - so that the children have it

    for line in sys.stdin:
        asked = json.loads(line)
        ours, theirs = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ours)
            try:
                work(asked, theirs)
            except BaseException as error:
                os.write(theirs, json.dumps({"killed": False, "said": f"TRACEBACK {error!r}", "calls": 0}).encode())
            os._exit(0)
        os.close(theirs)
        if asked.get("after") is not None:
            time.sleep(asked["after"])
            os.kill(child, signal.SIGKILL)
        with open(ours) as told:
            said = told.read()
        os.waitpid(child, 0)
        print(said or json.dumps({"killed": True, "said": "", "calls": 0}), flush=True)


if __name__ == "__main__":
    serve(_child)
