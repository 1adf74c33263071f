"""The engine for data that do not fit on one machine: sums of facts run on Spark, over a lake (see
warehouse.lake.folder).

Names are looked up in a database in memory, as in any warehouse. A query that reads a table of facts is translated from
DuckDB's SQL and runs on Spark. Its results have the types that DuckDB would have returned. TRANSLATED lists the
differences between the two. pyspark and sqlglot are imported only when a lake is opened.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from importlib.resources import files
from pathlib import Path
from typing import Any

from grammar.errors import QueryError
from warehouse.faults import WarehouseError
from warehouse.lake.folder import (
    FACTS,
    MANIFEST,
    OUTLINED,
    TABLES,
    check_facts,
    no_lake,
    open_names,
    parsed,
    read_manifest,
)
from warehouse.publishing import temporary
from warehouse.query.engine import Done, Portion, Workforce
from warehouse.significance.work import Work
from warehouse.store.database import Database
from warehouse.store.sql import PLACEHOLDER, Sql

LOCAL = "local[*]"
"""All processors of this machine."""

ON_SPARK = frozenset((*OUTLINED, "cells"))
"""The tables that only Spark can read. Everything else is in the database in memory."""

SETTINGS: Mapping[str, str] = {
    "spark.app.name": "evalhouse",
    "spark.sql.ansi.enabled": "true",  # a sum that overflows is an error, and not null
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
SETTINGS_ON_THIS_MACHINE: Mapping[str, str] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
}


@dataclass(frozen=True, slots=True)
class SparkEngine:
    """Runs queries of facts on a Spark session over the views of a lake, and other queries on the database of its
    names. It also distributes blocks of pairs.
    """

    database: Database
    work: Work
    blocks: int
    spark: Any

    @property
    def workforce(self) -> Workforce:
        """The workers compute blocks of pairs; everything else is done on this machine."""
        return Workforce(self.work, self.blocks, self.share_out)

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        translated = translate(query)
        if translated is None:
            return self.database.rows(query)
        table = self._run(translated)
        return list(zip(*(_python(column) for column in table.columns), strict=True)) if table.num_rows else []

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name, masked if there are nulls."""
        translated = translate(query)
        if translated is None:
            return self.database.columns(query)
        table = self._run(translated)
        return {name: _array(column) for name, column in zip(table.column_names, table.columns, strict=True)}

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Refuses typed SQL, because users write it for DuckDB."""
        raise QueryError("sql is not supported by --engine spark", hints=("it is answered by the warehouse itself",))

    def interrupt(self) -> None:
        """Stops the query that another thread is running."""
        self.database.interrupt()
        self.spark.sparkContext.cancelAllJobs()

    def share_out(self, work: Callable[[Portion], Done], tasks: Sequence[Portion]) -> list[Done]:
        """The result of the work for each task, in the order of the tasks. It uses `mapInArrow`, with one partition per
        task.
        """
        import pickle

        import pyarrow as pa
        from pyspark.serializers import CloudPickleSerializer

        dumps: Callable[[Any], bytes] = CloudPickleSerializer().dumps
        pickled = dumps(work)

        def made(batches: Iterator[Any]) -> Iterator[Any]:
            apply = pickle.loads(pickled)
            for batch in batches:
                for place, task in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
                    done = dumps(apply(pickle.loads(task)))
                    yield pa.RecordBatch.from_pydict({"place": pa.array([place], pa.int64()), "done": [done]})

        pickles = [(place, bytearray(dumps(task))) for place, task in enumerate(tasks)]
        rows = self.spark.sparkContext.parallelize(pickles, len(tasks))
        frame = self.spark.createDataFrame(rows, "place long, task binary")
        table = self._collected(lambda: frame.mapInArrow(made, "place long, done binary"))
        by_place = dict(zip(table.column("place").to_pylist(), table.column("done").to_pylist(), strict=True))
        return [pickle.loads(by_place[place]) for place in range(len(tasks))]

    def _run(self, query: Sql) -> Any:
        args = {f"p{place}": value for place, value in enumerate(query.params)}
        return self._collected(lambda: self.spark.sql(query.text, args=args))

    def _collected(self, frame: Callable[[], Any]) -> Any:
        """The rows of a Spark frame as an Arrow table. Raises WarehouseError."""
        import pyarrow as pa
        from pyspark.sql.pandas.types import to_arrow_schema

        try:
            made = frame()
            if hasattr(made, "toArrow"):  # since Spark 4
                return made.toArrow()
            return pa.Table.from_batches(made._collect_as_arrow(), schema=to_arrow_schema(made.schema))
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("py4j", "pyspark"):
                raise
            raise _failed(str(error)) from None


# --- opening ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Lake:
    """An open lake: the names, and a Spark session with a view of each table."""

    names: Database
    spark: Any
    blocks: int

    def engine(self, database: Database, workforce: Workforce) -> SparkEngine:
        """The engine that queries it."""
        return SparkEngine(database, workforce.work, self.blocks, self.spark)


def open_lake(folder: str, master: str | None = None) -> Lake:
    """The lake in a folder of this machine or at an address that Spark reads. Raises WarehouseError."""
    remote = "://" in folder
    if not remote:
        manifest = read_manifest(Path(folder))
        check_facts(Path(folder), manifest)
    spark = _started(master or LOCAL).newSession()  # two lakes must not share their views
    at = folder.rstrip("/") if remote else Path(folder).absolute().as_uri()
    if remote:
        with temporary() as copy:
            manifest = parsed(folder, _fetched(spark, folder, at, copy))
            names = open_names(copy, manifest, folder)
    else:
        names = open_names(Path(folder), manifest, folder)
    try:
        columns = names.rows(Sql("select table_name, column_name, data_type from duckdb_columns() where not internal"))
        for table in (*FACTS, *TABLES):
            # The types are given, because a folder without files has no columns, and detecting them takes time.
            schema = ", ".join(f"`{column}` {_type(kind)}" for other, column, kind in columns if other == table)
            file = table if table in FACTS else f"tables/{table}.parquet"
            facts = spark.read.schema(schema).parquet(f"{at}/{file}")
            facts.createOrReplaceTempView(table)
            # On this machine each file was compared; elsewhere the row counts at the end of the files are compared.
            if remote and table in OUTLINED and (rows := facts.count()) != manifest.rows.get(table):
                there_are = f"{rows:,} rows of {table} instead of {manifest.rows.get(table):,}"
                raise WarehouseError(f"{folder} is damaged: it has {there_are}", ("export the lake again",))
        statements = files("warehouse.store").joinpath("schema.sql").read_text(encoding="utf-8")
        cells = re.search(r"create view cells as\n(.*?);", statements, flags=re.DOTALL)
        if cells is None:
            raise ValueError("the schema has no view cells")
        view = translate(Sql(cells[1]))
        spark.sql(view.text if view else "").createOrReplaceTempView("cells")
    except WarehouseError:
        names.close()
        raise
    except Exception as error:
        names.close()
        raise _failed(str(error)) from None
    return Lake(names, spark, spark.sparkContext.defaultParallelism)


def _fetched(spark: Any, called: str, at: str, to: Path) -> str:
    """Copies the files needed for names from storage that only Spark can read, and returns the text of the manifest."""
    try:
        [(_, text)] = spark.sparkContext.wholeTextFiles(f"{at}/{MANIFEST}").collect()
    except Exception:
        raise no_lake(called) from None
    try:
        small = ("tables/*.parquet", "outline/*.parquet", "published/*/*.parquet", "key_label/*/*.parquet")
        there = spark.sparkContext.binaryFiles(",".join(f"{at}/{files}" for files in small[:2])).collect()
        for more in small[2:]:
            # Spark raises an error for a pattern without matches, and a table without rows has no files.
            with suppress(Exception):
                there += spark.sparkContext.binaryFiles(f"{at}/{more}").collect()
    except Exception as error:
        raise _failed(str(error)) from None
    for address, content in there:
        depth = 3 if re.search(r"/(published|key_label)/[^/]+/[^/]+$", address) else 2
        file = to.joinpath(*address.split("/")[-depth:])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return str(text)


def _started(master: str) -> Any:
    """A Spark session of this process. Raises WarehouseError if there is no Spark, no Java, or no such master."""
    try:
        import pyarrow  # noqa: F401
        import sqlglot  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        what = f"--engine spark needs {error.name}, which is not installed"
        raise WarehouseError(what, ("pip install 'evalhouse[spark]'",)) from None
    home = os.environ.get("JAVA_HOME")
    if not (shutil.which("java") or (home and Path(home, "bin", "java").exists())):
        raise WarehouseError("--engine spark needs Java 17, which is not installed", ("install it, or set JAVA_HOME",))
    if not re.match(r"local(\[.+\])?$|(spark|k8s|mesos)://.|yarn$", master):
        addresses = "--master local[4], spark://HOST:7077, yarn or k8s://HOST are addresses"
        raise WarehouseError(f"{master} names no Spark", (addresses,))
    settings: dict[str, Any] = {**SETTINGS, **(SETTINGS_ON_THIS_MACHINE if master.startswith("local") else {})}
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).config(map=settings)
    with _quiet():
        try:
            spark = builder.getOrCreate()
        except Exception as error:
            why = _sentence(str(error))
            if "gateway" in why.lower():
                why = "Java did not start; Spark 3.5 runs on Java 8, 11 and 17"
            raise WarehouseError(f"Spark does not start on {master}: {why}", ("--master URL names another",)) from None
        spark.sparkContext.setLogLevel("OFF")
    return spark


@contextmanager
def _quiet() -> Iterator[None]:
    """Within this context, Java starts without standard error, so that its log does not appear on the screen."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _failed(text: str) -> WarehouseError:
    if "cancelled" in text or "canceled" in text:
        return WarehouseError("interrupted")
    return WarehouseError(f"Spark cannot answer this: {_sentence(text)}")


