"""Finds the files of a load: named files, files that match a pattern, files in folders, and members of archives.

Folders are searched with all their subfolders; hidden files are skipped, but for those in which tools keep results.
Archives are unpacked into a folder that is removed after the load, up to the size that the door allows. Whatever is
there and not hidden is returned: as a file to read, or as something that is passed over, with the reason. Nothing here
looks at what a file contains.
"""

from __future__ import annotations

import os
import posixpath
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

READ_ME = re.compile(
    r"(readme|licen[cs]e|copying|copyright|notice)([-_]\w+)?(\.[a-z]{2})?(\.(adoc|html?|markdown|md|org|rst|txt))?",
    re.IGNORECASE,
)
"""Names of files that say what is in a folder, or who may use it."""

LINK_TO_FOLDER = "a link to a folder, which is not followed"
EMPTY_FOLDER = "an empty folder"
NO_FILE = "a pipe or a device"
NAMELESS = "a member without a name"

LAKE = Path("change", "_delta_log")
"""The folder that makes its parent a lake."""


class Found(Struct, frozen=True):
    """A file of a load: its path, its name in messages, whether a person named it (or it was found in a folder or
    archive), and the door that opens it. `unreadable` says why it cannot be read at all, if that is known already.
    """

    path: Path
    called: str
    named: bool
    door: Door
    unreadable: str = ""

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


class PassedOver(Struct, frozen=True):
    """Something that is there and is not loaded: its name in messages, what it is ("an empty folder"), and what was
    seen in it, as a sentence, if anybody looked. `expected` says that every folder may have it, so that nobody asks
    where its results are. `no_file` says that it is a pipe or a device, whose name may be that of results.
    """

    called: str
    why: str
    said: str = ""
    expected: bool = False
    no_file: bool = False


Sighted = Found | PassedOver


def find(named: Sequence[str], door: Door) -> list[Sighted]:
    """What there is to load, each file once. Named files keep their order; files of a folder are sorted by name."""
    found: dict[str, Sighted] = {}
    for name in named:
        for there in _find_files(name, door):
            path = there.path if isinstance(there, Found) else Path(there.called)
            found.setdefault(os.path.abspath(path), there)
    return list(found.values())


def _find_files(name: str, door: Door) -> Iterator[Sighted]:
    path = Path(name)
    fitting = [path]
    if not path.exists() and any(letter in name for letter in "*?["):
        fitting = [Path(there) for there in sorted(glob(name, recursive=True))]
        if not fitting:
            yield Found(path, name, True, door, unreadable="no file matches this pattern")
    for there in fitting:
        called = name if there is path else str(there)
        if not there.is_dir():
            yield Found(there, called, True, door)
            continue
        inside = list(_in_folder(there, str(there), door))
        yield from inside or [Found(there, called, True, door, unreadable="there is no file in this folder")]


def _in_folder(folder: Path, called: str, door: Door) -> Iterator[Sighted]:
    """All files of a folder and its subfolders. Links to folders are not followed, so that no file is found twice."""
    for where, folders, files in os.walk(folder):
        if Path(where, LAKE).is_dir():
            is_lake = f"{where} is a lake, which is not loaded but asked"
            raise WarehouseError(is_lake, (f"--db {where} asks it, and evalhouse copy makes a file of it",))
        folders[:] = sorted(name for name in folders if not _is_hidden(name))
        shown = sorted(name for name in files if not _is_hidden(name))
        if not (folders or shown) and Path(where) != folder:
            yield PassedOver(str(Path(called) / Path(where).relative_to(folder)), EMPTY_FOLDER)
        for name in [name for name in folders if Path(where, name).is_symlink()]:
            yield PassedOver(str(Path(called) / Path(where, name).relative_to(folder)), LINK_TO_FOLDER)
        for name in shown:
            path = Path(where) / name
            named = str(Path(called) / path.relative_to(folder))
            if path.exists() and not stat.S_ISREG(path.stat().st_mode):
                yield PassedOver(named, NO_FILE, no_file=True)
            else:
                yield Found(path, named, False, door)


