"""Changes of a warehouse as a whole file: made anew, replaced by a copy that was loaded into, changed in place, copied.

All of a change is there or nothing of it: the copy takes the place of the warehouse when it is known to be whole and
written to disk, so that a crash leaves the old one. What is loaded is the business of loading.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from warehouse import ending, publishing
from warehouse.faults import DiskFullError, WarehouseError
from warehouse.store.database import LOGS, Database, logs_of, look_into, open_database, open_new, open_to_load
from warehouse.store.file_header import check_file
from warehouse.store.lock import WAIT, loading_lock, nobody
from warehouse.store.schema import Asking, check_schema, schema_version, statements
from warehouse.store.sql import Sql, join, name
from warehouse.tasks.records import FORMS

Tell = Callable[[str], None]
"""Who hears what a person should know of."""


@contextlib.contextmanager
def making(path: Path, *, wait: float = WAIT, tell: Tell = nobody) -> Iterator[Database]:
    """A new warehouse to load into, which is there, at `path`, if all goes well, and else not.

    Raises WarehouseError if something is there already, or if the file cannot be written.
    """
    _check_name_is_free(path)
    copy = _copy_of(path)
    with _said_of_a_full_disk(f"{path} was not made"), loading_lock(path, wait, tell), _provisional(copy):
        _check_name_is_free(path)
        try:
            _remove_copy(copy)
            with open_new(copy) as database:
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
    """Lets a new file appear under its name, when it is on disk."""
    with _writing_sentences(path):
        _check_name_is_free(path)
        _take_place(copy, path, tell)


@contextlib.contextmanager
def replacing(
    path: Path, files: Iterable[Path] = (), *, keep: bool = True, wait: float = WAIT, tell: Tell = nobody
) -> Iterator[Database]:
    """A copy of the warehouse at `path` to load `files` into; it takes the place of the warehouse if all goes well.

    On any exception, or where the load is only tried and not to `keep`, the copy is removed and the warehouse stays as
    it was. A load of another process is waited for, and `tell` hears of it, and of other names of the warehouse. Raises
    WarehouseError if the warehouse cannot be opened, if someone else goes on loading into it, if the copy turns out
    unsound, or if the disk is full.
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
    """What `replacing` does, of a warehouse of any schema, which has to be of the present one in the end."""
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
    """The warehouse at `path` itself to load `files` into: no copy is made, so nobody can read meanwhile.

    Each transaction is stored or not, but a crash can leave a file that cannot be opened. Raises WarehouseError if the
    warehouse cannot be opened, or if someone else has it open.
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
                with ending.PATIENCE:
                    database.run(Sql("checkpoint"))
            _remove_logs(path)
        except DiskFullError:
            stored = ", ".join(map(str, sorted(_settled(path) - had)))
            if not loaded:
                what = (
                    f"{path} holds import {stored}, and nothing else is new"
                    if stored
                    else f"{path} is as it was before"
                )
                raise WarehouseError(f"the disk is full; {what}", ("make room on it and load again",)) from None
            if any(log.exists() for log in logs_of(path)):
                tell(f"the disk is full; what was loaded is in {path}.wal, which is a part of the warehouse")


def _settled(path: Path) -> frozenset[int]:
    """The imports of a warehouse that ran out of disk while it was loaded into, in or beside which they are."""
    with contextlib.suppress(WarehouseError):
        _finish(path)
    with open_database(path) as database:
        return _imports(database)


def _finish(path: Path) -> None:
    """Finishes or undoes what a load in place has left in a log beside the warehouse."""
    if any(log.exists() for log in logs_of(path)):
        with open_to_load(path, ()) as database:
            database.run(Sql("checkpoint"))
        _remove_logs(path)


def _remove_logs(path: Path) -> None:
    """Removes what is left of logs beside a file that has all of them in it. It would not belong to a later one."""
    with _writing_sentences(path):
        for log in logs_of(path):
            log.unlink(missing_ok=True)


def _imports(database: Database) -> frozenset[int]:
    return frozenset(int(number) for (number,) in database.rows(Sql("select id from import")))


def _real(path: Path, tell: Tell) -> Path:
    """Where a link leads: what changes a file by any of its names takes one lock."""
    if not path.is_symlink():
        return path
    real = Path(os.path.realpath(path))
    tell(f"{path} is a link to {real}")
    return real


def _copy_of(path: Path) -> Path:
    return path.with_name(path.name + ".import")


def _check_unchanged(path: Path, before: tuple[int, int, int]) -> None:
    """Raises WarehouseError if a file is no longer in the state it was in: what was checked may not be what is used."""
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
    """Copies the warehouse at `path` to the new file `to`, which is there if the copy is whole, and else not.

    What reads the warehouse goes on, and so does a load that will replace it; one in place has to wait. `proof` is
    called with the copy, and what it raises is the end of it. Raises WarehouseError.
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
    """(import, rows it brought by the ledger, rows there are) of every import for which the two differ. Texts are not
    counted in the ledger; that they are those that were stored is what fingerprints say.
    """
    counted = join(" union all ", (Sql("select import_id from ") + name(form.table) for form in FORMS))
    differing = (
        Sql("with fact as (") + counted + ") "
        "select coalesce(i.id, f.id), coalesce(i.rows, 0), coalesce(f.rows, 0) "
        "from import i full join (select import_id as id, count(*) as rows from fact group by import_id) f using (id) "
        "where coalesce(i.rows, 0) <> coalesce(f.rows, 0) order by 1"
    )
    return tuple((int(number), int(brought), int(present)) for number, brought, present in database.rows(differing))


# --- copies -----------------------------------------------------------------------------------------------------------


def _count_again(copy: Path, proof: Callable[[Database], None] = lambda database: None) -> None:
    """Opens a copy afresh and counts what is in it against its ledger."""
    with open_database(copy) as database:
        proof(database)
        for number, rows, present in unbalanced_imports(database):
            raise WarehouseError(f"{copy} is unsound: import {number} brought {rows} rows and {present} are there")


def _copy(path: Path, to: Path) -> None:
    """Copies a file to a name that nothing has, with its mode and, as far as that is allowed, its owner."""
    # The name was free, and what has taken it since then is not followed and not written over.
    descriptor = os.open(to, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with open(descriptor, "wb") as out, path.open("rb") as file:
        shutil.copyfileobj(file, out, 1 << 20)
        about = os.fstat(file.fileno())
    publishing.like(about, to)


def _take_place(copy: Path, path: Path, tell: Tell) -> None:
    error = publishing.take_place(copy, path)
    if error is not None:
        tell(f"{path} is written, but the disk did not confirm its name: {error.strerror}")


def _remove_copy(copy: Path) -> None:
    # What cannot be removed now is removed by the next that makes a copy, which needs the name.
    for file in _all_of(copy):
        with contextlib.suppress(OSError):
            file.unlink()


def _provisional(copy: Path) -> contextlib.AbstractContextManager[None]:
    return publishing.provisional(_all_of(copy))


def _all_of(copy: Path) -> list[Path]:
    return [Path(str(copy) + log) for log in ("", *LOGS)]


@contextlib.contextmanager
def _said_of_a_full_disk(what: str) -> Iterator[None]:
    """Adds to the sentence that the disk is full what has become of the change."""
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
