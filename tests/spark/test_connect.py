"""Every kind of statement over Spark Connect, compared with DuckDB cell by cell; and what is said where a server is not
there, goes away, or has workers without evalhouse. The server is Sail, which needs no Java.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake.spark.engine import SparkEngine
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.sql import Sql
from tests.spark.conftest import NAMES, started_sail
from tests.spark.statements import APART, GROUPED, PARTED, STATEMENTS, answer

pytestmark = pytest.mark.xdist_group("sail")  # one server for all

Both = Callable[[str], tuple[Session, Session]]


def _marked() -> Iterator[Any]:
    """The statements; those of a kind and a lake that others had before are among the slow tests."""
    known: set[str] = set()
    for data, statement in STATEMENTS:
        kinds = {data, statement.split()[0]}
        yield pytest.param(data, statement, marks=[pytest.mark.long] if kinds <= known else [])
        known |= kinds


@pytest.mark.parametrize(("data", "statement"), list(_marked()))
def test_spark_connect_gives_the_same(on_sail: Both, data: str, statement: str) -> None:
    on_spark, on_duckdb = on_sail(data)
    assert answer(on_spark, statement) == answer(on_duckdb, statement)


SHARED: list[Any] = [("sample", GROUPED, 2)]
SHARED += [
    pytest.param(data, statement, 5, marks=pytest.mark.long)
    for data, statement in [*(("sample", each) for each in PARTED[-9:]), *APART]
    if data in NAMES
]


@pytest.mark.parametrize(("data", "statement", "blocks"), SHARED)
def test_blocks_change_no_number(on_sail: Both, data: str, statement: str, blocks: int) -> None:
    session, on_duckdb = on_sail(data)
    engine = session._warehouse.engine
    assert isinstance(engine, SparkEngine)
    session._warehouse.engine = replace(engine, blocks=blocks)
    try:
        assert answer(session, statement) == answer(on_duckdb, statement)
    finally:
        session._warehouse.engine = engine


def test_a_lake_at_an_address_is_read_by_the_server(on_sail: Both, sail: str, lakes: dict[str, Path]) -> None:
    with Session.on_lake(lakes["worked"].as_uri(), sail) as session:
        statement = "score recall, precision, auc for all on alerts; score F for all on abc"
        assert answer(session, statement) == answer(on_sail("worked")[1], statement)
    with pytest.raises(WarehouseError, match="there is no lake"):
        Session.on_lake("file:///no/such/lake", sail)


def test_a_server_that_sees_other_files_is_refused(lakes: dict[str, Path], tmp_path: Path, sail: str) -> None:
    """As it would be on another machine, where the folder has other rows than here."""
    from evalhouse.warehouse.lake.spark.starting import start_session
    from evalhouse.warehouse.lake.spark.views import Stored, make_view

    files = tuple(file.as_uri() for file in (lakes["worked"] / "score").glob("*.parquet"))
    spark = start_session(sail)
    try:
        with pytest.raises(WarehouseError, match=r"Spark finds [\d,]+ rows of score instead of 7"):
            make_view(spark, Stored("score", files, {"possible": "INTEGER"}, 7), "it")
    finally:
        spark.close()


def test_the_past_of_a_lake_is_asked_on_spark(on_sail: Both) -> None:
    on_spark, on_duckdb = on_sail("sample")
    statement = "score F for GE, SRI on TST3"
    then = on_spark.run(f"{statement} as of 7")
    assert then.table == on_duckdb.run(statement).table
    with pytest.raises(QueryError, match="never had import 99"):
        on_spark.run(f"{statement} as of 99")


def test_a_lake_elsewhere_is_outlined_by_spark(
    on_sail: Both, sail: str, lakes: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a lake at an address: its large tables are not fetched, and the names are looked up all the same."""
    monkeypatch.setattr("evalhouse.warehouse.lake.spark.engine.Folder", type("Elsewhere", (), {}))
    with Session.on_lake(str(lakes["sample"]), sail) as session:
        [(facts,)] = session.database.rows(Sql("select count(*) from score"))
        assert facts < 100
        for statement in ("score F for all on TST3", "compare F for GE, SRI on TST3", "show test sets"):
            assert answer(session, statement) == answer(on_sail("sample")[1], statement)