RESULTS_HIDDEN = frozenset((".deepeval", ".latest_test_run.json"))
"""Hidden names under which a tool keeps its results."""


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__MACOSX", "__pycache__")) and name not in RESULTS_HIDDEN


def unpack(archive: Found, scratch: Path) -> list[Sighted]:
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
    members = _Members(archive, folder)
    broken: tuple[type[Exception], ...] = (*damages(), tarfile.TarError, OSError, RuntimeError, ValueError)
    try:
        (_unzip if archive.is_zip else _untar)(archive, members)
    except broken as error:
        if isinstance(error, FileNotFoundError):
            raise archive.refusal("there is no such file") from None
        raise archive.refusal("the archive is cut off, damaged or packed in an unknown way") from None
    members.follow_links()
    inside = replace(archive.door, inside=folder)
    found = [
        replace(there, named=False, unreadable=members.unreadable.get(there.path, ""))
        if isinstance(there, Found)
        else there
        for there in _in_folder(folder, archive.called, inside)
    ]
    lost = [
        Found(path, members.called(path), False, inside, unreadable=why)
        for path, why in members.unreadable.items()
        if not path.exists()
    ]
    together = [*found, *lost, *members.passed_over]
    return together or [replace(archive, unreadable="there is no file in this archive")]


class _Members:
    """The members of an archive while they are unpacked: where each is put, and what cannot be unpacked.

    A link in the archive becomes the file that it leads to. Of two members with one name neither is read, because
    nothing says which is meant.
    """

    def __init__(self, archive: Found, folder: Path) -> None:
        self.unreadable: dict[Path, str] = {}
        self.passed_over: list[PassedOver] = []
        self._archive, self._folder = archive, folder
        self._links: dict[Path, tuple[Path | None, str]] = {}
        self._count = 0

    def called(self, place: Path) -> str:
        """The name in messages of what is put there."""
        return str(Path(self._archive.called) / place.relative_to(self._folder))

    def count(self) -> None:
        """Counts one more member. Raises DataError if they are too many."""
        self._count += 1
        if self._count > MOST_MEMBERS:
            raise self._archive.refusal(f"the archive has more than {MOST_MEMBERS:,} members")

    def make_folder(self, member: str) -> None:
        """Makes a folder that the archive has."""
        if place := self._place(member):
            place.mkdir(parents=True, exist_ok=True)

    def place_of(self, member: str) -> Path | None:
        """Where to write a member; None if it is not to be written, because it is hidden, or is there already."""
        place = self._place(member)
        if place is None:
            if not _is_hidden_member(member):
                self.passed_over.append(PassedOver(f"{self._archive.called}/{quote_cell(member)[1:-1]}", NAMELESS))
            return None
        if place in self._links or place.exists():
            self.unreadable[place] = "the archive has several members of this name"
            return None
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def add_link(self, member: str, target: str, beside: str = "") -> None:
        """Notes a link to another member, whose name is seen from the folder `beside` of the archive."""
        if place := self.place_of(member):
            seen_from = posixpath.normpath(posixpath.join(beside, target))
            outside = seen_from.startswith(("/", "../")) or seen_from == ".."
            self._links[place] = None if outside else self._place(seen_from), target

    def add_no_file(self, member: str) -> None:
        """Notes a pipe or a device."""
        if place := self.place_of(member):
            self.passed_over.append(PassedOver(self.called(place), NO_FILE, no_file=True))

    def follow_links(self) -> None:
        """Puts the files that links lead to in the places of the links."""
        left = dict(self._links)
        while ready := [(place, target) for place, (target, _) in left.items() if target and target.is_file()]:
            for place, target in ready:
                _, shown = left.pop(place)
                if target in self.unreadable:
                    self.unreadable[place] = f"this is a link to {quote_cell(shown)}, which the archive has twice"
                else:
                    os.link(target, place)
        for place, (to, shown) in left.items():
            if to and to.is_dir():
                self.passed_over.append(PassedOver(self.called(place), LINK_TO_FOLDER))
            else:
                self.unreadable[place] = f"this is a link to {quote_cell(shown)}, which is not in the archive"

    def _place(self, member: str) -> Path | None:
        """The path that a member is unpacked to, always inside the folder; None for hidden members and members without
        a name.
        """
        parts = _parts_of(member)
        if not parts or _is_hidden_member(member) or any("\0" in part for part in parts):
            return None
        return self._folder.joinpath(*parts)


