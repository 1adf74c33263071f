"""Changes a warehouse as a whole file: creates it, replaces it by a copy, changes it in place, or backs it up.

A change happens completely or not at all. The copy takes the place of the warehouse only when it is checked and
written to disk, so a crash leaves the old warehouse. Only one process at a time may change a warehouse. What is
loaded is decided elsewhere.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from evalhouse.warehouse.faults import DiskFullError, WarehouseError
from evalhouse.warehouse.kinds.records import FORMS
from evalhouse.warehouse.process import publishing, stopping
from evalhouse.warehouse.store.connecting import LOGS, logs_of, look_into, open_database, open_new, open_to_load
from evalhouse.warehouse.store.database import Database
from evalhouse.warehouse.store.files import COMMON_FORMAT, check_file, extent_of, format_of
from evalhouse.warehouse.store.schema import Asking, check_schema, schema_version, statements
from evalhouse.warehouse.store.sql import Sql, join, name

# === the lock file ====================================================================================================
# The lock file beside the warehouse says who is loading and since when. The operating system holds the lock and
# releases it when the process ends, however it ends, so the next process can take over the file of a dead one.

try:
    import fcntl
except ImportError:  # pragma: no cover - without fcntl, two processes can load into one warehouse at once
    fcntl = None  # type: ignore[assignment]

WAIT = 10.0
"""How many seconds to wait for a load in another process; if several processes wait, for each load before their own."""

BEAT = 1.0
"""How often, in seconds, a process that holds a lock with `alive` shows that it is alive."""

HOST = os.uname().nodename if hasattr(os, "uname") else ""

_SOON = 0.5
"""A wait shorter than this, in seconds, is not reported."""

_NOT_THROUGH_LINKS = getattr(os, "O_NOFOLLOW", 0)


def nobody(sentence: str) -> None:
    """Reports nothing."""


@contextlib.contextmanager
def loading_lock(
    path: Path, wait: float = WAIT, tell: Callable[[str], None] = nobody, *, called: str = "", alive: bool = False
) -> Iterator[None]:
    """Holds the lock file of the warehouse at `path`, which need not exist yet. `tell` is told which process it waits
    for. With `alive`, others wait as long as this process is alive, however long it takes.

    Raises WarehouseError if another process holds it for longer than `wait`, and at once if the file cannot be created.
    """
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = _take(lock, called or str(path), wait, tell)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError from None
        raise WarehouseError(
            f"{called or path} cannot be loaded into: {lock} cannot be made: {error.strerror}"
        ) from None
    try:
        with publishing.provisional([lock]), _beating(lock) if alive else contextlib.nullcontext():
            yield
    finally:
        # If the file stays, the next process takes it over: the lock itself is released in any case.
        with contextlib.suppress(OSError):
            if _is_still_there(descriptor, lock):  # a lake that was overwritten took it along
                lock.unlink()
        os.close(descriptor)


@contextlib.contextmanager
def _beating(lock: Path) -> Iterator[None]:
    """Inside the block, the time of a lock file shows that its holder is alive."""
    over = threading.Event()

    def beat() -> None:
        while not over.wait(BEAT):
            with contextlib.suppress(OSError):
                os.utime(lock, follow_symlinks=False)

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def nobody_loads(path: Path) -> Iterator[bool]:
    """Whether no process loads into the warehouse at `path`, and the last that did was on this machine: on some network
    file systems, locks hold on one machine alone. If so, no load begins before the end of the block. This does not
    wait. Raises OSError.
    """
    if fcntl is None:  # pragma: no cover
        yield False
        return
    lock = path.with_name(path.name + ".lock")
    descriptor = os.open(lock, os.O_RDWR | _NOT_THROUGH_LINKS)
    try:
        free = _try_lock(descriptor) and _is_still_there(descriptor, lock) and _read_lock(lock).get("host") == HOST
        yield free
        if free:
            lock.unlink()
    finally:
        os.close(descriptor)


def _take(lock: Path, called: str, wait: float, tell: Callable[[str], None]) -> int:
    began = time.monotonic()
    until, holder, beat, announced = began + wait, "", 0, False
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _NOT_THROUGH_LINKS, 0o644)
        try:
            if _try_lock(descriptor) and _is_still_there(descriptor, lock):
                from datetime import UTC, datetime

                this = {"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds"), "host": HOST}
                try:
                    os.ftruncate(descriptor, 0)
                    os.write(descriptor, json.dumps(this).encode())
                except OSError:
                    lock.unlink(missing_ok=True)
                    raise
                return descriptor
            now, current, sign = time.monotonic(), _holder(lock), os.fstat(descriptor).st_mtime_ns
            if current and (current, sign) != (holder, beat):
                holder, beat, until = current, sign, now + wait
            # The process that has just taken the lock has not yet written its name.
            elif now > until + (0 if current else _SOON):
                who = holder or "another process"
                hint = "wait until it is done; load --wait SECONDS does"
                raise WarehouseError(f"{who} is loading into {called}", (hint,))
            elif current and now > began + _SOON and not announced:
                tell(f"waiting for {holder}, which is loading into {called}")
                announced = True
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        time.sleep(0.05)


def _try_lock(descriptor: int) -> bool:
    if fcntl is None:  # pragma: no cover
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _is_still_there(descriptor: int, lock: Path) -> bool:
    # The previous loader may have removed the file after we opened it and before we locked it.
    try:
        return os.path.samestat(os.fstat(descriptor), lock.stat())
    except FileNotFoundError:
        return False


def _holder(lock: Path) -> str:
    """The process that holds a lock, if the file says so."""
    try:
        holder = _read_lock(lock)
        return f"process {int(holder['pid'])} since {holder['since']}"
    except (ValueError, KeyError, TypeError):
        return ""


def _read_lock(lock: Path) -> dict[str, Any]:
    """What the holder of a lock wrote into its file; nothing if it has not yet."""
    try:
        written = json.loads(lock.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return written if isinstance(written, dict) else {}


# === creating, replacing, backing up ==================================================================================

Tell = Callable[[str], None]
"""A function that shows a message to the user."""


@contextlib.contextmanager
def making(path: Path, *, block_size: int | None = None, wait: float = WAIT, tell: Tell = nobody) -> Iterator[Database]:
    """Creates a new warehouse to load into, with blocks of so many bytes, or as many as DuckDB thinks right. It appears
    at `path` if everything succeeds, and not otherwise.

    Raises WarehouseError if something exists at `path` or the file cannot be written.
    """
    _check_name_is_free(path)
    copy = _copy_of(path)
    with _said_of_a_full_disk(f"{path} was not made"), loading_lock(path, wait, tell), _provisional(copy):
        _check_name_is_free(path)
        try:
            _remove_copy(copy)
            with open_new(copy, block_size) as database:
                database.run(Sql(statements(comments=True)))
                yield database
                database.run(Sql("checkpoint"))
            _count_again(copy)
            _publish(copy, path, tell)
        finally:
            _remove_copy(copy)


def create(path: Path) -> Database:
    """A new, empty warehouse at `path`, open for loading in place. Raises WarehouseError as `making` does."""
    with making(path):
        pass
    return open_new(path)


def _check_name_is_free(path: Path) -> None:
    if path.is_symlink():
        leads = f"{path} exists already: it is a link to {os.readlink(path)}"
        raise WarehouseError(leads, ("links are not followed; use another name",))
    if path.exists():
        raise WarehouseError(f"{path} exists already", ("use a name that is not taken",))
    if not path.parent.is_dir():
        raise WarehouseError(f"there is no folder {path.parent}")


def _publish(copy: Path, path: Path, tell: Tell) -> None:
    """Gives a new file its final name, once it is written to disk."""
    with _writing_sentences(path):
        _check_name_is_free(path)
        _take_place(copy, path, tell)


@contextlib.contextmanager
def replacing(
    path: Path, files: Iterable[Path] = (), *, keep: bool = True, wait: float = WAIT, tell: Tell = nobody
) -> Iterator[Database]:
    """Gives a copy of the warehouse at `path` to load `files` into. The copy takes the place of the warehouse if
    everything succeeds.

    On any exception, or if `keep` is false (a dry run), the copy is removed and the warehouse stays as it was. It waits
    for a load in another process. `tell` reports this wait, and other names of the warehouse. Raises WarehouseError if
    the warehouse cannot be opened, if another process does not finish loading into it, if the copy is unsound, or if
    the disk is full.
    """
    with replacing_any(path, files, keep=keep, check=check_schema, wait=wait, tell=tell) as database:
        yield database


@contextlib.contextmanager
def replacing_any(
    path: Path,
    files: Iterable[Path] = (),
    *,
    keep: bool = True,
    check: Callable[[Asking, Path], object] = schema_version,
    wait: float = WAIT,
    tell: Tell = nobody,
) -> Iterator[Database]:
    """Like `replacing`, for a warehouse with any version of the schema. At the end it must have the current version."""
    path = _real(path, tell)
    copy = _copy_of(path)
    check_file(path)
    with _said_of_a_full_disk(f"{path} is as it was before"), loading_lock(path, wait, tell), _provisional(copy):
        try:
            look_into(path, check)
            _finish(path)
            before = _state(path)
            with _writing_sentences(path):
                _remove_copy(copy)
                if format_of(path) > COMMON_FORMAT:
                    _rewrite(path, copy)
                else:
                    _copy(path, copy)
            _check_unchanged(path, before)
            with open_to_load(copy, files) as database:
                yield database
                if not keep:
                    return
                database.run(Sql("checkpoint"))
            _count_again(copy)
            look_into(path)
            _check_unchanged(path, before)
            names = path.stat().st_nlink
            with _writing_sentences(path):
                _take_place(copy, path, tell)
            if names > 1:
                tell(f"{path} had {names} names (hard links); the others keep what was there before")
        finally:
            _remove_copy(copy)


@contextlib.contextmanager
def in_place(path: Path, files: Iterable[Path] = (), *, wait: float = WAIT, tell: Tell = nobody) -> Iterator[Database]:
    """Opens the warehouse at `path` itself to load `files` into. No copy is made, so nobody can read it meanwhile.

    Each transaction is stored or not, but a crash can leave a file that cannot be opened. Raises WarehouseError if the
    warehouse cannot be opened or if another process has it open.
    """
    path = _real(path, tell)
    check_file(path)
    had, loaded = frozenset[int](), False
    with _said_of_a_full_disk(f"{path} is as it was before"), loading_lock(path, wait, tell):
        try:
            with open_to_load(path, files) as database:
                check_schema(database.rows, path)
                had = _imports(database)
                yield database
                loaded = True
                with stopping.PATIENCE:
                    database.run(Sql("checkpoint"))
            _remove_logs(path)
        except DiskFullError:
            stored = ", ".join(map(str, sorted(_settle_imports(path) - had)))
            if not loaded:
                what = (
                    f"{path} holds import {stored}, and nothing else is new"
                    if stored
                    else f"{path} is as it was before"
                )
                raise WarehouseError(f"the disk is full; {what}", ("make room on it and load again",)) from None
            if any(log.exists() for log in logs_of(path)):
                tell(f"the disk is full; what was loaded is in {path}.wal, which is a part of the warehouse")


def _settle_imports(path: Path) -> frozenset[int]:
    """The imports in a warehouse after the disk was full during a load, including those in the log beside it."""
    with contextlib.suppress(WarehouseError):
        _finish(path)
    with open_database(path) as database:
        return _imports(database)


def _finish(path: Path) -> None:
    """Completes or undoes what a load in place left in a log beside the warehouse."""
    if any(log.exists() for log in logs_of(path)):
        with open_to_load(path, ()) as database:
            database.run(Sql("checkpoint"))
        _remove_logs(path)


def _remove_logs(path: Path) -> None:
    """Removes logs whose contents are already in the file. They would not belong to a later file of the same name."""
    with _writing_sentences(path):
        for log in logs_of(path):
            log.unlink(missing_ok=True)


def _imports(database: Database) -> frozenset[int]:
    return frozenset(int(number) for (number,) in database.rows(Sql("select id from import")))


def _real(path: Path, tell: Tell) -> Path:
    """Follows a link, so that changes through any link to a file take the same lock."""
    if not path.is_symlink():
        return path
    real = Path(os.path.realpath(path))
    tell(f"{path} is a link to {real}")
    return real


def _copy_of(path: Path) -> Path:
    return path.with_name(path.name + ".import")


def _check_unchanged(path: Path, before: tuple[int, int, int]) -> None:
    """Raises WarehouseError if a file changed since its state was taken. Otherwise the file that is used might not be
    the one that was checked.
    """
    if not path.exists() or _state(path) != before:
        raise WarehouseError(f"{path} was changed by another program meanwhile; nothing was loaded")


def _state(path: Path) -> tuple[int, int, int]:
    about = path.stat()
    return about.st_ino, about.st_size, about.st_mtime_ns


def backup(
    path: Path,
    to: Path,
    proof: Callable[[Database], None] = lambda database: None,
    *,
    wait: float = WAIT,
    tell: Tell = nobody,
) -> None:
    """Copies the warehouse at `path` to the new file `to`. The file appears if the copy is complete, and not otherwise.

    Reads of the warehouse can go on, and so can a load into a copy; a load in place has to wait. `proof` is called with
    the copy and may raise an error to stop. Raises WarehouseError.
    """
    _check_name_is_free(to)
    check_file(path)
    copy = _copy_of(to)
    with _said_of_a_full_disk(f"{to} was not made"), loading_lock(to, wait, tell), _provisional(copy):
        _check_name_is_free(to)
        try:
            with open_database(path), _writing_sentences(to):
                _remove_copy(copy)
                real = os.path.realpath(path)
                for file in (Path(real), *filter(Path.exists, logs_of(path))):
                    _copy(file, Path(str(copy) + str(file).removeprefix(real)))
            _finish(copy)
            _count_again(copy, proof)
            _publish(copy, to, tell)
        finally:
            _remove_copy(copy)


def unbalanced_imports(database: Database) -> tuple[tuple[int, int, int], ...]:
    """(import, rows that the ledger counts, rows that are there) for every import with different numbers. The ledger
    does not count texts; fingerprints check these.
    """
    counted = join(" union all ", (Sql("select import_id from ") + name(form.table) for form in FORMS))
    differing = (
        Sql("with fact as (") + counted + ") "
        "select coalesce(i.id, f.id), coalesce(i.rows, 0), coalesce(f.rows, 0) "
        "from import i full join (select import_id as id, count(*) as rows from fact group by import_id) f using (id) "
        "where coalesce(i.rows, 0) <> coalesce(f.rows, 0) order by 1"
    )
    return tuple((int(number), int(brought), int(present)) for number, brought, present in database.rows(differing))


# --- what the dead have left ------------------------------------------------------------------------------------------


def remove_left(path: Path) -> None:
    """Removes the copy of a warehouse that a killed process left beside it, if it belongs to this user. Links are not
    followed. While a process loads into the warehouse, nothing is removed.
    """
    real = Path(os.path.realpath(path)) if path.is_symlink() else path
    copy = _copy_of(real)
    with contextlib.suppress(OSError):
        if not publishing.ours(copy):
            return
        with nobody_loads(real) as free:
            for file in _all_of(copy) if free else ():
                if os.path.lexists(file) and publishing.ours(file):
                    file.unlink()


# --- copies -----------------------------------------------------------------------------------------------------------


def _count_again(copy: Path, proof: Callable[[Database], None] = lambda database: None) -> None:
    """Opens a copy again and compares the rows in it with its ledger."""
    with open_database(copy) as database:
        proof(database)
        for number, rows, present in unbalanced_imports(database):
            raise WarehouseError(f"{copy} is unsound: import {number} brought {rows:,} rows and {present:,} are there")


def _copy(path: Path, to: Path) -> None:
    """Copies a file to a name that is free, with its mode and, if permitted, its owner."""
    # The name was free. If something has taken it since then, it is neither followed nor overwritten.
    descriptor = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with open(descriptor, "wb") as out, path.open("rb") as file:
        shutil.copyfileobj(file, out, 1 << 20)
        about = os.fstat(file.fileno())
    publishing.like(about, to)


def _rewrite(path: Path, to: Path) -> None:
    """Copies a warehouse in a format that only newer versions of DuckDB read into a file that all of them read."""
    about, block_size = path.stat(), extent_of(path).block
    with open_to_load(to, [path, *logs_of(path)], block_size=block_size) as database:
        publishing.like(about, to)
        database.copy_from(path)


def _take_place(copy: Path, path: Path, tell: Tell) -> None:
    error = publishing.take_place(copy, path)
    if error is not None:
        tell(f"{path} is written, but the disk did not confirm its name: {error.strerror}")


def _remove_copy(copy: Path) -> None:
    # A file that cannot be removed now is removed when the next copy is made, because that needs the name.
    for file in _all_of(copy):
        with contextlib.suppress(OSError):
            file.unlink()


def _provisional(copy: Path) -> contextlib.AbstractContextManager[None]:
    return publishing.provisional(_all_of(copy))


def _all_of(copy: Path) -> list[Path]:
    return [Path(str(copy) + log) for log in ("", *LOGS)]


@contextlib.contextmanager
def _said_of_a_full_disk(what: str) -> Iterator[None]:
    """Adds to the error for a full disk what happened to the change."""
    try:
        yield
    except DiskFullError as error:
        raise WarehouseError(f"{error.message}; {what}", error.hints) from None


@contextlib.contextmanager
def _writing_sentences(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError from None
        raise WarehouseError(f"{path} cannot be written: {error.strerror}") from None
