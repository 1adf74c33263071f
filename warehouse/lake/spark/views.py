"""The views of a lake's tables in a Spark session. Each is made when a query first names it, because making all of them
takes longer than most queries.

All that the views need to know of a table is in Stored.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct, field

from warehouse.faults import WarehouseError
from warehouse.lake.spark.arrow_columns import spark_type
from warehouse.lake.spark.starting import Spark
from warehouse.lake.spark.translating import translate
from warehouse.store.sql import Sql

CELLS = "cells"
"""The view of decisions beside the key, which reads other tables."""


class Stored(Struct, frozen=True):
    """Where Spark reads a table: the addresses of its Parquet files, and the columns with their DuckDB types. If `rows`
    is given, Spark must find that number of rows.
    """

    table: str
    files: tuple[str, ...]
    columns: Mapping[str, str]
    rows: int | None = None


class SparkViews(Struct, frozen=True):
    """The tables of a lake, what the lake is called in errors, and which tables have a view already."""

    spark: Spark
    called: str
    stored: Mapping[str, Stored]
    made: set[str] = field(default_factory=set)

    def answer(self, query: Sql) -> Any:
        """The rows of a query in Spark's SQL as an Arrow table. Raises WarehouseError."""
        args = {f"p{place}": value for place, value in enumerate(query.params)}

        def frame() -> Any:
            self.make_for(query.text)
            return self.spark.session.sql(query.text, args=args)

        return self.spark.collected(frame)

    def make_for(self, query: str) -> None:
        """Makes the views that a query in Spark's SQL names and that do not exist yet. Raises WarehouseError."""
        for name in set(re.findall(r"\w+", query)) & {CELLS, *self.stored} - self.made:
            if name == CELLS:
                self.make_for(_cells())
                self.spark.session.sql(_cells()).createOrReplaceTempView(CELLS)
            else:
                make_view(self.spark, self.stored[name], self.called)
            self.made.add(name)


def make_view(spark: Spark, stored: Stored, called: str) -> None:
    """Makes the view of a table in a Spark session. The types are given, because detecting them takes time. Raises
    WarehouseError.
    """
    schema = ", ".join(f"`{column}` {spark_type(kind)}" for column, kind in stored.columns.items())
    if stored.files:
        rows = spark.session.read.schema(schema).parquet(*stored.files)
    else:
        rows = spark.session.createDataFrame([], schema)
    rows.createOrReplaceTempView(stored.table)
    if stored.rows is None:
        return
    counted = spark.collected(lambda: spark.session.sql(f"select count(*) as found from `{stored.table}`"))
    if (found := counted.column(0)[0].as_py()) != stored.rows:
        there_are = f"Spark finds {found:,} rows of {stored.table} instead of {stored.rows:,}"
        hint = "Spark must see the same files; evalhouse check says whether they are what was written"
        raise WarehouseError(f"{called} is damaged, or is not what Spark sees: {there_are}", (hint,))


@cache
def _cells() -> str:
    """The query of the view `cells`, in Spark's SQL."""
    statements = files("warehouse.store").joinpath("schema.sql").read_text(encoding="utf-8")
    found = re.search(r"create view cells as\n(.*?);", statements, flags=re.DOTALL)
    translated = translate(Sql(found[1])) if found else None
    if translated is None:
        raise ValueError("the schema has no view cells that reads facts")
    return translated.text
