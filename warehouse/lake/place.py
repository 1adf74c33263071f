"""Where a lake is: a folder of this machine, or an address such as s3://BUCKET/evals. Files are written, read, listed
and removed here, by their paths inside the lake. This module does not know what they mean.

A data file is written once and never changed, so a file that was fetched from an address stays valid: it is kept in the
user's cache. Addresses are reached with obstore, and their credentials come from the environment.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

from evalhouse.warehouse.faults import DiskFullError, WarehouseError
from evalhouse.warehouse.process import publishing
from evalhouse.warehouse.store.replacement import loading_lock

LOG = "change"
"""The table that makes a folder a lake."""

ABANDONED = timedelta(days=1)
"""At an address there is no lock, so a file that no change names may belong to a load that is still running. After this
time it is taken for left over.
"""

DATA_FILE = re.compile(r"[a-z_]+/[0-9a-f]{32}\.parquet")
"""The path of a data file inside a lake."""

_UNREAD = re.compile(r"[%\\\x00-\x1f\x7f]")
"""What deltalake takes for an escape or for the end of a folder's name, or refuses, in a path."""

PIECE = 1 << 20
"""How many bytes of a file are read at a time."""

CONNECTING, RETRIES, RETRYING = 5, 4, 60
"""How many seconds a connection may take, how often a request is repeated, and for how many seconds at most."""

CACHE = 20 * 2**30
"""How many bytes of fetched files are kept on this machine. Files that were used within a day are kept in any case."""

_ADDRESS = re.compile(r"([a-z][a-z0-9+.-]+):/+([^/].*)", flags=re.IGNORECASE)
"""An address. A path that was made of one has a single slash."""


class ListedFile(NamedTuple):
    """A file in a lake: its size in bytes, and whether a load that is still running could have written it."""

    bytes: int
    fresh: bool


class LakePlace(Protocol):
    """A place that holds a lake."""

    @property
    def called(self) -> str:
        """The name of the lake, as the user wrote it."""

    def is_lake(self) -> bool:
        """Whether there is a lake here."""

    def delta(self, table: str) -> tuple[str, dict[str, str]]:
        """The address of a table for deltalake, and its options."""

    def address(self, path: str) -> str:
        """The address of a file for Spark."""

    def drafts(self) -> contextlib.AbstractContextManager[Path]:
        """A folder to write new files into, each under its path inside the lake. `put` makes them part of the lake."""

    def put(self, drafts: Path, paths: Iterable[str]) -> None:
        """Writes files of a folder of drafts to where they stay. Raises WarehouseError."""

    def fetch_files(self, paths: Iterable[str]) -> Path:
        """A folder of this machine in which these files can be read. Raises WarehouseError."""

    def read(self, path: str) -> Iterator[bytes]:
        """The content of a file, in pieces. Raises WarehouseError."""

    def listed(self, tables: Iterable[str]) -> dict[str, ListedFile]:
        """The data files that are there."""

    def remove(self, paths: Iterable[str]) -> None:
        """Removes data files."""

    def alone(
        self, wait: float, tell: Callable[[str], None], turn: str = ""
    ) -> contextlib.AbstractContextManager[None]:
        """Keeps other writers of this machine waiting where that is possible. It only saves them from trying again:
        the table of changes decides who was first. Those who wait for one `turn` do not wait for another.
        Nobody is refused a turn without a name, which is for changing the lake, while the one who has it is alive.
        """

    def stamp(self) -> object:
        """A value that changes when somebody changes the lake; None if there is no lake. Raises WarehouseError."""


