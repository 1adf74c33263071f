"""A lake's tables in a Spark session, queries of facts in Spark's SQL, and the columns that Spark returns.

All that this module needs to know of a table is in `Stored`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct, field

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake.spark.starting import Spark
from evalhouse.warehouse.store.sql import PLACEHOLDER, Sql

# === columns from Spark ===============================================================================================
# They come as Arrow columns and become what DuckDB would have returned.


def spark_type(kind: str) -> str:
    """The Spark name of a DuckDB type."""
    return "STRING" if kind.startswith(("VARCHAR", "ENUM")) else kind


def as_python(column: Any) -> list[Any]:
    """A column as Python values. Decimals without fractional digits become integers."""
    return [
        int(cell) if isinstance(cell, Decimal) and not cell.as_tuple().exponent else cell for cell in column.to_pylist()
    ]


def as_array(column: Any) -> Any:
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


# === Spark's SQL ======================================================================================================
# TRANSLATED lists where it differs from DuckDB's. Nothing runs here.

OUTLINED: Mapping[str, str] = {
    "score": "least(unit_id, 1) as unit_id, 0 as possible, 0 as actual, 0 as correct, 0 as partial",
    "counted": "least(unit_id, 1) as unit_id, count, 0 as number",
    "decision": "false as decision",
    "value": "measure, cast(0 as double) as value",
}
"""The tables that only Spark reads, and the columns of their outline besides test set, system and import. Looking up
names needs no more of them; the numbers in an outline have no meaning.
"""

ON_SPARK = frozenset((*OUTLINED, "cells"))
"""The tables that only Spark can read. Everything else is in the database in memory."""

NAMED = re.compile(rf"\b({'|'.join(sorted(ON_SPARK))})\b")
"""What a query of facts surely contains; parsing it takes longer than this."""


def translate(query: Sql) -> Sql | None:
    """A query in Spark's SQL with its values named :p0, :p1 …; None for a query that reads no facts."""
    if not NAMED.search(query.text):
        return None
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


@cache
def _template(text: str) -> Any:
    import sqlglot

    return sqlglot.parse_one(text, read="spark")


def _parse(text: str, **parts: Any) -> Any:
    from sqlglot import exp

    def filled(node: Any) -> Any:
        return parts[node.name].copy() if isinstance(node, exp.Column) and node.name in parts else node

    return _template(text).transform(filled)


WHOLE_FROM = 2**52
"""From here on every floating-point number is whole."""


def _whole(node: Any) -> Any:
    """A whole number of up to 38 digits. It rounds a floating-point number half to even, as DuckDB does, from its exact
    value; Spark's own cast uses the shortest decimal text, and `rint` of Sail rounds halves away from zero.
    """
    if not _floating(node.this):
        return _parse("cast(x as decimal(38, 0))", x=node.this)
    # Adding a number whose neighbours are whole rounds half to even.
    toward = f"(x + {WHOLE_FROM}d) - {WHOLE_FROM}d", f"(x - {WHOLE_FROM}d) + {WHOLE_FROM}d"
    rounded = f"case when abs(x) >= {WHOLE_FROM}d then x when x >= 0 then {toward[0]} else {toward[1]} end"
    whole = _parse(rounded, x=node.this)
    high = f"cast(floor(r / {2**60}d) as decimal(20, 0))"
    low = f"cast(r - floor(r / {2**60}d) * {2**60}d as bigint)"
    return _parse(f"cast({high} * cast({2**60} as decimal(20, 0)) + {low} as decimal(38, 0))", r=whole)


def _floating(node: Any) -> bool:
    """Whether an expression of the compiler is a floating-point number: the values of documents, times a whole
    number.
    """
    from sqlglot import exp

    return isinstance(node, exp.Paren) and isinstance(node.this, exp.Mul)


def _join_texts(node: Any) -> Any:
    """The distinct texts in order, separated by commas; null if there are none."""
    from sqlglot import exp

    (text,) = node.find(exp.Distinct).expressions
    while isinstance(text, exp.Ordered | exp.Order):
        text = text.this
    return _parse("nullif(array_join(array_sort(collect_set(x)), ', '), '')", x=text)


def _group_columns(node: Any) -> Any:
    """Groups by the columns of the query that are no aggregates, one by one."""
    from sqlglot import exp

    columns = node.parent_select.expressions
    places = (place for place, column in enumerate(columns, start=1) if not column.find(exp.AggFunc))
    return exp.Group(expressions=list(map(exp.Literal.number, places)))


def _order_columns(node: Any) -> Any:
    """Sorts by the columns of the query one by one, with nulls last."""
    from sqlglot import exp

    count = len(node.parent_select.expressions) if node.parent_select else len(node.parent.expressions)
    places = map(exp.Literal.number, range(1, count + 1))
    return exp.Order(expressions=[exp.Ordered(this=place, desc=False, nulls_first=False) for place in places])


TRANSLATED: tuple[tuple[str, Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    # Sail cannot group by all columns.
    ("Group", lambda node: bool(node.args.get("all")), _group_columns),
    # Spark has no 128-bit integers. Its decimals of 38 digits are equally exact, and an overflow is an error.
    ("Cast", _to("INT128"), _whole),
    # Spark may evaluate the rest of a condition before it knows which attribute a row belongs to.
    ("Cast", _to("DOUBLE"), lambda node: _parse("try_cast(x as double)", x=node.this)),
    # Spark 3 concatenates texts in the order in which it meets them; the compiler asks for distinct texts in order.
    ("GroupConcat", lambda node: True, _join_texts),
    # Spark 3 cannot order by all columns, and puts nulls first.
    ("Order", lambda node: [ordered.name.lower() for ordered in node.expressions] in (["all"], [""]), _order_columns),
)
"""The differences between DuckDB's SQL and Spark's that sqlglot does not know: a kind of node, which nodes of that
kind, and the replacement.
"""


# === views of tables ==================================================================================================
# Each view is made when a query first names it, because making all of them takes longer than most queries.

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

        return self.spark.collect_rows(frame)

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
    counted = spark.collect_rows(lambda: spark.session.sql(f"select count(*) as found from `{stored.table}`"))
    if (found := counted.column(0)[0].as_py()) != stored.rows:
        there_are = f"Spark finds {found:,} rows of {stored.table} instead of {stored.rows:,}"
        hint = "Spark must see the same files; evalhouse check says whether they are what was written"
        raise WarehouseError(f"{called} is damaged, or is not what Spark sees: {there_are}", (hint,))


@cache
def _cells() -> str:
    """The query of the view `cells`, in Spark's SQL."""
    statements = files("evalhouse.warehouse.store").joinpath("schema.sql").read_text(encoding="utf-8")
    found = re.search(r"create view cells as\n(.*?);", statements, flags=re.DOTALL)
    translated = translate(Sql(found[1])) if found else None
    if translated is None:
        raise ValueError("the schema has no view cells that reads facts")
    return translated.text
