"""The engine: queries of facts run on Spark, other queries on the database of names, and blocks of work are shared out
to Spark's workers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from grammar.errors import QueryError
from warehouse.lake.spark import sharing
from warehouse.lake.spark.arrow_columns import as_array, as_python
from warehouse.lake.spark.translating import translate
from warehouse.lake.spark.views import SparkViews
from warehouse.query.engine import Done, Portion, Workforce
from warehouse.significance.work import Work
from warehouse.store.database import Database
from warehouse.store.sql import Sql


class SparkEngine(Struct, frozen=True):
    """Runs queries of facts on a Spark session over the views of a lake, and other queries on the database of its
    names. It also distributes blocks of pairs.
    """

    database: Database
    work: Work
    blocks: int
    views: SparkViews

    @property
    def workforce(self) -> Workforce:
        """The workers compute blocks of pairs; everything else is done on this machine."""
        return Workforce(self.work, self.blocks, self.share_out)

    def rows(self, query: Sql) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        translated = translate(query)
        if translated is None:
            return self.database.rows(query)
        table = self.views.answer(translated)
        return list(zip(*(as_python(column) for column in table.columns), strict=True)) if table.num_rows else []

    def columns(self, query: Sql) -> dict[str, Any]:
        """The columns of a query as numpy arrays by name, masked if there are nulls."""
        translated = translate(query)
        if translated is None:
            return self.database.columns(query)
        table = self.views.answer(translated)
        return {name: as_array(column) for name, column in zip(table.column_names, table.columns, strict=True)}

    def untrusted(self, text: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Refuses typed SQL, because users write it for DuckDB."""
        raise QueryError("sql is not supported by --engine spark", hints=("it is answered by the warehouse itself",))

    def interrupt(self) -> None:
        """Stops the query that another thread is running."""
        self.database.interrupt()
        self.views.spark.interrupt()

    def close(self) -> None:
        """Closes the names and ends the session."""
        self.database.close()
        self.views.spark.close()

    def share_out(self, work: Callable[[Portion], Done], tasks: Sequence[Portion]) -> list[Done]:
        """The result of the work for each task, in the order of the tasks."""
        return sharing.share_out(self.views.spark, work, tasks)
