"""Lets files and folders appear under their names completely or not at all, even if a process is killed or the disk
fails.

New files are written into a draft: a hidden folder beside their place, locked by the process that writes it. When
everything is on disk, a single file or folder gets its place by one renaming; a folder that replaces another is
exchanged with it. Several files need several renamings: then the draft lists them, and if the process dies, the next
process that writes in this folder finishes them. That process also removes everything else that dead processes left.
This module does not know what is written, and does not follow links when it writes.
"""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from evalhouse.warehouse.process import stopping

try:
    import fcntl
except ImportError:  # pragma: no cover - without fcntl, nothing removes what dead processes left
    fcntl = None  # type: ignore[assignment]

_DRAFT = re.compile(r"\.evalhouse-[0-9a-f]{16}")
_SCRATCH = re.compile(r"evalhouse-[0-9a-f]{16}\.spill")
_LOCK = "lock"
"""The file in a draft or scratch folder that is locked by the process to which the folder belongs."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL)
"""Errors of file systems without locks."""

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2

_held: dict[Path, tuple[int, ...]] = {}
"""The folders that this process has locked, and the file descriptors of the locks."""
_cleared: list[str] = []


@contextmanager
def files_in(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A draft in which to write the files `names` of `folder`. All of them appear if everything succeeds, and none
    otherwise.

    Existing files of these names are replaced; the new files get their mode and owner. The last of `names` appears
    last. Raises OSError.
    """
    with _draft(folder) as draft:
        yield draft / "new"
        with stopping.PATIENCE:
            _publish(draft, folder, names)


@contextmanager
def folder_at(path: Path) -> Iterator[Path]:
    """A draft of a folder to write into. It appears at `path` if everything succeeds, and not otherwise.

    The folder that it replaces is removed. Raises OSError.
    """
    with _draft(path.parent) as draft:
        (draft / "new" / path.name).mkdir()
        yield draft / "new" / path.name
        with stopping.PATIENCE:
            _publish(draft, path.parent, [path.name])


@contextmanager
def drafts_in(folder: Path) -> Iterator[Path]:
    """A draft from which the caller moves files to their places in `folder`. What is left in it is removed. Raises
    OSError.
    """
    with _draft(folder) as draft:
        yield draft / "new"


def clear(folder: Path) -> None:
    """Finishes or removes drafts whose processes died. Everyone who writes in the folder does this too."""
    _clear(folder, _DRAFT)


def scratch() -> Path:
    """A new temporary folder that lives no longer than the process, in the system's folder for temporary files."""
    folder = Path(tempfile.gettempdir())
    if str(folder) not in _cleared:
        _cleared.append(str(folder))
        _clear(folder, _SCRATCH)
    return _make_locked_folder(folder, lambda token: f"evalhouse-{token}.spill")


@contextmanager
def temporary() -> Iterator[Path]:
    """A `scratch` folder that is removed at the end of the block."""
    folder = scratch()
    try:
        yield folder
    finally:
        discard(folder)


def discard(path: Path) -> None:
    """Removes a draft or a `scratch` folder."""
    _remove(path)
    stopping.UNFINISHED.discard(str(path))
    _let_go(path)


def _remove(folder: Path) -> None:
    """Removes a folder and everything in it; errors are ignored."""
    shutil.rmtree(folder, ignore_errors=True)


def _let_go(path: Path) -> None:
    _close(_held.pop(path, ()))


@contextmanager
def provisional(paths: Iterable[Path]) -> Iterator[None]:
    """Inside the block, files at these paths are removed if the process ends, because nobody else can use them. They
    need not exist.
    """
    names = {str(path) for path in paths}
    stopping.UNFINISHED.update(names)
    try:
        yield
    finally:
        stopping.UNFINISHED.difference_update(names)


def take_place(new: Path, path: Path) -> OSError | None:
    """Writes a file to disk and moves it into the place of another. Raises OSError if that fails. Returns the disk's
    error if the file was moved but the move is not confirmed, so a loss of power might bring back the old file.
    """
    sync(new)
    os.replace(new, path)
    try:
        sync(path.parent)
    except OSError as error:
        return error
    return None


def ours(path: Path) -> bool:
    """Whether a path is a file, and not a link, that belongs to this user. Raises OSError if there is nothing."""
    about = path.lstat()
    return hasattr(os, "geteuid") and stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid()


def ours_alone(path: Path) -> bool:
    """Whether a file belongs to this user, and nobody else can write to it or to its folder. Never true for a link."""
    if not hasattr(os, "geteuid"):
        return False
    file, folder = path.lstat(), path.parent.stat()
    return stat.S_ISREG(file.st_mode) and all(
        about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for about in (file, folder)
    )