def _sentence(text: str) -> str:
    """The innermost cause of a long Spark message, in one line and without the trace."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r":? ?[\w.]+(Exception|Error): ", line)]
    causes = [line for line in lines if line.startswith("Caused by: ")] or errors
    said = (causes or lines or ["nothing is known"])[-1 if causes else 0]
    return re.sub(r"^(Caused by: |: )?([\w.$]+(Exception|Error): )*", "", said).rstrip(" .!")[:300]


# --- translating ------------------------------------------------------------------------------------------------------


def translate(query: Sql) -> Sql | None:
    """A query in Spark's SQL with its values named :p0, :p1 …; None for a query that reads no facts."""
    import sqlglot
    from sqlglot import exp

    places = iter(range(len(query.params)))
    # A value is written as a call until the query is parsed, so that it can be followed to its new place.
    numbered = PLACEHOLDER.sub(lambda found: found[0] if found[0] != "?" else f"parameter_({next(places)})", query.text)
    tree = sqlglot.parse_one(numbered, read="duckdb")
    if not any(table.name in ON_SPARK for table in tree.find_all(exp.Table)):
        return None
    params = list(query.params)
    for like in tree.find_all(exp.Like):
        # A backslash is an ordinary character in DuckDB but begins an escape in Spark.
        for call in like.expression.find_all(exp.Anonymous):
            place = _place(call)
            params[place] = str(params[place]).replace("\\", "\\\\")
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name == "parameter_":
            call.replace(exp.Placeholder(this=f"p{_place(call)}"))
    for kind, fits, made in TRANSLATED:
        # Inner nodes first, so that a node within another is not lost.
        for node in reversed(list(tree.find_all(getattr(exp, kind)))):
            if fits(node):
                node.replace(made(node))
    return Sql(tree.sql(dialect="spark"), tuple(params))


