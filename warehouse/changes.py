"""The statements that change the facts of a warehouse, `load` and `forget`, and the results that report the change.

The caller passes a function that replaces the warehouse, whole or not at all: a session knows where its warehouse is
and opens it again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from grammar.editing.hints import hints
from grammar.errors import QueryError
from grammar.nodes import Load
from warehouse.loading.carrying_out import CarriedOut, carry_out
from warehouse.loading.ingest import Forgotten, forget
from warehouse.loading.planning import AUTO, LoadRequest, option_files, plan
from warehouse.loading.readers import READERS, plugins
from warehouse.loading.staging.door import Door
from warehouse.named_files import path_in
from warehouse.publishing import temporary
from warehouse.query.resolving.names import text_of
from warehouse.query.table_rows import TableRows
from warehouse.results import Column, Result
from warehouse.store.connecting import in_memory
from warehouse.store.database import Database
from warehouse.store.sql import Sql

Changing = Callable[[Database], None]


def requested(statement: Load, folder: Path, *, confined: bool) -> LoadRequest:
    """The load that a statement asks for; its path is relative to a folder. If it is confined, it opens no file outside
    the folder. Raises QueryError.
    """
    named = text_of(statement.path, statement.path, "the name of a file")
    path = path_in(folder, named, statement.path.span, confined=confined)
    word = statement.reader.text.casefold()
    known = [*READERS, *plugins(), AUTO]
    if word not in known:
        raise QueryError(f"unknown reader '{word}'", statement.reader.span, hints(word, known, "readers"))
    return LoadRequest([str(path)], word, door=Door(folder if confined else None))


def loaded(
    request: LoadRequest,
    text: str,
    replace: Callable[[Changing, Iterable[Path]], int],
    *,
    called_from: Path | None,
    called: Mapping[str, str],
    keep: bool,
    progress: Callable[[float], None],
) -> Result:
    """Loads files, and reports how much of each was new. `replace` makes the change, perhaps more than once, and is
    given the files that the change reads; it returns how far the numbers of imports have moved since.

    Files in the folder `called_from` are named by their path in it; `called` maps paths to other names. `progress` is
    called with the share done. Raises DataError.
    """
    with temporary() as scratch:
        with in_memory() as store:
            planned = plan(request, store, scratch, called)
        if called_from is not None:
            planned = planned.called_from(called_from)
        done: list[CarriedOut] = []

        def change(database: Database) -> None:
            done.append(carry_out(database, request, planned, advance=lambda share, words: progress(share)))

        moved = replace(change, [*(file.found.path for file in planned.files), *option_files(request)])
    last = done[-1].moved(moved)
    together = [file for _, file in last.loaded]
    columns = _counts(("source", "reader"), ("import", "rows_read", "rows_new"))
    rows = TableRows.of(columns)
    for file in together:
        rows.add(
            source=file.source,
            reader=file.reader,
            rows_read=file.rows_read,
            rows_new=file.rows_new,
            **{"import": file.import_id if keep else None},
        )
    notes = tuple(dict.fromkeys(note for file in together for note in file.notes)) + last.notes
    notes += tuple(f"left out: {fault}" for error in last.bad for fault in error.faults)
    if planned.passed_over:
        listed = ", ".join(found.called for found in planned.passed_over)
        notes += (f"passed over (not results): {listed}",)
    return Result(text, "loaded" if keep else "would be loaded", text, rows.table(columns), notes=notes)


def forgotten(number: int, text: str, replace: Callable[[Changing], int]) -> Result:
    """Removes what an import brought, and reports how many rows were removed. Raises DataError."""
    removed: list[Forgotten] = []
    replace(lambda database: removed.append(forget(database, number)))
    counts = {"import": number, "rows_removed": removed[-1].rows}
    if removed[-1].texts:
        counts["texts_removed"] = removed[-1].texts
    columns = _counts((), tuple(counts))
    rows = TableRows.of(columns)
    rows.add(**counts)
    return Result(text, "forgotten", text, rows.table(columns))


def changed_in_memory(database: Database, change: Changing, *, keep: bool) -> Database:
    """Changes a warehouse in memory, and returns it. After an error, or if `keep` is false, all new imports are removed
    again.
    """
    last = Sql("select coalesce(max(id), 0) from import")
    [(before,)] = database.rows(last)
    done = False
    try:
        change(database)
        done = True
    finally:
        if not (done and keep):
            for (number,) in database.rows(Sql("select id from import where id > ? order by id desc", (before,))):
                forget(database, int(number))
    return database


def _counts(names: Iterable[str], counts: Iterable[str]) -> tuple[Column, ...]:
    return (*(Column(name, "name") for name in names), *(Column(count, "count") for count in counts))
