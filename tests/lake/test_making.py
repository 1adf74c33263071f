"""A lake of a warehouse has all of it, and is written over nothing else."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

import evalhouse
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake.log import LakeChange, read_log
from evalhouse.warehouse.lake.making import make_lake
from evalhouse.warehouse.lake.place import Folder
from evalhouse.warehouse.lake.states import TABLES
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import is_lake
from evalhouse.warehouse.store import upgrading
from evalhouse.warehouse.store.catalog import Catalog
from evalhouse.warehouse.store.connecting import open_to_export
from evalhouse.warehouse.store.sql import Sql, name
from tests.lakes import empty_lake, lake_of, nothing, sound


@pytest.mark.long
def test_a_lake_has_all_of_a_warehouse(warehouses: dict[str, Path], tmp_path: Path) -> None:
    shutil.copyfile(warehouses["sample"], tmp_path / "sample.duckdb")
    with open_to_export(tmp_path / "sample.duckdb", tmp_path) as database:
        lake_of(database, tmp_path / "lake")
    with Session.open(warehouses["sample"]) as session, Session.open(tmp_path / "lake") as on_lake:
        for table in (*TABLES, "fingerprint"):
            rows = "from " + name(table) + " order by all"
            assert on_lake.database.rows(rows) == session.database.rows(rows), table
        assert upgrading.check(on_lake.database) == ()
        known, found = session.catalog, Catalog(on_lake.database)
        assert found.systems == known.systems
        for test_set in known.test_sets:
            for task in ("extraction", "filtering", "values", "published"):
                assert found.systems_with(task, test_set.id) == known.systems_with(task, test_set.id)
                assert found.fingerprint(task, test_set.id) == known.fingerprint(task, test_set.id)
                assert found.observed(task, test_set.id) == known.observed(task, test_set.id)
                assert found.documents(task, test_set.id) == known.documents(task, test_set.id)
        types = Sql("select table_name, column_name, data_type from duckdb_columns() where not internal order by all")
        assert on_lake.database.rows(types) == session.database.rows(types)


def test_the_empty_lakes_of_tests_are_as_they_are_made(tmp_path: Path) -> None:
    make_lake(tmp_path / "made", "init", nothing)
    made, copy = Folder(tmp_path / "made"), empty_lake(tmp_path / "copy")

    def first_change(lake: Folder) -> LakeChange:
        (change,) = read_log(lake).changes
        return replace(change, at=datetime.min, added=tuple(replace(file, path=file.table) for file in change.added))

    def files(lake: Folder) -> Counter[Path]:
        """How many files each folder has; their names are random."""
        return Counter(file.relative_to(lake.path).parent for file in lake.path.rglob("*") if file.is_file())

    assert first_change(copy) == first_change(made)
    assert files(copy) == files(made)
    assert sound(copy)


@pytest.mark.long
def test_a_lake_writes_over_nothing_but_a_lake(warehouses: dict[str, Path], tmp_path: Path) -> None:
    lake, folder = tmp_path / "lake", tmp_path / "folder"
    folder.mkdir()
    (folder / "mine.txt").write_text("kept")
    with open_to_export(warehouses["worked"], tmp_path) as database:
        lake_of(database, lake)
        with pytest.raises(WarehouseError, match="exists already"):
            lake_of(database, lake)
        lake_of(database, lake, force=True)
        (lake / "mine.txt").write_text("kept")
        with pytest.raises(WarehouseError, match=r"lake holds mine\.txt, which is not part of the lake"):
            lake_of(database, lake, force=True)
        (lake / "mine.txt").unlink()
        (lake / ".DS_Store").touch()
        lake_of(database, lake, force=True)
        with pytest.raises(WarehouseError, match="is not a lake"):
            lake_of(database, folder, force=True)
        with pytest.raises(WarehouseError, match="there is no folder"):
            lake_of(database, tmp_path / "no" / "lake")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "lake"]
    assert (folder / "mine.txt").read_text() == "kept"


def test_python_makes_a_lake(tmp_path: Path) -> None:
    with evalhouse.create(tmp_path / "w.lake", lake=True) as warehouse:
        assert is_lake(tmp_path / "w.lake")
        warehouse.load([{"test_set": "T", "system": "A", "document": "d", "m": 1.0}])
        assert warehouse.score("m").rows[0]["m"] == 1.0
    with pytest.raises(WarehouseError, match="exists already"):
        evalhouse.create(tmp_path / "w.lake", lake=True)
