"""Files and folders that appear under their names whole or not at all, whoever is killed and whatever the disk does.

What is new is made in a draft: a hidden folder beside its place, which the process that makes it holds locked. When all
of it is on disk it takes its place by one renaming, in the place of a folder by an exchange. Several files need several
renamings: then the draft says which, and whoever writes in this folder next finishes them. What else a dead process has
left is removed by the next one. This module does not know what is written, and follows no link in writing it.
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

from warehouse import ending

try:
    import fcntl
except ImportError:  # pragma: no cover - where there is no fcntl, what dead processes have left stays
    fcntl = None  # type: ignore[assignment]

_DRAFT = re.compile(r"\.evalhouse-[0-9a-f]{16}")
_SCRATCH = re.compile(r"evalhouse-[0-9a-f]{16}\.spill")
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2

_held: dict[Path, int] = {}
"""The folders that this process has locked, and by which descriptors."""
_cleared: list[str] = []


@contextmanager
def files_in(folder: Path, names: Sequence[str]) -> Iterator[Path]:
    """A draft to write the files `names` into, which are in `folder`, all of them, if all goes well, and else none.

    What they replace goes, and gives them its mode and owner. The last file to appear is the last of `names`. Raises
    OSError.
    """
    with _draft(folder) as draft:
        yield draft / "new"
        with ending.PATIENCE:
            _publish(draft, folder, names)


@contextmanager
def folder_at(path: Path) -> Iterator[Path]:
    """A draft of a folder to write into, which takes its place at `path` if all goes well, and else does not.

    The folder that it replaces is removed. Raises OSError.
    """
    with _draft(path.parent) as draft:
        (draft / "new" / path.name).mkdir()
        yield draft / "new" / path.name
        with ending.PATIENCE:
            _publish(draft, path.parent, [path.name])


def clear(folder: Path) -> None:
    """Finishes or removes the drafts in a folder whose processes died, as whoever writes there does too."""
    _clear(folder, _DRAFT)


def scratch() -> Path:
    """A new folder for what lives no longer than the process; the system's folder for temporary files has it."""
    folder = Path(tempfile.gettempdir())
    if str(folder) not in _cleared:
        _cleared.append(str(folder))
        _clear(folder, _SCRATCH)
    return _locked(folder, lambda token: f"evalhouse-{token}.spill")


@contextmanager
def temporary() -> Iterator[Path]:
    """What `scratch` gives, as long as it is needed."""
    folder = scratch()
    try:
        yield folder
    finally:
        discard(folder)


def discard(path: Path) -> None:
    """Removes a draft, or what came of `scratch`."""
    shutil.rmtree(path, ignore_errors=True)
    ending.UNFINISHED.discard(str(path))
    _let_go(path)


def _let_go(path: Path) -> None:
    descriptor = _held.pop(path, None)
    if descriptor is not None:
        os.close(descriptor)


@contextmanager
def provisional(paths: Iterable[Path]) -> Iterator[None]:
    """Within, files at these paths are of use to nobody but this process; they may not be there."""
    names = {str(path) for path in paths}
    ending.UNFINISHED.update(names)
    try:
        yield
    finally:
        ending.UNFINISHED.difference_update(names)


def take_place(new: Path, path: Path) -> OSError | None:
    """Lets a file take the place of another when it is on disk. Raises OSError where it could not, and gives what the
    disk said where it has, but a loss of power might bring back the other.
    """
    sync(new)
    os.replace(new, path)
    try:
        sync(path.parent)
    except OSError as error:
        return error
    return None


def ours_alone(path: Path) -> bool:
    """Whether a file is this user's, and neither it nor the folder it is in can be written by others. No link is."""
    if not hasattr(os, "geteuid"):
        return False
    file, folder = path.lstat(), path.parent.stat()
    return stat.S_ISREG(file.st_mode) and all(
        about.st_uid == os.geteuid() and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) for about in (file, folder)
    )


def sync(path: Path) -> None:
    """Has a file or folder written to disk; where folders cannot be opened, the system sees to them itself."""
    if os.name == "nt" and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def like(about: os.stat_result, path: Path) -> None:
    """Gives a file or folder the mode and, as far as that is allowed, the owner of another."""
    if hasattr(os, "chown"):
        for user, group in ((-1, about.st_gid), (about.st_uid, -1)):
            with suppress(PermissionError):
                os.chown(path, user, group)
    path.chmod(stat.S_IMODE(about.st_mode))