def _place(call: Any) -> int:
    return int(call.expressions[0].this)


def _to(*types: str) -> Callable[[Any], bool]:
    return lambda node: node.to.this.name in types


def _parsed(text: str, **parts: Any) -> Any:
    import sqlglot
    from sqlglot import exp

    def filled(node: Any) -> Any:
        return parts[node.name].copy() if isinstance(node, exp.Column) and node.name in parts else node

    return sqlglot.parse_one(text, read="spark").transform(filled)


def _whole(node: Any) -> Any:
    """A whole number of up to 38 digits. It rounds a floating-point number half to even, as DuckDB does, from its exact
    value; Spark's own cast uses the shortest decimal text.
    """
    if not _floating(node.this):
        return _parsed("cast(x as decimal(38, 0))", x=node.this)
    high = f"cast(floor(rint(x) / {2**60}d) as decimal(20, 0))"
    low = f"cast(rint(x) - floor(rint(x) / {2**60}d) * {2**60}d as bigint)"
    return _parsed(f"cast({high} * cast({2**60} as decimal(20, 0)) + {low} as decimal(38, 0))", x=node.this)


def _floating(node: Any) -> bool:
    """Whether an expression of the compiler is a floating-point number: the values of documents, times a whole
    number.
    """
    from sqlglot import exp

    return isinstance(node, exp.Paren) and isinstance(node.this, exp.Mul)


