"""Processes that write something while system calls fail: each call in a folder can be refused, or can be the last one
of the process.

When run as a program, this is a process that has imported everything and forks a child for each line of JSON that it
reads.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from tests.store.dying import JOBS as CHANGES
from tests.store.dying import ROOT, serve
from tests.store.dying import Death as Outcome

SOURCE = Path(__file__).with_name("faulty_calls.c")

FAULTS = {"kill": 0, "ENOSPC": errno.ENOSPC, "EIO": errno.EIO, "EACCES": errno.EACCES, "EINTR": errno.EINTR}
"""What happens at a call, as the number of an error; none kills the process."""


def calls_to_fail(calls: int, step: int, fault: str) -> range:
    """The numbers of the calls at which a process meets a fault: one in every `step` of them, and not the same ones for
    each kind of fault, so that few processes meet many calls. With a step of 1, all of them.
    """
    shift = list(FAULTS).index(fault) * step // len(FAULTS)
    return range(1 + (step // 2 + shift) % step, calls + 1, step)


class Failing:
    """The process that makes the children, with the shim in front of the C library."""

    def __init__(self, shim: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.store.failing"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "LD_PRELOAD": str(shim), "EVALHOUSE_FAULTY_CALLS": str(shim)},
        )

    def run(self, job: str, folder: Path, at: int = -1, fault: str = "kill") -> Outcome:
        """Does a job in a folder, with a fault at its call number `at` there."""
        asked = {"job": job, "folder": str(folder), "at": at, "fault": fault}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(asked) + "\n")
        self._process.stdin.flush()
        return Outcome(**json.loads(self._process.stdout.readline()))

    def __enter__(self) -> Failing:
        return self

    def __exit__(self, *error: object) -> None:
        self._process.communicate("")


# --- what is written --------------------------------------------------------------------------------------------------


class Writing(Struct, frozen=True):
    """Something that writes in a folder, of the sources beside it, and what it writes there."""

    work: Callable[[Path, Path], object]
    written: tuple[str, ...]


def _results(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.render.files import write_all

    write_all({folder / "results.csv": b"new\n" * 5_000})


def _report(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.render.files import write_all

    write_all({folder / name: f"new {name}".encode() for name in ("r.md", "r-1.svg", "r-2.svg")})


def _layout(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.commands.talking import _rewrite

    _rewrite(folder / "study.study", "score F for all on T;\n")


def _export(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.kinds.records import FORMS
    from evalhouse.warehouse.loading.export import export_form
    from evalhouse.warehouse.store.connecting import open_to_export

    with open_to_export(sources / "new.duckdb", folder) as database:
        export_form(database, next(form for form in FORMS if form.name == "scores"), folder / "one.csv", force=True)


def _export_all(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.loading.export import export_all
    from evalhouse.warehouse.store.connecting import open_to_export

    with open_to_export(sources / "new.duckdb", folder / "out") as database:
        export_all(database, folder / "out", force=True)


def _lake(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.store.connecting import open_to_export
    from tests.lakes import lake_of

    with open_to_export(sources / "new.duckdb", folder) as database:
        lake_of(database, folder / "lake", force=True)


def _backup(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.store.replacement import backup

    backup(sources / "new.duckdb", folder / "copy.duckdb")


def _records(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.loading.export_eee import Evaluator, export_eee
    from evalhouse.warehouse.store.connecting import open_to_export

    with open_to_export(sources / "new.duckdb", folder) as database:
        export_eee(database, folder / "records", Evaluator())


def _cache(folder: Path, sources: Path) -> None:
    from evalhouse.warehouse.loading import sample
    from evalhouse.warehouse.loading.ingest import load

    os.environ["XDG_CACHE_HOME"] = str(folder)
    # The same, of fewer rows.
    sample.fill = lambda database: [load(database, sources / "new.csv", "scores")]
    sample.sample().close()


WRITINGS = {
    "results": Writing(_results, ("results.csv",)),
    "report": Writing(_report, ("r.md", "r-1.svg", "r-2.svg")),
    "layout": Writing(_layout, ("study.study",)),
    "export of one kind": Writing(_export, ("one.csv",)),
    "export of all kinds": Writing(_export_all, ("out",)),
    "lake": Writing(_lake, ("lake",)),
    "backup": Writing(_backup, ("copy.duckdb",)),
    "records": Writing(_records, ("records",)),
    "cache": Writing(_cache, ("evalhouse",)),
}


# --- the process ------------------------------------------------------------------------------------------------------


def _child(asked: dict[str, str], out: int) -> None:
    from evalhouse.warehouse.faults import DataError, WarehouseError

    library = ctypes.CDLL(os.environ["EVALHOUSE_FAULTY_CALLS"])
    library.faulty_calls.restype = ctypes.c_long
    job, folder, number = asked["job"], Path(asked["folder"]), FAULTS[asked["fault"]]
    library.faulty_arm(os.fsencode(folder), ctypes.c_long(int(asked["at"])), number, number == errno.ENOSPC)
    try:
        if job in WRITINGS:
            WRITINGS[job].work(folder, folder.with_name("sources"))
        else:
            CHANGES[job](folder)
        said = "done"
    except WarehouseError as error:
        said = error.message
    except DataError as error:
        said = str(error)
    calls = library.faulty_calls()
    library.faulty_arm(b"/nowhere", ctypes.c_long(-1), 0, 0)
    os.write(out, json.dumps({"killed": False, "said": said, "calls": calls}).encode())


def _serve() -> None:
    import evalhouse.warehouse.lake.making
    import evalhouse.warehouse.loading.export
    import evalhouse.warehouse.loading.export_eee
    import evalhouse.warehouse.loading.sample  # noqa: F401 - so that the children have it
    from evalhouse.warehouse.process.memory import allow_threads

    # So that the same bytes are written each time.
    allow_threads(1)
    serve(_child)


if __name__ == "__main__":
    _serve()
