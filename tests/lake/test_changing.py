"""Many writers of one lake: nothing is lost, nothing is half there, a contradiction is refused whoever was first."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import DataError, WarehouseError
from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import LakePlace, place_of
from evalhouse.warehouse.lake.states import open_lake, unsettled_tables
from evalhouse.warehouse.loading.ingest import forget, load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from tests.lakes import answer, lake_of, loaded, scores, sound


def test_a_lake_answers_as_a_warehouse_does(lake: LakePlace, tmp_path: Path) -> None:
    files = [scores(tmp_path, "A", 5), scores(tmp_path, "B", 7)]
    with in_memory() as warehouse:
        for file in files:
            load(warehouse, file, "scores")
            loaded(lake, file)
        with Session(warehouse) as session:
            wanted = session.run("compare F for A, B on T")
        with Session(open_lake(lake)) as session:
            assert session.run("compare F for A, B on T") == wanted
    assert sound(lake)


@pytest.mark.long
def test_others_may_load_before_a_load_is_stored(lake: LakePlace, tmp_path: Path) -> None:
    first, other = scores(tmp_path, "A", 5, documents=3), scores(tmp_path, "B", 7, documents=5)
    done, moved = loaded(lake, first, partial(loaded, lake, other))
    assert (done.rows_new, moved) == (3, 1)
    assert answer(lake, "score F for all on T") == [
        ("T", "extraction", "B", 5, 0.7, "documents", "≠"),
        ("T", "extraction", "A", 3, 0.5, "documents", "≠"),
    ]
    with open_lake(lake) as database:
        # Both loads name the documents d0, d1 and d2, which are there once.
        assert database.rows(Sql("select count(*), max(id) from document")) == [(5, 5)]
        assert database.rows(Sql("select system_id, import_id, count(*) from score group by all order by 1")) == [
            (1, 1, 5),
            (2, 2, 3),
        ]
    assert sound(lake)


def test_a_contradiction_is_refused_whoever_was_first(lake: LakePlace, tmp_path: Path) -> None:
    five, seven = scores(tmp_path, "A", 5), scores(tmp_path, "A", 7)
    with pytest.raises(DataError, match=r"A, d0 has correct 5, but is stored with correct 7 \(import 1\)"):
        loaded(lake, five, partial(loaded, lake, seven))
    assert {row[4] for row in answer(lake, "score F for all on T")} == {0.7}
    assert sound(lake)


@pytest.mark.long
def test_a_load_is_prepared_again_if_another_lake_takes_the_place_of_this_one(lake: LakePlace, tmp_path: Path) -> None:
    """A backup that is copied over a lake may have as many changes."""
    backup = Path(shutil.copytree(lake.called, tmp_path / "backup"))
    loaded(place_of(backup), scores(tmp_path, "S", documents=7, test_set="U"))
    loaded(lake, scores(tmp_path, "A"))

    def restored() -> None:
        for table in backup.iterdir():
            shutil.rmtree(Path(lake.called) / table.name)
            shutil.copytree(table, Path(lake.called) / table.name)

    done, _ = loaded(lake, scores(tmp_path, "B"), restored)
    assert done.rows_new == 3
    assert [row[2] for row in answer(lake, "score F for all on U")] == ["S"]
    assert [row[2] for row in answer(lake, "score F for all on T")] == ["B"]
    assert sound(lake)


@pytest.mark.long
def test_what_others_stored_already_is_not_stored_again(lake: LakePlace, tmp_path: Path) -> None:
    file = scores(tmp_path, "A")
    done, moved = loaded(lake, file, partial(loaded, lake, file))
    assert (done.rows_new, done.import_id, moved) == (0, None, 0)
    assert len(read_log(lake).changes) == 2
    assert sound(lake)


def test_an_error_while_loading_leaves_the_lake_as_it_was(lake: LakePlace, tmp_path: Path) -> None:
    file = scores(tmp_path, "A")

    def fails(database: Database) -> None:
        load(database, file, "scores")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        change_lake(lake, "load", fails, [file])
    assert len(read_log(lake).changes) == 1
    assert sound(lake)


@pytest.mark.long
def test_a_forgotten_import_is_gone_and_its_past_is_not(lake: LakePlace, tmp_path: Path) -> None:
    loaded(lake, scores(tmp_path, "A"))
    loaded(lake, scores(tmp_path, "B"))
    change_lake(lake, "forget", lambda database: forget(database, 1))
    assert [row[2] for row in answer(lake, "score F for all on T")] == ["B"]
    assert [row[2] for row in answer(lake, "score F for all on T as of 2")] == ["A", "B"]
    assert [row[2] for row in answer(lake, "score F for all on T as of 1")] == ["A"]
    with pytest.raises(QueryError, match="never had import 3"):
        answer(lake, "score F for all on T as of 3")
    with pytest.raises(QueryError, match=r"the past of .* begins at"):
        answer(lake, 'score F for all on T as of "2020-01-01"')
    assert sound(lake)


@pytest.mark.long
def test_a_load_of_several_files_is_forgotten_one_by_one(lake: LakePlace, tmp_path: Path) -> None:
    """One change brought both imports, and so did its files, among them what it declared about documents."""
    files = [scores(tmp_path, "A", test_set="T"), scores(tmp_path, "B", test_set="U")]

    def both(database: Database) -> None:
        for file in files:
            load(database, file, "scores", fields={"noun": "message"})

    change_lake(lake, "load", both, files)
    assert sound(lake)
    change_lake(lake, "forget", lambda database: forget(database, 2))
    with open_lake(lake) as database:
        assert database.rows(Sql("select distinct import_id from observed")) == [(1,)]
    assert sound(lake)
    change_lake(lake, "forget", lambda database: forget(database, 1))
    assert sound(lake)


@pytest.mark.long
def test_the_number_of_an_import_is_not_given_twice(lake: LakePlace, tmp_path: Path) -> None:
    loaded(lake, scores(tmp_path, "A"))
    change_lake(lake, "forget", lambda database: forget(database, 1))
    done, _ = loaded(lake, scores(tmp_path, "B"))
    assert done.import_id == 2
    assert [row[2] for row in answer(lake, "score F for all on T as of 1")] == ["A"]
    assert [row[2] for row in answer(lake, "score F for all on T as of 2")] == ["B"]


def test_the_time_that_an_import_shows_finds_it(lake: LakePlace, tmp_path: Path) -> None:
    loaded(lake, scores(tmp_path, "A"))
    with Session.open(lake.called) as session:
        [shown] = session.run("show imports").table.records()
        then = session.run(f'score F for all on T as of "{shown["imported_at"]}"')
    assert [row["system"] for row in then.rows] == ["A"]


@pytest.mark.long
@pytest.mark.parametrize("name", ["x[1]", "what?", "ü", "a b"])
def test_a_lake_may_have_an_odd_name(tmp_path: Path, name: str) -> None:
    with in_memory() as nothing:
        lake = lake_of(nothing, tmp_path / name)
    loaded(lake, scores(tmp_path, "A"))
    assert [row[2] for row in answer(lake, "score F for all on T")] == ["A"]
    assert sound(lake)


@pytest.mark.parametrize("name", ["100%25 sure", "a\\b", "a\nb"])
def test_what_deltalake_cannot_read_in_a_path_is_refused(lake: LakePlace, tmp_path: Path, name: str) -> None:
    with in_memory() as nothing, pytest.raises(WarehouseError, match="may have a %"):
        lake_of(nothing, tmp_path / name)
    # A folder may be renamed to anything, and a link does not help.
    Path(lake.called).rename(tmp_path / name)
    (tmp_path / "link").symlink_to(name)
    for moved in (name, "link"):
        with pytest.raises(WarehouseError, match="may have a %"):
            open_lake(place_of(tmp_path / moved))


def test_a_lake_is_not_made_inside_another(lake: LakePlace) -> None:
    with in_memory() as nothing, pytest.raises(WarehouseError, match="would be inside the lake"):
        lake_of(nothing, Path(lake.called) / "inner")


def test_the_past_is_found_from_another_folder(
    lake: LakePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(lake, scores(tmp_path, "A"))
    monkeypatch.chdir(tmp_path)
    with Session.open("lake") as session:
        monkeypatch.chdir("/")
        assert [row["system"] for row in session.run("score F for all on T as of 1").rows] == ["A"]


def test_a_table_that_is_damaged_does_not_keep_others_from_the_change(lake: LakePlace, tmp_path: Path) -> None:
    shutil.rmtree(Path(lake.called) / "value" / "_delta_log")
    said: list[str] = []
    file = scores(tmp_path, "A")
    change_lake(lake, "load", lambda database: load(database, file, "scores"), [file], tell=said.append)
    assert len(said) == 1
    assert "its Delta tables lack the change" in said[0]
    assert list(unsettled_tables(lake, read_log(lake), ("score", "document", "system"))) == []


def test_a_lake_that_is_removed_is_missed(lake: LakePlace, tmp_path: Path) -> None:
    loaded(lake, scores(tmp_path, "A"))
    with Session.open(lake.called) as session:
        session.run("score F for all on T")
        shutil.rmtree(lake.called)
        with pytest.raises(WarehouseError, match="lake is not there any more"):
            session.run("score F for all on T")
