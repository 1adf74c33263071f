"""Finds the reader for a file, from its name and its first lines.

Every reader is asked, including those of other packages, and the strongest evidence counts. If two readers have equal
evidence, the person must decide. Only the start of a file is read, so a reader may still find that the rest is
something else.
"""

from __future__ import annotations

import os
import re
import shlex
import tarfile
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct

from evalhouse.warehouse.faults import DataError, Fault, UnreadableError
from evalhouse.warehouse.kinds.records import FORMS, TEST_SET
from evalhouse.warehouse.loading.readers import READERS, Evidence, Nearly, Reader, Role, Start, plugins
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.door import EVERYWHERE, Door
from evalhouse.warehouse.loading.staging.json_values import JSONError, parse_json
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
    to decide, `lacks` which field the load has to give, and `evidence` is set if it is weaker than the reader's other
    evidence.
    """

    reader: str
    why: str
    role: Role = Role.FACTS
    unsure: str = ""
    evidence: Evidence | None = None
    lacks: str = ""


def recognize(file: Path, store: Database, door: Door = EVERYWHERE) -> Recognized:
    """The reader that `recognize_file` finds for a file. Also raises DataError if there is no evidence for any."""
    start = start_of_file(file, store, door)
    found = recognized(start, str(file))
    if found is None or (found.lacks and not found.unsure):
        raise DataError((Fault(str(file), None, unrecognized_file(start, str(file))),))
    return found


def unrecognized_file(start: Start, called: str) -> str:
    """The message about a file that no reader recognizes: what is in it, which reader is nearest and what it misses,
    and the command to type.
    """
    if not start.text.strip():
        return BLANK if start.text else EMPTY
    said = f"its format is not recognized: {seen_in(start)}"
    command = f"evalhouse load {shlex.quote(called)}"
    readers = list((READERS | plugins()).values())
    tables = sorted(readers, key=lambda reader: -len(start.columns & {field.name for field in reader.fields}))
    for reader, nearly in (
        *((reader, _nearly_a_table(reader, start)) for reader in tables),
        *((reader, reader.nearly(start)) for reader in readers),
    ):
        if nearly:
            return f"{said}; the nearest reader is {reader.name}, but {nearly.misses}: {command} {nearly.words}"
    records = "; --records KEY says where in it the records are" if start.text.lstrip().startswith("{") else ""
    return f"{said}; no reader is near it, and {command} --as READER names one{records}"


_FEW = 12
"""Up to this many columns or keys are listed."""


def seen_in(start: Start) -> str:
    """What the start of a file looks like: a table with the columns a, b; JSON with the keys a, b; a text."""
    if not {"\0", "\ufffd"}.isdisjoint(start.text[:1000]):
        return "it is not a text in UTF-8"
    text = start.text.lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        keys = _keys(text) or _keys(start.first.strip()) or re.findall(r'"([^"\\]+)"\s*:', text)
        listed = _some(list(dict.fromkeys(keys)))
        return f"JSON with the keys {listed}" if keys else f"JSON that begins with {quote_cell(text[:40])}"
    if len(start.header) > 1 or start.named:
        return f"a table with the columns {_some(start.header if not start.named else sorted(start.named))}"
    if start.first.count(";") > 0 and len({line.count(";") for line in start.lines}) == 1:
        return f"a table with semicolons ({quote_cell(start.first.strip())}), which must be commas or tabs"
    return f"a text that begins with {quote_cell(start.first.strip())}"


def _keys(text: str) -> list[str]:
    """The keys of a JSON object, or of the first one in a list; none if the text is neither."""
    try:
        value = parse_json(text)
    except (JSONError, ValueError):
        return []
    first = value[0] if isinstance(value, list) and value else value
    return list(first) if isinstance(first, dict) else []


def _some(names: Sequence[str]) -> str:
    more = len(names) - _FEW
    listed = ", ".join(quote_cell(name)[1:-1] for name in names[:_FEW])
    return f"{listed} and {more:,} more" if more > 0 else listed


def _nearly_a_table(reader: Reader, start: Start) -> Nearly | None:
    """What a table of facts misses, if all but one of the columns that it must have are there."""
    needed = [field.name for field in reader.fields if field.required and field is not TEST_SET]
    missing = [name for name in needed if name not in start.columns]
    if len(needed) < 3 or len(missing) != 1:
        return None
    return Nearly(f"no column is called {missing[0]}", f"--as {reader.name} --map {missing[0]}=COLUMN")


def recognize_file(
    file: Path,
    store: Database,
    door: Door = EVERYWHERE,
    options: Mapping[str, str] = NONE,
    *,
    called: str = "",
    mapped: Mapping[str, str] = NONE,
) -> Recognized | None:
    """The reader for a file, which is opened through `door`; None if there is no evidence for any reader. `store` reads
    formats that Python cannot read, and `called` is the name of the file in messages.

    Raises DataError if the file does not exist, if it is damaged, or if there is equal evidence for another reader.
    """
    return recognized(start_of_file(file, store, door, options, called=called, mapped=mapped), called)


def recognized(start: Start, called: str) -> Recognized | None:
    """The reader for a file whose start is known, as `recognize_file` finds it."""
    if _SCHEMA.match(start.text):
        return None
    found: list[tuple[Evidence, Recognized]] = []
    lacking: list[Recognized] = []
    for reader in sorted((READERS | plugins()).values(), key=lambda reader: reader.evidence):
        if found and reader.evidence > min(evidence for evidence, _ in found):
            break
        by_reader = _recognized_by(reader, start, called)
        if by_reader and by_reader.lacks:
            lacking.append(by_reader)
        elif by_reader:
            found.append((by_reader.evidence or reader.evidence, by_reader))
    strongest = [one for evidence, one in found if evidence == min(evidence for evidence, _ in found)]
    # A reader that would have to ask gives way to one that is sure.
    fitting = [one for one in strongest if not one.unsure] or strongest
    if len(fitting) > 1:
        could_be = " or ".join(f"{one.reader} ({one.why})" for one in fitting)
        raise DataError((Fault(called or str(start.path), None, f"it could be {could_be}; --as READER says which"),))
    return next(iter((*fitting, *lacking)), None)


def recognized_by(reader: Reader, start: Start, called: str) -> Recognized:
    """What a reader that was named takes a file for: what it says, or facts."""
    try:
        known = _recognized_by(reader, start, called)
    except DataError:
        known = None  # the reader will say what is wrong with it
    return known or Recognized(reader.name, "")


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
    of_it = recognition.why, recognition.role, recognition.unsure, recognition.evidence, recognition.lacks
    return Recognized(reader.name, *of_it)


def start_of_file(
    file: Path,
    store: Database,
    door: Door = EVERYWHERE,
    options: Mapping[str, str] = NONE,
    *,
    called: str = "",
    mapped: Mapping[str, str] = NONE,
) -> Start:
    """The start of a file, by which readers recognize it. Raises DataError as `recognize_file` does."""
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
    start = Start(name, _text(raw), frozenset(header), len(raw) < START, file, beside, options, records, mapped)
    return with_records(start, _text(raw + more), whole=len(more) < MORE) if more else start


def _text(raw: bytes) -> str:
    return raw.decode("utf-8-sig", errors="replace")


@lru_cache(maxsize=4)
def _names_in(folder: str, changed_at: int) -> frozenset[str]:
    """The names of the files in a folder, which is listed once for all of them."""
    return frozenset(os.listdir(folder))