def pack_together(first: Found, root: Path, members: Sequence[Found], scratch: Path) -> Found:
    """Packs files of folders in `root` into an archive of that name, for a reader that reads them together. `first` is
    one of the files.
    """
    folder = scratch / str(len(list(scratch.iterdir()))) / (root.parent.name or "folder")
    folder.mkdir(parents=True)
    path = folder / f"{root.name}.tar"
    with tarfile.open(path, "w") as archive:
        for member in members:
            with member.door.open(member.path) as file:
                about = tarfile.TarInfo(member.path.absolute().relative_to(root).as_posix())
                about.size = os.fstat(file.fileno()).st_size
                archive.addfile(about, file)
    return Found(path, str(Path(first.called).parent.parent), first.named, replace(first.door, inside=scratch))


def _unzip(archive: Found, members: _Members) -> None:
    from evalhouse.warehouse.loading.staging.zstandard import zipfile

    with archive.door.open(archive.path) as file:
        try:
            packed = zipfile.ZipFile(file)
        except zipfile.BadZipFile:
            raise archive.refusal("the archive is cut off or damaged") from None
        meter = Meter(Path(archive.called), os.fstat(file.fileno()).st_size, archive.door.unpacked)
        with packed:
            for member in packed.infolist():
                members.count()
                mode = member.external_attr >> 16
                try:
                    if member.is_dir():
                        members.make_folder(member.filename)
                    elif stat.S_ISLNK(mode):
                        with packed.open(member) as link:
                            target = meter.reading(link).read(_LONGEST_TARGET).decode(errors="replace")
                        members.add_link(member.filename, target, posixpath.dirname(member.filename))
                    elif stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                        members.add_no_file(member.filename)
                    elif place := members.place_of(member.filename):
                        # The bytes that are actually written are counted, whatever size the archive states.
                        with packed.open(member) as unpacking:
                            _write(meter.reading(unpacking), place)
                except zipfile.BadZipFile:
                    raise archive.refusal(f"its member {quote_cell(member.filename)} is damaged") from None


def _untar(archive: Found, members: _Members) -> None:
    with (
        open_bytes(archive.door, archive.path, compression_of(archive.path)) as unpacking,
        tarfile.open(fileobj=unpacking, mode="r|*") as packed,
    ):
        for member in packed:
            members.count()
            if member.isdir():
                members.make_folder(member.name)
            elif member.islnk():
                members.add_link(member.name, member.linkname)
            elif member.issym():
                members.add_link(member.name, member.linkname, posixpath.dirname(member.name))
            elif member.isreg() and (content := packed.extractfile(member)) is not None:
                if place := members.place_of(member.name):
                    _write(content, place)
            else:
                members.add_no_file(member.name)


_LONGEST_TARGET = 4096
"""How many bytes of a link are read."""


def _parts_of(member: str) -> list[str]:
    """The parts of the name of a member that stay inside the folder that it is unpacked to."""
    return [part for part in PurePosixPath(member.replace("\\", "/")).parts if part not in ("/", "..", ".")]


def _is_hidden_member(member: str) -> bool:
    return any(map(_is_hidden, _parts_of(member)))


def _write(packed: IO[bytes], place: Path) -> None:
    with place.open("wb") as out:
        shutil.copyfileobj(packed, out, 1 << 20)
