"""Files and folders appear completely or not at all. What crashed processes left is completed or removed, and what
running processes are writing is left alone.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.loading import sample
from evalhouse.warehouse.process import publishing
from evalhouse.warehouse.process.publishing import files_in, folder_at, scratch
from evalhouse.warehouse.render.files import write_all
from evalhouse.warehouse.store.connecting import open_database, open_new, open_own
from evalhouse.warehouse.store.sql import Sql
from tests.counting import Count

DYING = "import os, sys; from pathlib import Path; from evalhouse.warehouse.process import publishing; "
DYING += "folder = Path(sys.argv[1]); "


def dies(code: str, folder: Path) -> None:
    """Runs a program that ends without a word."""
    subprocess.run([sys.executable, "-c", DYING + code, str(folder)], check=True, cwd=Path(__file__).parent.parent)


def drafts(folder: Path) -> list[Path]:
    return sorted(folder.glob(".evalhouse-*"))


def test_several_files_appear_together_and_keep_their_modes(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    (tmp_path / "a").chmod(0o640)
    write_all({tmp_path / "a": b"new a", tmp_path / "b": b"new b"})
    assert [(tmp_path / name).read_text() for name in "ab"] == ["new a", "new b"]
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def _half_written(folder: Path) -> None:
    with files_in(folder, ["a", "b"]) as draft:
        (draft / "a").write_text("new")
        raise ZeroDivisionError


def test_what_raises_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(ZeroDivisionError):
        _half_written(tmp_path)
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_link_is_replaced_and_not_followed(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("kept")
    (tmp_path / "link").symlink_to("target")
    write_all({tmp_path / "link": b"new"})
    assert (tmp_path / "target").read_text() == "kept"
    assert not (tmp_path / "link").is_symlink()


@pytest.mark.parametrize("exchange", [True, False])
def test_a_folder_takes_the_place_of_another(tmp_path: Path, exchange: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not exchange:
        monkeypatch.setattr(publishing, "_exchange_names", lambda new, path: False)
    for number in range(2):
        with folder_at(tmp_path / "lake") as draft:
            (draft / f"file{number}").write_text("")
    assert os.listdir(tmp_path / "lake") == ["file1"]
    assert os.listdir(tmp_path) == ["lake"]


def test_a_draft_of_the_living_is_let_be_and_one_of_the_dead_removed(tmp_path: Path) -> None:
    dies("making = publishing._draft(folder); making.__enter__(); os._exit(0)", tmp_path)
    (dead,) = drafts(tmp_path)
    with files_in(tmp_path, ["a"]) as mine:
        assert not dead.exists()
        (mine / "a").write_text("a")
        write_all({tmp_path / "b": b"b"})
        assert drafts(tmp_path) == [mine.parent]
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_whoever_writes_next_finishes_what_was_begun_to_be_moved(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old")
    (tmp_path / "two").write_text("old")
    dies(
        "making = publishing._draft(folder); draft = making.__enter__(); "
        "[(draft / 'new' / name).write_text('new') for name in ('one', 'two')]; "
        "publishing._write_down(draft, ['one', 'two']); "
        "os.replace(folder / 'one', draft / 'old' / 'one'); os._exit(0)",
        tmp_path,
    )
    assert not (tmp_path / "one").exists()
    write_all({tmp_path / "three": b"3"})
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == ["new", "new"]
    assert drafts(tmp_path) == []


def test_a_draft_that_was_planted_writes_nowhere_else(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    planted = folder / f".evalhouse-{'0' * 16}"
    (planted / "new").mkdir(parents=True)
    (tmp_path / "victim").write_text("kept")
    (planted / "victim").write_text("planted")
    (planted / "names").write_text(json.dumps(["../victim", "..", "", 3, str(tmp_path / "victim")]))
    write_all({folder / "a": b"a"})
    assert (tmp_path / "victim").read_text() == "kept"
    assert os.listdir(folder) == ["a"]


def test_a_spill_folder_of_the_dead_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(publishing, "_cleared", [])
    (tmp_path / "evalhouse-mine").mkdir()
    dies("import tempfile; tempfile.tempdir = str(folder); publishing.scratch(); os._exit(0)", tmp_path)
    assert len(os.listdir(tmp_path)) == 2
    spill = scratch()
    assert set(os.listdir(tmp_path)) == {"evalhouse-mine", spill.name}
    publishing.discard(spill)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and sample data that are few."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sample, "fill", lambda database: None)
    return tmp_path / "evalhouse"


@pytest.mark.long
def test_a_damaged_cache_is_made_anew(cache: Path, count: Count) -> None:
    sample.sample().close()
    (path,) = cache.iterdir()
    sound = path.read_bytes()
    rows = _imports(path)
    places = range(0, len(sound), max(1, len(sound) // 8))
    for place in places:
        (path,) = cache.iterdir()
        content = bytearray(path.read_bytes())
        content[place % len(content)] ^= 1
        path.write_bytes(content)
        with sample.sample() as database:
            assert database.path is not None
            assert _imports(database.path) == rows
        assert len(list(cache.iterdir())) == 1
    for broken in (b"", b"noise", sound[:5000]):
        next(cache.iterdir()).write_bytes(broken)
        sample.sample().close()
    count("bits flipped in the cache of the sample data, which was made anew", len(places))


@pytest.mark.long
def test_what_others_could_have_put_into_the_cache_is_looked_through(cache: Path) -> None:
    """A macro in the kept file is passed over only where nobody but this user can have written it."""
    sample.sample().close()
    (path,) = cache.iterdir()
    with open_new(path) as database:
        database.run(Sql("create macro sum(x) as 0"))
    open_own(path).close()
    for place, mode in ((path, 0o666), (path, 0o664), (cache, 0o777)):
        before = place.stat().st_mode
        place.chmod(mode)
        with pytest.raises(WarehouseError, match="holds the macro sum"):
            open_own(path)
        place.chmod(before)
    (link := cache / "link.duckdb").symlink_to(path)
    with pytest.raises(WarehouseError, match="holds the macro sum"):
        open_own(link)


def _imports(path: Path) -> list[tuple[object, ...]]:
    with open_database(path) as database:
        return database.rows(Sql("select count(*) from import"))
