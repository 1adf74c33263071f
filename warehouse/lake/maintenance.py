"""Compacts and checks a lake.

Others read and change the lake meanwhile.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import takewhile

from msgspec import Struct

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.kinds.records import FORMS, IDENTITIES, TEXT_FORMS
from evalhouse.warehouse.lake import delta
from evalhouse.warehouse.lake.delta import DataFile, paths, write_file
from evalhouse.warehouse.lake.log import COMPACT, LakeChange, LakeLog, LakeState, bare, now, read_log, rewrite
from evalhouse.warehouse.lake.place import CHECK, LOG, LakePlace, writing
from evalhouse.warehouse.lake.states import TABLES, last_change, open_state, settle, unsettled_tables
from evalhouse.warehouse.process import stopping
from evalhouse.warehouse.store import upgrading
from evalhouse.warehouse.store.replacement import WAIT, nobody
from evalhouse.warehouse.store.sql import Sql, join, name, parquet

# === compacting =======================================================================================================
# Merges small files, forgets the past if asked to, and removes files that no change names. A merged file counts only if
# the files that it was made of are all still there when it is published. If a process dies, the lake reads as it did
# before or as it does afterwards, and the next `compact` removes what was left.

LARGE_ENOUGH = 64 * 2**20
"""Files of this many bytes are not merged."""

TOGETHER = 256 * 2**20
"""At most about this many bytes are merged into one file."""

TRIES = 100
"""How often the outcome is published where writers cannot take turns."""

_SORTED_BY = {
    **{form.table: form.key_columns for form in (*FORMS, IDENTITIES, *TEXT_FORMS)},
    **dict.fromkeys(("document", "item"), ("id",)),
}
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
        merged = list(_merge_small_files(place, read_log(place).last))
        with place.alone(wait, tell):
            before, log, fitting = _publish_merged(place, merged, forget_until)
            place.remove(sorted({*paths(one.file for one in merged)} - {*paths(one.file for one in fitting)}))
            settle(place, log)
            for table in (LOG, *TABLES):
                delta.summarize(place, table)
            gone = unnamed_files(place, log)
            place.remove(gone)
    sources = sum(len(one.sources) for one in fitting)
    forgotten = len(before.changes) + bool(fitting) - len(log.changes)
    return Compacted(sources, len(fitting), forgotten, len(gone), sum(gone.values()))


def unnamed_files(place: LakePlace, log: LakeLog) -> dict[str, int]:
    """The files that no change names and that no running load can be writing, with their bytes."""
    named = {file.path for change in log.changes for file in change.added}
    named |= {f"{LOG}/{name}" for name in delta.names_in(place, delta.open_table(place, LOG))}
    listed = place.listed((LOG, *TABLES))
    return {path: file.bytes for path, file in listed.items() if path not in named and not file.fresh}


def _merge_small_files(place: LakePlace, state: LakeState) -> Iterator[_Merged]:
    """Merges small files. They belong to the lake once they are published."""
    for table in TABLES:
        for files in _to_merge(state.of(table)):
            folder = place.fetch_files(paths(files))
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


def _publish_merged(
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
        with suppress(delta.Conflict), stopping.PATIENCE:
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


# === checking =========================================================================================================
# Each file against its size and its SHA-256, the Delta tables against the table of changes, and the rows against their
# fingerprints. A check changes nothing.


def check(place: LakePlace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What is wrong with a lake, and what is not wrong but worth knowing, one sentence each. Raises WarehouseError if
    it cannot be opened.
    """
    log = read_log(place)
    present = {*paths(log.last.files)}
    files = {file.path: file for change in log.changes for file in change.added}
    wrong: list[str] = []
    readable = True
    for path, file in files.items():
        for fault in _faults(place, file):
            readable = readable and path not in present
            wrong.append(f"{path} {fault}" + ("" if path in present else ", and only the past needs it"))
    behind, strange = _delta_tables(place, log)
    wrong += strange
    if readable:
        with open_state(place, log.last) as database:
            wrong += upgrading.check(database)
    return tuple(wrong), (*behind, *_note_unnamed(place, log))


def _faults(place: LakePlace, file: DataFile) -> Iterator[str]:
    size, digest = 0, sha256()
    try:
        for piece in place.read(file.path):
            size += len(piece)
            digest.update(piece)
    except WarehouseError:
        yield "is missing or cannot be read"
        return
    if size != file.bytes:
        yield f"has {size:,} bytes instead of {file.bytes:,}"
    elif digest.hexdigest() != file.sha256:
        yield "is not what was written"


def _delta_tables(place: LakePlace, log: LakeLog) -> tuple[list[str], list[str]]:
    """Sentences about Delta tables that lack a change, and about others that differ from the table of changes."""
    behind, strange = [], []
    for table in TABLES:
        try:
            differs = table in unsettled_tables(place, log, [table])
            had = delta.last_change_of(place, table, delta.open_table(place, table)) if differs else 0
            lacking = differs and had < last_change(log, table)
        except WarehouseError as error:
            details = "".join(f"; {hint}" for hint in error.hints if hint != CHECK)
            strange.append(f"the Delta table {table} cannot be read{details}")
            continue
        if lacking:
            behind.append(f"the Delta table {table} lacks the last change; the next load or compact adds it")
        elif differs:
            strange.append(f"the Delta table {table} was changed by another program, which evalhouse does not read")
    return behind, strange


def _note_unnamed(place: LakePlace, log: LakeLog) -> Iterator[str]:
    left = unnamed_files(place, log)
    if left:
        files = "1 file belongs" if len(left) == 1 else f"{len(left):,} files belong"
        yield f"{files} to no change ({sum(left.values()):,} bytes); evalhouse compact removes them"
