"""What a killed process leaves is removed by the next start, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from evalhouse.warehouse.process import publishing
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store import replacement
from tests.counting import Count
from tests.empty import create

ROOT = Path(__file__).parents[1]
SPILL = "from evalhouse.warehouse.store.connecting import in_memory; database = in_memory()"
LOAD = (
    "from evalhouse.warehouse.store.replacement import replacing; held = replacing(Path(sys.argv[1])); held.__enter__()"
)


@contextmanager
def process(code: str, folder: Path, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that has run the code and waits. It is killed at the end of the block."""
    wait = "import sys; from pathlib import Path; CODE; print(flush=True); sys.stdin.readline()".replace("CODE", code)
    with subprocess.Popen(
        [sys.executable, "-c", wait, *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder), "PYTHONPATH": str(ROOT)},
    ) as started:
        assert started.stdout is not None
        started.stdout.readline()
        yield started
        started.kill()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files; this process looks into it as a process does that has just started."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(publishing, "_cleared", [])
    return tmp_path


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.crash
def test_the_spill_folder_of_a_killed_process_goes_and_that_of_a_living_one_stays(
    folder: Path, count: Count, request: pytest.FixtureRequest
) -> None:
    times = 20 if request.config.getoption("--soak") else 2
    with process(SPILL, folder):
        living = names(folder)
        for _ in range(times):
            with process(SPILL, folder) as killed:
                assert len(names(folder)) == 2
                killed.kill()
                killed.wait()
            assert len(names(folder)) == 2
            publishing._cleared.clear()
            publishing.discard(publishing.scratch())
            assert names(folder) == living
    count("processes killed, and the next start removed their spill folders", times)


def test_of_many_starts_at_once_each_has_a_folder_and_none_is_lost(folder: Path) -> None:
    """Threads stand for processes: a lock belongs to the file that was opened, not to the process."""
    for number in range(20):
        (folder / f"evalhouse-{number:016x}.spill").mkdir()
    made: list[Path] = []

    def start() -> None:
        publishing._clear(folder, publishing._SCRATCH)
        made.append(publishing.scratch())

    starts = [threading.Thread(target=start) for _ in range(8)]
    for one in starts:
        one.start()
    for one in starts:
        one.join()
    publishing._clear(folder, publishing._SCRATCH)
    assert names(folder) == {path.name for path in made}
    assert len(made) == 8
    for path in made:
        publishing.discard(path)


def test_links_and_folders_of_others_stay(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "precious").mkdir()
    (folder / "precious" / "file").write_text("mine")
    (folder / f"evalhouse-{1:016x}.spill").symlink_to(folder / "precious")
    (folder / f"evalhouse-{2:016x}.spill").mkdir()
    before = names(folder)
    user = os.geteuid()
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: user + 1)
        publishing._clear(folder, publishing._SCRATCH)
        assert names(folder) == before
        assert not list((folder / f"evalhouse-{2:016x}.spill").iterdir())
    publishing._clear(folder, publishing._SCRATCH)
    assert names(folder) == before - {f"evalhouse-{2:016x}.spill"}
    assert (folder / "precious" / "file").read_text() == "mine"


@pytest.mark.crash
def test_the_copy_of_a_killed_load_goes_when_the_warehouse_is_opened(folder: Path) -> None:
    path = folder / "w.duckdb"
    create(path).close()
    with process(LOAD, folder, str(path)) as loading:
        during = {"w.duckdb", "w.duckdb.import", "w.duckdb.lock"}
        Session.open(path).close()
        assert during <= names(folder)
        loading.kill()
        loading.wait()
        assert during <= names(folder)
    (folder / "link.duckdb").symlink_to(path)
    Session.open(folder / "link.duckdb").close()
    assert {name for name in names(folder) if "duckdb" in name} == {"w.duckdb", "link.duckdb"}


@pytest.mark.crash
def test_the_copy_of_a_load_on_another_machine_stays(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks of some network file systems hold on one machine alone, so a free lock proves nothing there."""
    path = folder / "w.duckdb"
    create(path).close()
    with process(LOAD, folder, str(path)):
        pass
    with monkeypatch.context() as patched, ExitStack() as opened:
        patched.setattr(replacement, "HOST", "elsewhere")
        opened.enter_context(Session.open(path))
        assert {"w.duckdb.import", "w.duckdb.lock"} <= names(folder)
    Session.open(path).close()
    assert not {"w.duckdb.import", "w.duckdb.lock"} & names(folder)


def test_a_copy_that_is_a_link_stays(folder: Path) -> None:
    path = folder / "w.duckdb"
    create(path).close()
    (folder / "precious").write_text("mine")
    (folder / "w.duckdb.import").symlink_to(folder / "precious")
    Session.open(path).close()
    assert (folder / "w.duckdb.import").is_symlink()
    assert (folder / "precious").read_text() == "mine"
