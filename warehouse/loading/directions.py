"""Whether lower or higher values of the loaded measures are better: what was declared, and what their names imply.

A declaration is not a fact. It is stored beside the facts with its import, and removed when that import is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from warehouse.faults import DataError, Fault
from warehouse.loading.checks import FilePart
from warehouse.measures.direction import lower_by_name
from warehouse.store.database import Database
from warehouse.store.sql import Sql, join, name, values
from warehouse.tasks.records import MEASURE

Directions = Mapping[str, bool]
"""Maps the name of a measure to whether lower values are better."""

FLAGS = {True: "--lower-is-better", False: "--higher-is-better"}
"""The options that declare the two directions."""


def measures_of(parts: Iterable[FilePart]) -> tuple[str, ...]:
    """The measures for which a file has values or figures."""
    having = [part.staging for part in parts if MEASURE in part.staging.form.key]
    found = (staging.database.rows(Sql(f"select distinct measure from {staging.table}")) for staging in having)
    return tuple(sorted({str(measure) for of_part in found for (measure,) in of_part if measure is not None}))


def declared_of(measures: Iterable[str], declared: Directions) -> dict[str, bool]:
    """The declared directions of some measures. An exact match of the name goes before a match that ignores case."""
    folded = {measure.casefold(): lower for measure, lower in declared.items()}
    said = ((measure, declared.get(measure, folded.get(measure.casefold()))) for measure in measures)
    return {measure: lower for measure, lower in said if lower is not None}


def stated(database: Database, parts: Iterable[FilePart]) -> dict[str, bool]:
    """The directions that a file states for measures whose names and earlier loads do not imply one. They never raise a
    contradiction, because a format may give the same metric another direction in another task.
    """
    said = {measure: lower for part in parts for measure, lower in part.staged.directions.items()}
    known = {str(measure) for (measure,) in database.rows(Sql("select measure from direction"))} if said else set()
    return {
        measure: lower
        for measure, lower in said.items()
        if lower_by_name(measure) is not lower and measure not in known
    }


def check(database: Database, source: str, said: Directions) -> None:
    """Raises DataError if another import declared the opposite."""
    stored = database.rows(
        Sql("select d.measure, d.lower_is_better, d.import_id, i.source from direction d join import i ")
        + "on i.id = d.import_id order by d.import_id"
    )
    faults = {
        measure: f"import {number} ({brought_by}) declared that {'lower' if lower else 'higher'} {measure} is better; "
        f"leave {FLAGS[not lower]} {measure} out, or forget import {number}"
        for measure, lower, number, brought_by in reversed(stored)
        if measure in said and said[measure] is not bool(lower)
    }
    if faults:
        raise DataError(tuple(Fault(source, None, fault) for fault in faults.values()))


def is_known(database: Database, said: Directions) -> bool:
    """Whether all of this was declared before."""
    known = dict(database.rows(Sql("select distinct measure, lower_is_better from direction")))
    return all(known.get(measure) is lower for measure, lower in said.items())


def store(database: Database, said: Directions, import_id: int) -> None:
    """Stores what an import declares."""
    if said:
        rows = join(", ", (values((measure, lower, import_id)) for measure, lower in said.items()))
        database.run("insert into direction values " + rows)


def forget(database: Database, import_id: int) -> None:
    """Removes the directions that an import declared."""
    database.run(Sql("delete from direction where import_id = ?", (import_id,)))


def notes(database: Database, measures: Iterable[str]) -> list[str]:
    """A note on the measures that are taken for lower-is-better only because of their names."""
    declared = {str(measure) for (measure,) in database.rows(Sql("select measure from direction"))}
    by_name = [measure for measure in measures if measure not in declared and lower_by_name(measure)]
    listed = ", ".join(by_name)
    they, say = ("their names", "say") if len(by_name) > 1 else ("its name", "says")
    return [f"lower {listed} is better, as {they} {say}; {FLAGS[False]} declares otherwise"] if by_name else []


def flags(database: Database, table: str) -> str:
    """The options of `load` that declare again what is declared about the measures in a table, such as
    --lower-is-better TER,WER; empty if nothing is declared.
    """
    declared = "select distinct measure, lower_is_better from direction semi join "
    rows = database.rows(Sql(declared) + name(table) + " using (measure) order by 1")
    of_each = {lower: [str(measure) for measure, stored in rows if stored is lower] for lower in FLAGS}
    return " ".join(f"{FLAGS[lower]} {','.join(measures)}" for lower, measures in of_each.items() if measures)