# --- drafts -----------------------------------------------------------------------------------------------------------


@contextmanager
def _draft(folder: Path) -> Iterator[Path]:
    _clear(folder, _DRAFT)
    draft = _locked(folder, lambda token: f".evalhouse-{token}")
    try:
        for part in ("new", "old"):
            (draft / part).mkdir()
        yield draft
    except BaseException:
        if os.path.lexists(draft / "names"):
            # What was there before may be in it. The next process that writes here finishes what this one could not.
            _let_go(draft)
        else:
            discard(draft)
        raise
    discard(draft)


def _publish(draft: Path, folder: Path, names: Sequence[str]) -> None:
    """Lets what is in a draft take its place."""
    for name in names:
        with suppress(FileNotFoundError):
            about = os.lstat(folder / name)
            if not stat.S_ISLNK(about.st_mode):
                like(about, draft / "new" / name)
    _sync_all(draft / "new")
    # From here on the draft may be all there is of what was there before.
    ending.UNFINISHED.discard(str(draft))
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
    """Whether one call of the system did it. What the disk does not confirm is taken back."""
    back: Callable[[], object] = partial(_exchanged, new, path)
    if not os.path.lexists(path):
        os.replace(new, path)
        back = partial(os.replace, path, new)
    elif not _exchanged(new, path):
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


def _exchanged(new: Path, path: Path) -> bool:
    """Whether two names have been exchanged, which not every system can."""
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
    """From here on what is to be moved will be moved, by this process or by another."""
    (draft / "unfinished").write_text(json.dumps(list(names)), encoding="utf-8")
    if error := take_place(draft / "unfinished", draft / "names"):
        raise error


def _move(draft: Path, folder: Path, names: Iterable[str]) -> None:
    """Moves what is old out of the way and what is new into its place, as far as that has not been done. At no moment
    is a part of both there.
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
            # Where a link leads is not ours to write.
            if not os.path.islink(Path(folder, file)):
                sync(Path(folder, file))
        sync(Path(folder))


# --- locks, and what the dead have left -------------------------------------------------------------------------------


def _locked(folder: Path, name: Callable[[str], str]) -> Path:
    """A new folder of a name that nobody can guess, which nobody clears away while this process lives."""
    ending.in_order()
    while True:
        path = folder / name(os.urandom(8).hex())
        ending.UNFINISHED.add(str(path))
        path.mkdir(mode=0o700)
        try:
            descriptor = _taken(path)
        except OSError:
            # This kind of file system has no locks, so nobody clears it away.
            return path
        if descriptor is not None:
            _held[path] = descriptor
            return path
        # Another process took it for one that was left, in the moment between the two calls.
        ending.UNFINISHED.discard(str(path))


def _taken(path: Path) -> int | None:
    """The descriptor of a folder of ours, by which it is locked now; None where another has it. Raises OSError."""
    if fcntl is None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        about = os.fstat(descriptor)
        if about.st_uid == os.geteuid() and os.path.samestat(about, os.lstat(path)):
            return descriptor
    except (BlockingIOError, FileNotFoundError):
        pass
    except OSError:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _clear(folder: Path, pattern: re.Pattern[str]) -> None:
    """Finishes or removes what processes that died have left in a folder."""
    with suppress(OSError):
        for name in filter(pattern.fullmatch, os.listdir(folder)):
            with suppress(OSError):
                _settle(folder, folder / name)


def _settle(folder: Path, left: Path) -> None:
    descriptor = _taken(left)
    if descriptor is None:
        return
    try:
        _move(left, folder, _written_down(left))
        sync(folder)
        shutil.rmtree(left, ignore_errors=True)
    finally:
        os.close(descriptor)


def _written_down(left: Path) -> list[str]:
    """The files that are to be moved out of a draft that was left."""
    try:
        names = json.loads((left / "names").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    # Whoever can make such a folder here can make these files here, and no others.
    return [name for name in names if isinstance(name, str) and name not in ("", ".", "..") and "/" not in name]
