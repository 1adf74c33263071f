"""The one way for readers to open files: either anywhere, or only in the folder that a script is confined to. It also
limits the unpacked size of files.
"""

from __future__ import annotations

import os
import stat
from io import BufferedReader
from pathlib import Path

from msgspec import Struct, field

from warehouse.faults import DataError, Fault
from warehouse.loading.staging.unpacking import Bound

LIFTS = "--allow-files lets its statements read and write files anywhere"


class Door(Struct, frozen=True):
    """Where files may be opened: in one folder and below it, after links are followed, or everywhere."""

    inside: Path | None = None
    unpacked: Bound = field(default_factory=Bound)

    def open(self, file: Path) -> BufferedReader:
        """The bytes of a file. Raises OSError if the file cannot be opened, and DataError if it must not be opened."""
        try:
            str(file.absolute()).encode()
        except UnicodeEncodeError:
            raise DataError((Fault(str(file), None, "the path is not UTF-8, and DuckDB can open no other"),)) from None
        opened = open(file, "rb", opener=_at_once)  # noqa: SIM115
        try:
            if not stat.S_ISREG(os.fstat(opened.fileno()).st_mode):
                # Such a file may be endless, and it can be read only once.
                no_file = "is a pipe or a device, not a file; save its output to a file and load that"
                raise DataError((Fault(str(file), None, no_file),))
            if self.inside is not None:
                # This is checked on the open file, so that the file that is read is the file that was checked.
                real = os.path.realpath(file)
                is_inside = Path(real).is_relative_to(os.path.realpath(self.inside))
                if not is_inside or not os.path.samestat(os.stat(real), os.fstat(opened.fileno())):
                    raise DataError((Fault(str(file), None, f"is outside the script's folder; {LIFTS}"),))
        except BaseException:
            opened.close()
            raise
        return opened

    def names(self, folder: Path) -> list[str]:
        """The sorted names of the files in a folder; empty if files in the folder must not be opened."""
        if self.inside is not None and not folder.resolve().is_relative_to(self.inside.resolve()):
            return []
        return sorted(os.listdir(folder))


def _at_once(path: str, flags: int) -> int:
    """Opens a file without waiting for a program at the other end of a pipe."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


EVERYWHERE = Door()
"""The door for files that a person names."""
