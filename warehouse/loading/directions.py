"""Which way the measures of a load go: what was declared of them, beside what their names tell.

A declaration is no fact, so it is kept beside the facts, with the import that made it; it goes when that is forgotten.
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
"""By the name of a measure, whether lower values are better."""

FLAGS = {True: "--lower-is-better", False: "--higher-is-better"}
"""What declares the one and the other."""


def measures_of(parts: Iterable[FilePart]) -> tuple[str, ...]:
    """The measures that a file has values or figures of."""
    having = [part.staging for part in parts if MEASURE in part.staging.form.key]
    found = (staging.database.rows(Sql(f"select distinct measure from {staging.table}")) for staging in having)
    return tuple(sorted({str(measure) for of_part in found for (measure,) in of_part if measure is not None}))


def declared_of(measures: Iterable[str], declared: Directions) -> dict[str, bool]:
    """What is declared of some measures, by their exact names or else by their names in any case."""
    folded = {measure.casefold(): lower for measure, lower in declared.items()}
    said = ((measure, declared.get(measure, folded.get(measure.casefold()))) for measure in measures)
    return {measure: lower for measure, lower in said if lower is not None}


def stated(database: Database, parts: Iterable[FilePart]) -> dict[str, bool]:
    """What a file says of its measures that neither their names nor earlier loads say. A format may give one metric
    another direction in another task, so what it says never contradicts.
    """
    said = {measure: lower for part in parts for measure, lower in part.staged.directions.items()}
    known = {str(measure) for (measure,) in database.rows(Sql("select measure from direction"))} if said else set()
    return {
        measure: lower
        for measure, lower in said.items()
        if lower_by_name(measure) is not lower and measure not in known
    }


def check(database: Database, source: str, said: Directions) -> None:
    """Raises DataError where another import declared the opposite."""
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
    """Removes what an import declared."""
    database.run(Sql("delete from direction where import_id = ?", (import_id,)))


def notes(database: Database, measures: Iterable[str]) -> list[str]:
    """Which measures are taken for lower-is-better by their names alone."""
    declared = {str(measure) for (measure,) in database.rows(Sql("select measure from direction"))}
    by_name = [measure for measure in measures if measure not in declared and lower_by_name(measure)]
    listed = ", ".join(by_name)
    they, say = ("their names", "say") if len(by_name) > 1 else ("its name", "says")
    return [f"lower {listed} is better, as {they} {say}; {FLAGS[False]} declares otherwise"] if by_name else []


def flags(database: Database, table: str) -> str:
    """What declares again all that is declared of the measures in a table: --lower-is-better TER,WER; empty where
    nothing is.
    """
    declared = "select distinct measure, lower_is_better from direction semi join "
    rows = database.rows(Sql(declared) + name(table) + " using (measure) order by 1")
    of_each = {lower: [str(measure) for measure, stored in rows if stored is lower] for lower in FLAGS}
    return " ".join(f"{FLAGS[lower]} {','.join(measures)}" for lower, measures in of_each.items() if measures)