def _listed(node: Any) -> Any:
    """The distinct texts in order, separated by commas; null if there are none."""
    from sqlglot import exp

    (text,) = node.find(exp.Distinct).expressions
    while isinstance(text, exp.Ordered | exp.Order):
        text = text.this
    return _parsed("nullif(array_join(array_sort(collect_set(x)), ', '), '')", x=text)


def _ordered(node: Any) -> Any:
    """Sorts by the columns of the query one by one, with nulls last."""
    from sqlglot import exp

    count = len(node.parent_select.expressions) if node.parent_select else len(node.parent.expressions)
    places = map(exp.Literal.number, range(1, count + 1))
    return exp.Order(expressions=[exp.Ordered(this=place, desc=False, nulls_first=False) for place in places])


TRANSLATED: tuple[tuple[str, Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    # Spark has no 128-bit integers. Its decimals of 38 digits are equally exact, and an overflow is an error.
    ("Cast", _to("INT128"), _whole),
    # Spark may evaluate the rest of a condition before it knows which attribute a row belongs to.
    ("Cast", _to("DOUBLE"), lambda node: _parsed("try_cast(x as double)", x=node.this)),
    # Spark 3 concatenates texts in the order in which it meets them; the compiler asks for distinct texts in order.
    ("GroupConcat", lambda node: True, _listed),
    # Spark 3 cannot order by all columns, and puts nulls first.
    ("Order", lambda node: [ordered.name.lower() for ordered in node.expressions] in (["all"], [""]), _ordered),
)
"""The differences between DuckDB's SQL and Spark's that sqlglot does not know: a kind of node, which nodes of that
kind, and the replacement.
"""


# --- types ------------------------------------------------------------------------------------------------------------


def _type(kind: str) -> str:
    """The Spark name of a DuckDB type."""
    return "STRING" if kind.startswith(("VARCHAR", "ENUM")) else kind


def _python(column: Any) -> list[Any]:
    """A column as Python values. Decimals without fractional digits become integers."""
    return [
        int(cell) if isinstance(cell, Decimal) and not cell.as_tuple().exponent else cell for cell in column.to_pylist()
    ]


def _array(column: Any) -> Any:
    """A column as an array of the type that DuckDB returns, masked if there are nulls."""
    import numpy as np
    import pyarrow as pa

    kind = column.type
    if pa.types.is_null(kind):
        return np.ma.masked_array(np.zeros(len(column), dtype=np.int32), mask=True)
    if pa.types.is_string(kind) or pa.types.is_decimal(kind):
        dtype: Any = object if pa.types.is_string(kind) else np.float64
    else:
        dtype = kind.to_pandas_dtype()
    fill: Any = "" if dtype is object else 0
    null = np.array([not cell.is_valid for cell in column]) if column.null_count else None
    filled = (
        np.array([fill if cell is None else cell for cell in column.to_pylist()], dtype=dtype)
        if (null is not None or dtype is object or pa.types.is_decimal(kind))
        else column.to_numpy()
    )
    return filled if null is None else np.ma.masked_array(filled, mask=null)
