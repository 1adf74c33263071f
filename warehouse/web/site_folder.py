"""The folder of a site. It distinguishes files that evalhouse wrote from files of others, which are never touched. A
new site replaces the old one as a whole.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from warehouse.faults import DataError, Fault
from warehouse.publishing import folder_at

MANIFEST = ".evalhouse-site"
"""The file that lists the files of a site, one per line, including itself."""


class SiteFolder:
    """A folder that a site is written to."""

    def __init__(self, path: Path, draft: Path) -> None:
        self._path = path
        self._draft = draft
        self.written: list[str] = []

    def write(self, name: str, content: bytes) -> None:
        """Writes a file of the site. Its name is a path with slashes."""
        file = self._draft / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        self.written.append(name)


@contextmanager
def site_folder(path: Path, *, force: bool) -> Iterator[SiteFolder]:
    """A draft of a site, which is moved to `path` if everything succeeds and is discarded otherwise.

    Other files in the folder stay. Unless `force` is set, raises DataError if the folder exists and is not a site, or
    if a file of others has the same name as a file of the site. Raises OSError, too.
    """
    path = Path(os.path.realpath(path))
    check(path, force=force)
    others = tuple(_others(path)) if path.is_dir() else ()
    with folder_at(path) as draft:
        site = SiteFolder(path, draft)
        yield site
        site.write(MANIFEST, "".join(f"{name}\n" for name in sorted([*site.written, MANIFEST])).encode())
        ours = set(site.written)
        for name in others:
            if name not in ours:
                _keep(path / name, draft / name)
            elif not force:
                raise _fault(path / name, "does not belong to this site, and would be overwritten")


def check(path: Path, *, force: bool) -> None:
    """Raises DataError if no site can be written to this place: it is a file, it contains the current folder, or,
    unless `force`, it is a folder with other content.
    """
    path = Path(os.path.realpath(path))
    if os.path.lexists(path) and not path.is_dir():
        raise _fault(path, "is a file, but a site is a folder")
    if Path.cwd().is_relative_to(path):
        raise DataError((Fault(str(path), None, "is the current folder"),), hints=("run the command from outside it",))
    if path.is_dir() and any(path.iterdir()) and not (path / MANIFEST).is_file() and not force:
        raise DataError(
            (Fault(str(path), None, "holds files that do not belong to a site"),),
            hints=("--force puts the site among them, overwriting those of the same names",),
        )


def _others(path: Path) -> Iterator[str]:
    """The files in a folder that do not belong to the site written there, as paths with slashes."""
    try:
        ours = set((path / MANIFEST).read_text(encoding="utf-8").splitlines())
    except (OSError, UnicodeDecodeError):
        ours = set()
    for folder, inner, files in os.walk(path):
        linked = [name for name in inner if (Path(folder) / name).is_symlink()]
        for name in (*files, *linked):
            relative = (Path(folder) / name).relative_to(path).as_posix()
            if relative not in ours:
                yield relative


def _keep(old: Path, new: Path) -> None:
    """Keeps the file in the new folder, too, as a hard link if the file system has them."""
    new.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(old, new, follow_symlinks=False)
    except OSError:
        shutil.copy2(old, new, follow_symlinks=False)


def _fault(path: Path, message: str) -> DataError:
    return DataError((Fault(str(path), None, message),), hints=("--force overwrites it",))