class Folder:
    """A lake in a folder of this machine, or of a file system that several machines share."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._named = str(path)

    @property
    def called(self) -> str:
        return self._named

    def is_lake(self) -> bool:
        return (self.path / LOG / "_delta_log").is_dir()

    def delta(self, table: str) -> tuple[str, dict[str, str]]:
        self.check_path()
        return (self.path / table).as_uri(), {}

    def check_path(self) -> None:
        """Raises WarehouseError if deltalake cannot read files under this path, or the one that a link leads to."""
        if any(map(_UNREAD.search, self.path.resolve().parts[1:])):
            raise WarehouseError(
                f"{self.called}: no part of the path of a lake may have a %, a backslash or a control character, which "
                "deltalake cannot read"
            )

    def address(self, path: str) -> str:
        return (self.path / path).as_uri()

    @contextlib.contextmanager
    def drafts(self) -> Iterator[Path]:
        # What a killed process leaves there is removed by the next one that writes.
        with contextlib.ExitStack() as held:
            with writing(self.called):
                drafts = held.enter_context(publishing.drafts_in(self.path))
            yield drafts

    def put(self, drafts: Path, paths: Iterable[str]) -> None:
        places = {path: self.path / path for path in paths}
        with writing(self.called):
            for path in places:
                publishing.sync(drafts / path)
            try:
                for path, place in places.items():
                    place.parent.mkdir(exist_ok=True)
                    (drafts / path).rename(place)
                for folder in {place.parent for place in places.values()}:
                    publishing.sync(folder)
            except BaseException:
                self.remove(places)
                raise

    def fetch_files(self, paths: Iterable[str]) -> Path:
        for path in paths:
            if not (self.path / path).is_file():
                raise damage_error(self.called, f"{path} is missing")
        return self.path

    def read(self, path: str) -> Iterator[bytes]:
        try:
            with (self.path / path).open("rb") as file:
                while piece := file.read(PIECE):
                    yield piece
        except OSError as error:
            raise damage_error(self.called, f"{path}: {(error.strerror or str(error)).lower()}") from None

    def listed(self, tables: Iterable[str]) -> dict[str, ListedFile]:
        # Whoever writes data files holds the lock, and so does whoever removes them.
        return {
            f"{table}/{file.name}": ListedFile(file.stat().st_size, fresh=False)
            for table in tables
            for file in (self.path / table).glob("*.parquet")
            if DATA_FILE.fullmatch(f"{table}/{file.name}")
        }

    def remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            (self.path / path).unlink(missing_ok=True)

    def alone(
        self, wait: float, tell: Callable[[str], None], turn: str = ""
    ) -> contextlib.AbstractContextManager[None]:
        return loading_lock(self.path / (turn or LOG), wait, tell, called=self.called, alive=not turn)

    def stamp(self) -> object:
        with contextlib.suppress(OSError):
            about = (self.path / LOG / "_delta_log").stat()
            return about.st_dev, about.st_ino, about.st_mtime_ns
        return None


class Bucket:
    """A lake in the storage of a cloud, by its address."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")

    @property
    def called(self) -> str:
        return self.url

    @property
    def _store(self) -> Any:
        obstore = _obstore()
        with _reaching(self.url):
            return obstore.store.from_url(
                self.url,
                client_options={"allow_http": _is_plain(), "connect_timeout": timedelta(seconds=CONNECTING)},
                retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRYING)},
            )

    def is_lake(self) -> bool:
        with _reaching(self.url):
            return any(_obstore().list(self._store, prefix=f"{LOG}/_delta_log", chunk_size=1))

    def delta(self, table: str) -> tuple[str, dict[str, str]]:
        options = {
            "connect_timeout": f"{CONNECTING}s",
            "max_retries": str(RETRIES),
            "retry_timeout": f"{RETRYING}s",
        }
        return f"{self.url}/{table}", options | ({"allow_http": "true"} if _is_plain() else {})

    def address(self, path: str) -> str:
        return f"{self.url}/{path}"

    @contextlib.contextmanager
    def drafts(self) -> Iterator[Path]:
        with publishing.temporary() as folder:
            yield folder

    def put(self, drafts: Path, paths: Iterable[str]) -> None:
        store = self._store
        with _reaching(self.url):
            for path in paths:
                _obstore().put(store, path, drafts / path)

    def fetch_files(self, paths: Iterable[str]) -> Path:
        from platformdirs import user_cache_path

        cache = user_cache_path("evalhouse") / "lakes" / sha256(self.url.encode()).hexdigest()[:16]
        store = None
        for path in map(Path, paths):
            with contextlib.suppress(FileNotFoundError):
                os.utime(cache / path)
                continue
            if store is None:
                store = self._store
                _make_room(cache.parent)
            folder = cache / path.parent
            folder.mkdir(parents=True, exist_ok=True)
            with publishing.files_in(folder, [path.name]) as draft, (draft / path.name).open("wb") as out:
                out.writelines(self._read(store, str(path)))
        return cache

    def read(self, path: str) -> Iterator[bytes]:
        return self._read(self._store, path)

    def _read(self, store: Any, path: str) -> Iterator[bytes]:
        with _reaching(self.url, path):
            for piece in _obstore().get(store, path).stream(min_chunk_size=PIECE):
                yield bytes(piece)

    def listed(self, tables: Iterable[str]) -> dict[str, ListedFile]:
        since = datetime.now(UTC) - ABANDONED
        store, found = self._store, {}
        with _reaching(self.url):
            for table in tables:
                for page in _obstore().list(store, prefix=table):
                    for file in page:
                        if DATA_FILE.fullmatch(str(file["path"])):
                            found[str(file["path"])] = ListedFile(int(file["size"]), file["last_modified"] > since)
        return found

    def remove(self, paths: Iterable[str]) -> None:
        gone = list(paths)
        if gone:
            with _reaching(self.url):
                _obstore().delete(self._store, gone)

    def alone(
        self, wait: float, tell: Callable[[str], None], turn: str = ""
    ) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def stamp(self) -> object:
        store, log = self._store, f"{LOG}/_delta_log"
        with _reaching(self.url):
            try:
                summary = json.loads(bytes(_obstore().get(store, f"{log}/_last_checkpoint").bytes()))
                since = f"{log}/{int(summary['version']):020}"
            except (FileNotFoundError, ValueError, KeyError, TypeError):
                since = None
            names = [str(file["path"]) for page in _obstore().list(store, prefix=log, offset=since) for file in page]
        return max((name for name in names if name.endswith(".json")), default=since)