def sync(path: Path) -> None:
    """Writes a file or folder to disk. Systems that cannot open folders take care of them by themselves."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def like(about: os.stat_result, path: Path) -> None:
    """Gives a file or folder the mode of another and, if permitted, its owner."""
    if hasattr(os, "chown"):
        for user, group in ((-1, about.st_gid), (about.st_uid, -1)):
            with suppress(PermissionError):
                os.chown(path, user, group)
    path.chmod(stat.S_IMODE(about.st_mode))


# --- drafts -----------------------------------------------------------------------------------------------------------


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    _clear(folder, _DRAFT)
    draft = _make_locked_folder(folder, lambda token: f".evalhouse-{token}")
    try:
        for part in ("new", "old"):
            (draft / part).mkdir()
        yield draft
    except BaseException:
        if os.path.lexists(draft / "names"):
            # The draft may contain the old files. The next process that writes here finishes the work.
            _let_go(draft)
        else:
            discard(draft)
        raise
    discard(draft)


def _publish(draft: Path, folder: Path, names: Sequence[str]) -> None:
    """Moves the contents of a draft into their places."""
    for name in names:
        with suppress(FileNotFoundError):
            about = os.lstat(folder / name)
            if not stat.S_ISLNK(about.st_mode):
                like(about, draft / "new" / name)
    _sync_all(draft / "new")
    # From now on the draft may have the only copy of the old files.
    stopping.UNFINISHED.discard(str(draft))
    if len(names) == 1 and _in_one_step(draft / "new" / names[0], folder / names[0]):
        return
    try:
        _write_down(draft, names)
        _move(draft, folder, names)
        sync(folder)
    except OSError:
        _move_back(draft, folder, names)
        raise
    except BaseException:
        _move(draft, folder, names)
        (draft / "names").unlink(missing_ok=True)
        raise


def _in_one_step(new: Path, path: Path) -> bool:
    """Whether one system call was enough to publish the file. If the disk does not confirm it, it is undone."""
    back: Callable[[], object] = partial(_exchange_names, new, path)
    if not os.path.lexists(path):
        os.replace(new, path)
        back = partial(os.replace, path, new)
    elif not _exchange_names(new, path):
        if path.is_dir() and not path.is_symlink():
            return False
        os.replace(new, path)
        back = partial(sync, path)
    try:
        sync(path.parent)
    except OSError:
        back()
        raise
    return True


def _exchange_names(new: Path, path: Path) -> bool:
    """Whether two names were exchanged. Not every system can do that."""
    import ctypes

    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if sys.platform == "linux" else None
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(path), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL):
        return False
    raise OSError(number, os.strerror(number), str(path))


def _write_down(draft: Path, names: Sequence[str]) -> None:
    """Records the files to move. From now on they will be moved, by this process or by another."""
    (draft / "unfinished").write_text(json.dumps(list(names)), encoding="utf-8")
    if error := take_place(draft / "unfinished", draft / "names"):
        raise error


def _move(draft: Path, folder: Path, names: Iterable[str]) -> None:
    """Moves old files out of the way and new ones into their places, continuing where an earlier run stopped. At no
    moment does the folder hold a mix of old and new files.
    """
    waiting = [name for name in names if os.path.lexists(draft / "new" / name)]
    for name in waiting:
        if os.path.lexists(folder / name) and not os.path.lexists(draft / "old" / name):
            os.replace(folder / name, draft / "old" / name)
    for name in waiting:
        os.replace(draft / "new" / name, folder / name)


def _move_back(draft: Path, folder: Path, names: Iterable[str]) -> None:
    for name in names:
        if not os.path.lexists(draft / "new" / name):
            os.replace(folder / name, draft / "new" / name)
        if os.path.lexists(draft / "old" / name):
            os.replace(draft / "old" / name, folder / name)
    (draft / "names").unlink(missing_ok=True)


def _sync_all(path: Path) -> None:
    for folder, _, files in os.walk(path):
        for file in files:
            # The target of a link is not part of the draft.
            if not os.path.islink(Path(folder, file)):
                sync(Path(folder, file))
        sync(Path(folder))


# --- locks, and what the dead have left -------------------------------------------------------------------------------


def _make_locked_folder(folder: Path, name: Callable[[str], str]) -> Path:
    """A new folder with a name that nobody can guess. No other process removes it while this process lives."""
    stopping.in_order()
    while True:
        path = folder / name(os.urandom(8).hex())
        stopping.UNFINISHED.add(str(path))
        path.mkdir(mode=0o700)
        try:
            descriptors = _lock_folder(path)
        except OSError as error:
            if error.errno in _NO_LOCKS:
                # No other process removes the folder, either.
                return path
            discard(path)
            raise
        if descriptors is not None:
            _held[path] = descriptors
            return path
        # Between the two calls, another process took the folder for one that a dead process left.
        stopping.UNFINISHED.discard(str(path))


def _lock_folder(path: Path) -> tuple[int, ...] | None:
    """Locks a folder of this user and returns the file descriptors of the lock; None if another process holds it.
    Raises OSError.
    """
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    opened: list[int] = []
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        opened.append(folder)
        if os.fstat(folder).st_uid == os.geteuid():
            # Earlier versions of the program lock the folder alone. On a network file system such a lock holds on one
            # machine, while the lock on a file holds on all.
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
            file = os.open(_LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=folder)
            opened.append(file)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), os.lstat(path / _LOCK)):
                return tuple(opened)
    except (BlockingIOError, FileNotFoundError):
        # Another process holds the lock, or has removed the folder.
        pass
    except OSError:
        _close(opened)
        raise
    _close(opened)
    return None


def _close(descriptors: Iterable[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _clear(folder: Path, pattern: re.Pattern[str]) -> None:
    """Finishes or removes what dead processes left in a folder."""
    with suppress(OSError):
        for name in filter(pattern.fullmatch, os.listdir(folder)):
            with suppress(OSError):
                _settle(folder, folder / name)


def _settle(folder: Path, left: Path) -> None:
    descriptors = _lock_folder(left)
    if descriptors is None:
        return
    try:
        _move(left, folder, _written_down(left))
        sync(folder)
        _remove(left)
    finally:
        _close(descriptors)


def _written_down(left: Path) -> list[str]:
    """The files that have to be moved out of a draft that a dead process left."""
    try:
        names = json.loads((left / "names").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    # A person who can create such a folder here can also create these files here, and no others.
    return [name for name in names if isinstance(name, str) and name not in ("", ".", "..") and "/" not in name]
