"""Which files are meant, and which reader each is for, by its name and its first lines.

Every reader is asked, those of other packages too, in the order of their evidence. Nothing is read but the start of a
file; a reader may still find that the rest is something else.
"""

from __future__ import annotations

import re
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from pathlib import Path

from warehouse.faults import DataError, Fault, UnreadableError
from warehouse.loading.readers import READERS, plugins
from warehouse.loading.staging.lines import COMPRESSIONS, compression_of, damages, is_archive, open_bytes
from warehouse.loading.staging.reader import Start
from warehouse.loading.staging.tabular import parquet_columns
from warehouse.store.database import Database

START = 65_536
"""How many bytes of a file are looked at, unpacked."""


@dataclass(frozen=True, slots=True)
class Recognized:
    """A reader, and what in the file speaks for it."""

    reader: str
    why: str


def named_files(named: Sequence[str]) -> list[Path]:
    """The files that are meant: themselves, those in a folder in order of name, or those that fit a pattern."""
    files: list[Path] = []
    for name in named:
        path = Path(name)
        if path.is_dir():
            files += sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
        elif not path.exists() and any(letter in name for letter in "*?["):
            fitting = map(Path, sorted(glob(name, recursive=True)))
            files += [file for file in fitting if file.is_file()] or [path]
        else:
            files.append(path)
    return files or [Path(name) for name in named]


def recognize(file: Path, store: Database) -> Recognized:
    """The reader for a file; `store` reads those that Python does not.

    Raises DataError where there is no such file, or nothing speaks for a reader.
    """
    start = _start(file, store)
    readers = READERS | plugins()
    for reader in sorted(readers.values(), key=lambda reader: reader.evidence):
        try:
            why = reader.recognizes(start)
        except Exception as error:  # a reader may be anybody's
            said = f"the reader {reader.name} failed: {type(error).__name__}: {error}"
            raise DataError((Fault(str(file), None, said),)) from error
        if why is not None:
            return Recognized(reader.name, why)
    raise DataError((Fault(str(file), None, "nothing in it says what it is; --as READER does"),))


def _start(file: Path, store: Database) -> Start:
    name = re.sub("|".join(rf"\{ending}$" for ending in COMPRESSIONS), "", file.name.casefold())
    broken: tuple[type[Exception], ...] = (*damages(), OSError, tarfile.TarError, UnreadableError)
    try:
        if file.is_dir():
            raise DataError((Fault(str(file), None, "this is a folder, not a file"),))
        with open_bytes(file, compression_of(file)) as binary:
            if is_archive(file):
                with tarfile.open(fileobj=binary, mode="r|*") as archive:
                    members = (archive.extractfile(member) for member in archive if member.isreg())
                    raw = next((member.read(START) for member in members if member is not None), b"")
            else:
                raw = binary.read(START)
        named = parquet_columns(file, store) if name.endswith(".parquet") else ()
    except FileNotFoundError:
        raise DataError((Fault(str(file), None, "there is no such file"),)) from None
    except broken:
        raise DataError((Fault(str(file), None, "the file cannot be read, or is damaged"),)) from None
    return Start(name, raw.decode("utf-8", errors="replace"), frozenset(named))
