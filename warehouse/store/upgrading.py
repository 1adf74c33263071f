"""Brings a warehouse that an older version made to the present schema. One entry a step; the last one is of this
version.
"""

from __future__ import annotations

from pathlib import Path

from warehouse.faults import WarehouseError
from warehouse.store import fingerprints
from warehouse.store.database import SCHEMA_VERSION, Database, schema_version
from warehouse.store.replacement import replacing_any
from warehouse.store.sql import Sql

STEPS = {
    1: Sql(
        "create table fingerprint "
        "(table_name varchar not null, part bigint not null, rows bigint not null, digest varchar not null); "
        "comment on table fingerprint is "
        "'What the rows of each table add up to, by import or range of numbers; evalhouse check compares.';"
    ),
    2: Sql(
        "create table observed (test_set_id integer not null, task varchar, noun varchar, cluster varchar, "
        "by_setting boolean not null, import_id integer not null); "
        "comment on table observed is "
        "'What a load said of the documents of a test set: what one is called, and the attribute that those share "
        "which tests exchange together. Without task it holds for all kinds of rows. Settings go before readers, and "
        "later loads before earlier ones.';"
    ),
    3: Sql(
        "create table direction "
        "(measure varchar not null, lower_is_better boolean not null, import_id integer not null); "
        "comment on table direction is "
        "'What loads declared of measures that are names in the data: whether lower values are better. One row an "
        "import and measure; of other measures the name tells.';"
    ),
}
"""By the version that a warehouse has, what makes the next one of it."""


def upgrade(path: Path) -> tuple[int, int]:
    """Brings the warehouse at `path` up to date, as safely as a load: all of it or nothing. Returns the version it had
    and the one it has.

    Raises WarehouseError if that cannot be done, as where a newer evalhouse made it.
    """
    had = 0
    with replacing_any(path) as database:
        version = schema_version(database, path)
        if not version.isdigit() or not min(STEPS) <= int(version) <= SCHEMA_VERSION:
            raise WarehouseError(f"{path} has schema version {version}, from which nothing leads to {SCHEMA_VERSION}")
        had = int(version)
        with database.transaction():
            for step in range(had, SCHEMA_VERSION):
                database.run(STEPS[step])
            database.run(Sql("update meta set value = ? where key = 'schema_version'", (str(SCHEMA_VERSION),)))
            fingerprints.keep(database, _imports(database))
    return had, SCHEMA_VERSION


def _imports(database: Database) -> tuple[int, ...]:
    return tuple(int(number) for (number,) in database.rows(Sql("select id from import order by id")))
