"""Finds the files of a load: named files, files that match a pattern, files in folders, and members of archives.

Folders are searched with all their subfolders; hidden files are skipped. Archives are unpacked into a folder that is
removed after the load, up to the size that the door allows. Nothing here looks at what a file contains.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import tarfile
from collections.abc import Iterator, Sequence
from glob import glob
from pathlib import Path, PurePosixPath
from typing import IO

from msgspec import Struct
from msgspec.structs import replace

from evalhouse.warehouse.faults import DataError, Fault, WarehouseError
from evalhouse.warehouse.loading.staging.cells import quote_cell
from evalhouse.warehouse.loading.staging.door import Door, Meter
from evalhouse.warehouse.loading.staging.lines import MOST_MEMBERS, compression_of, damages, is_archive, open_bytes

NO_RESULTS = re.compile(
    r"\.(bib|bmp|cfg|conf|css|db|duckdb|gif|h5|html|ico|import|ini|ipynb|jpe?g|js|lock|lua|md|mp[34]|npy|npz|pdf|pickle|pkl"
    r"|png|pt|pth|pyc?|r|rst|safetensors|sh|svg|tex|toml|ttf|wal|wav|webp|xml|ya?ml)",
    re.IGNORECASE,
)
"""Endings of files that hold no results, even if they have numbers or commas in them."""

LAKE = Path("change", "_delta_log")
"""The folder that makes its parent a lake."""


class Found(Struct, frozen=True):
    """A file of a load: its path, its name in messages, whether a person named it (or it was found in a folder or
    archive), and the door that opens it.
    """

    path: Path
    called: str
    named: bool
    door: Door

    @property
    def is_zip(self) -> bool:
        """Whether it is a zip archive, which no reader reads by itself."""
        return self.path.suffix.casefold() == ".zip"

    @property
    def is_archive(self) -> bool:
        """Whether it contains other files."""
        return self.is_zip or is_archive(self.path)

    def refusal(self, message: str) -> DataError:
        """The error for this file."""
        return DataError((Fault(self.called, None, message),))


def find(named: Sequence[str], door: Door) -> list[Found]:
    """The files of a load, each once. Named files keep their order; files of a folder are sorted by name."""
    found: dict[str, Found] = {}
    for name in named:
        for file in _find_files(name, door):
            found.setdefault(os.path.abspath(file.path), file)
    return list(found.values())


def _find_files(name: str, door: Door) -> Iterator[Found]:
    path = Path(name)
    if path.is_dir():
        yield from _in_folder(path, str(path), door)
    elif not path.exists() and any(letter in name for letter in "*?["):
        fitting = [Path(there) for there in sorted(glob(name, recursive=True))]
        if not fitting:
            yield Found(path, name, True, door)
        for there in fitting:
            yield from _in_folder(there, str(there), door) if there.is_dir() else [Found(there, str(there), True, door)]
    else:
        yield Found(path, name, True, door)


def _in_folder(folder: Path, called: str, door: Door) -> Iterator[Found]:
    """All files of a folder and its subfolders. Links to folders are not followed, so that no file is found twice."""
    for where, folders, files in os.walk(folder):
        if Path(where, LAKE).is_dir():
            is_lake = f"{where} is a lake, which is not loaded but asked"
            raise WarehouseError(is_lake, (f"--db {where} asks it, and evalhouse copy makes a file of it",))
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        for name in sorted(name for name in files if not _is_hidden(name)):
            path = Path(where) / name
            if stat.S_ISREG(path.stat().st_mode) if path.exists() else True:
                yield Found(path, str(Path(called) / path.relative_to(folder)), False, door)


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX", "__pycache__"))


def unpack(archive: Found, scratch: Path) -> list[Found]:
    """The members of an archive, unpacked into their own folder in `scratch`, which has the name of the archive.

    Raises DataError if the archive is damaged, or larger when unpacked than the door allows.
    """
    stem = archive.path.name
    while Path(stem).suffix.casefold() in (".zip", ".tar", ".gz", ".tgz", ".zst"):
        stem = Path(stem).stem
    # The parent folder gets the name of the folder that the archive is in, for {parent2}.
    above = archive.path.absolute().parent.name or "archive"
    folder = scratch / str(len(list(scratch.iterdir()))) / above / stem
    folder.mkdir(parents=True)
    broken: tuple[type[Exception], ...] = (*damages(), tarfile.TarError, OSError, RuntimeError, ValueError)
    try:
        (_unzip if archive.is_zip else _untar)(archive, folder)
    except broken as error:
        if isinstance(error, FileNotFoundError):
            raise archive.refusal("there is no such file") from None
        raise archive.refusal("the archive is cut off, damaged or packed in an unknown way") from None
    inside = replace(archive.door, inside=folder)
    return [replace(found, named=False) for found in _in_folder(folder, archive.called, inside)]


def pack_together(first: Found, root: Path, members: Sequence[Path], scratch: Path) -> Found:
    """Packs files of folders in `root` into an archive of that name, for a reader that reads them together. `first` is
    one of the files.
    """
    folder = scratch / str(len(list(scratch.iterdir()))) / (root.parent.name or "folder")
    folder.mkdir(parents=True)
    path = folder / f"{root.name}.tar"
    with tarfile.open(path, "w") as archive:
        for member in members:
            with first.door.open(member) as file:
                about = tarfile.TarInfo(member.relative_to(root).as_posix())
                about.size = os.fstat(file.fileno()).st_size
                archive.addfile(about, file)
    return Found(path, str(Path(first.called).parent.parent), first.named, replace(first.door, inside=scratch))


def _unzip(archive: Found, folder: Path) -> None:
    from evalhouse.warehouse.loading.staging.zstandard import zipfile

    with archive.door.open(archive.path) as file:
        try:
            members = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise archive.refusal("the archive is cut off or damaged") from None
        meter = Meter(Path(archive.called), os.fstat(file.fileno()).st_size, archive.door.unpacked)
        with members:
            _check_count(archive, len(members.infolist()))
            for member in members.infolist():
                # The bytes that are actually written are counted, whatever size the archive states.
                if not member.is_dir() and (place := _place(folder, member.filename)):
                    try:
                        with members.open(member) as packed:
                            _write(meter.reading(packed), place)
                    except zipfile.BadZipFile:
                        raise archive.refusal(f"its member {quote_cell(member.filename)} is damaged") from None


def _untar(archive: Found, folder: Path) -> None:
    with (
        open_bytes(archive.door, archive.path, compression_of(archive.path)) as unpacking,
        tarfile.open(fileobj=unpacking, mode="r|*") as members,
    ):
        for count, member in enumerate(members, start=1):
            _check_count(archive, count)
            packed = members.extractfile(member) if member.isreg() else None
            if packed and (place := _place(folder, member.name)):
                _write(packed, place)


def _check_count(archive: Found, count: int) -> None:
    if count > MOST_MEMBERS:
        raise archive.refusal(f"the archive has more than {MOST_MEMBERS:,} members")


def _place(folder: Path, member: str) -> Path | None:
    """The path that a member is unpacked to, always inside the folder; None for hidden members and members without a
    name.
    """
    parts = [part for part in PurePosixPath(member.replace("\\", "/")).parts if part not in ("/", "..", ".")]
    if not parts or any(_is_hidden(part) for part in parts) or any("\0" in part for part in parts):
        return None
    place = folder.joinpath(*parts)
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def _write(packed: IO[bytes], place: Path) -> None:
    with place.open("wb") as out:
        shutil.copyfileobj(packed, out, 1 << 20)
