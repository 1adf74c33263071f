"""Finds the reader for a file, from its name and its first lines.

Every reader is asked, including those of other packages, and the strongest evidence counts. If two readers have equal
evidence, the person must decide. Only the start of a file is read, so a reader may still find that the rest is
something else.
"""

from __future__ import annotations

import os
import re
import tarfile
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from evalhouse.warehouse.faults import DataError, Fault, UnreadableError
from evalhouse.warehouse.kinds.records import FORMS
from evalhouse.warehouse.loading.readers import READERS, Evidence, Reader, Role, Start, plugins
from evalhouse.warehouse.loading.staging.door import EVERYWHERE, Door
from evalhouse.warehouse.loading.staging.lines import (
    BLANK,
    COMPRESSIONS,
    EMPTY,
    MORE,
    compression_of,
    damage,
    damages,
    has_no_record,
    is_archive,
    open_bytes,
    with_records,
)
from evalhouse.warehouse.loading.staging.staged import Staging
from evalhouse.warehouse.loading.staging.tabular import WORKBOOKS, first_rows
from evalhouse.warehouse.store.database import Database

START = 65_536
"""How many bytes of a file are read, after unpacking; more if they do not contain one whole record."""

_SCHEMA = re.compile(r'\s*\{[^{}]{0,2000}"\$schema"\s*:')
"""The start of a JSON Schema: it describes the files of a format, and contains all of the format's words."""

NONE: Mapping[str, str] = MappingProxyType({})


class Recognized(Struct, frozen=True):
    """A reader, the evidence for it in the file, and the role of the file in the load. `unsure` says what a person has
    to decide.
    """

    reader: str
    why: str
    role: Role = Role.FACTS
    unsure: str = ""


def recognize(file: Path, store: Database, door: Door = EVERYWHERE) -> Recognized:
    """The reader that `recognize_file` finds for a file. Also raises DataError if there is no evidence for any."""
    found = recognize_file(file, store, door)
    if found is None:
        raise DataError((Fault(str(file), None, unknown(file, door)),))
    return found


def unknown(file: Path, door: Door) -> str:
    """The message about a file that no reader recognizes."""
    with open_bytes(door, file, compression_of(file)) as binary:
        start = binary.read(START)
    if start.strip():
        return "its format is not recognized; name a reader with --as READER"
    return BLANK if start else EMPTY


def recognize_file(
    file: Path, store: Database, door: Door = EVERYWHERE, options: Mapping[str, str] = NONE, *, called: str = ""
) -> Recognized | None:
    """The reader for a file, which is opened through `door`; None if there is no evidence for any reader. `store` reads
    formats that Python cannot read, and `called` is the name of the file in messages.

    Raises DataError if the file does not exist, if it is damaged, or if there is equal evidence for another reader.
    """
    start = _start(file, store, door, options, called)
    if _SCHEMA.match(start.text):
        return None
    found: list[tuple[Evidence, Recognized]] = []
    for reader in sorted((READERS | plugins()).values(), key=lambda reader: reader.evidence):
        if found and reader.evidence > found[0][0]:
            break
        if by_reader := _recognized_by(reader, start, called):
            found.append((reader.evidence, by_reader))
    # A reader that would have to ask gives way to one that is sure.
    fitting = [one for _, one in found if not one.unsure] or [one for _, one in found]
    if len(fitting) > 1:
        could_be = " or ".join(f"{one.reader} ({one.why})" for one in fitting)
        raise DataError((Fault(called or str(file), None, f"it could be {could_be}; --as READER says which"),))
    return fitting[0] if fitting else None


def role_of(
    reader: Reader, file: Path, store: Database, door: Door, options: Mapping[str, str], *, called: str = ""
) -> Role:
    """The role of a file in a load whose reader was named: what the reader says, or facts."""
    try:
        known = _recognized_by(reader, _start(file, store, door, options, called), called)
    except DataError:
        return Role.FACTS  # the reader will say what is wrong with it
    return known.role if known else Role.FACTS


def _recognized_by(reader: Reader, start: Start, called: str) -> Recognized | None:
    """What a reader, possibly from another package, takes a file for. Raises DataError if the reader fails."""
    try:
        recognition = reader.recognizes(start)
    except Exception as error:
        said = f"the reader {reader.name} failed: {type(error).__name__}: {error}"
        raise DataError((Fault(called or str(start.path), None, said),)) from error
    if recognition is None:
        return None
    if isinstance(recognition, str):
        return Recognized(reader.name, recognition)
    return Recognized(reader.name, recognition.why, recognition.role, recognition.unsure)


def _start(file: Path, store: Database, door: Door, options: Mapping[str, str], called: str) -> Start:
    source = called or str(file)
    name = re.sub("|".join(rf"\{ending}$" for ending in COMPRESSIONS), "", file.name.casefold())
    broken: tuple[type[Exception], ...] = (OSError, tarfile.TarError, ValueError, UnreadableError)
    try:
        if file.is_dir():
            raise DataError((Fault(source, None, "this is a folder, not a file"),))
        is_table = name.endswith((".parquet", *WORKBOOKS))
        more = b""
        with open_bytes(door, file, compression_of(file)) as binary:
            if is_archive(file):
                with tarfile.open(fileobj=binary, mode="r|*") as archive:
                    members = (archive.extractfile(member) for member in archive if member.isreg())
                    raw = next((member.read(START) for member in members if member is not None), b"")
            else:
                raw = binary.read(START)
                if not is_table and has_no_record(Start(name, _text(raw), whole=len(raw) < START)):
                    more = binary.read(MORE)
        header, rows = first_rows(Staging(store, file, FORMS[0], {}, {}, door=door)) if is_table else ((), [])
    except FileNotFoundError:
        raise DataError((Fault(source, None, "there is no such file"),)) from None
    except damages():
        said, line = damage(door, file)
        raise DataError((Fault(source, line, said),)) from None
    except broken:
        raise DataError((Fault(source, None, "the file cannot be read, or is damaged"),)) from None
    beside = _names_in(str(file.absolute().parent), file.absolute().parent.stat().st_mtime_ns)
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise DataError((Fault(source, None, "the file is UTF-16; it must be UTF-8"),))
    records = tuple(dict(zip(header, row, strict=False)) for row in rows)
    start = Start(name, _text(raw), frozenset(header), len(raw) < START, file, beside, options, records)
    return with_records(start, _text(raw + more), whole=len(more) < MORE) if more else start


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", errors="replace")


@lru_cache(maxsize=4)
def _names_in(folder: str, changed_at: int) -> frozenset[str]:
    """The names of the files in a folder, which is listed once for all of them."""
    return frozenset(os.listdir(folder))
