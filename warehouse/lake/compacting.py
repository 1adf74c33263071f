"""Compacts a lake: merges small files, forgets the past if asked to, and removes files that no change names.

Others read and change the lake meanwhile. Files are merged beside them; a merged file counts only if the files that it
was made of are all still there when it is published. If a process dies, the lake reads as it did before or as it does
afterwards, and the next `compact` removes what was left.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import takewhile

from msgspec import Struct

from warehouse import ending
from warehouse.faults import WarehouseError
from warehouse.lake import delta
from warehouse.lake.data_files import DataFile, paths, write_file
from warehouse.lake.log import COMPACT, LakeChange, LakeLog, LakeState, bare, now, read_log, rewrite
from warehouse.lake.place import LOG, LakePlace, writing
from warehouse.lake.settling import settle
from warehouse.lake.states import TABLES
from warehouse.store.lock import WAIT, nobody
from warehouse.store.sql import Sql, join, name, parquet
from warehouse.tasks.records import FORMS, TEXT_FORMS

LARGE_ENOUGH = 64 * 2**20
"""Files of this many bytes are not merged."""

TOGETHER = 256 * 2**20
"""At most about this many bytes are merged into one file."""

TRIES = 100
"""How often the outcome is published where writers cannot take turns."""

_SORTED_BY = {form.table: form.key_columns for form in (*FORMS, *TEXT_FORMS)} | {"document": ("id",), "item": ("id",)}
"""The order of rows in a merged file, so that a query can skip parts of it. Other tables are small and keep theirs."""


class Compacted(Struct, frozen=True):
    """What was done: how many files were merged into how many, how many changes were forgotten, how many files that no
    change names were removed, and their bytes.
    """

    merged: int
    into: int
    forgotten: int
    removed: int
    bytes: int


class _Merged(Struct, frozen=True):
    """A merged file, and the paths of the files that it was made of."""

    file: DataFile
    sources: frozenset[str]


def compact(
    place: LakePlace,
    forget_until: datetime | None = None,
    *,
    wait: float = WAIT,
    tell: Callable[[str], None] = nobody,
) -> Compacted:
    """Compacts a lake, and forgets its states before a moment. Raises WarehouseError."""
    with place.alone(wait, tell, COMPACT), writing(place.called):
        with place.drafts():  # removes what killed processes left, even if nothing is to be merged
            pass
        merged = list(_merged(place, read_log(place).last))
        with place.alone(wait, tell):
            before, log, fitting = _published(place, merged, forget_until)
            place.remove(sorted({*paths(one.file for one in merged)} - {*paths(one.file for one in fitting)}))
            settle(place, log)
            for table in (LOG, *TABLES):
                delta.summarize(place, table)
            gone = unnamed(place, log)
            place.remove(gone)
    sources = sum(len(one.sources) for one in fitting)
    forgotten = len(before.changes) + bool(fitting) - len(log.changes)
    return Compacted(sources, len(fitting), forgotten, len(gone), sum(gone.values()))


def unnamed(place: LakePlace, log: LakeLog) -> dict[str, int]:
    """The files that no change names and that no running load can be writing, with their bytes."""
    named = {file.path for change in log.changes for file in change.added}
    named |= {f"{LOG}/{name}" for name in delta.names_in(place, delta.open_table(place, LOG))}
    listed = place.listed((LOG, *TABLES))
    return {path: file.bytes for path, file in listed.items() if path not in named and not file.fresh}


def _merged(place: LakePlace, state: LakeState) -> Iterator[_Merged]:
    """Merges small files. They belong to the lake once they are published."""
    for table in TABLES:
        for files in _to_merge(state.of(table)):
            folder = place.fetched(paths(files))
            order = join(", ", map(name, _SORTED_BY.get(table, ())))
            rows = "select * from " + parquet(folder / file.path for file in files)
            rows += Sql(" order by ") + order if order.text else Sql("")
            with bare() as database, place.drafts() as drafts:
                file = write_file(database, table, rows, drafts)
                place.put(drafts, [file.path])
            yield _Merged(file, frozenset(paths(files)))


def _to_merge(files: Iterable[DataFile]) -> Iterator[list[DataFile]]:
    """Groups of small files."""
    group: list[DataFile] = []
    for file in files:
        if file.bytes >= LARGE_ENOUGH:
            continue
        if group and sum(one.bytes for one in group) + file.bytes > TOGETHER:
            if len(group) > 1:
                yield group
            group = []
        group.append(file)
    if len(group) > 1:
        yield group


def _published(
    place: LakePlace, merged: Sequence[_Merged], forget_until: datetime | None
) -> tuple[LakeLog, LakeLog, list[_Merged]]:
    """Publishes merged files and forgets the past. Returns the log before and after, and the merged files that fit."""
    for _ in range(TRIES):
        log = read_log(place)
        there = {*paths(log.last.files)}
        fitting = [one for one in merged if one.sources <= there]
        changes = (*log.changes, _change(log.last, fitting)) if fitting else log.changes
        if forget_until is not None:
            changes = _without_past(changes, forget_until)
        if changes == log.changes and len(delta.names_in(place, log.table)) == 1:
            return log, log, fitting
        with suppress(delta.Conflict), ending.PATIENCE:
            return log, rewrite(place, log, changes), fitting
        time.sleep(random.uniform(0, 0.2))
    raise WarehouseError(f"{place.called}: others changed it {TRIES} times meanwhile, and it was not compacted")


def _change(state: LakeState, merged: Sequence[_Merged]) -> LakeChange:
    gone = {path for one in merged for path in one.sources}
    files = (*(file for file in state.files if file.path not in gone), *(one.file for one in merged))
    return LakeChange(state.number + 1, now(), COMPACT, (), files, (), state.fingerprints, whole=True)


def _without_past(changes: Sequence[LakeChange], until: datetime) -> tuple[LakeChange, ...]:
    """Changes that begin with the last one until a moment, which gets everything that was there then."""
    past = list(takewhile(lambda change: change.at <= until, changes))
    if len(past) < 2:
        return tuple(changes)
    last, state = past[-1], LakeLog(tuple(past), None).last
    imports = tuple(sorted({number for change in past for number in change.imports}))
    # A load may have been prepared on a state that is forgotten now. The kind tells it that it cannot simply be moved.
    first = LakeChange(
        last.number, last.at, COMPACT, imports, state.files, (), state.fingerprints, True, last.schema_version,
        last.version,
    )  # fmt: skip
    return (first, *changes[len(past) :])