@pytest.mark.parametrize(
    ("statement", "word"),
    [('load "a.csv" as scores', "load"), ("forget import 1", "forget"), ('sql "select 1"', "sql")],
)
def test_what_spark_does_not_do_is_said(on_sail: Both, statement: str, word: str) -> None:
    with pytest.raises(QueryError, match=f"{word} is not supported by --engine spark") as raised:
        on_sail("sample")[0].run(statement)
    assert raised.value.span.start == 0


def test_two_lakes_do_not_share_their_views(on_sail: Both) -> None:
    for name, asked in (("sample", "score F for GE on TST3"), ("worked", "score recall for A on abc")):
        on_spark, on_duckdb = on_sail(name)
        assert answer(on_spark, asked) == answer(on_duckdb, asked)


# --- mistakes and misfortunes -----------------------------------------------------------------------------------------


def test_an_address_without_a_server_is_an_error(lakes: dict[str, Path]) -> None:
    pytest.importorskip("pyspark", exc_type=ImportError)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(WarehouseError, match=f"no Spark Connect server answers at sc://127.0.0.1:{port}: connection"):
        Session.on_lake(str(lakes["worked"]), f"sc://127.0.0.1:{port}")
    with pytest.raises(WarehouseError, match="sc:// is not the address of a Spark Connect server"):
        Session.on_lake(str(lakes["worked"]), "sc://")


@pytest.mark.parametrize("master", ["localhost:7077", "local[0]", "local[x]", "spark://host", "sc:/host", "k8s://"])
def test_what_is_no_address_is_refused_before_java_starts(
    lakes: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, master: str
) -> None:
    pytest.importorskip("pyspark", exc_type=ImportError)
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    java.touch()
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(WarehouseError, match=f"^{re.escape(master)} is not the address of a Spark"):
        Session.on_lake(str(lakes["worked"]), master)


def test_what_java_says_when_it_does_not_start_is_in_the_error(lakes: dict[str, Path], tmp_path: Path) -> None:
    pytest.importorskip("pyspark", exc_type=ImportError)
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'Could not reserve enough space' >&2\nexit 1\n", encoding="utf-8")
    java.chmod(0o755)
    words = [
        "query",
        "--db",
        str(lakes["worked"]),
        "--engine",
        "spark",
        "--master",
        "local[1]",
        "score F for all on abc",
    ]
    program = [sys.executable, "-m", "cli", *words]
    done = subprocess.run(
        program, env={**os.environ, "JAVA_HOME": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(
        "error: Spark does not start on local[1]: Java did not start; Spark 4 runs on Java 17"
    )
    assert "  Java says: Could not reserve enough space\n  --master URL names another\n" in done.stderr


@pytest.mark.long
def test_a_server_that_ends_is_an_error(lakes: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evalhouse.warehouse.lake.spark.starting.PATIENCE", {"max_retries": 1, "initial_backoff": 10})
    with started_sail() as (address, server), Session.on_lake(str(lakes["worked"]), address) as session:
        server.kill()
        server.wait()
        with pytest.raises(WarehouseError, match=f"Spark at {address} was lost"):
            session.run("score recall for A on abc")


WITHOUT = """
class Nowhere:
    def find_spec(self, name, *others):
        if name == "evalhouse":
            raise ModuleNotFoundError("No module named '" + name + "'", name=name)

sys.meta_path.insert(0, Nowhere())
"""

OTHER = """
import evalhouse.warehouse.version

evalhouse.warehouse.version.__version__ = "0.0.7"
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("before", "said"),
    [
        (WITHOUT, "the Python of Spark's workers has no module evalhouse"),
        (OTHER, "Spark's workers have evalhouse 0.0.7"),
    ],
    ids=["without evalhouse", "another version"],
)
def test_workers_that_cannot_do_the_work_are_an_error(lakes: dict[str, Path], before: str, said: str) -> None:
    with started_sail(before) as (address, _), Session.on_lake(str(lakes["worked"]), address) as session:
        assert session.run("score recall for A on abc").rows
        with pytest.raises(WarehouseError, match=said):
            session.run("compare precision for A, B, C on abc shuffles 99")
