"""An open session sees what others load in the meantime, and reports it; the statements of a single command do not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import cli
from evalhouse.warehouse.commands.answering import open_session
from evalhouse.warehouse.commands.arguments import GIVEN_NOTHING, parser_for
from evalhouse.warehouse.commands.settings import fill
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.session.storage import open_warehouse
from evalhouse.warehouse.store.database import Database
from tests.conftest import write_csv


@pytest.fixture
def path(tmp_path: Path, warehouses: dict[str, Path]) -> Path:
    """A warehouse that may be changed."""
    return Path(shutil.copy(warehouses["empty"], tmp_path / "w.duckdb"))


def load(path: Path, system: str) -> None:
    rows = write_csv(
        path.with_name(f"{system}.csv"), "test_set system document measure value", [("T", system, "D", "m", 1)]
    )
    assert cli.main(["load", str(rows), "--as", "values", "--db", str(path), "--quiet"]) == 0


def test_a_later_load_is_seen_and_said(path: Path) -> None:
    with Session.open(path) as session:
        assert session.run("show systems").rows == []
        session.run("let $who = A; show systems")
        load(path, "A")
        result = session.run("score m for $who on T")
        assert [row["system"] for row in result.rows] == ["A"]
        assert result.notes == (f"{path} was changed by another program meanwhile, and is read anew",)
        assert session.run("score m for $who on T").notes == ()


def test_a_load_is_seen_that_is_stored_while_the_warehouse_is_being_opened(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the session begins, and when it reads the warehouse anew because of another load."""
    others = ["A", "C"]

    def slowly(path: Path) -> Database:
        database = open_warehouse(path)
        load(path, others.pop(0))
        return database

    def systems(session: Session) -> list[object]:
        return [row["system"] for row in session.run("show systems").rows]

    with monkeypatch.context() as slow:
        slow.setattr("evalhouse.warehouse.session.session.open_warehouse", slowly)
        session = Session.open(path)
    with session:
        assert systems(session) == ["A"]
        load(path, "B")
        with monkeypatch.context() as slow:
            slow.setattr("evalhouse.warehouse.session.warehouse.open_warehouse", slowly)
            assert systems(session) == ["A", "B"]
        assert systems(session) == ["A", "B", "C"]


def test_ones_own_change_is_no_news(path: Path) -> None:
    with Session.open(path) as session:
        session.run("define measure twice = correct * 2; show measures")
        assert session.run("show systems").notes == ()


@pytest.mark.long
def test_a_change_is_done_also_where_the_warehouse_cannot_be_opened_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(path: Path) -> Session:
        raise WarehouseError(f"{path} cannot be read: Too many open files")

    load(path, "A")
    with Session.open(path) as session:
        monkeypatch.setattr("evalhouse.warehouse.session.warehouse.open_warehouse", busy)
        with pytest.raises(WarehouseError) as caught:
            session.run("forget import 1")
        monkeypatch.undo()
    assert caught.value.message.startswith(f"{path} was changed, but cannot be opened again: ")
    with Session.open(path) as session:
        assert session.run("show systems").rows == []


def test_a_warehouse_that_is_gone_is_said(path: Path) -> None:
    load(path, "A")
    with Session.open(path) as session:
        path.unlink()
        assert session.run("score m for A on T").notes == (f"{path} is not there any more: this is what was in it",)


def test_the_statements_of_a_command_are_about_one_state(path: Path) -> None:
    import argparse

    words = ["query", "show systems", "--db", str(path), "--quiet"]
    args = parser_for(words).parse_args(words, argparse.Namespace(**GIVEN_NOTHING))
    fill(args)
    with open_session(args) as session:
        load(path, "A")
        assert session.run("show systems").rows == []


def test_a_session_on_the_sample_data_follows_nothing() -> None:
    with Session.open() as session:
        assert session.run("score F for GE on TST3").notes == ()
