"""Every kind of statement on Spark with Java, compared with DuckDB cell by cell. Sail is asked all statements, and Java
those that have all that there is in Spark's SQL (test_on_java.py).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake.spark.engine import SparkEngine
from evalhouse.warehouse.session.session import Session
from tests.spark.conftest import LIGHT, QUICK, on_duckdb
from tests.spark.statements import GROUPED, ON_JAVA, PARTED, answer

JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")

pytestmark = [
    pytest.mark.spark,
    # pyspark's own: 3.5 imports distutils, and leaves its sockets to the collector.
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning", "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
    ),
]


@pytest.fixture(scope="module")
def spark(
    lakes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[Session, Session]]]:
    """Sessions on Spark and on DuckDB by name; one Spark for all."""
    for module in ("pyspark", "sqlglot", "pyarrow"):
        pytest.importorskip(module, reason=f"the extra spark is not installed: {module}")
    if not JAVA:
        pytest.skip("there is no Java")
    os.environ |= {"SPARK_LOCAL_IP": "127.0.0.1", "JDK_JAVA_OPTIONS": QUICK}
    folder = tmp_path_factory.mktemp("beside_spark")
    opened = {}
    for name, lake in lakes.items():
        opened[name] = (Session.on_lake(str(lake), "local[2]"), on_duckdb(lake, folder))
        for setting, chosen in LIGHT.items():
            opened[name][0]._warehouse.engine.views.spark.session.conf.set(setting, chosen)  # type: ignore[attr-defined]
    yield opened
    for pair in opened.values():
        for session in pair:
            session.close()
    opened["sample"][0]._warehouse.engine.views.spark.session.stop()  # type: ignore[attr-defined]


@pytest.mark.parametrize(("data", "statement"), ON_JAVA)
def test_both_engines_give_the_same(spark: dict[str, tuple[Session, Session]], data: str, statement: str) -> None:
    on_spark, on_duckdb = spark[data]
    assert answer(on_spark, statement) == answer(on_duckdb, statement)


@pytest.mark.parametrize("blocks", [5])
@pytest.mark.parametrize("statement", [GROUPED, PARTED[-8]])
def test_partitions_change_no_number(spark: dict[str, tuple[Session, Session]], statement: str, blocks: int) -> None:
    session = spark["sample"][0]
    engine = session._warehouse.engine
    assert isinstance(engine, SparkEngine)
    session._warehouse.engine = replace(engine, blocks=blocks)
    try:
        assert answer(session, statement) == answer(spark["sample"][1], statement)
    finally:
        session._warehouse.engine = engine


def test_a_lake_at_an_address_is_read_by_spark(
    spark: dict[str, tuple[Session, Session]], lakes: dict[str, Path]
) -> None:
    with Session.on_lake(lakes["worked"].as_uri(), "local[2]") as session:
        statement = "score recall, precision, auc for all on alerts; score F for all on abc"
        assert answer(session, statement) == answer(spark["worked"][1], statement)
    with pytest.raises(WarehouseError, match="there is no lake"):
        Session.on_lake("file:///no/such/lake", "local[2]")
