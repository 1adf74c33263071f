"""Checks a lake: each file against its size and its SHA-256, the Delta tables against the table of changes, and its
rows against their fingerprints. Changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256

from warehouse.faults import WarehouseError
from warehouse.lake import delta
from warehouse.lake.compacting import unnamed
from warehouse.lake.data_files import DataFile, paths
from warehouse.lake.log import LakeLog, read_log
from warehouse.lake.place import CHECK, LakePlace
from warehouse.lake.settling import last_change, unsettled
from warehouse.lake.states import TABLES, open_state
from warehouse.store import soundness


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
            wrong += soundness.check(database)
    return tuple(wrong), (*behind, *_left(place, log))


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
            differs = table in unsettled(place, log, [table])
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


def _left(place: LakePlace, log: LakeLog) -> Iterator[str]:
    left = unnamed(place, log)
    if left:
        files = "1 file belongs" if len(left) == 1 else f"{len(left):,} files belong"
        yield f"{files} to no change ({sum(left.values()):,} bytes); evalhouse compact removes them"
