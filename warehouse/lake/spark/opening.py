"""Opening a lake for Spark: its names in memory, and where a Spark session finds each of its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from warehouse.faults import WarehouseError
from warehouse.lake.log import LakeLog, LakeState, read_log
from warehouse.lake.place import Folder, LakePlace, place_of
from warehouse.lake.spark.arrow_columns import as_array
from warehouse.lake.spark.failures import failed
from warehouse.lake.spark.spark_engine import SparkEngine
from warehouse.lake.spark.starting import LOCAL, started
from warehouse.lake.spark.translating import OUTLINED
from warehouse.lake.spark.views import SparkViews, Stored
from warehouse.lake.states import TABLES, number_as_of, open_state
from warehouse.query.as_of import AsOf
from warehouse.query.engine import Workforce
from warehouse.store.database import Database
from warehouse.store.sql import Sql


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
        self.states.append(_opened(self.place, self.log, state, self.master))
        return self.states[-1].names


def open_lake(named: str, master: str | None = None) -> Lake:
    """The lake in a folder of this machine or at an address that Spark reads. Raises WarehouseError."""
    place = place_of(named)
    log = read_log(place)
    return _opened(place, log, log.last, master or LOCAL)


def _opened(place: LakePlace, log: LakeLog, state: LakeState, master: str) -> Lake:
    """A lake in one of its states. Raises WarehouseError, and leaves nothing open."""
    here = isinstance(place, Folder)
    known = state if here else _without(state, OUTLINED)
    names = open_state(place, known)
    try:
        spark = started(master)
    except BaseException:
        names.close()
        raise
    try:
        # Files of this machine were compared with their digests. Other files may differ, so their rows are counted.
        stored = _stored(place, state, names, counted=not (here and spark.same_files))
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
        raise failed(error, spark.address) from None


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


def _stored(place: LakePlace, state: LakeState, names: Database, *, counted: bool) -> Iterator[Stored]:
    listed = names.rows(Sql("select table_name, column_name, data_type from duckdb_columns() where not internal"))
    for table in TABLES:
        stored = state.of(table)
        types = {str(column): str(kind) for other, column, kind in listed if other == table}
        rows = sum(file.rows for file in stored) if counted and table in OUTLINED else None
        yield Stored(table, tuple(place.address(file.path) for file in stored), types, rows)
