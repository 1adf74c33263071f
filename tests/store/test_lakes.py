"""A lake whose files have changed is reported, by `check` and before any question is answered."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

import cli
from warehouse.faults import WarehouseError
from warehouse.lake.folder import MANIFEST, check, check_facts, export_lake, open_names, read_manifest
from warehouse.store.database import open_to_export

Tampering = Callable[[Path, random.Random], object]


@pytest.fixture(scope="module")
def original(warehouses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lake of a warehouse with every kind of facts."""
    folder = tmp_path_factory.mktemp("lakes") / "lake"
    with open_to_export(warehouses["sample"], folder.parent) as database:
        export_lake(database, folder)
    return folder


def one(lake: Path, chance: random.Random) -> Path:
    """Some file of the lake."""
    return chance.choice(sorted(lake.rglob("*.parquet")))


def with_half_of_its_rows(lake: Path, chance: random.Random) -> None:
    facts = sorted(file for file in lake.rglob("test_set_id=*/*.parquet"))
    file = chance.choice(facts)
    with duckdb.connect() as connection:
        connection.execute("create table kept as from read_parquet(?, hive_partitioning = false)", [str(file)])
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
    first = one(lake, chance)
    second = chance.choice([file for file in lake.rglob("*.parquet") if file.read_bytes() != first.read_bytes()])
    kept = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(kept)


def a_count_in_the_manifest(lake: Path, chance: random.Random) -> None:
    about = json.loads((lake / MANIFEST).read_text())
    about["rows"][chance.choice(list(about["rows"]))] += chance.choice((-1, 1, 100))
    (lake / MANIFEST).write_text(json.dumps(about))


def a_file_less_in_the_manifest(lake: Path, chance: random.Random) -> None:
    about = json.loads((lake / MANIFEST).read_text())
    path = chance.choice(list(about["files"]))
    del about["files"][path]
    (lake / path).unlink()
    (lake / MANIFEST).write_text(json.dumps(about))


def written_twice(lake: Path, chance: random.Random) -> None:
    file = one(lake, chance)
    shutil.copy(file, file.with_name(f"more_{chance.randrange(1000)}.parquet"))


def a_link(lake: Path, chance: random.Random) -> None:
    file = one(lake, chance)
    file.with_name("linked.parquet").symlink_to(file)


TAMPERINGS: dict[str, Tampering] = {
    "a file with half of its rows": with_half_of_its_rows,
    "a bit turned over": with_a_bit_turned_over,
    "a file cut off": cut_off,
    "a file that is missing": lambda lake, chance: one(lake, chance).unlink(),
    "an empty file": lambda lake, chance: one(lake, chance).write_bytes(b""),
    "a file written twice": written_twice,
    "a link": a_link,
    "two files in each other's place": two_files_in_each_others_place,
    "a folder that is missing": lambda lake, chance: shutil.rmtree(one(lake, chance).parent),
    "a count in the manifest": a_count_in_the_manifest,
    "a file less in the manifest": a_file_less_in_the_manifest,
}


def refused(lake: Path) -> bool:
    """Whether opening a lake refuses it, as `--engine spark` does before Spark reads a row."""
    try:
        manifest = read_manifest(lake)
        check_facts(lake, manifest)
        open_names(lake, manifest, str(lake)).close()
    except WarehouseError:
        return True
    return False


def test_a_lake_as_it_was_written_is_sound(original: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(original) == ()
    assert not refused(original)
    assert cli.main(["check", "--db", str(original)]) == 0
    assert capsys.readouterr().err == f"note: {original}: nothing is wrong\n"


@pytest.mark.long
def test_each_tampering_is_found(
    original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], count: Callable[[str, int], None]
) -> None:
    chance = random.Random(5)
    found = 0
    for turn in range(100):
        lake = tmp_path / f"lake{turn}"
        shutil.copytree(original, lake)
        what = list(TAMPERINGS)[turn % len(TAMPERINGS)]
        TAMPERINGS[what](lake, chance)
        assert refused(lake), what
        assert cli.main(["check", "--db", str(lake)]) in (1, 3), what
        assert "nothing is wrong" not in "".join(capsys.readouterr())
        shutil.rmtree(lake)
        found += 1
    count("lakes tampered with, and refused", found)


def test_what_is_wrong_is_named(original: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lake = tmp_path / "lake"
    shutil.copytree(original, lake)
    file = sorted((lake / "score").rglob("*.parquet"))[0]
    file.unlink()
    assert cli.main(["check", "--db", str(lake)]) == 1
    assert capsys.readouterr().out == f"{file.relative_to(lake).as_posix()} is missing\n"
    with pytest.raises(WarehouseError, match=r"is damaged: score/.* is missing"):
        check_facts(lake, read_manifest(lake))
