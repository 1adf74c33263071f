"""A lake in the storage of a cloud: moto's server on this machine, which answers as S3 does."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalhouse.warehouse.commands.program import main
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake import delta
from evalhouse.warehouse.lake.changes import change_lake
from evalhouse.warehouse.lake.log import LakeChange, add, now, read_log
from evalhouse.warehouse.lake.maintenance import check, compact
from evalhouse.warehouse.lake.making import make_lake
from evalhouse.warehouse.lake.place import LOG, Bucket, LakePlace, place_of
from evalhouse.warehouse.lake.states import TABLES
from evalhouse.warehouse.loading.ingest import forget
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import in_memory
from evalhouse.warehouse.store.database import Database
from tests.lakes import answer, files_of_empty_lake, loaded, nothing, scores, sound

pytest.importorskip("moto.server")

pytestmark = pytest.mark.long

ALL = "score F for all on T"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture(autouse=True)
def environment(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"ENDPOINT_URL": endpoint, "ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "us-east-1"}
    for name, value in said.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    put(f"{endpoint}/bucket")


def put(address: str, contents: bytes | None = None) -> None:
    """Makes a bucket, or a file in one."""
    import urllib.request

    # urllib would call it a form, whose contents moto does not store.
    kind = {"Content-Type": "application/octet-stream"}
    urllib.request.urlopen(urllib.request.Request(address, contents, kind, method="PUT")).close()


@pytest.fixture
def lake(endpoint: str, environment: None, tmp_path: Path) -> LakePlace:
    """An empty lake. To make it at the address would take moto ten times as long as these files."""
    for file, contents in files_of_empty_lake().items():
        put(f"{endpoint}/bucket/{tmp_path.name}/{file.as_posix()}", contents)
    return place_of(f"s3://bucket/{tmp_path.name}")


def test_a_lake_at_an_address_is_as_one_in_a_folder(lake: LakePlace, tmp_path: Path) -> None:
    for system in "AB":
        loaded(lake, scores(tmp_path, system))
    change_lake(lake, "forget", lambda database: forget(database, 1))
    assert [row[2] for row in answer(lake, ALL)] == ["B"]
    assert [row[2] for row in answer(lake, f"{ALL} as of 2")] == ["A", "B"]
    compact(lake)
    assert check(lake) == ((), ())
    compact(lake, datetime.now(UTC))
    assert check(lake) == ((), ())
    assert [row[2] for row in answer(lake, ALL)] == ["B"]
    assert sound(lake)


def test_only_one_of_two_writers_adds_the_next_version(lake: LakePlace) -> None:
    log = read_log(lake)
    stale = delta.open_table(lake, LOG)
    add(lake, log, LakeChange(2, now(), "define"))
    with pytest.raises(delta.Conflict):
        add(lake, type(log)(log.changes, stale), LakeChange(2, now(), "define"))
    assert [change.number for change in read_log(lake).changes] == [1, 2]


def test_loads_at_once_lose_nothing(lake: LakePlace, tmp_path: Path) -> None:
    program = "from evalhouse.warehouse.commands.program import command; raise SystemExit(command())"
    words = [sys.executable, "-c", program, "load", "--db", lake.called, "--quiet"]
    loaders = [subprocess.Popen([*words, str(scores(tmp_path, system))]) for system in "ABC"]
    assert [loader.wait() for loader in loaders] == [0, 0, 0]
    assert {row[2] for row in answer(lake, ALL)} == set("ABC")
    assert sound(lake)


def test_copies_go_there_and_back(lake: LakePlace, tmp_path: Path) -> None:
    loaded(lake, scores(tmp_path, "A"))
    file, again = str(tmp_path / "back.duckdb"), f"{lake.called}-again"
    assert main(["copy", lake.called, file]) == 0
    assert main(["copy", file, again]) == 0
    assert read_log(place_of(again)).last.fingerprints == read_log(lake).last.fingerprints
    assert main(["backup", str(tmp_path / "backup"), "--db", lake.called]) == 0
    with Session.open(tmp_path / "backup") as session:
        assert [row[2] for row in session.run(ALL).table.rows] == ["A"]


def test_a_copy_that_fails_leaves_no_lake(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import duckdb

    file, address = tmp_path / "w.duckdb", f"s3://bucket/{tmp_path.name}"
    assert main(["init", str(file)]) == 0
    assert main(["load", str(scores(tmp_path, "A")), "--db", str(file)]) == 0
    tampered = Path(shutil.copy(file, tmp_path / "tampered.duckdb"))
    with duckdb.connect(tampered) as database:
        database.execute("update score set correct = 1")
    assert main(["copy", str(tampered), address]) == 3
    assert "is unsound, so it was not copied" in capsys.readouterr().err
    assert not place_of(address).is_lake()
    assert place_of(address).listed([LOG, *TABLES]) == {}
    assert main(["copy", str(file), address]) == 0
    assert check(place_of(address)) == ((), ())


def test_of_two_who_make_a_lake_one_does(tmp_path: Path) -> None:
    address = f"s3://bucket/{tmp_path.name}"

    @contextmanager
    def overtaken(folder: Path) -> Iterator[Database]:
        make_lake(address, "init", nothing)
        with in_memory() as database:
            yield database

    with pytest.raises(WarehouseError, match="exists already"):
        make_lake(address, "init", overtaken)
    assert check(place_of(address)) == ((), ())


def test_fetched_files_are_kept_while_there_is_room(
    lake: LakePlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    from evalhouse.warehouse.lake import place

    loaded(lake, scores(tmp_path, "A"))
    answer(lake, ALL)
    kept = sorted((tmp_path / "cache").rglob("*.parquet"))
    assert kept
    os.utime(kept[0], (0, 0))
    monkeypatch.setattr(place, "CACHE", 0)
    place._make_room(tmp_path / "cache" / "evalhouse" / "lakes")
    assert sorted((tmp_path / "cache").rglob("*.parquet")) == kept[1:]
    assert [row[2] for row in answer(lake, ALL)] == ["A"]


@pytest.mark.parametrize(
    ("address", "setting", "message"),
    [
        ("s3://none/evals", ("", ""), "s3://none/evals cannot be reached: there is no such bucket"),
        ("s3://bucket/none", ("", ""), "there is no lake s3://bucket/none"),
        ("s3://bucket/evals", ("AWS_ENDPOINT_URL", "http://127.0.0.1:9"), "cannot be reached: nothing answers there"),
    ],
)
def test_what_cannot_be_reached_is_said(
    address: str,
    setting: tuple[str, str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if setting[0]:
        monkeypatch.setenv(*setting)
    assert main(["info", "--db", address]) != 0
    assert message in capsys.readouterr().err


def test_a_store_that_refuses_to_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        # It takes connections and closes them without a word.
        accepting = threading.Thread(target=_closing, args=(silent,), daemon=True)
        accepting.start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(Exception, match="cannot be reached"):
            Bucket("s3://bucket/evals").is_lake()


def _closing(silent: object) -> None:
    import socket

    assert isinstance(silent, socket.socket)
    try:
        while True:
            silent.accept()[0].close()
    except OSError:
        return


def test_a_session_follows_what_others_load(tmp_path: Path) -> None:
    import evalhouse

    address = f"s3://bucket/{tmp_path.name}"
    with evalhouse.create(address) as warehouse:
        assert repr(warehouse) == f"<evalhouse warehouse: {address}>"
        warehouse.load(str(scores(tmp_path, "A")))
        assert warehouse.score("F").notes == ()
        loaded(place_of(address), scores(tmp_path, "B"))
        result = warehouse.score("F")
        assert [row["system"] for row in result.rows] == ["A", "B"]
        assert result.notes == (f"{address} was changed by another program meanwhile, and is read anew",)
        compact(place_of(address))
        assert len(warehouse.score("F").notes) == 1
        assert warehouse.score("F").notes == ()
    with pytest.raises(WarehouseError, match="exists already"):
        evalhouse.create(address)