def place_of(named: str | Path) -> LakePlace:
    """The place that a name stands for."""
    address = address_of(named)
    if address.startswith("file://"):
        return Folder(Path(unquote("/" + address.removeprefix("file://").lstrip("/"))))
    return Bucket(address) if address else Folder(Path(named))


def address_of(named: str | Path) -> str:
    """The address that a name is; empty if it is a path of this machine."""
    found = _ADDRESS.fullmatch(str(named))
    return f"{found[1]}://{found[2]}" if found else ""


def missing_package(module: str) -> WarehouseError:
    """The error for a package that lakes need and that is not installed."""
    return WarehouseError(f"a lake needs {module}, which is not installed", ("pip install 'evalhouse[lake]'",))


CHECK = "evalhouse check says more"
"""The hint of errors for damage, which `evalhouse check` itself does not give."""


def damage_error(called: str, how: str, *details: str) -> WarehouseError:
    """The error for a lake whose files are not those that its changes name."""
    return WarehouseError(f"{called} is damaged: {how}", (*details, CHECK))


def _obstore() -> Any:
    try:
        import obstore
        import obstore.store
    except ImportError:
        raise missing_package("obstore") from None
    return obstore


def _is_plain() -> bool:
    """Whether the environment names an endpoint without encryption, as a store on this machine has."""
    endpoints = (os.environ.get(name, "") for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
    return next((endpoint for endpoint in endpoints if endpoint), "").startswith("http://")


def _make_room(cache: Path) -> None:
    """Removes the fetched files that were not used for longest, while there are too many. They can be fetched again."""
    found = [(file, file.stat()) for file in cache.glob("*/*/*.parquet")]
    bytes_there, since = sum(about.st_size for _, about in found), time.time() - ABANDONED.total_seconds()
    for file, about in sorted(found, key=lambda one: one[1].st_mtime):
        if bytes_there <= CACHE or about.st_mtime > since:
            return
        file.unlink(missing_ok=True)
        bytes_there -= about.st_size


@contextlib.contextmanager
def writing(called: str) -> Iterator[None]:
    """Turns errors of the system into one sentence."""
    try:
        yield
    except OSError as error:
        raise cannot_be_written(called, error) from None


def cannot_be_written(called: str, error: Exception) -> WarehouseError:
    """The error for a lake into which a file could not be written. Some libraries give the number of the error, others
    only its text.
    """
    number, said = getattr(error, "errno", None), str(error)
    if number in (errno.ENOSPC, errno.EDQUOT) or os.strerror(errno.ENOSPC) in said:
        return DiskFullError()
    return WarehouseError(f"{called} cannot be written: {getattr(error, 'strerror', None) or sentence(error)}")


@contextlib.contextmanager
def _reaching(called: str, path: str = "") -> Iterator[None]:
    """Turns errors of obstore into one sentence."""
    try:
        yield
    except (WarehouseError, DiskFullError):
        raise
    except FileNotFoundError:
        raise damage_error(called, f"{path or 'a file'} is missing") from None
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("obstore", "builtins"):
            raise
        raise unreachable(called, error) from None


_UNREACHED = (
    ("NoSuchBucket", "there is no such bucket", ""),
    ("404 Not Found", "there is no such bucket", ""),
    ("169.254.169.254", "no credentials are set", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY hold them"),
    ("403 Forbidden", "access is denied", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY hold the credentials"),
    ("error sending request", "nothing answers there", "AWS_ENDPOINT_URL names the endpoint, if it is not Amazon's"),
)
"""For a part of an error message of a library, what it means and a hint."""


def unreachable(called: str, error: Exception) -> WarehouseError:
    """The error for a lake that cannot be reached."""
    for part, why, hint in _UNREACHED:
        if part in str(error):
            return WarehouseError(f"{called} cannot be reached: {why}", (hint,) if hint else ())
    return WarehouseError(f"{called} cannot be reached", (f"the storage says: {sentence(error)}",))


def sentence(error: Exception) -> str:
    """The first line of an error message of another library, without its final full stop."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines or ["why is not known"])[0].rstrip(" .:")[:300]
