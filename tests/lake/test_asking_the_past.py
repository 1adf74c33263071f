"""`as of` in a session on a lake that other programs change meanwhile."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import cli
from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.lake.log import read_log
from evalhouse.warehouse.lake.place import place_of
from evalhouse.warehouse.session.session import Session
from tests.conftest import write_csv


def load(lake: Path, system: str) -> None:
    """Loads the values of a system as another program would."""
    rows = [("T", system, f"D{number}", "m", number % 2) for number in range(6)]
    file = write_csv(lake.with_name(f"{system}.csv"), "test_set system document measure value", rows)
    assert cli.main(["load", str(file), "--as", "values", "--db", str(lake)]) == 0


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    lake = tmp_path_factory.mktemp("lakes") / "lake"
    assert cli.main(["init", str(lake), "--lake"]) == 0
    load(lake, "A")
    return lake


@pytest.fixture
def lake(loaded: Path, tmp_path: Path) -> Path:
    """A lake of its own, with one import."""
    return Path(shutil.copytree(loaded, tmp_path / "lake"))


def systems(session: Session, clause: str = "") -> list[object]:
    return [row["system"] for row in session.run(f"show systems {clause}").rows]


@pytest.mark.long
def test_the_past_stays_and_a_day_that_is_not_over_goes_on(lake: Path) -> None:
    tomorrow = f'as of "{datetime.now(UTC) + timedelta(days=1):%Y-%m-%d}"'
    with Session.open(lake) as session:
        for clause in ("", "as of 1", tomorrow):
            assert systems(session, clause) == ["A"]
        load(lake, "B")
        assert systems(session, "as of 1") == ["A"]
        assert systems(session, tomorrow) == ["A", "B"]
        assert systems(session) == ["A", "B"]
        (note,) = session.run(f"show systems {tomorrow}").notes
        assert note.startswith("as it is so far, because that time is not over: the last import is 2, loaded at ")
        (note,) = session.run("show systems as of 1").notes
        assert note.startswith("as it was then: the last import is 1, loaded at ")


@pytest.mark.long
def test_a_time_means_what_was_there_then(lake: Path) -> None:
    empty, first = (change.at for change in read_log(place_of(lake)).changes)
    with Session.open(lake) as session:
        load(lake, "B")
        assert systems(session, f'as of "{first:%Y-%m-%d %H:%M:%S.%fZ}"') == ["A"]
        assert systems(session, f'as of "{first - timedelta.resolution:%Y-%m-%d %H:%M:%S.%f}"') == []
        east = (empty + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S.%f+02:00")
        (note,) = session.run(f'show imports as of "{east}"').notes
        assert note.startswith("as it was then: there are no imports")


@pytest.mark.long
def test_the_past_gives_the_numbers_and_the_fingerprint_that_it_gave_then(lake: Path) -> None:
    with Session.open(lake) as session:
        then = session.run("score m on T interval")
        load(lake, "B")
        now = session.run("score m on T interval as of 1")
    assert now.table == then.table
    assert now.signature.removeprefix(now.statement) == then.signature.removeprefix(then.statement)


@pytest.mark.long
def test_errors_name_a_lake_as_it_was_typed(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(lake.parent)
    with Session.open(lake.name) as session:
        monkeypatch.chdir("/")
        with pytest.raises(QueryError) as caught:
            session.run("show systems as of 99")
    assert (caught.value.message, caught.value.hints) == ("lake never had import 99", ("the only import is 1",))
