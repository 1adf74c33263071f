"""The warehouse that a name stands for, a file or a lake: opens it, changes it, and finds out whether it changed.

Everything above this module works on both alike.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from evalhouse.grammar.editing.hints import hints
from evalhouse.grammar.errors import QueryError
from evalhouse.grammar.nodes import Load
from evalhouse.warehouse.faults import DataError, Fault
from evalhouse.warehouse.loading.account import Account, account_of
from evalhouse.warehouse.loading.ingest import Advance, CarriedOut, Forgotten, Loaded, carry_out, forget, silent
from evalhouse.warehouse.loading.planning import AUTO, MAIN, LoadPlan, LoadRequest, option_files, plan
from evalhouse.warehouse.loading.readers import READERS, plugins, reader_name
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.door import Door
from evalhouse.warehouse.plans.names import text_of
from evalhouse.warehouse.plans.offers import has_measure, offers
from evalhouse.warehouse.process.publishing import temporary
from evalhouse.warehouse.results import EMPTY, Column, Result, Table, TableRows
from evalhouse.warehouse.session.files import path_in
from evalhouse.warehouse.store.catalog import Catalog, declarations
from evalhouse.warehouse.store.connecting import in_memory, open_database
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.replacement import WAIT, Tell, in_place, nobody, remove_left, replacing
from evalhouse.warehouse.store.sql import Sql

if TYPE_CHECKING:
    from evalhouse.warehouse.plans.past import AsOf


# === files and lakes ==================================================================================================

_Outcome = TypeVar("_Outcome")


def is_lake(path: Path) -> bool:
    """Whether a path stands for a lake. Every address does: no warehouse file is opened from one."""
    if path.is_dir():
        from evalhouse.warehouse.lake.place import Folder

        return Folder(path).is_lake()
    return _is_address(path)


def fixed_path(path: Path) -> Path:
    """A path that stays the same when the working directory changes."""
    return path if _is_address(path) else path.absolute()


def warehouse_name(path: Path) -> str:
    """The name of a warehouse, as the user wrote it. A path that was made of an address has lost a slash."""
    if not _is_address(path):
        return str(path)
    from evalhouse.warehouse.lake.place import address_of

    return address_of(path)


def open_warehouse(path: Path) -> Database:
    """Opens a warehouse, read-only and locked, and removes what a killed load left beside it. Raises WarehouseError."""
    if not is_lake(path):
        remove_left(path)
        return open_database(path)
    from evalhouse.warehouse.lake.place import place_of
    from evalhouse.warehouse.lake.states import open_lake

    return open_lake(place_of(path))


def past_of(path: Path) -> Callable[[AsOf], Database] | None:
    """What opens the past states of a warehouse; None for a file, which does not keep them."""
    if not is_lake(path):
        return None
    from evalhouse.warehouse.lake.place import place_of
    from evalhouse.warehouse.lake.states import open_as_of

    return partial(open_as_of, place_of(path))


def change_warehouse(
    path: Path,
    kind: str,
    work: Callable[[Database], _Outcome],
    files: Iterable[Path] = (),
    *,
    keep: bool = True,
    without_copy: bool = False,
    wait: float = WAIT,
    tell: Tell = nobody,
) -> tuple[_Outcome, int]:
    """Changes a warehouse, whole or not at all. `work` changes an open one; on a lake it may be called more than once.
    `files` are the files that it reads, and `kind` says what it does. If `keep` is false, nothing is stored.
    `without_copy` changes a file itself in place of a copy of it.

    Returns what `work` returned, and how far the numbers of its imports have moved since. Raises WarehouseError.
    """
    if is_lake(path):
        from evalhouse.warehouse.lake.changes import change_lake
        from evalhouse.warehouse.lake.place import place_of

        return change_lake(place_of(path), kind, work, files, keep=keep, wait=wait, tell=tell)
    if without_copy:
        with in_place(path, files, wait=wait, tell=tell) as database:
            return work(database), 0
    with replacing(path, files, keep=keep, wait=wait, tell=tell) as database:
        done = work(database)
    return done, 0


def stamp(path: Path) -> object:
    """A value that changes when another warehouse takes the place of this one, or when the lake changes; None if there
    is nothing.
    """
    if is_lake(path):
        from evalhouse.warehouse.lake.place import place_of

        return place_of(path).stamp()
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _is_address(path: Path) -> bool:
    """Whether a path was made of an address, such as s3://BUCKET/evals."""
    scheme, colon, rest = str(path).partition(":/")
    return bool(colon and rest and len(scheme) > 1 and scheme.isalnum())


# === load and forget ==================================================================================================
# The statements that change the facts, and the results that report the change. The caller passes a function that
# replaces the warehouse, completely or not at all: a session knows where its warehouse is and opens it again.

Changing = Callable[[Database], None]


def load_request(statement: Load, folder: Path, *, confined: bool) -> LoadRequest:
    """The load that a statement asks for; its path is relative to a folder. If it is confined, it opens no file outside
    the folder. Raises QueryError.
    """
    named = text_of(statement.path, statement.path, "the name of a file")
    path = path_in(folder, named, statement.path.span, confined=confined)
    word = reader_name(statement.reader.text.casefold())
    known = [*READERS, *plugins(), AUTO]
    if word not in known:
        raise QueryError(f"unknown reader '{word}'", statement.reader.span, hints(word, known, "readers"))
    return LoadRequest([str(path)], word, door=Door(folder if confined else None))


def load_files(
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
            done.append(load_planned(database, request, planned, advance=lambda share, words: progress(share)))

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
    account = account_of(planned, last)
    if account.rest:
        notes += (f"{account.became}; {account.rest}",)
    caption = "loaded" if keep else "would be loaded"
    return Result(text, caption, text, rows.table(columns), outcomes(account), notes=notes)


def load_planned(
    database: Database,
    request: LoadRequest,
    planned: LoadPlan,
    *,
    advance: Advance,
    tell: Callable[[Loaded], None] = silent,
) -> CarriedOut:
    """Carries out a plan. Raises DataError, also for a main measure that is declared of a test set without it."""
    done = carry_out(database, request, planned, advance=advance, tell=tell)
    if MAIN in request.fields:
        _check_main_measures(database, {file.import_id for _, file in done.loaded})
    return done


def _check_main_measures(database: Database, imports: Collection[int | None]) -> None:
    """Raises DataError for a main measure that one of the imports declared of a test set that does not have it."""
    catalog = Catalog(database)
    declared = {said.test_set: said.main for said in declarations(database) if said.main and said.import_id in imports}
    for test_set in catalog.test_sets:
        main = declared.get(test_set.id)
        if main is not None and not has_measure(catalog, test_set, main):
            there = dict.fromkeys(name for offer in offers(catalog, test_set) for name in offer.measures)
            wrong = f"{catalog.short_name(test_set)} has no measure {quote_cell(main)}"
            raise DataError((Fault(f"--set {MAIN}={main}", None, wrong),), hints=hints(main, there, "measures"))


def outcomes(account: Account) -> Table:
    """What became of the files that are not loaded by themselves: those read with others, left out, and passed over."""
    columns = tuple(Column(name, "name") for name in ("file", "became", "why"))
    rows = TableRows.of(columns)
    for other in account.others:
        rows.add(file=other.file, became=other.became, why=other.why)
    return rows.table(columns) if account.others else EMPTY


def forget_import(number: int, text: str, replace: Callable[[Changing], int]) -> Result:
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


def change_in_memory(database: Database, change: Changing, *, keep: bool) -> Database:
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
