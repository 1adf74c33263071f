"""The Spark engine: runs queries of facts on Spark, and shares blocks of work among Spark's workers.

Queries that are not about facts run on the database of names.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct, field

from evalhouse.grammar.errors import QueryError
from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.lake.log import LakeLog, LakeState, read_log
from evalhouse.warehouse.lake.place import Folder, LakePlace, place_of
from evalhouse.warehouse.lake.spark.starting import LOCAL, Spark, spark_error, start_session
from evalhouse.warehouse.lake.spark.views import OUTLINED, SparkViews, Stored, as_array, as_python, translate
from evalhouse.warehouse.lake.states import TABLES, number_as_of, open_state
from evalhouse.warehouse.plans.past import AsOf
from evalhouse.warehouse.plans.path import Done, Portion, Workforce
from evalhouse.warehouse.significance.draws import Work
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.sql import Sql
from evalhouse.warehouse.version import __version__

# === work for Spark's workers =========================================================================================
# Each task goes to a worker as bytes, and its result comes back as bytes. The workers have evalhouse installed. A
# worker with another version is refused, because its digits could differ.

OTHER_VERSION = b"other version "
"""How the answer of a worker with another evalhouse begins. A pickle begins otherwise."""


def share_out(spark: Spark, work: Callable[[Portion], Done], tasks: Sequence[Portion]) -> list[Done]:
    """The result of the work for each task, in the order of the tasks. Up to as many tasks as Spark does at once are
    each a partition of its own.

    Raises WarehouseError.
    """
    if not tasks:
        return []
    from pyspark import cloudpickle  # measures hold functions without a name, which pickle refuses

    dumps: Callable[[Any], bytes] = cloudpickle.dumps
    made = partial(_work, __version__, dumps(work))
    pickles = [bytearray(dumps(task)) for task in tasks]

    def frame() -> Any:
        return spark.spread(pickles).mapInArrow(made, "place long, done binary")

    table = spark.collect_rows(frame)
    by_place = dict(zip(table.column("place").to_pylist(), table.column("done").to_pylist(), strict=True))
    if other := next((done for done in by_place.values() if done.startswith(OTHER_VERSION)), None):
        theirs = other.removeprefix(OTHER_VERSION).decode()
        what = f"Spark's workers have evalhouse {theirs}, and this is {__version__}"
        raise WarehouseError(what, ("install the same evalhouse for the Python that runs the workers",))
    return [pickle.loads(by_place[place]) for place in range(len(tasks))]


def _work(version: str, pickled: bytes, batches: Iterator[Any]) -> Iterator[Any]:
    """What a worker does with its tasks."""
    import pyarrow as pa

    if version != __version__:
        done = OTHER_VERSION + __version__.encode()
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"place": batch.column(0), "done": [done] * batch.num_rows})
        return
    work = pickle.loads(pickled)
    for batch in batches:
        for place, task in zip(batch.column(0).to_pylist(), batch.column(1).to_pylist(), strict=True):
            done = pickle.dumps(work(pickle.loads(task)))
            yield pa.RecordBatch.from_pydict({"place": pa.array([place], pa.int64()), "done": [done]})


# === the engine =======================================================================================================


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
        return share_out(self.views.spark, work, tasks)


# === opening a lake ===================================================================================================
# Its names in memory, and where a Spark session finds each of its tables.


class Lake(Struct, frozen=True):
    """An open lake: the names, and the views of a Spark session. Its past states are opened beside it."""

    place: LakePlace
    log: LakeLog
    names: Database
    views: SparkViews
    blocks: int
    master: str
    states: list[Lake] = field(default_factory=list)

    def engine(self, database: Database, workforce: Workforce) -> SparkEngine:
        """The engine that queries the lake, or the past state that a database has the names of."""
        lake = next((state for state in self.states if state.names is database), self)
        return SparkEngine(database, workforce.work, lake.blocks, lake.views)

    def past(self, as_of: AsOf) -> Database:
        """The names in a past state. Raises NoSuchStateError if there was none."""
        state = self.log.after(number_as_of(self.place, self.log, as_of))
        self.states.append(_open_lake(self.place, self.log, state, self.master))
        return self.states[-1].names


def open_lake(named: str, master: str | None = None) -> Lake:
    """The lake in a folder of this machine or at an address that Spark reads. Raises WarehouseError."""
    place = place_of(named)
    log = read_log(place)
    return _open_lake(place, log, log.last, master or LOCAL)


def _open_lake(place: LakePlace, log: LakeLog, state: LakeState, master: str) -> Lake:
    """A lake in one of its states. Raises WarehouseError, and leaves nothing open."""
    here = isinstance(place, Folder)
    known = state if here else _without(state, OUTLINED)
    names = open_state(place, known)
    try:
        spark = start_session(master)
    except BaseException:
        names.close()
        raise
    try:
        # Files of this machine were compared with their digests. Other files may differ, so their rows are counted.
        stored = _stored_tables(place, state, names, counted=not (here and spark.same_files))
        views = SparkViews(spark, place.called, {table.table: table for table in stored})
        if not here:
            for table in OUTLINED:
                if state.of(table):
                    _outline(views, names, table)
        return Lake(place, log, names, views, spark.parallelism(), master)
    except Exception as error:
        names.close()
        spark.close()
        if isinstance(error, WarehouseError):
            raise
        raise spark_error(error, spark.address) from None


def _without(state: LakeState, tables: Iterable[str]) -> LakeState:
    left = tuple(file for file in state.files if file.table not in tables)
    return LakeState(state.number, state.at, left, state.fingerprints, state.schema_version)


def _outline(views: SparkViews, names: Database, table: str) -> None:
    """Reads with Spark what the names need of a table of facts."""
    columns = f"test_set_id, system_id, 0 as document_id, import_id, {OUTLINED[table]}"
    found = views.answer(Sql(f"select distinct {columns} from {table}"))
    names.bring("outline", {column: as_array(found.column(column)) for column in found.column_names})
    names.run(Sql(f"insert into {table} by name select * from temp.outline"))
    names.forget("outline")


def _stored_tables(place: LakePlace, state: LakeState, names: Database, *, counted: bool) -> Iterator[Stored]:
    listed = names.rows(Sql("select table_name, column_name, data_type from duckdb_columns() where not internal"))
    for table in TABLES:
        stored = state.of(table)
        types = {str(column): str(kind) for other, column, kind in listed if other == table}
        rows = sum(file.rows for file in stored) if counted and table in OUTLINED else None
        yield Stored(table, tuple(place.address(file.path) for file in stored), types, rows)
