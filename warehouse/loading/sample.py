"""The sample data that come with the program: where they are, and a warehouse that contains all of them.

Loading them takes longer than most queries, so the warehouse is kept in the user's cache folder. Its name is a digest
of the data, the schema, the versions and every byte of the file itself, so a damaged file is made again. If nothing can
be kept there, the warehouse is made in memory each time.
"""

from __future__ import annotations

import contextlib
import shutil
import zlib
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from evalhouse.warehouse.faults import WarehouseError
from evalhouse.warehouse.process.folders import user_folder
from evalhouse.warehouse.process.publishing import clear, files_in, temporary
from evalhouse.warehouse.store.connecting import in_memory, open_own
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.files import LIBRARY
from evalhouse.warehouse.store.replacement import making
from evalhouse.warehouse.version import __version__

if TYPE_CHECKING:
    from evalhouse.warehouse.loading.ingest import Loaded

BLOCK_SIZE = 16_384
"""The size of the blocks of the kept warehouse, in bytes. With larger ones, most of the file would be empty; all of it
is read whenever it is opened.
"""

PIECE = 1 << 17
"""How many bytes of the kept warehouse are read at a time."""

PACKAGE = Path(__file__).resolve().parents[1]


def _folder() -> Path:
    """The folder of the sample data: inside the installed package, or beside it in a checkout."""
    inside = PACKAGE / "sample_data"
    return inside if inside.is_dir() else PACKAGE.parent / "sample_data"


FOLDER = _folder()


class SampleFile(Struct, frozen=True):
    """A file of the sample data, how it is loaded, and the noun for its documents if it has documents."""

    path: Path
    reader: str
    simulated: bool
    noun: str


def contents() -> list[SampleFile]:
    """The files, in the order of loading."""
    _, *lines = (FOLDER / "contents.csv").read_text(encoding="utf-8").splitlines()
    # No cell has a comma in it, so the csv module is not needed.
    rows = [line.split(",") for line in lines]
    return [SampleFile(FOLDER / file, reader, simulated == "yes", noun) for file, reader, simulated, noun in rows]


def fill(database: Database) -> list[Loaded]:
    """Loads all sample data into a warehouse."""
    from evalhouse.warehouse.loading.ingest import load

    return [
        load(
            database,
            file.path,
            file.reader,
            fields={"noun": file.noun} if file.noun else {},
            simulated=file.simulated,
            called=file.path.relative_to(FOLDER.parent).as_posix(),
        )
        for file in contents()
    ]


def sample() -> Database:
    """A warehouse with the sample data."""
    kept = _cached_warehouse()
    if kept is not None:
        # Another version may remove the file at this moment, to keep its own.
        with contextlib.suppress(WarehouseError, OSError):
            return open_own(kept)
    database = in_memory()
    fill(database)
    return database


def _cached_warehouse() -> Path | None:
    """The warehouse in the cache folder; it is made if it is missing or changed. None if it cannot be made there."""
    folder = user_folder("cache")
    digest = _digest()
    clear(folder)
    for path in folder.glob(f"sample-{digest}-*.duckdb"):
        if path.name == _name(digest, path):
            return path
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path = _make_warehouse(folder, digest)
    except (OSError, WarehouseError):
        return None
    for old in folder.glob("sample-*.duckdb"):
        if old != path:
            with contextlib.suppress(OSError):
                old.unlink()
    return path


def _make_warehouse(folder: Path, digest: str) -> Path:
    """Makes the warehouse under a temporary name, because its final name depends on its contents."""
    with temporary() as scratch:
        made = scratch / "sample.duckdb"
        with making(made, block_size=BLOCK_SIZE) as database:
            fill(database)
        name = _name(digest, made)
        with files_in(folder, [name]) as draft:
            shutil.copyfile(made, draft / name)
    return folder / name


def _name(digest: str, path: Path) -> str:
    """The file name for these contents. A file that cannot be read gets a name that matches nothing."""
    checksum = 0
    try:
        with path.open("rb") as file:
            # Read in pieces, because allocating memory for the whole file would take as long as reading it.
            while piece := file.read(PIECE):
                checksum = zlib.crc32(piece, checksum)
    except OSError:
        return ""
    return f"sample-{digest}-{checksum:08x}.duckdb"


def _digest() -> str:
    """A digest of everything that decides what the kept warehouse contains and who can read it."""
    digest = sha256(f"{__version__} {LIBRARY}".encode())
    for file in (PACKAGE / "store" / "schema.sql", FOLDER / "contents.csv", *(file.path for file in contents())):
        data = file.read_bytes()
        # This is to notice an update: whoever can write these files can write the program.
        digest.update(f"{len(data)} {zlib.crc32(data)}".encode())
    return digest.hexdigest()[:16]
