"""What the tests of lakes and of Spark share: lakes beside the warehouses they were made of, and a Sail server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from evalhouse.warehouse.loading.ingest import load
from evalhouse.warehouse.session.session import Session
from evalhouse.warehouse.store.connecting import open_to_export
from tests.empty import create
from tests.lakes import lake_of

NAMES = ("sample", "worked", "clustered", "replicated", "values")
"""The warehouses that have a lake."""

QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Java that starts quickly, and does not compile for long what runs for a minute."""

LIGHT = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Compiling, and planning anew, take longer than these small queries. The lake at an address is read without these."""

SAIL = """
import sys
from pysail.spark import SparkConnectServer

{before}
server = SparkConnectServer("127.0.0.1", 0)
server.start(background=True)
print(server.listening_address[1], flush=True)
sys.stdin.read()
"""
"""A Sail server on any free port. It ends with the process that started it, whose end of the pipe is then closed."""


@pytest.fixture(scope="session")
def lakes(warehouses: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A lake of each warehouse, and of one with values of many sizes; beside each, `.duckdb`, the warehouse itself."""
    folder = tmp_path_factory.mktemp("lakes")
    for name in NAMES[:-1]:
        shutil.copyfile(warehouses[name], folder / f"{name}.duckdb")
    fill_values(folder)
    lakes = {name: folder / name for name in NAMES}
    for lake in lakes.values():
        with open_to_export(lake.with_suffix(".duckdb"), folder) as database:
            lake_of(database, lake)
    return lakes


def fill_values(folder: Path) -> None:
    """Values that are halves of the fixed point, large, negative and tiny, of replicates; names with odd signs."""
    path, file, about = folder / "values.duckdb", folder / "values.csv", folder / "systems.csv"
    numbers = [0.1, 1 / 3, -2.5, 2.0**-51, 3 * 2.0**-51, -(2.0**-51), 123456.789, 2.0**40 + 0.5, -7.25e11, 1e-300, 0.0]
    with file.open("w", encoding="utf-8") as out:
        print("test_set,system,document,measure,value", file=out)
        for place, number in enumerate(numbers):
            for run in range(4):
                print(
                    f"t,s{run},a\\b_{place}%,M,{number * (1 + run * (place % 3)) + run / 7 * (place % 2)!r}", file=out
                )
    about.write_text("system,of,size\ns0,one,1\ns1,one,20\ns2,two,3\ns3,two,\n", encoding="utf-8")
    with create(path) as database:
        load(database, file, "values")
        load(database, about, "systems")


def fill_annotated(folder: Path) -> None:
    """Labels of four annotators, who agree more or less; one of them has not read everything."""
    path, file = folder / "annotated.duckdb", folder / "labels.csv"
    kinds = ("relevant", "optional", "nonrelevant")
    with file.open("w", encoding="utf-8") as out:
        print("test_set,document,annotator,label", file=out)
        for who, turns in (("ann", 1), ("bob", 5), ("eve", 7), ("kim", 11)):
            for place in range(50 if who == "kim" else 60):
                print(f"t,d{place},{who},{kinds[(place + (place % turns == 1)) % 3]}", file=out)
    with create(path) as database:
        load(database, file, "labels")


def on_duckdb(lake: Path, folder: Path) -> Session:
    """A session on a copy of the lake's warehouse in a folder that no other session uses: definitions stay in a file,
    while those of a session on Spark last as long as it does.
    """
    return Session.open(shutil.copyfile(lake.with_suffix(".duckdb"), folder / f"{lake.name}.duckdb"))


@contextmanager
def started_sail(before: str = "") -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a new Sail server, and its process. `before` is Python that it runs first."""
    pytest.importorskip("pysail", reason="pysail is not installed")
    environment = {**os.environ, "RUST_LOG": "off"}
    command = [sys.executable, "-c", SAIL.format(before=before)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True) as server:
        assert server.stdout is not None
        try:
            yield f"sc://127.0.0.1:{server.stdout.readline().strip()}", server
        finally:
            server.kill()


@pytest.fixture(scope="session")
def sail() -> Iterator[str]:
    """The address of a Sail server."""
    with started_sail() as (address, _):
        yield address


Both = Callable[[str], tuple[Session, Session]]


@pytest.fixture(scope="session")
def on_sail(sail: str, lakes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Sessions on Sail and on DuckDB by the name of a lake, opened when they are asked for."""
    folder = tmp_path_factory.mktemp("beside_sail")
    opened: dict[str, tuple[Session, Session]] = {}

    def both(name: str) -> tuple[Session, Session]:
        if name not in opened:
            lake = lakes[name]
            opened[name] = (Session.on_lake(str(lake), sail), on_duckdb(lake, folder))
        return opened[name]

    yield both
    for pair in opened.values():
        for session in pair:
            session.close()
