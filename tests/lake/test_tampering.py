"""A lake whose files have changed is refused before any question is answered."""

from __future__ import annotations

import errno
import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import polars
import pytest

from evalhouse.warehouse.commands.program import main
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake import delta
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import LOG, Folder
from evalhouse.warehouse.lake.states import open_lake
from evalhouse.warehouse.store.connecting import open_to_export
from tests.lakes import lake_of

Tampering = Callable[[Path, random.Random], object]


@pytest.fixture(scope="module")
def original(warehouses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of a warehouse with every kind of facts."""
    folder = tmp_path_factory.mktemp("lakes") / "lake"
    with open_to_export(warehouses["sample"], folder.parent) as database:
        lake_of(database, folder)
    return folder


def one(lake: Path, chance: random.Random) -> Path:
    """Some file that the lake has now."""
    return lake / chance.choice(read_log(Folder(lake)).last.files).path


def with_half_of_its_rows(lake: Path, chance: random.Random) -> None:
    file = chance.choice(sorted((lake / "score").glob("*.parquet")))
    with duckdb.connect() as connection:
        connection.execute("create table kept as from read_parquet(?)", [str(file)])
        connection.execute("delete from kept where rowid % 2 = 0")
        connection.execute(f"copy kept to '{file}' (format parquet, compression zstd)")


def with_a_bit_turned_over(lake: Path, chance: random.Random) -> None:
    file = one(lake, chance)
    content = bytearray(file.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    file.write_bytes(content)


def cut_off(lake: Path, chance: random.Random) -> None:
    file = one(lake, chance)
    file.write_bytes(file.read_bytes()[: -chance.randrange(1, 50)])


def two_files_in_each_others_place(lake: Path, chance: random.Random) -> None:
    first, second = (lake / file.path for file in chance.sample(read_log(Folder(lake)).last.files, 2))
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)


def a_link(lake: Path, chance: random.Random) -> None:
    file = one(lake, chance)
    file.rename(file.with_suffix(".moved"))
    file.symlink_to(file.with_suffix(".moved"))


def a_change_that_is_missing(lake: Path, chance: random.Random) -> None:
    for file in (lake / "change").glob("*.parquet"):
        file.unlink()


def a_change_of_another_program(lake: Path, chance: random.Random) -> None:
    """A copy of the first change, which removes everything; with its own number or with the next one."""
    changes = polars.read_delta(str(lake / "change"))
    number = chance.choice([1, changes.height + 1])
    row = changes.filter(polars.col("number") == 1).with_columns(number=polars.lit(number, polars.Int64))
    row.write_delta(str(lake / "change"), mode="append")


TAMPERINGS: dict[str, Tampering] = {
    "a file with half of its rows": with_half_of_its_rows,
    "a bit turned over": with_a_bit_turned_over,
    "a file cut off": cut_off,
    "a file that is missing": lambda lake, chance: one(lake, chance).unlink(),
    "an empty file": lambda lake, chance: one(lake, chance).write_bytes(b""),
    "a link": a_link,
    "two files in each other's place": two_files_in_each_others_place,
    "a folder that is missing": lambda lake, chance: shutil.rmtree(one(lake, chance).parent),
    "a change that is missing": a_change_that_is_missing,
    "a change of another program": a_change_of_another_program,
}


def refused(lake: Path) -> bool:
    try:
        open_lake(Folder(lake)).close()
    except WarehouseError:
        return True
    return False


def test_a_lake_as_it_was_written_is_opened(original: Path) -> None:
    assert not refused(original)


@pytest.mark.long
@pytest.mark.parametrize("turns", [30, pytest.param(99, marks=pytest.mark.soak)])
def test_each_tampering_is_found(original: Path, tmp_path: Path, turns: int, count: Callable[[str, int], None]) -> None:
    chance = random.Random(5)
    found = 0
    for turn in range(turns):
        lake = tmp_path / f"lake{turn}"
        shutil.copytree(original, lake)
        # Its files are remembered as they are now, and are not read again.
        assert not refused(lake)
        what = list(TAMPERINGS)[turn % len(TAMPERINGS)]
        TAMPERINGS[what](lake, chance)
        assert refused(lake), what
        shutil.rmtree(lake)
        found += 1
    count("lakes tampered with, and refused", found)


@pytest.mark.long
def test_what_deltalake_says_is_a_detail(original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = Path(shutil.copytree(original, tmp_path / "lake"))
    (lake / "score" / "_delta_log" / f"{0:020}.json").write_text("{")
    assert main(["check", "--db", str(lake)]) == 1
    assert capsys.readouterr().out.startswith("the Delta table score cannot be read; deltalake says: ")
    (lake / "change" / "_delta_log" / f"{0:020}.json").write_text("{")
    error = f"error: {lake} is damaged: its Delta table change cannot be opened\n  deltalake says: "
    for command in ("info", "check"):
        assert main([command, "--db", str(lake)]) == 3
        said = capsys.readouterr().err
        assert said.startswith(error)
        assert said.endswith("\n  a lake cannot be read without its table change; a backup of the lake has it\n")


@pytest.mark.long
def test_a_log_that_cannot_be_read_any_more_is_named(original: Path, tmp_path: Path) -> None:
    """deltalake reads some of a table's log only when it is asked for it."""
    lake = Folder(Path(shutil.copytree(original, tmp_path / "lake")))
    opened = delta.open_table(lake, LOG)
    shutil.rmtree(lake.path / LOG / "_delta_log")
    with pytest.raises(WarehouseError, match=r"lake is damaged|lake cannot be read"):
        delta.last_change_of(lake, LOG, opened)


@pytest.mark.long
def test_a_file_that_may_not_be_read_is_not_called_damaged(
    original: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(path: Path) -> tuple[int, str]:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    lake = Path(shutil.copytree(original, tmp_path / "lake"))
    monkeypatch.setattr("evalhouse.warehouse.lake.delta.size_and_digest", denied)
    with pytest.raises(WarehouseError, match=r"lake cannot be read: [a-z_]+/[0-9a-f]+\.parquet: permission denied$"):
        open_lake(Folder(lake))
